"""What operators and admins ask over HTTP: tokens, the trail, metrics."""

import asyncio
from typing import Annotated, Any

from fastapi import FastAPI, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST

from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.http_requests import RotationBody, TokenBody
from truepool_serve.server.http_responses import (
    Revocation,
    Token,
    Tokens,
    Trail,
    answers,
    file,
)


def add_administration(api: FastAPI, coordinator: Coordinator, who: Any) -> None:
    """Add the operations to an application; ``who`` is the type of its caller."""

    @api.get("/metrics", **file("text/plain"))
    async def metrics(who: who) -> Response:
        """Return metrics for Prometheus."""
        who.check("metrics")
        content = coordinator.metrics.to_text()
        return Response(content, media_type=CONTENT_TYPE_LATEST)

    @api.get("/v1/trail", **answers(Trail))
    async def trail(
        who: who,
        last: Annotated[
            int, Query(description="How many of the most recent actions.")
        ] = 100,
    ) -> Any:
        """Say who did what: tokens, pools, agents, rules and erasures."""
        return {"trail": await after(coordinator.trail(who, last))}

    @api.get("/v1/tokens", **answers(Tokens))
    async def tokens(who: who) -> Any:
        """List the tokens, without their secrets."""
        return {"tokens": await after(coordinator.tokens(who))}

    @api.post("/v1/tokens", **answers(Token, 201))
    async def issue(body: TokenBody, who: who) -> Any:
        """Make a token; it is shown once."""
        words = body.role, body.pool, body.agent
        return await after(await asyncio.to_thread(coordinator.issue, who, *words))

    @api.post("/v1/tokens/{token}/rotate", **answers(Token, 201))
    async def rotate(token: str, who: who, body: RotationBody | None = None) -> Any:
        """Make a token in place of another; it is shown once."""
        grace = body.grace if body else 0.0
        return await after(
            await asyncio.to_thread(coordinator.rotate, who, token, grace)
        )

    @api.delete("/v1/tokens/{token}", **answers(Revocation))
    async def revoke(token: str, who: who) -> Any:
        """Revoke a token."""
        return await after(await asyncio.to_thread(coordinator.revoke, who, token))
