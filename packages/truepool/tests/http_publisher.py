"""A publisher for the tests: a small HTTP server on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def publish(
    contents: dict[str, bytes], cut: int = 0, length: str | None = "true"
) -> Iterator[str]:
    """Serve contents by name; the last ``cut`` bytes of each are announced, not sent.

    ``length`` is announced instead of the true one; None announces nothing.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = contents.get(self.path[1:])
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            if length is not None:
                true = length == "true"
                self.send_header(
                    "Content-Length", str(len(content)) if true else length
                )
            self.end_headers()
            with suppress(ConnectionError):  # a client may have enough
                self.wfile.write(content[: len(content) - cut])

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
