"""Tables written: whole, or some thousand cases at a time."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from truepool.core.arrays import Array
from truepool.core.errors import MissingExtraError
from truepool.core.files import atomic_path
from truepool.tables.faults import Cure, refusal
from truepool.tables.source import EXCEL, JSON_LINES, PARQUET

Ids: TypeAlias = pa.Array | list[Any]
"""Labels of cases, as a table has them; of JSON lines, any values."""

FORMULA = r"[=+\-@\t\r]"
"""What a text begins with that a spreadsheet takes for a formula."""
WRITTEN = (".csv", ".csv.gz", *PARQUET)
IN_BATCHES = (*JSON_LINES, ".xlsx")
"""What is also written some thousand cases at a time."""
ROW_GROUP = 1 << 18
"""Least number of cases in a row group of Parquet, but for the last."""
SHEET_ROWS = 1 << 20
"""Most rows of a sheet of Excel, the header among them."""


def file_format(path: Path, *, batches: bool = False) -> str:
    """Return ``csv``, ``parquet``, ``excel`` or ``JSON lines``, by the file's name.

    Tables that are written in ``batches`` may be JSON lines and Excel, too.
    """
    name = path.name.lower()
    known = (*WRITTEN, *IN_BATCHES) if batches else WRITTEN
    if not name.endswith(known):
        raise refusal("written-kind", path, Cure("name-file"), known=known)
    if name.endswith(PARQUET):
        return "parquet"
    if name.endswith(JSON_LINES):
        return "JSON lines"
    return "excel" if name.endswith(EXCEL) else "csv"


@contextmanager
def open_writer(
    target: Path | BinaryIO,
    *,
    json_lines: bool = False,
    spreadsheet_safe: bool = False,
) -> Iterator[Callable[[Mapping[str, Ids]], None]]:
    """Lend a function that writes one batch of columns after another.

    A file is CSV, Parquet, JSON lines or Excel by its name, and written whole or not at
    all.
    A stream is CSV. Where ``json_lines`` are asked for, either is that. Where CSV must
    be ``spreadsheet_safe``, no text in it is a formula.
    """
    if isinstance(target, Path):
        kind = "JSON lines"
        if not json_lines:
            kind = file_format(target, batches=True)
        with atomic_path(target) as unfinished:
            if kind == "excel":
                sheet = _Sheet(target)
                try:
                    yield sheet.write
                finally:
                    sheet.close()
                sheet.save(unfinished)
                return
            packed = "gzip" if target.suffix == ".gz" else None
            with (
                pa.output_stream(unfinished, compression=packed) as stream,
                _Writer(stream, kind, safe=spreadsheet_safe) as writer,
            ):
                yield writer.write
    else:
        kind = "JSON lines" if json_lines else "csv"
        with _Writer(target, kind, safe=spreadsheet_safe) as writer:
            yield writer.write


class _Sheet:
    """Batches of columns to the one sheet of a workbook; no text in it is a formula."""

    def __init__(self, path: Path) -> None:
        try:
            from openpyxl import Workbook
        except ImportError:
            raise MissingExtraError(
                "writing Excel files", "openpyxl", "truepool[excel]"
            ) from None
        self.path, self.rows = path, 0
        self.book = Workbook(write_only=True)  # rows wait on the disk, not in memory
        self.sheet = self.book.create_sheet("cases")

    def write(self, columns: Mapping[str, Ids]) -> None:
        lists = [c if isinstance(c, list) else c.to_pylist() for c in columns.values()]
        if not self.rows:
            self._append(columns)
        for row in zip(*lists, strict=True):
            self._append(row)

    def close(self) -> None:
        self.sheet.close()

    def save(self, path: str) -> None:
        self.book.save(path)

    def _append(self, row: Iterable[Any]) -> None:
        if self.rows == SHEET_ROWS:
            raise refusal("sheet-full", self.path, Cure("name-csv"), most=SHEET_ROWS)
        self.sheet.append([self._cell(value) for value in row])
        self.rows += 1

    def _cell(self, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.utils.exceptions import IllegalCharacterError

        if value is None or value != value:
            return None
        if isinstance(value, bool | int | float):
            return value
        try:
            cell = WriteOnlyCell(self.sheet, str(value))
        except IllegalCharacterError:
            raise refusal(
                "control-characters",
                self.path,
                Cure("name-csv"),
                text=f"{value!r:.60}",
            ) from None
        cell.data_type = "s"  # also where it begins with =
        return cell


class _Writer:
    """Batches of columns to a stream; the first one says of which types they are."""

    def __init__(self, stream: Any, kind: str, *, safe: bool) -> None:
        self.stream, self.kind = stream, kind
        self.safe = safe and kind == "csv"
        self.schema: pa.Schema | None = None
        self.arrow: Any = None
        self.waiting: list[pa.Table] = []
        self.encoder = ThreadPoolExecutor(1)
        self.encoding: Future[None] | None = None

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._write_waiting()
                self._finish_encoding()
        finally:
            self.encoder.shutdown()
            if self.arrow is not None:
                self.arrow.close()

    def write(self, columns: Mapping[str, Ids]) -> None:
        if self.kind == "JSON lines":
            lists = [
                c if isinstance(c, list) else c.to_pylist() for c in columns.values()
            ]
            for row in zip(*lists, strict=True):
                line = json.dumps(dict(zip(columns, row, strict=True)), default=str)
                self.stream.write(line.encode() + b"\n")
            return
        table = as_table(columns)
        table = quote_formulas(table) if self.safe else table
        if self.schema is None:
            self.schema = table.schema
            if self.kind == "csv":
                options = csv.WriteOptions(quoting_style="needed")
                self.arrow = csv.CSVWriter(
                    self.stream, self.schema, write_options=options
                )
            else:
                self.arrow = parquet.ParquetWriter(
                    self.stream, self.schema, **_encodings(self.schema)
                )
        self.waiting.append(table.cast(self.schema))
        if self.kind == "csv" or sum(map(len, self.waiting)) >= ROW_GROUP:
            self._write_waiting()

    def _write_waiting(self) -> None:
        """Write what has come as one row group: many small ones are slow to read.

        Parquet is encoded while the next cases are pooled, one row group at a time.
        """
        if not self.waiting:
            return
        self._finish_encoding()
        table = pa.concat_tables(self.waiting)
        self.waiting.clear()
        if self.kind == "csv":
            self.arrow.write_table(table)
        else:
            self.encoding = self.encoder.submit(self.arrow.write_table, table)

    def _finish_encoding(self) -> None:
        if self.encoding is not None:
            self.encoding.result()
            self.encoding = None


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """How Parquet stores each column: probabilities neither repeat nor compress."""
    numbers = {f.name for f in schema if pa.types.is_floating(f.type)}
    whole = {f.name for f in schema if pa.types.is_integer(f.type)}
    return {
        "use_dictionary": [n for n in schema.names if n not in numbers | whole],
        "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
        "compression": {n: "none" if n in numbers else "snappy" for n in schema.names},
    }


def as_table(columns: Mapping[str, Ids]) -> pa.Table:
    """Return columns of a result as a table."""
    return pa.table({name: _arrow(column) for name, column in columns.items()})


def _arrow(column: Ids) -> pa.Array:
    """Ids of JSON lines may be of any kind; in a table they are text."""
    if not isinstance(column, list):
        return column
    return pa.array([None if v is None else str(v) for v in column], pa.string())


def write_table(
    path: str | Path, columns: Mapping[str, Array], *, spreadsheet_safe: bool = False
) -> None:
    """Write columns to a CSV or Parquet file, whole or not at all."""
    path = Path(path)
    kind = file_format(path)
    with atomic_path(path) as unfinished:
        if kind == "csv":
            packed = "gzip" if path.suffix == ".gz" else None
            with pa.output_stream(unfinished, compression=packed) as stream:
                write_csv(stream, columns, spreadsheet_safe=spreadsheet_safe)
        else:
            parquet.write_table(_table(columns), unfinished)


def write_csv(
    stream: Any, columns: Mapping[str, Array], *, spreadsheet_safe: bool = False
) -> None:
    """Write columns as CSV to an open stream of bytes."""
    table = quote_formulas(_table(columns)) if spreadsheet_safe else _table(columns)
    csv.write_csv(table, stream, csv.WriteOptions(quoting_style="needed"))


def quote_formulas(table: pa.Table) -> pa.Table:
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    >>> quote_formulas(pa.table({"@id": ["=1+1", "a"], "n": [-1, 2]})).to_pydict()
    {"'@id": ["'=1+1", 'a'], 'n': [-1, 2]}
    """
    columns = [
        pc.replace_substring_regex(column, f"^({FORMULA})", r"'\1")
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        else column
        for column in table.columns
    ]
    names = [re.sub(f"^({FORMULA})", r"'\1", name) for name in table.column_names]
    return pa.table(columns, names=names)


def _table(columns: Mapping[str, Array]) -> pa.Table:
    return pa.table({n: pa.array(c, from_pandas=True) for n, c in columns.items()})


MOST_IDS = 1_000_000
"""Cases whose ids are compared with each other; more would take memory that grows."""


class RepeatedIds:
    """The ids of the first `MOST_IDS` cases, to count those that repeat an earlier one.

    >>> seen = RepeatedIds()
    >>> seen.add(["a", "b", None])
    >>> seen.add(["a", None])
    >>> seen.count(), seen.left_out
    (1, 0)
    """

    def __init__(self) -> None:
        self._parts: list[pa.Array] = []
        self._kept = 0
        self.left_out = 0
        """Cases whose ids are not compared."""

    def add(self, ids: Ids | None) -> None:
        """Take up the ids of further cases; cases of tables without ids have none."""
        if ids is None:
            return
        part = ids[: MOST_IDS - self._kept]
        self._kept += len(part)
        self.left_out += len(ids) - len(part)
        if len(part):
            self._parts.append(_as_text(part) if isinstance(part, list) else part)

    def count(self) -> int:
        """Return how many cases repeat the id of an earlier one; no id is none."""
        if not self._parts:
            return 0
        try:
            ids = pa.chunked_array(self._parts)
            distinct = pc.count_distinct(ids).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # of a rarer type
            ids = pa.chunked_array([_as_text(part.to_pylist()) for part in self._parts])
            distinct = pc.count_distinct(ids).as_py()
        empty = ids.null_count
        # A cell of CSV without an id is empty text.
        if ids.type in (pa.string(), pa.large_string()):
            blank = pc.sum(pc.equal(ids, "")).as_py() or 0
            empty, distinct = empty + blank, distinct - bool(blank)
        return int(len(ids) - empty - distinct)


def _as_text(ids: list[object]) -> pa.Array:
    return pa.array([None if id is None else str(id) for id in ids], pa.string())
