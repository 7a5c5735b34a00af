"""Tables of any length out: written some thousand cases at a time."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv, parquet

from truepool.core.errors import MissingExtraError, SourceError
from truepool.core.files import atomic_path
from truepool.tables.column_selection import Ids
from truepool.tables.files import file_format, quote_formulas

ROW_GROUP = 1 << 18
"""Least number of cases in a row group of Parquet, but for the last."""
SHEET_ROWS = 1 << 20
"""Most rows of a sheet of Excel, the header among them."""


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
            kind = file_format(target, "written", batches=True)
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
            raise SourceError(
                f"a sheet of Excel has at most {SHEET_ROWS:,} rows; {self.path} would "
                "have more. Name a CSV or Parquet file."
            )
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
            raise SourceError(
                "a cell of Excel must be text without control characters; got "
                f"{value!r:.60}. Name a CSV or Parquet file."
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
        table = pa.table({name: _arrow(column) for name, column in columns.items()})
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


def _arrow(column: Ids) -> pa.Array:
    """Ids of JSON lines may be of any kind; in a table they are text."""
    if not isinstance(column, list):
        return column
    return pa.array([None if v is None else str(v) for v in column], pa.string())
