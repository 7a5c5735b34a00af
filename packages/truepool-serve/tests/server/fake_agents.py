"""Agents that answer rightly or wrongly, each under a path of one HTTP server."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeAgents:
    """A server on a free port; the first part of a path says how it answers."""

    def __init__(self) -> None:
        self.asked = []
        self.released = threading.Event()
        self.flapping = 0
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                size = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(size) or b"null")
                kind, _, rest = self.path.lstrip("/").partition("/")
                headers = {name.lower(): value for name, value in self.headers.items()}
                fake.asked.append((kind, rest, body, headers))
                status, content, headers = fake.answer(kind, rest, body)
                if content is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "FakeAgents":
        threading.Thread(
            target=self.server.serve_forever, args=(0.01,), daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, kind, rest, body):
        """Return the status, the content and the headers of an answer."""
        if kind == "hung":
            self.released.wait(60)
            return 200, None, {}
        if kind == "broken":
            return 200, None, {}
        if kind == "flapping":
            self.flapping += 1
            if self.flapping % 2:
                return 500, b"", {}
        if kind in STATUS_400:
            return 400, STATUS_400[kind], {}
        if kind == "redirect":
            return 307, b"", {"location": f"{self.url}/0.9/{rest}"}
        if kind == "huge":
            return 200, b" " * (2**20 + 1), {}
        if kind == "garbage":
            return 200, b"\xff{", {}
        if kind in RAW:
            return 200, json.dumps(RAW[kind]).encode(), {}
        probability = {"nan": float("nan"), "2.0": 2.0, "flapping": 0.6}.get(kind)
        if probability is None:
            probability = float(kind) if kind.replace(".", "").isdigit() else 0.3
        found = self.speak(kind, rest, body, probability)
        return 200, json.dumps(found).encode(), {}

    def speak(self, kind, rest, body, probability):
        """Return the probability in the words of the protocol."""
        pair = [1 - probability, probability]
        if rest.endswith("/infer"):
            data = pair * (3 if kind == "long" else 1)
            shape = [3, 2] if kind == "long" else [1, 2]
            if kind == "text":
                data = ["a", "b"]
            output = {"name": "probabilities", "datatype": "BYTES" if kind == "text" else "FP64", "shape": shape, "data": data}  # fmt: skip
            case = "another" if kind == "other-case" else body["id"]
            return {"model_name": "m", "id": case, "outputs": [output]}
        if rest.endswith("invocations"):
            if kind == "records":
                return {"predictions": [{"fraud": 0.3, "ok": 0.7}]}
            return {"predictions": [pair] * (3 if kind == "long" else 1)}
        text = json.dumps({"probability": probability})
        if kind == "refused":
            text = "I cannot say."
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}  # fmt: skip


STATUS_400 = {
    "oip-error": b'{"error": "unknown\\ninput \'amont\'"}',
    "mlflow-error": b'{"error_code": "BAD", "message": "no column age"}',
    "chat-error": b'{"error": {"message": "bad key k1-secret", "code": 1}}',
    "detail-error": b'{"detail": [{"msg": "field required"}]}',
    "html-error": b"<html>\n <p>Bad\x00 request</p>" + b"x" * 999,
    "mute-error": b"",
}


RAW = {
    "quoted": {"predictions": ["0.3"]},
    "true": {"predictions": [True]},
    "half-true": {"predictions": [[True, 0.0]]},
    "list": [],
    "number": 5,
    "none": None,
    "empty": {},
    "no-outputs": {"outputs": []},
    "odd-output": {"outputs": [{"name": "probabilities", "datatype": "FP64", "shape": [1, 2], "data": [1]}]},
    "no-name": {"outputs": [{"datatype": "FP64", "shape": [1], "data": [1]}]},
    "numbered": {"outputs": [{"name": 5, "datatype": "FP64", "shape": [1], "data": [0.5]}]},
    "half": {"outputs": [{"name": n, "datatype": "FP64", "shape": [1], "data": [0.5]} for n in ("\ud800", "\ud801")]},
    "two": {"outputs": [{"name": n, "datatype": "FP64", "shape": [1], "data": [0.5]} for n in "ab"]},
    "odd-predictions": {"predictions": "high"},
    "no-prediction": {"predictions": []},
    "other-labels": {"predictions": [{"yes": 0.5, "no": 0.5}]},
}  # fmt: skip
