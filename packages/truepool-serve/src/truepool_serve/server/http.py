"""The coordinator over HTTP: JSON, JSON lines and Arrow, described by OpenAPI."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Annotated, Any

from msgspec import UNSET, Meta
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from truepool.core.errors import RequestError, TruepoolError
from truepool_serve.messages import (
    AgentBody,
    AlarmList,
    AnyEndpoint,
    Audit,
    Case,
    ChallengerBody,
    Challengers,
    Credits,
    Decision,
    Deletion,
    Erasure,
    Pool,
    PoolNames,
    PoolStatus,
    PredictionBody,
    Readiness,
    Status,
    Weights,
)
from truepool_serve.server import records
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.http_administration import add_administration
from truepool_serve.server.http_cases import V1, add_cases
from truepool_serve.server.limits import TokenFirst
from truepool_serve.server.local_requests import LocalRequests
from truepool_serve.server.observation import Observation, error_code, error_message
from truepool_serve.server.over_time import credit_over_time, weights_over_time
from truepool_serve.server.pages import pages
from truepool_serve.server.path_names import EncodedSlashes, methods_of_path, show_path
from truepool_serve.server.routes import Operations
from truepool_serve.server.traces import Tracer, Tracing, name_span

PARQUET = "application/vnd.apache.parquet"
STATUS = {
    "invalid": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "unknown": 404,
    "conflict": 409,
    "too-large": 413,
    "too-many": 429,
    "internal": 500,
    "unavailable": 503,
}
"""HTTP status of each code of an error."""
HEADERS = {
    "unauthenticated": {"WWW-Authenticate": "Bearer"},
    "too-many": {"Retry-After": "1"},
    "unavailable": {"Retry-After": "1"},
}
"""What an error asks of the caller."""
LARGEST_BODY = 64 * 2**20
"""Bytes of a request, at most."""
Last = Annotated[int, Meta(description="How many cases with a known outcome.")]
Points = Annotated[int, Meta(description="How many points of a series.")]


def app(
    coordinator: Coordinator,
    tracer: Tracer | None = None,
    lifespan: Any = None,
    *,
    local: bool = False,
) -> Starlette:
    """Return the ASGI application of a coordinator, and of what runs beside it.

    One that listens on loopback (``local``) refuses web pages until there are tokens.
    """
    # They use the limits and the codes of this module.
    from truepool_serve.server.inference import rest
    from truepool_serve.server.inference.pool_models import PoolModels

    @asynccontextmanager
    async def whole(api: Starlette) -> AsyncIterator[None]:
        async with nullcontext() if lifespan is None else lifespan(api):
            yield
        await coordinator.calls.close()

    operations, models = describe(coordinator), rest.app(PoolModels(coordinator))

    async def document(request: Request) -> Response:
        return JSONResponse(openapi(operations))

    middleware = [
        Middleware(EncodedSlashes),
        Middleware(
            Observation,
            metrics=coordinator.metrics,
            largest=lambda: LARGEST_BODY,
            name_span=None if tracer is None else name_span,
        ),
        Middleware(TokenFirst, access=coordinator.access, refuse=_refuse),
    ]
    if tracer is not None:
        middleware.insert(0, Middleware(Tracing, tracer=tracer))
    if local:
        guard = Middleware(LocalRequests, is_open=lambda: coordinator.access.is_open)
        middleware.append(guard)
    handlers: dict[Any, Any] = {
        TruepoolError: lambda request, error: _refuse(error),
        HTTPException: _refuse_path,
    }
    return Starlette(
        routes=[
            *(operation.route for operation in operations.every),
            Route("/openapi.json", document),
            *pages(coordinator),
            Route("/v2", models),
            Route("/v2/{rest:path}", models),
        ],
        middleware=middleware,
        exception_handlers=handlers,
        lifespan=whole,
    )


def openapi(operations: Operations) -> dict[str, Any]:
    """Return the document that describes the operations."""
    return operations.openapi(
        "truepool", "Pool probability reports from many agents into one decision."
    )


def describe(to: Coordinator) -> Operations:
    """Return the operations of a coordinator."""
    operations = Operations()
    add = operations.add
    add_cases(operations, to)  # first: routes are tried in their order

    @add("GET", "/livez")
    async def live() -> Status:
        """Say that the process runs."""
        return Status(status="ok")

    @add("GET", "/readyz")
    async def ready(request: Request) -> Readiness:
        """Write to the ledger, and say that it was done."""
        await to.check_ready()
        known = {p: e.record for p, e in to.operations.unverified.items()}
        shown: Any = UNSET
        with suppress(RequestError):  # without a token, how many there are is enough
            to.access.identify(request.headers.get("authorization")).check("read")
            shown = known
        return Readiness(status="ok", unverified=len(known), records=shown)

    @add("GET", "/v1/pools")
    async def pools(who: Caller) -> PoolNames:
        """List the pools."""
        return PoolNames(pools=await after(to.pools(who)))

    @add("POST", "/v1/pools", status=201)
    async def create(body: Pool, who: Caller) -> Pool:
        """Deploy a pool."""
        return await after(to.create(who, body))

    @add("GET", V1)
    async def pool(pool: str, who: Caller) -> PoolStatus:
        """Describe a pool, with its weights."""
        return await after(to.describe(who, pool))

    @add("DELETE", V1)
    async def delete(pool: str, who: Caller) -> Deletion:
        """Delete a pool with all its records; only the trail remembers it."""
        return await after(await asyncio.to_thread(to.delete, who, pool))

    @add("GET", f"{V1}/alarms")
    async def alarms(pool: str, who: Caller) -> AlarmList:
        """List the alarms on feeds that are not over; they are watched all the time."""
        return AlarmList(alarms=await after(to.alarms_of(who, pool)))

    async def change(who: Caller, pool: str, record: records.Record) -> PoolStatus:
        return await after(to.change(who, pool, record))

    @add("POST", f"{V1}/agents", status=201)
    async def join(pool: str, body: AgentBody, who: Caller) -> PoolStatus:
        """Let an agent join."""
        record = records.Join(agent=body.name, endpoint=body.endpoint)
        return await change(who, pool, record)

    @add("PUT", f"{V1}/agents/{{agent:name}}/endpoint")
    async def register(
        pool: str, agent: str, body: AnyEndpoint, who: Caller
    ) -> PoolStatus:
        """Register where an agent answers; see docs/protocols.md."""
        record = records.SetEndpoint(agent=agent, endpoint=body)
        return await change(who, pool, record)

    @add("DELETE", f"{V1}/agents/{{agent:name}}/endpoint")
    async def unregister(pool: str, agent: str, who: Caller) -> PoolStatus:
        """Stop asking an agent; it may still report."""
        return await change(who, pool, records.SetEndpoint(agent=agent))

    @add("DELETE", f"{V1}/agents/{{agent:name}}")
    async def leave(pool: str, agent: str, who: Caller) -> PoolStatus:
        """Let an agent leave."""
        return await change(who, pool, records.Leave(agent=agent))

    @add("POST", f"{V1}/cases/{{case:name}}/prediction")
    async def predict(
        pool: str, case: str, body: PredictionBody, who: Caller
    ) -> Decision:
        """Ask the registered agents about a case, and decide by whoever answered."""
        rest = body.features, body.columns, body.deadline
        return await to.predict(who, pool, case, *rest)

    @add("GET", f"{V1}/cases/{{case:name}}")
    async def case(pool: str, case: str, who: Caller) -> Case:
        """Return what is known about a case."""
        return await after(to.case(who, pool, case))

    @add("DELETE", f"{V1}/cases/{{case:name}}")
    async def erase(pool: str, case: str, who: Caller) -> Erasure:
        """Erase a case; the ledger stays verifiable."""
        return await after(await asyncio.to_thread(to.erase, who, pool, case))

    @add("GET", f"{V1}/panel", media_type=PARQUET)
    async def panel(pool: str, who: Caller, last: Last = 10_000) -> Response:
        """Export the last cases with outcomes, as Parquet for `truepool audit`."""
        settled = await asyncio.to_thread(to.settled, who, pool, last)
        return Response(await asyncio.to_thread(settled.to_parquet), media_type=PARQUET)

    @add("GET", f"{V1}/audit")
    async def audit(pool: str, who: Caller, last: Last = 1000) -> Audit:
        """Audit the last cases with a known outcome."""
        settled = await asyncio.to_thread(to.settled, who, pool, last)
        return await asyncio.to_thread(settled.audit)

    @add("GET", f"{V1}/weights")
    async def weights(
        pool: str, who: Caller, last: Last = 10_000, points: Points = 100
    ) -> Weights:
        """Return the weights that decided the last cases with a known outcome."""
        settled = await asyncio.to_thread(to.settled, who, pool, last)
        return await asyncio.to_thread(weights_over_time, settled, points)

    @add("GET", f"{V1}/credit")
    async def credit(
        pool: str, who: Caller, last: Last = 10_000, points: Points = 100
    ) -> Credits:
        """Return what each agent contributed to the last cases with a known outcome."""
        settled = await asyncio.to_thread(to.settled, who, pool, last)
        return await asyncio.to_thread(credit_over_time, settled, points)

    @add("POST", f"{V1}/challengers", status=201)
    async def challenge(pool: str, body: ChallengerBody, who: Caller) -> PoolStatus:
        """Run another rule in shadow mode, beside the one that decides."""
        record = records.Challenge(name=body.name, rule=body.rule)
        return await change(who, pool, record)

    @add("GET", f"{V1}/challengers")
    async def evidence(pool: str, who: Caller, last: Last = 10_000) -> Challengers:
        """Compare the challengers with the rule that decides."""
        return await asyncio.to_thread(to.evidence, who, pool, last)

    @add("POST", f"{V1}/challengers/{{name:name}}/promote")
    async def promote(pool: str, name: str, who: Caller) -> PoolStatus:
        """Let a rule decide from now on; the previous one runs in shadow mode."""
        return await change(who, pool, records.Promote(name=name))

    @add("DELETE", f"{V1}/challengers/{{name:name}}")
    async def withdraw(pool: str, name: str, who: Caller) -> PoolStatus:
        """Stop a challenger."""
        return await change(who, pool, records.Withdraw(name=name))

    add_administration(operations, to)
    return operations


def _refuse(error: TruepoolError) -> JSONResponse:
    return _error(error_code(error), error_message(error))


async def _refuse_path(request: Request, error: HTTPException) -> Response:
    if error.status_code == STATUS["too-large"]:
        return _error("too-large", error.detail)
    code = "unknown" if error.status_code == 404 else "invalid"
    sentence = f"{request.method} {show_path(request.url.path)} is no operation"
    if error.status_code != 405:
        return _error(code, f"{sentence}; see /openapi.json", error.status_code)
    methods = methods_of_path(request)
    answer = _error(code, f"{sentence}; this path takes {' or '.join(methods)}", 405)
    answer.headers["Allow"] = ", ".join(methods)
    return answer


def _error(code: str, sentence: Any, status: int | None = None) -> JSONResponse:
    content = {"error": {"code": code, "message": str(sentence)}}
    return JSONResponse(content, status or STATUS[code], HEADERS.get(code))
