"""The coordinator over HTTP: JSON, JSON lines and Arrow, described by OpenAPI."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Annotated, Any

import msgspec
from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

from truepool.core.errors import RequestError, TruepoolError
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.http_administration import add_administration
from truepool_serve.server.http_cases import add_cases
from truepool_serve.server.http_requests import (
    POOL,
    AgentBody,
    ChallengerBody,
    EndpointBody,
    Pool,
    PredictionBody,
)
from truepool_serve.server.http_responses import (
    PARQUET,
    REFUSALS,
    AlarmList,
    Audit,
    Case,
    Challengers,
    Credits,
    Decision,
    Deletion,
    Erasure,
    PoolNames,
    PoolState,
    Readiness,
    Status,
    Weights,
    answers,
    file,
)
from truepool_serve.server.limits import TokenFirst
from truepool_serve.server.local_requests import LocalRequests
from truepool_serve.server.observation import Observation, error_code, error_message
from truepool_serve.server.over_time import credit_over_time, weights_over_time
from truepool_serve.server.pages import add_pages
from truepool_serve.server.path_names import EncodedSlashes, methods_of_path, show_path
from truepool_serve.server.traces import Tracer

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
UNIONS = {"probability": ("float", "list[float]"), "outcome": ("str", "int")}
"""Fields of two types: pydantic names the one that it tried after the field."""
SCALARS = str | int | float | None
"""Values that a message repeats; a whole object would hide what is wrong in it."""
LARGEST_BODY = 64 * 2**20
"""Bytes of a request, at most."""


def app(
    coordinator: Coordinator,
    tracer: Tracer | None = None,
    lifespan: Any = None,
    *,
    local: bool = False,
) -> FastAPI:
    """Return the ASGI application of a coordinator, and of what runs beside it.

    One that listens on loopback (``local``) refuses web pages until there are tokens.
    """

    @asynccontextmanager
    async def whole(api: FastAPI) -> AsyncIterator[None]:
        async with nullcontext() if lifespan is None else lifespan(api):
            yield
        await coordinator.calls.close()

    api = FastAPI(
        title="truepool",
        description="Pool probability reports from many agents into one decision.",
        version="v1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        responses=REFUSALS,
        lifespan=whole,
    )

    async def caller(request: Request) -> Caller:
        known: Caller | None = getattr(request.state, "caller", None)
        if known is None:
            header = request.headers.get("authorization")
            known = request.state.caller = coordinator.access.identify(header)
        return known

    Who = Annotated[Caller, Depends(caller)]
    Last = Annotated[int, Query(description="How many cases with a known outcome.")]
    v1 = "/v1/pools/{pool:name}"
    add_cases(api, coordinator, caller)  # first: routes are tried in their order

    @api.get("/livez", **answers(Status))
    async def live() -> dict[str, str]:
        """Say that the process runs."""
        return {"status": "ok"}

    @api.get("/readyz", **answers(Readiness))
    async def ready(request: Request) -> dict[str, Any]:
        """Write to the ledger, and say that it was done."""
        await coordinator.check_ready()
        found = {p: e.record for p, e in coordinator.operations.unverified.items()}
        answer: dict[str, Any] = {"status": "ok", "unverified": len(found)}
        with suppress(RequestError):  # without a token, how many there are is enough
            (await caller(request)).check("read")
            answer["records"] = found
        return answer

    @api.get("/v1/pools", **answers(PoolNames))
    async def pools(who: Who) -> dict[str, Any]:
        """List the pools."""
        return {"pools": await after(coordinator.pools(who))}

    @api.post("/v1/pools", openapi_extra=POOL, **answers(Pool, 201))
    async def create(request: Request, who: Who) -> Any:
        """Deploy a pool."""
        return await after(coordinator.create(who, _json(await request.body())))

    @api.get(v1, **answers(PoolState))
    async def describe(pool: str, who: Who) -> Any:
        """Describe a pool, with its weights."""
        return await after(coordinator.describe(who, pool))

    @api.delete(v1, **answers(Deletion))
    async def delete(pool: str, who: Who) -> Any:
        """Delete a pool with all its records; only the trail remembers it."""
        return await after(await _apart(coordinator.delete, who, pool))

    @api.get(f"{v1}/alarms", **answers(AlarmList))
    async def alarms(pool: str, who: Who) -> Any:
        """List the alarms on feeds that are not over; they are watched all the time."""
        return {"alarms": await after(coordinator.alarms_of(who, pool))}

    @api.post(f"{v1}/agents", **answers(PoolState, 201))
    async def join(pool: str, body: AgentBody, who: Who) -> Any:
        """Let an agent join."""
        content = {"agent": body.name, "endpoint": body.endpoint}
        return await after(coordinator.change(who, pool, "join", content))

    @api.put(f"{v1}/agents/{{agent:name}}/endpoint", **answers(PoolState))
    async def register(pool: str, agent: str, body: EndpointBody, who: Who) -> Any:
        """Register where an agent answers; see docs/protocols.md."""
        content = {"agent": agent, "endpoint": body}
        return await after(coordinator.change(who, pool, "endpoint", content))

    @api.delete(f"{v1}/agents/{{agent:name}}/endpoint", **answers(PoolState))
    async def unregister(pool: str, agent: str, who: Who) -> Any:
        """Stop asking an agent; it may still report."""
        content = {"agent": agent, "endpoint": None}
        return await after(coordinator.change(who, pool, "endpoint", content))

    @api.delete(f"{v1}/agents/{{agent:name}}", **answers(PoolState))
    async def leave(pool: str, agent: str, who: Who) -> Any:
        """Let an agent leave."""
        return await after(coordinator.change(who, pool, "leave", {"agent": agent}))

    @api.post(f"{v1}/cases/{{case:name}}/prediction", **answers(Decision))
    async def predict(pool: str, case: str, body: PredictionBody, who: Who) -> Any:
        """Ask the registered agents about a case, and decide by whoever answered."""
        return await coordinator.predict(
            who, pool, case, body.features, body.columns, body.deadline
        )

    @api.get(f"{v1}/cases/{{case:name}}", **answers(Case))
    async def case(pool: str, case: str, who: Who) -> Any:
        """Return what is known about a case."""
        return await after(coordinator.case(who, pool, case))

    @api.delete(f"{v1}/cases/{{case:name}}", **answers(Erasure))
    async def erase(pool: str, case: str, who: Who) -> Any:
        """Erase a case; the ledger stays verifiable."""
        return await after(coordinator.erase(who, pool, case))

    @api.get(f"{v1}/panel", **file(PARQUET))
    async def panel(pool: str, who: Who, last: Last = 10_000) -> Response:
        """Export the last cases with outcomes, as Parquet for `truepool audit`."""
        history = await _apart(coordinator.history, who, pool, last)
        content = await _apart(history.to_parquet)
        return Response(content, media_type=PARQUET)

    @api.get(f"{v1}/audit", **answers(Audit))
    async def audit(pool: str, who: Who, last: Last = 1000) -> Any:
        """Audit the last cases with a known outcome."""
        history = await _apart(coordinator.history, who, pool, last)
        return await _apart(history.audit)

    Points = Annotated[int, Query(description="How many points of a series.")]

    @api.get(f"{v1}/weights", **answers(Weights))
    async def weights(
        pool: str, who: Who, last: Last = 10_000, points: Points = 100
    ) -> Any:
        """Return the weights that decided the last cases with a known outcome."""
        history = await _apart(coordinator.history, who, pool, last)
        return await _apart(weights_over_time, history, points)

    @api.get(f"{v1}/credit", **answers(Credits))
    async def credit(
        pool: str, who: Who, last: Last = 10_000, points: Points = 100
    ) -> Any:
        """Return what each agent contributed to the last cases with a known outcome."""
        history = await _apart(coordinator.history, who, pool, last)
        return await _apart(credit_over_time, history, points)

    @api.post(f"{v1}/challengers", **answers(PoolState, 201))
    async def challenge(pool: str, body: ChallengerBody, who: Who) -> Any:
        """Run another rule in shadow mode, beside the one that decides."""
        rule = body.model_dump(exclude={"name"}, exclude_none=True)
        content = {"name": body.name, "rule": rule}
        return await after(coordinator.change(who, pool, "challenge", content))

    @api.get(f"{v1}/challengers", **answers(Challengers))
    async def evidence(pool: str, who: Who, last: Last = 10_000) -> Any:
        """Compare the challengers with the rule that decides."""
        found = await _apart(coordinator.evidence, who, pool, last)
        return {"challengers": found}

    @api.post(f"{v1}/challengers/{{name:name}}/promote", **answers(PoolState))
    async def promote(pool: str, name: str, who: Who) -> Any:
        """Let a rule decide from now on; the previous one runs in shadow mode."""
        return await after(coordinator.change(who, pool, "promote", {"name": name}))

    @api.delete(f"{v1}/challengers/{{name:name}}", **answers(PoolState))
    async def withdraw(pool: str, name: str, who: Who) -> Any:
        """Stop a challenger."""
        return await after(coordinator.change(who, pool, "withdraw", {"name": name}))

    add_administration(api, coordinator, Who)
    if local:
        api.add_middleware(LocalRequests, is_open=lambda: coordinator.access.is_open)
    api.add_middleware(
        Observation,
        metrics=coordinator.metrics,
        largest=lambda: LARGEST_BODY,
        tracer=tracer,
    )
    api.add_middleware(TokenFirst, access=coordinator.access, refuse=_refuse)
    api.add_middleware(EncodedSlashes)

    @api.exception_handler(TruepoolError)
    async def refuse(request: Request, error: TruepoolError) -> Response:
        return _refuse(error)

    @api.exception_handler(RequestValidationError)
    async def refuse_body(request: Request, error: RequestValidationError) -> Response:
        return _error("invalid", _describe(error.errors(), request.path_params))

    @api.exception_handler(HTTPException)
    async def refuse_path(request: Request, error: HTTPException) -> Response:
        if error.status_code == STATUS["too-large"]:
            return _error("too-large", error.detail)
        code = "unknown" if error.status_code == 404 else "invalid"
        sentence = f"{request.method} {show_path(request.url.path)} is no operation"
        if error.status_code != 405:
            return _error(code, f"{sentence}; see /openapi.json", error.status_code)
        methods = methods_of_path(request)
        answer = _error(
            code, f"{sentence}; this path takes {' or '.join(methods)}", 405
        )
        answer.headers["Allow"] = ", ".join(methods)
        return answer

    add_pages(api, coordinator)
    mount_models(api, coordinator)
    return api


def mount_models(api: FastAPI, coordinator: Coordinator) -> None:
    """Serve the pools as models of the Open Inference Protocol, under ``/v2``."""
    # They use the limits and the codes of this module.
    from truepool_serve.server.inference import rest
    from truepool_serve.server.inference.pool_models import PoolModels

    models = rest.app(PoolModels(coordinator))
    api.router.routes.append(Route("/v2", models))
    api.router.routes.append(Route("/v2/{rest:path}", models))


async def _apart(act: Callable[..., Any], *words: Any) -> Any:
    """Do something long without keeping the other requests waiting."""
    return await asyncio.to_thread(act, *words)


def _refuse(error: TruepoolError) -> JSONResponse:
    return _error(error_code(error), error_message(error))


def _error(code: str, sentence: Any, status: int | None = None) -> JSONResponse:
    content = {"error": {"code": code, "message": str(sentence)}}
    return JSONResponse(content, status or STATUS[code], HEADERS.get(code))


def _describe(faults: Sequence[Any], names: Mapping[str, str]) -> str:
    """Say what is wrong with a body; an unknown field may be a misspelt one.

    ``names`` are those in the path.
    """
    places = [_place(fault["loc"]) for fault in faults]
    by_kind = [(f["type"], p) for f, p in zip(faults, places, strict=True)]
    unknown = [place[-1] for kind, place in by_kind if kind == "extra_forbidden"]
    if unknown:
        required = [place[-1] for kind, place in by_kind if kind == "missing"]
        rest = f"; required: {', '.join(required)}" if required else ""
        return f"no field is called {unknown[0]!r:.60}{rest}"
    # Of a field that may be of two types, the fault within one of them says most.
    same = [n for n, place in enumerate(places) if place[:1] == places[0][:1]]
    deepest = max(same, key=lambda n: len(places[n]))
    reason, place = faults[deepest]["msg"], ".".join(places[deepest])
    where = f"{place}: " if place else ""
    value = faults[deepest].get("input")
    got = f"; got {value!r:.60}" if isinstance(value, SCALARS) else ""
    who = [f"{kind} {names[kind]!r:.60}" for kind in ("case", "agent") if kind in names]
    about = f" ({', '.join(who)})" if who else ""
    return f"{where}{reason[:1].lower()}{reason[1:]}{got}{about}"


def _place(where: Sequence[Any]) -> list[str]:
    """Name the field of a fault, without the type that was tried."""
    parts = [str(part) for part in where if part != "body"]
    tried = parts[1:2] and parts[1] in UNIONS.get(parts[0], ())
    return [parts[0], *parts[2:]] if tried else parts


def _json(body: bytes) -> Any:
    try:
        # Unlike `json` it refuses half a character (\\ud800), which nobody can be sent.
        return msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:
        raise RequestError("invalid", f"the request must be JSON: {error}") from None
