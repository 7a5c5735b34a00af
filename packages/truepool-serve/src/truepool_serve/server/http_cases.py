"""Reports, decisions and outcomes over HTTP: what is asked again for every case."""

import struct
from struct import Struct
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from starlette.requests import Request

from truepool.core.errors import RequestError
from truepool_serve.messages import (
    LONGEST_NAME,
    Decision,
    DecisionBody,
    DecisionLine,
    Decisions,
    OutcomeBody,
    OutcomeLine,
    Receipt,
    ReportBody,
    ReportLine,
    Settlement,
    refusal,
)
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.reports import Report
from truepool_serve.server.routes import LINES, Operations

LONGEST_BATCH = 100_000
"""Lines of a batch, at most."""
ARROW = "application/vnd.apache.arrow.stream"
SHORT, INT, UINT = Struct("<H"), Struct("<i"), Struct("<I")
"""Numbers of flatbuffers."""
REPORT_LINES = msgspec.json.Decoder(ReportLine)
DECISION_LINES = msgspec.json.Decoder(DecisionLine)
OUTCOME_LINES = msgspec.json.Decoder(OutcomeLine)
V1 = "/v1/pools/{pool:name}"
NO_COLUMNS = DecisionBody()


def add_cases(operations: Operations, to: Coordinator) -> None:
    """Add the operations; each returns an answer to wait for."""
    add = operations.add

    @add("PUT", f"{V1}/cases/{{case:name}}/reports/{{agent:name}}")
    async def report(
        pool: str, case: str, agent: str, body: ReportBody, who: Caller
    ) -> Receipt:
        """Store the report of an agent on a case."""
        return await after(to.report(who, pool, [(case, agent, body.probability)]))

    @add("POST", f"{V1}/reports", lines=ReportLine)
    async def reports(pool: str, request: Request, who: Caller) -> Receipt:
        """Store a batch of reports: JSON lines, or an Arrow stream."""
        body = await request.body()
        kind = request.headers.get("content-type", LINES).partition(";")[0]
        found = _arrow(body) if kind == ARROW else _reports(body)
        return await after(to.report(who, pool, found))

    @add("POST", f"{V1}/cases/{{case:name}}/decision")
    async def decide(
        pool: str, case: str, who: Caller, body: DecisionBody = NO_COLUMNS
    ) -> Decision:
        """Decide a case by the reports on it; the same answer if asked again."""
        return await after(to.decide(who, pool, case, body.columns))

    @add("POST", f"{V1}/decisions", lines=DecisionLine)
    async def decisions(pool: str, request: Request, who: Caller) -> Decisions:
        """Decide a batch of cases, all or none: JSON lines."""
        lines = _lines(DECISION_LINES, await request.body())
        return await after(
            to.decide_all(who, pool, [(line.case, line.columns) for line in lines])
        )

    @add("PUT", f"{V1}/cases/{{case:name}}/outcome")
    async def settle(
        pool: str, case: str, body: OutcomeBody, who: Caller
    ) -> Settlement:
        """Settle a case that was decided."""
        return await after(to.settle(who, pool, [(case, body.outcome)]))

    @add("POST", f"{V1}/outcomes", lines=OutcomeLine)
    async def outcomes(pool: str, request: Request, who: Caller) -> Settlement:
        """Settle a batch of cases: JSON lines."""
        lines = _lines(OUTCOME_LINES, await request.body())
        return await after(
            to.settle(who, pool, [(line.case, line.outcome) for line in lines])
        )


def _lines(decoder: msgspec.json.Decoder[Any], body: bytes) -> list[Any]:
    if body.count(b"\n") > LONGEST_BATCH:
        raise RequestError("too-large", f"a batch has at most {LONGEST_BATCH:,} lines")
    try:
        return decoder.decode_lines(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        number, fault = _first_fault(decoder, body) or ("", error)
        raise RequestError(
            "invalid",
            f"each line must be a JSON object of this kind{number}: {refusal(fault)}",
        ) from None


def _first_fault(
    decoder: msgspec.json.Decoder[Any], body: bytes
) -> tuple[str, Exception] | None:
    """Say which line is wrong, counted from 1 as an editor does, and why."""
    for number, line in enumerate(body.split(b"\n"), 1):
        try:
            if line.strip():
                decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return f"; line {number}", error
    return None


def _reports(body: bytes) -> list[Report]:
    lines = _lines(REPORT_LINES, body)
    return [(line.case, line.agent, line.probability) for line in lines]


def _arrow(body: bytes) -> list[Report]:
    names = ("case", "agent", "probability")
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
