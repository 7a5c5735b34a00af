"""What operators and admins ask over HTTP: tokens, the trail, metrics."""

import asyncio
from typing import Annotated

from msgspec import Meta
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from truepool_serve.messages import (
    Revocation,
    RotationBody,
    Token,
    TokenBody,
    Tokens,
    Trail,
)
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.routes import Operations

Last = Annotated[int, Meta(description="How many of the most recent actions.")]
AT_ONCE = RotationBody()


def add_administration(operations: Operations, to: Coordinator) -> None:
    """Add the operations."""
    add = operations.add

    @add("GET", "/metrics", media_type="text/plain")
    async def metrics(who: Caller) -> Response:
        """Return metrics for Prometheus."""
        who.check("metrics")
        return Response(to.metrics.to_text(), media_type=CONTENT_TYPE_LATEST)

    @add("GET", "/v1/trail")
    async def trail(who: Caller, last: Last = 100) -> Trail:
        """Say who did what: tokens, pools, agents, rules and erasures."""
        return Trail(trail=await after(to.trail(who, last)))

    @add("GET", "/v1/tokens")
    async def tokens(who: Caller) -> Tokens:
        """List the tokens, without their secrets."""
        return Tokens(tokens=await after(to.tokens(who)))

    @add("POST", "/v1/tokens", status=201)
    async def issue(body: TokenBody, who: Caller) -> Token:
        """Make a token; it is shown once."""
        words = body.role, body.pool, body.agent
        return await after(await asyncio.to_thread(to.issue, who, *words))

    @add("POST", "/v1/tokens/{token:name}/rotate", status=201)
    async def rotate(token: str, who: Caller, body: RotationBody = AT_ONCE) -> Token:
        """Make a token in place of another; it is shown once."""
        return await after(await asyncio.to_thread(to.rotate, who, token, body.grace))

    @add("DELETE", "/v1/tokens/{token:name}")
    async def revoke(token: str, who: Caller) -> Revocation:
        """Revoke a token."""
        return await after(await asyncio.to_thread(to.revoke, who, token))
