"""The pages of the dashboard over HTTP.

A browser has no way to send a bearer token, so it asks for a password: the token of
an operator or admin. Only these pages take it that way, and they change nothing; so no
other page can make a browser do something with it.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from truepool.core.errors import TruepoolError
from truepool_serve.render.dashboard import (
    index_page,
    message_page,
    policy,
    pool_page,
)
from truepool_serve.server.access import Caller
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.dashboard import Dashboard
from truepool_serve.server.observation import error_code
from truepool_serve.server.path_names import SLASH

STATUS = {
    "unauthenticated": 401, "forbidden": 403, "unknown": 404, "internal": 500,
    "unavailable": 503,
}  # fmt: skip
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
ASK = 'Basic realm="truepool: the token of an operator as password", charset="UTF-8"'


def pages(coordinator: Coordinator) -> list[Route]:
    """Return the routes to the pages of a coordinator."""
    dashboard = Dashboard(coordinator)

    async def answer(request: Request, make: Callable[[Caller], str]) -> Response:
        headers, status = dict(HEADERS), 200
        try:
            caller = coordinator.access.identify(_bearer(request))
            html = await asyncio.to_thread(make, caller)
        except TruepoolError as error:
            status = STATUS.get(error_code(error), 400)
            html = message_page("This page cannot be shown", str(error))
            if status == 401:
                headers["WWW-Authenticate"] = ASK
        headers["Content-Security-Policy"] = policy(html)
        return Response(html, status, headers, "text/html; charset=utf-8")

    async def index(request: Request) -> Response:
        return await answer(request, lambda who: index_page(dashboard.pools(who)))

    async def pool(request: Request) -> Response:
        name = request.path_params["pool"].replace(SLASH, "/")
        return await answer(request, lambda who: pool_page(dashboard.pool(who, name)))

    return [Route("/", index), Route("/pools/{pool:path}", pool)]


def _bearer(request: Request) -> str | None:
    """Return the header of a token, also where it came as a password."""
    header = request.headers.get("authorization")
    kind, _, rest = (header or "").partition(" ")
    if kind.lower() != "basic":
        return header
    try:
        password = base64.b64decode(rest, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return header
    return f"Bearer {password}"
