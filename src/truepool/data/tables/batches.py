"""Tables of any length in: read some thousand cases at a time."""

import csv as text
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, ReportError, SourceError, suggestion
from truepool.data.tables.files import file_format

CASES = 20_000
"""Cases in a batch of JSON lines or Parquet; of CSV, what a megabyte holds."""
JSON_LINES = (".jsonl", ".ndjson")

Ids: TypeAlias = pa.Array | list[Any]
"""Labels of cases, as a table has them; of JSON lines, any values."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive cases: the first one's place in the table, reports and ids.

    ``values`` are coordinates (T, N, C), not checked yet; NaN: no report.
    """

    start: int
    values: FloatArray
    ids: Ids | None


def read_batches(
    source: Path | BinaryIO,
    agents: Sequence[str],
    classes: int = 2,
    *,
    id: str | None = None,
) -> Iterator[Batch]:
    """Read reports of known agents; all other columns are left aside.

    ``source`` is a CSV, Parquet or JSON-lines file, or a stream of CSV or JSON lines.
    ``id`` names the column that labels the cases; ``id`` if there is one.
    """
    wanted = [
        name if classes == 2 else f"{name}:{k}"
        for name in agents
        for k in range(1 if classes == 2 else classes)
    ]
    start = 0
    for columns in _columns(source, wanted, id):
        ids = columns.pop(id or "id", None)
        reports = np.stack([columns[name] for name in wanted], axis=1)
        T = len(reports)
        if T:
            yield Batch(start, reports.reshape(T, len(agents), -1), ids)
        start += T
    if not start:
        raise SourceError("the table must have at least one row; it has none")


def is_json_lines(source: Path | BinaryIO) -> bool:
    """Whether a file or a stream holds JSON lines; nothing of it is used up.

    >>> is_json_lines(Path("new.jsonl")), is_json_lines(Path("new.csv"))
    (True, False)
    """
    if isinstance(source, Path):
        return source.name.lower().endswith(JSON_LINES)
    return source.peek(1)[:1] == b"{"  # type: ignore[attr-defined, no-any-return]


def _columns(
    source: Path | BinaryIO, wanted: list[str], id: str | None
) -> Iterator[dict[str, Any]]:
    if not isinstance(source, Path):
        lines = is_json_lines(source)
        yield from _json(source, wanted, id) if lines else _csv(source, wanted, id)
        return
    if not source.is_file():
        raise SourceError(f"there is no file {str(source)!r}")
    if not is_json_lines(source) and file_format(source, "read") == "parquet":
        yield from _parquet(source, wanted, id)
        return
    opened = gzip.open if source.suffix == ".gz" else open
    with opened(source, "rb") as stream:
        if is_json_lines(source):
            yield from _json(stream, wanted, id)  # type: ignore[arg-type]
        else:
            yield from _csv(stream, wanted, id)  # type: ignore[arg-type]


def _csv(
    stream: BinaryIO, wanted: list[str], id: str | None
) -> Iterator[dict[str, Any]]:
    head = stream.readline().decode("utf-8-sig", "replace")
    names = [name.strip() for name in next(text.reader([head]), [])]
    label = _check_columns(names, wanted, id)
    if not stream.peek(1):  # type: ignore[attr-defined]
        return
    types = dict.fromkeys(wanted, pa.float64()) | {name: pa.string() for name in label}
    options = csv.ConvertOptions(include_columns=[*types], column_types=types)
    try:
        reader = csv.open_csv(
            pa.PythonFile(stream, "r"),
            csv.ReadOptions(column_names=names),
            convert_options=options,
        )
        for batch in reader:
            yield _arrays(batch, label)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _unreadable("CSV", error) from None


def _parquet(path: Path, wanted: list[str], id: str | None) -> Iterator[dict[str, Any]]:
    try:
        with parquet.ParquetFile(path) as file:
            label = _check_columns(file.schema_arrow.names, wanted, id)
            for batch in file.iter_batches(CASES, columns=[*wanted, *label]):
                yield _arrays(batch, label)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable("Parquet", error) from None


def _json(
    stream: BinaryIO, wanted: list[str], id: str | None
) -> Iterator[dict[str, Any]]:
    label = id or "id"
    start = 0
    while lines := list(islice(stream, CASES)):
        rows = [_object(line, start + t) for t, line in enumerate(lines)]
        columns: dict[str, Any] = {
            name: np.array([_number(row.get(name), name, start + t)
                            for t, row in enumerate(rows)])
            for name in wanted
        }  # fmt: skip
        if any(label in row for row in rows):
            columns[label] = [row.get(label) for row in rows]
        yield columns
        start += len(rows)


def _object(line: bytes, t: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise SourceError(f"line {t + 1} must be JSON: {error}") from None
    if not isinstance(row, dict):
        raise SourceError(
            f"a line must be an object, one per case; line {t + 1} is {row!r:.40}"
        )
    return row


def _number(value: Any, name: str, t: int) -> float:
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReportError(
            f"a report must be a number in [0, 1]; {name!r} has {value!r:.40} in line "
            f"{t + 1}. Use null where there is no report."
        )
    return float(value)


def _check_columns(
    names: Sequence[str], wanted: Sequence[str], id: str | None
) -> list[str]:
    """Refuse a table that lacks an agent; return the id column, or nothing."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise AgentError(
            "the table must have the agents that the pool learned from, by name; "
            f"missing: {', '.join(map(repr, missing))}{suggestion(missing[0], names)}; "
            f"columns: {', '.join(names)}"
        )
    if id is not None and id not in names:
        raise SourceError(
            f"there is no id column {id!r}{suggestion(id, names)}; "
            f"columns: {', '.join(names)}"
        )
    twice = {name for name in names if names.count(name) > 1} & {*wanted, id or "id"}
    if twice:
        raise AgentError(
            "every column needs a name of its own; got "
            f"{', '.join(map(repr, sorted(twice)))} more than once. Rename one."
        )
    label = id or "id"
    return [label] if label in names else []


def _arrays(batch: pa.RecordBatch, label: list[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in label:
            columns[name] = column
        else:
            try:
                numbers = column.cast(pa.float64())
            except pa.ArrowException:
                raise ReportError(
                    f"a report must be a number in [0, 1]; column {name!r} holds "
                    f"{column.type}"
                ) from None
            columns[name] = numbers.to_numpy(zero_copy_only=False)
    return columns


def _unreadable(kind: str, error: Exception) -> SourceError:
    reason = str(error).splitlines()[0]
    return SourceError(f"the table cannot be read as {kind}: {reason}")
