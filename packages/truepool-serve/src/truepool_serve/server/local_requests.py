"""Requests to a server that asks for no token: from this machine, not from a web page.

A page that the user visits can send requests to loopback: to a name of its own that
it lets point there (DNS rebinding), or as a form, which browsers send without asking.
"""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from truepool_serve.server.observation import Receive, Scope, Send

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""What a page may send to any server without asking it first."""


class LocalRequests:
    """ASGI middleware: refuses what a web page may have sent, while all may do all.

    It is for servers on loopback: one that listens beyond does not know the names that
    it is called by.
    """

    def __init__(self, app: Any, is_open: Callable[[], bool]) -> None:
        self.app, self.is_open = app, is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        guarded = scope["type"] == "http" and self.is_open()
        sentence = refusal(scope["method"], Headers(scope=scope)) if guarded else None
        if sentence is None:
            await self.app(scope, receive, send)
            return
        error: Any = {"code": "forbidden", "message": sentence}
        if scope["path"].startswith("/v2"):  # the protocol has sentences only
            error = sentence
        await JSONResponse({"error": error}, 403)(scope, receive, send)


def refusal(method: str, headers: Headers) -> str | None:
    """Say why a request may come from a web page; None if it does not.

    >>> refusal("GET", Headers({"host": "localhost:8765"}))
    >>> refusal("GET", Headers({"host": "evil.example"}))[:60]
    "without tokens a request must be to this machine; got 'evil."
    """
    host, origin = headers.get("host"), headers.get("origin")
    if host is not None and not is_local(f"//{host}"):
        return (
            f"without tokens a request must be to this machine; got {host!r:.60} as "
            "its host. Call localhost, or make a token (truepool ledger token)."
        )
    if origin is not None and not is_local(origin):
        return (
            "without tokens a request must not come from a web page; got "
            f"{origin!r:.60} as its origin. Make a token (truepool ledger token)."
        )
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind in FORMS:
        return (
            "without tokens a request must not be what a web page can send; got the "
            f"type {kind}. Send the header 'Content-Type: application/json'."
        )
    return None


@lru_cache
def is_local(url: str) -> bool:
    """Whether a URL names this machine.

    >>> [is_local(url) for url in ("//localhost:80", "//[::1]", "//127.0.0.2", "null")]
    [True, True, True, False]
    """
    try:
        name = (urlsplit(url).hostname or "").removesuffix(".")
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
