"""Reports, decisions and outcomes over HTTP: what is asked again for every case."""

import struct
from collections.abc import Callable, Coroutine
from inspect import signature
from struct import Struct
from typing import Annotated, Any, get_args

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from truepool.core.errors import RequestError
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import Answer, after
from truepool_serve.server.configuration import LONGEST_NAME
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.http_requests import (
    LINES,
    DecisionBody,
    DecisionLine,
    OutcomeBody,
    OutcomeLine,
    ReportBody,
    ReportLine,
    batch,
)
from truepool_serve.server.http_responses import (
    Decision,
    Decisions,
    Receipt,
    Settlement,
    answers,
)
from truepool_serve.server.reports import Report

LONGEST_BATCH = 100_000
"""Lines of a batch, at most."""
ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
SHORT, INT, UINT = Struct("<H"), Struct("<i"), Struct("<I")
"""Numbers of flatbuffers."""


REPORT_LINES = msgspec.json.Decoder(ReportLine)
DECISION_LINES = msgspec.json.Decoder(DecisionLine)
OUTCOME_LINES = msgspec.json.Decoder(OutcomeLine)


class CaseRoute(APIRoute):
    """A route that calls its operation directly.

    FastAPI describes it, but does not solve its dependencies: that takes longer than
    most operations do. Of the parameters, `who` and `request` come from the request,
    `body` is its JSON, and the others are parts of the path.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        operation, parameters = self.endpoint, signature(self.endpoint).parameters
        identify = get_args(parameters["who"].annotation)[1].dependency
        body = parameters.get("body")
        read = None if body is None else TypeAdapter(body.annotation)
        has_default = body is not None and body.default is not body.empty

        async def handle(request: Request) -> Response:
            words = request.path_params | {"who": await identify(request)}
            if "request" in parameters:
                words["request"] = request
            if read is not None:
                content = await request.body()
                if content or not has_default:
                    words["body"] = _parse(read, request, content)
            answer: Answer = await operation(**words)
            # Written without looking for what JSON does not have.
            stored = msgspec.json.encode(await after(answer))
            return Response(stored, media_type=JSON)

        return handle


def add_cases(
    api: FastAPI, coordinator: Coordinator, identify: Callable[..., Any]
) -> None:
    """Add the operations to an application."""
    Who = Annotated[Caller, Depends(identify)]
    v1 = "/v1/pools/{pool:name}"

    def add(method: str, path: str, **extra: Any) -> Callable[..., Any]:
        def register(operation: Callable[..., Any]) -> Callable[..., Any]:
            api.router.add_api_route(
                f"{v1}{path}",
                operation,
                methods=[method],
                response_model=None,
                route_class_override=CaseRoute,
                **extra,
            )
            return operation

        return register

    @add("PUT", "/cases/{case:name}/reports/{agent:name}", **answers(Receipt))
    async def report(
        pool: str, case: str, agent: str, body: ReportBody, who: Who
    ) -> Answer:
        """Store the report of an agent on a case."""
        return coordinator.report(who, pool, [(case, agent, body.probability)])

    @add("POST", "/reports", openapi_extra=batch(ReportLine), **answers(Receipt))
    async def reports(pool: str, request: Request, who: Who) -> Answer:
        """Store a batch of reports: JSON lines, or an Arrow stream."""
        body = await request.body()
        kind = request.headers.get("content-type", LINES).partition(";")[0]
        found = _arrow(body) if kind == ARROW else _reports(body)
        return coordinator.report(who, pool, found)

    @add("POST", "/cases/{case:name}/decision", **answers(Decision))
    async def decide(
        pool: str, case: str, who: Who, body: DecisionBody | None = None
    ) -> Answer:
        """Decide a case by the reports on it; the same answer if asked again."""
        return coordinator.decide(who, pool, case, body.columns if body else None)

    @add("POST", "/decisions", openapi_extra=batch(DecisionLine), **answers(Decisions))
    async def decisions(pool: str, request: Request, who: Who) -> Answer:
        """Decide a batch of cases, all or none: JSON lines."""
        lines = _lines(DECISION_LINES, await request.body())
        found = [(line.case, line.columns) for line in lines]
        return coordinator.decide_all(who, pool, found)

    @add("PUT", "/cases/{case:name}/outcome", **answers(Settlement))
    async def settle(pool: str, case: str, body: OutcomeBody, who: Who) -> Answer:
        """Settle a case that was decided."""
        return coordinator.settle(who, pool, [(case, body.outcome)])

    @add("POST", "/outcomes", openapi_extra=batch(OutcomeLine), **answers(Settlement))
    async def outcomes(pool: str, request: Request, who: Who) -> Answer:
        """Settle a batch of cases: JSON lines."""
        lines = _lines(OUTCOME_LINES, await request.body())
        found = [(line.case, line.outcome) for line in lines]
        return coordinator.settle(who, pool, found)


def _parse(read: TypeAdapter[Any], request: Request, content: bytes) -> Any:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RequestError(
            "invalid",
            f"the body of this request must be JSON; got {kind or 'no type'!r:.60}. "
            f"Send it with Content-Type: {JSON}",
        )
    try:
        return read.validate_json(content)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None


def _lines(decoder: msgspec.json.Decoder[Any], body: bytes) -> list[Any]:
    if body.count(b"\n") > LONGEST_BATCH:
        raise RequestError("too-large", f"a batch has at most {LONGEST_BATCH:,} lines")
    try:
        return decoder.decode_lines(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        sentence = f"each line must be a JSON object of this kind: {error}"
    raise RequestError("invalid", _first_fault(decoder, body) or sentence)


def _first_fault(decoder: msgspec.json.Decoder[Any], body: bytes) -> str | None:
    """Say which line is wrong, counted from 1 as an editor does."""
    for number, line in enumerate(body.split(b"\n"), 1):
        try:
            if line.strip():
                decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            reason = str(error).replace("`$.", "`")
            return (
                f"each line must be a JSON object of this kind; line {number}: {reason}"
            )
    return None


def _reports(body: bytes) -> list[Report]:
    lines = _lines(REPORT_LINES, body)
    return [(line.case, line.agent, line.probability) for line in lines]


def _arrow(body: bytes) -> list[Report]:
    names = ReportLine.__struct_fields__
    try:
        _check_uncompressed(body)
        with pa.ipc.open_stream(body) as stream:
            _check_types(stream.schema)
            batches, rows = [], 0
            for batch in stream:
                rows += batch.num_rows
                if rows > LONGEST_BATCH:
                    raise RequestError(
                        "too-large", f"a batch has at most {LONGEST_BATCH:,} rows"
                    )
                batches.append(batch.select(names))
            table = pa.Table.from_batches(batches, stream.schema).select(names)
        for name in ("case", "agent"):
            _check_lengths(name, table[name])
        columns = [table[name].to_pylist() for name in names]
    except (pa.ArrowException, struct.error, KeyError, OSError) as error:
        raise RequestError(
            "invalid",
            "an Arrow stream must have the columns case, agent and probability: "
            f"{error}",
        ) from None
    for name in ("case", "agent"):
        if table[name].null_count or not _is_text(table[name].type):
            raise RequestError(
                "invalid",
                f"column {name!r} of an Arrow stream must be text without gaps; got "
                f"{table[name].type} with {table[name].null_count} nulls",
            )
    return list(zip(*columns, strict=True))


def _check_uncompressed(body: bytes) -> None:
    """Refuse batches that are small here and large once they are read.

    The head of a batch is a table of flatbuffers, and its field 3 says how it is
    compressed; in a batch of a dictionary that table is field 1.
    """
    for message in pa.ipc.MessageReader.open_stream(body):
        if message.type not in ("record batch", "dictionary"):
            continue
        head = message.metadata.to_pybytes()
        table = _field(head, UINT.unpack_from(head)[0], 2)
        if message.type == "dictionary":
            table = _field(head, table, 1)
        if _field(head, table, 3):
            raise RequestError(
                "invalid", "an Arrow stream must not be compressed; send it plain"
            )


def _field(head: bytes, table: int, number: int) -> int:
    """Place of a table that is a field of another; 0: it has no such field."""
    index = table - INT.unpack_from(head, table)[0]
    place = 4 + 2 * number
    if place >= SHORT.unpack_from(head, index)[0]:
        return 0
    offset = SHORT.unpack_from(head, index + place)[0]
    where = int(table + offset)
    return where + int(UINT.unpack_from(head, where)[0]) if offset else 0


def _check_types(found: pa.Schema) -> None:
    """Refuse types that say much in few bytes, before anything is read."""
    kind = found.field("probability").type
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        kind = kind.value_type
    numbers = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    for name, fits in (
        ("case", _is_text(found.field("case").type)),
        ("agent", _is_text(found.field("agent").type)),
        ("probability", numbers),
    ):
        if not fits:
            raise RequestError(
                "invalid",
                f"column {name!r} of an Arrow stream must be "
                f"{'numbers' if name == 'probability' else 'text without gaps'}; got "
                f"{found.field(name).type}",
            )


def _check_lengths(name: str, column: Any) -> None:
    """Refuse a long text that many rows share, which each would have for itself."""
    for chunk in column.chunks:
        texts = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        longest = pc.max(pc.utf8_length(texts)).as_py() or 0
        if longest > LONGEST_NAME:
            raise RequestError(
                "invalid",
                f"a name in column {name!r} has at most {LONGEST_NAME} characters; got "
                f"one of {longest:,}",
            )


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
