"""What is seen of requests: a limit on their size, metrics, log lines and traces.

None of them shows a report, a token or the name of a case: an operation is named by its
path with the names left out.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from truepool.core.errors import LedgerError, RequestError, TruepoolError
from truepool.core.sentences import Voice
from truepool_serve.server.metrics import Metrics
from truepool_serve.server.writer import FAULTS

LOGGER = logging.getLogger("truepool_serve.server")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Observation:
    """ASGI middleware: measures every request, and ends one that is too large."""

    def __init__(
        self,
        app: Any,
        metrics: Metrics,
        largest: Callable[[], int],
        name_span: Callable[[str, int], None] | None = None,
    ) -> None:
        self.app = app
        self.metrics = metrics
        self.largest = largest
        self.name_span = name_span

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self.name_span is not None:
                    self.name_span(f"{scope['method']} {_path(scope)}", status)
            await send(message)

        try:
            await self.app(scope, _limited(receive, self.largest()), answer)
        finally:
            operation = f"{scope['method']} {_path(scope)}"
            seconds = time.perf_counter() - start
            caller = scope.get("state", {}).get("caller")
            observe(self.metrics, operation, status, seconds, caller)


def observe(
    metrics: Metrics, operation: str, status: int | str, seconds: float, caller: Any
) -> None:
    """Count a request, and log it; ``status`` is that of HTTP, or a code."""
    metrics.requests.labels(operation, str(status)).inc()
    metrics.request_seconds.labels(operation).observe(seconds)
    failed = status in ("internal", "unavailable") or (
        isinstance(status, int) and status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )
    level = logging.ERROR if failed else logging.INFO
    if LOGGER.isEnabledFor(level):
        fields = {
            "operation": operation,
            "status": status,
            "ms": round(1000 * seconds, 3),
            "token": None if caller is None else caller.token,
        }
        LOGGER.log(level, "request", extra={"fields": fields})


def error_code(error: TruepoolError) -> str:
    """Return the stable code of an error; one that is not the caller's is logged.

    A plug-in that fails, or that breaks its contract, is none of the caller's: the same
    request may be answered once it is upgraded.
    """
    if isinstance(error, RequestError):
        return error.code
    if isinstance(error, LedgerError):
        LOGGER.error("unavailable", extra={"fields": {"reason": str(error)}})
        return "unavailable"
    if isinstance(error, FAULTS):
        origin = error.__cause__ or error
        LOGGER.error("fault", exc_info=(type(origin), origin, origin.__traceback__))
        return "internal"
    return "invalid"


def error_message(error: TruepoolError) -> str:
    """Return what is wrong, in the words of a request."""
    return "\n".join(error.lines(Voice("http")))


def _path(scope: Scope) -> str:
    """Path of an operation without the names in it."""
    route = scope.get("route")
    return "other" if route is None else str(route.path).replace(":name}", "}")


def _limited(receive: Receive, largest: int) -> Receive:
    size = 0

    async def part() -> MutableMapping[str, Any]:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > largest:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a request has at most {largest:,} bytes",
            )
        return message

    return part


class JsonLines(logging.Formatter):
    """One JSON object per line; of an error its kind and place, not its words."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line."""
        line = {
            "at": round(record.created, 6),
            "level": record.levelname.lower(),
            "event": record.getMessage() if record.name == LOGGER.name else record.name,
            **vars(record).get("fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = _place(record.exc_info[2])
        return json.dumps(line)


def _place(trace: Any) -> str | None:
    """File and line where an error was raised."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def start_logging(level: str) -> None:
    """Write JSON lines to standard error: of all requests, of errors, or none."""
    levels = {"all": logging.INFO, "errors": logging.ERROR, "off": logging.CRITICAL + 1}
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in (LOGGER.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(
            max(levels[level], logging.ERROR) if name != LOGGER.name else levels[level]
        )
