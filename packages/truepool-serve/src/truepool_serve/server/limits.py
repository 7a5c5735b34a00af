"""What a caller may cost before it is known who it is."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from truepool.core.errors import TruepoolError
from truepool_serve.server.access import Access
from truepool_serve.server.observation import Receive, Scope, Send

GUARDED = ("/v1/", "/metrics")
"""What needs a token; the pages and the inference protocol look for themselves."""
LARGEST_HEAD = 65_536
"""Bytes of the first line and the headers of a request."""
LONGEST_HEAD = 10.0
"""Seconds that a request may take to send them."""
MOST_CONNECTIONS = 1000


class TokenFirst:
    """ASGI middleware: refuses a request without a token before its body is read."""

    def __init__(
        self, app: Any, access: Access, refuse: Callable[[TruepoolError], Any]
    ) -> None:
        self.app, self.access, self.refuse = app, access, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and scope["path"].startswith(GUARDED):
            header = Headers(scope=scope).get("authorization")
            try:
                caller = self.access.identify(header)
            except TruepoolError as error:
                await self.refuse(error)(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
        await self.app(scope, receive, send)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP with limits on connections, and on the size and the time of headers."""

    _timer: asyncio.TimerHandle | None = None
    _bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        self._bytes += len(data)
        super().data_received(data)
        if self._timer is not None and self._bytes > LARGEST_HEAD:
            self._end()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """Go on with the body, which has limits of its own."""
        self._stop()
        super().on_headers_complete()

    def _await_head(self) -> None:
        if self._timer is None:
            self._bytes = 0
            self._timer = self.loop.call_later(LONGEST_HEAD, self._end)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._stop()
        self.transport.abort()
