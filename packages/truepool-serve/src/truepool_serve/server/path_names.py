"""Names in paths: a slash inside a name is written %2F, as URLs have it.

Servers decode a path before it is split, so that `a%2Fb` would be two names. Here it is
split first. In between, the slash of a name is a character that no decoded path has.
"""

from typing import Any
from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.routing import Match, Route

from truepool_serve.server.observation import Receive, Scope, Send

SLASH = "\udc2f"
"""Half a character: it stands for the slash of a name until the path is matched."""


class NameConvertor(Convertor[str]):
    """A name in the path of a route, as in ``{case:name}``."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """Return the name."""
        return value.replace(SLASH, "/")

    def to_string(self, value: str) -> str:
        """Return the name as it is in a path that is to be matched."""
        return value.replace("/", SLASH)


register_url_convertor("name", NameConvertor())


def show_path(path: str) -> str:
    """Return a path as it was sent."""
    return path.replace(SLASH, "%2F")


def methods_of_path(request: Request) -> list[str]:
    """Return the methods that the path of a request may be called with."""
    found: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] != Match.NONE:
            found |= route.methods or set()
    return sorted(found)


class EncodedSlashes:
    """ASGI middleware: splits a path before the names in it are decoded."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        raw = scope.get("raw_path") or b""
        if b"%2f" in raw.lower():
            parts = raw.partition(b"?")[0].decode("latin-1").split("/")
            names = [unquote(part).replace("/", SLASH) for part in parts]
            scope = {**scope, "path": "/".join(names)}
        await self.app(scope, receive, send)
