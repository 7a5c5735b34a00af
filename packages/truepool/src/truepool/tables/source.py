"""Sources: any file, folder, frame or stream, as Arrow tables or batches of rows.

A source knows the names of its columns and what a person calls a row: the line of a
file, the row of a sheet. What the columns mean is not its business.
"""

import codecs
import csv as text
import gzip
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, final

import narwhals as nw
import pyarrow as pa
import pyarrow.json as arrow_json
from pyarrow import csv

from truepool.core.errors import MissingExtraError, closest
from truepool.core.formatting import is_number
from truepool.core.prefetch import prefetch
from truepool.tables import cells
from truepool.tables.dataset import (
    Dataset,
    is_dataset,
    missing,
    open_dataset,
    read_part,
)
from truepool.tables.faults import Cure, Fault, Note, Place, TableFaults, refusal

Rows: TypeAlias = tuple[int, pa.RecordBatch]
"""The number of the first row of a batch, and the batch."""

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
JSON_LINES = (".jsonl", ".ndjson")
READ = (*CSV, *PARQUET, *EXCEL, *JSON_LINES)
"""Endings of the files that are read."""
SEPARATORS = (",", ";", "\t", "|")
"""What may separate the columns of a text file, in order of preference."""
LEGACY = "cp1252"
"""Encoding of text that is not UTF-8: that of spreadsheets on Western Windows."""
INDEXES = ("", "__index_level_0__", "Unnamed: 0")
"""Columns that pandas writes for its row index; they mean nothing."""
BLOCK = 1 << 23
"""Bytes of JSON lines that are read at a time."""
LOOKED_AT, ALIKE, MOST_TITLE_LINES = 1_000, 0.8, 20
"""Lines from which the layout of a file is told, the share of them that have as many
cells as a header must have, and how far down a header may be."""
SAVE = Cure("save-utf8")
MOST_QUOTED = 40
"""Characters of a faulty line that are shown."""


@dataclass(frozen=True)
class Dialect:
    """How text is written, where the user says so; None is looked up in the file."""

    sep: str | None = None
    missing: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Columns that stay as they are written: 007 is not 7."""
    decimal: str = "."


class Source(ABC):
    """Rows of a table: whole, or some at a time."""

    name: str
    """What the table is called."""
    names: tuple[str, ...]
    """Names of its columns."""
    notes: tuple[Note, ...] = ()
    """What was guessed of the file."""
    keys: tuple[str, ...] = ()
    """Columns that say in which part of a data set a row is."""
    typed: bool = True
    """Whether columns have types of their own, and are not text."""

    @abstractmethod
    def table(self) -> pa.Table:
        """Return all rows."""

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield rows in order, of some columns or all."""

    def text(self, column: str) -> pa.Array | None:  # noqa: B027 - None is an answer
        """Return a column as it is written; None where cells have types."""

    @abstractmethod
    def place(self, row: int) -> Place:
        """Return where a person finds a row, counted from 0."""

    def refuse(self, code: str, **settings: Any) -> TableFaults:
        """Return the refusal of the whole table."""
        return TableFaults([Fault(code, **settings)], table=self.name)


def open_source(source: Any, dialect: Dialect | None = None) -> Source:
    """Return the rows of a path, a stream of bytes or a frame.

    >>> import pyarrow as pa
    >>> open_source(pa.table({"a": [0.5]})).names
    ('a',)
    """
    if isinstance(source, Source):
        return source
    dialect = dialect or Dialect()
    if isinstance(source, str | Path) or hasattr(source, "__fspath__"):
        return _of_path(Path(source), dialect)
    if hasattr(source, "peek") and hasattr(source, "read"):
        first = source.peek(1)[:1]
        if first == b"{":
            return JsonLines(source)
        return TextFile.open(source, dialect)
    return Frame.of(source)


def _of_path(path: Path, dialect: Dialect) -> Source:
    if is_dataset(path):
        return ParquetFiles(open_dataset(path))
    if not path.is_file():
        raise missing(path)
    name = path.name.lower()
    if not name.endswith(READ):
        raise refusal("file-kind", path, known=READ)
    if path.stat().st_size == 0:
        raise refusal("no-rows", path)
    if name.endswith(PARQUET):
        return ParquetFiles(open_dataset(path))
    if name.endswith(EXCEL):
        return Workbook.read(path)
    if name.endswith(JSON_LINES):
        return JsonLines(path)
    return TextFile.open(path, dialect)


def _unique(names: Sequence[str], table: str) -> tuple[str, ...]:
    """Return the names of columns without spaces around them; refuse any twice."""
    names = [name.strip() for name in names]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableFaults(
            [
                Fault("column-twice", column=name, cures=(Cure("rename"),))
                for name in twice
            ],
            table=table,
        )
    return tuple(names)


@final
@dataclass(eq=False)
class TextFile(Source):
    """A CSV file, or a stream of CSV, whose first line names the columns."""

    source: Path | BinaryIO
    sep: str
    name: str
    names: tuple[str, ...]
    dialect: Dialect
    legacy: bool = False
    """Whether the header is not written in UTF-8."""
    above: int = 0
    """Lines above the header, such as a title."""
    typed: bool = False
    notes: tuple[Note, ...] = ()

    @classmethod
    def open(cls, source: Path | BinaryIO, dialect: Dialect) -> "TextFile":
        """Read the first line."""
        path = source if isinstance(source, Path) else None
        name = "standard input" if path is None else path.name
        header = Header()
        if path is None:
            line = next((line for line in source if line.strip()), b"")  # type: ignore[union-attr]
        else:
            try:
                header = _find_header(path)
                with _bytes(path) as stream:
                    lines = islice(stream, header.above, None)
                    line = next((line for line in lines if line.strip()), b"")
            except (gzip.BadGzipFile, EOFError) as error:
                why = str(error)
                raise refusal("unreadable", path, kind="CSV", why=why) from None
        if not line:
            raise refusal("no-rows", path or name)
        if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise refusal("not-utf8", path or name, SAVE)
        first, legacy = _decode(line, path or name)
        found = max(SEPARATORS, key=first.count)
        sep = dialect.sep or found
        if sep not in first and found in first:
            raise refusal(
                "other-separator",
                path or name,
                Cure("set", "sep", _spelled(found)),
                found=found,
            )
        try:
            names = next(text.reader([first], delimiter=sep), [])
        except text.Error:
            raise refusal("no-header", path or name, Cure("add-header")) from None
        header.check(path or name, names)
        return cls(
            source,
            sep,
            name,
            _unique(names, name),
            dialect,
            legacy,
            above=header.above,
            notes=header.notes,
        )

    def with_decimal(self, mark: str) -> "TextFile":
        """Return the same file with another decimal mark."""
        return replace(self, dialect=replace(self.dialect, decimal=mark))

    @property
    def path(self) -> Path | None:
        """The file, None for a stream."""
        return self.source if isinstance(self.source, Path) else None

    def table(self) -> pa.Table:
        """Return all rows; columns of numbers, dates or truth values have such types.

        A column called ``id`` stays text.
        """
        if self.path is None:
            batches = [batch for _, batch in self.batches()]
            if not batches:
                raise self.refuse("no-rows")
            return pa.Table.from_batches(batches)
        text = {"id", *self.dialect.text}
        types = {name: pa.string() for name in self.names if name in text}
        table = self._read(
            self.path,
            csv.ConvertOptions(
                column_types=types,
                strings_can_be_null=False,
                decimal_point=self.dialect.decimal,
                null_values=[*cells.MISSING, *self.dialect.missing],
            ),
        )
        if not len(table):
            raise self.refuse("no-rows", place=Place("file", str(self.path)))
        return table

    def text(self, column: str) -> pa.Array | None:
        """Return a column as it is written."""
        if self.path is None:
            return None
        options = csv.ConvertOptions(
            column_types={column: pa.string()},
            include_columns=[column],
            strings_can_be_null=False,
        )
        return cells.plain(self._read(self.path, options).column(column))

    def _read(self, path: Path, options: csv.ConvertOptions) -> pa.Table:
        """Read the file as UTF-8 or, where it is not, as `LEGACY`."""
        parsing = csv.ParseOptions(delimiter=self.sep)
        kept, failed = options.include_columns, list[Exception]()
        for encoding in ("utf8", LEGACY):
            reading = csv.ReadOptions(
                skip_rows=self.above,
                column_names=self.names,
                skip_rows_after_names=1,
                encoding=encoding,
            )
            try:
                table = _read_csv(path, reading, parsing, options)
            except (UnicodeDecodeError, pa.ArrowException, OSError, EOFError) as error:
                failed.append(error)
                continue
            if encoding == "utf8" and any(map(pa.types.is_binary, table.schema.types)):
                continue
            if encoding == LEGACY and not kept:
                self._note_encoding()
            return table
        if isinstance(failed[-1], UnicodeDecodeError):
            raise refusal("not-utf8", path, SAVE)
        raise self._unreadable(path, failed[0])

    def _note_encoding(self) -> None:
        note = Note("encoding")
        self.notes = (*(each for each in self.notes if each != note), note)

    def _unreadable(self, path: Path, error: Exception) -> TableFaults:
        with suppress(text.Error, OSError, EOFError):
            if (found := _uneven(path, self.sep, self.above)) is not None:
                return found
        why = str(error).splitlines()[0]
        return refusal("unreadable", path, kind="CSV", why=why)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield rows as text, a megabyte at a time."""
        if self.path is None:
            yield from self._stream(self.source, columns, None)  # type: ignore[arg-type]
            return
        with _bytes(self.path) as stream:
            lines = islice(stream, self.above, None)
            next(line for line in lines if line.strip())
            yield from self._stream(stream, columns, self.path)  # type: ignore[arg-type]

    def _stream(
        self, stream: BinaryIO, columns: Sequence[str] | None, path: Path | None
    ) -> Iterator[Rows]:
        if not stream.peek(1):  # type: ignore[attr-defined]
            return
        uneven: list[csv.InvalidRow] = []

        def stop(row: csv.InvalidRow) -> str:
            uneven.append(row)
            return "error"

        kept = self.names if columns is None else columns
        # Text that is not UTF-8 is decoded batch by batch.
        options = csv.ConvertOptions(
            include_columns=kept,
            column_types=dict.fromkeys(self.names, pa.string()),
            check_utf8=False,
            strings_can_be_null=False,
        )
        # With threads the parser does not count the rows, which only a stream needs.
        reading = csv.ReadOptions(column_names=self.names, use_threads=path is not None)
        parsing = csv.ParseOptions(delimiter=self.sep, invalid_row_handler=stop)
        start = 0
        try:
            source = pa.PythonFile(stream, "r")
            for raw in csv.open_csv(source, reading, parsing, options):
                batch, legacy = _utf8(raw)
                if legacy or self.legacy:
                    self._note_encoding()
                yield start, batch
                start += len(batch)
        except (pa.ArrowException, OSError, EOFError) as error:
            if path is not None:
                raise self._unreadable(path, error) from None
            if uneven:
                raise TableFaults(
                    [
                        _uneven_fault(
                            Place("below-header", uneven[0].number),
                            uneven[0].text,
                            uneven[0].actual_columns,
                            uneven[0].expected_columns,
                        )
                    ],
                    table=self.name,
                ) from None
            why = str(error).splitlines()[0]
            raise self.refuse("unreadable", kind="CSV", why=why) from None

    def place(self, row: int) -> Place:
        """Return the line of a row; below the header where lines cannot be counted."""
        if self.path is not None:
            with suppress(text.Error):  # a cell longer than the reader of lines takes
                lines = _lines(self.path, self.sep, self.above)
                found = next(islice(lines, row + 1, None), None)
                if found is not None:
                    return Place("line", found[0])
        return Place("below-header", row + 1)


def _read_csv(path: Path, *options: Any) -> pa.Table:
    """Read a file with columns of the types that its first rows have.

    That takes half the memory of reading it at once, which is done where further rows
    have another type. Columns are put together one by one, and what parsing has used is
    given back before reports are made of the rows.
    """
    try:
        with csv.open_csv(path, *options) as rows:
            table = rows.read_all()
    except (UnicodeDecodeError, pa.ArrowException):
        table = csv.read_csv(path, *options)
    names, columns = table.column_names, table.columns[::-1]
    del table
    whole = []
    while columns:
        whole.append(cells.whole(columns.pop()))
    pa.default_memory_pool().release_unused()
    return pa.Table.from_arrays(whole, names)


def _bytes(path: Path) -> IO[bytes]:
    return (gzip.open if path.suffix == ".gz" else open)(path, "rb")  # type: ignore[return-value]


def _decode(line: bytes, where: Path | str) -> tuple[str, bool]:
    for encoding in ("utf-8-sig", LEGACY):
        with suppress(UnicodeDecodeError):
            return line.decode(encoding), encoding == LEGACY
    raise refusal("not-utf8", where, SAVE)


def _utf8(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, bool]:
    """Return rows whose text is UTF-8, and whether that had to be guessed."""
    legacy = False
    for place, name in enumerate(batch.schema.names):
        column = batch.column(place)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            legacy = True
            found = column.cast(pa.binary()).to_pylist()
            try:
                words = [
                    None if cell is None else cell.decode(LEGACY) for cell in found
                ]
            except UnicodeDecodeError:
                raise TableFaults([Fault("not-utf8", cures=(SAVE,))]) from None
            batch = batch.set_column(place, name, pa.array(words, pa.string()))
    return batch, legacy


def _spelled(sep: str) -> str:
    return "tab" if sep == "\t" else sep


def _lines(path: Path, sep: str, above: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row below some starts, and its cells."""
    # No byte is refused here, and what separates cells and lines is ASCII.
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="latin-1", newline="") as stream:
        reader, before = text.reader(islice(stream, above, None), delimiter=sep), above
        for found in reader:
            if found:
                yield before + 1, found
            before = above + reader.line_num


@dataclass(frozen=True)
class Header:
    """How many lines or rows stand above a header, and the first of them."""

    above: int = 0
    title: str = ""

    def check(self, where: Path | str, names: Sequence[Any]) -> None:
        """Refuse a header that may be a row of the table, or another title."""
        words = [n for n in names if isinstance(n, str) and n.strip()]
        if self.above and not (
            len(words) == len(names) and not any(map(is_number, words))
        ):
            raise refusal(
                "lines-above-header",
                where,
                Cure("remove-lines"),
                found=self.title,
                header=self.above + 1,
            )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out."""
        fields = {"count": self.above, "found": self.title}
        return (Note("title", fields),) if self.above else ()


def _find_header(path: Path) -> Header:
    """Find the header of a text file: the first row of the usual width."""
    layouts = []
    with suppress(text.Error):
        for sep in SEPARATORS:
            rows = [*islice(_lines(path, sep), LOOKED_AT)]
            widths = Counter(len(found) for _, found in rows)
            width, count = max(
                widths.items(), key=lambda each: (each[1], each[0]), default=(0, 0)
            )
            if width > 1:
                header = next(line for line, found in rows if len(found) == width)
                title = Header(header - 1, _short(rows[0][1][0]))
                above = rows[0][0] < header
                layouts.append((count / len(rows), width, header, above, title))
    share, _, header, above, found = max(
        layouts, key=lambda each: each[:3], default=(0.0, 0, 1, False, Header())
    )
    if share < ALIKE or not above or header > MOST_TITLE_LINES:
        return Header()
    return found


def _uneven(path: Path, sep: str, above: int) -> TableFaults | None:
    """Refuse lines that have more or fewer cells than the header, by the first."""
    rows = _lines(path, sep, above)
    _, header = next(rows, (0, []))
    first: Fault | None = None
    count = 0
    for line, found in rows:
        if len(found) != len(header):
            count += 1
            first = first or _uneven_fault(
                Place("line", line), sep.join(found), len(found), len(header)
            )
    if first is None:
        return None
    return TableFaults([Fault(**{**vars(first), "count": count})], table=path.name)


def _uneven_fault(place: Place, line: str, count: int, expected: int) -> Fault:
    return Fault(
        "uneven-line",
        place=place,
        found=_short(line),
        cures=(Cure("quote-cell" if count > expected else "add-cells"),),
        fields={"cells": count, "expected": expected},
    )


def _short(line: str) -> str:
    return line if len(line) <= MOST_QUOTED else f"{line[:MOST_QUOTED]}..."


@final
@dataclass(eq=False)
class JsonLines(Source):
    """JSON lines: one object per row."""

    source: Path | BinaryIO
    name: str = ""
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        own = self.source.name if isinstance(self.source, Path) else "standard input"
        self.name = own

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Keys of the first lines; further ones may be missing there."""
        return tuple(self._first.column_names)

    @cached_property
    def _first(self) -> pa.Table:
        if isinstance(self.source, Path):
            with self.source.open("rb") as stream:
                block = b"".join(islice(stream, LOOKED_AT))
        else:
            block = self.source.peek(BLOCK)  # type: ignore[attr-defined]
            block = block[: block.rfind(b"\n") + 1] or block
        found = _json_table(block, 0, self)
        if found is None:
            raise self.refuse("no-rows")
        return found

    def table(self) -> pa.Table:
        """Return all rows."""
        found = [pa.Table.from_batches([batch]) for _, batch in self._blocks(None)]
        if not found:
            raise self.refuse("no-rows")
        return _joined(found)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield rows, some megabytes at a time; a key that is absent is null."""
        yield from self._blocks(columns)

    def _blocks(self, columns: Sequence[str] | None) -> Iterator[Rows]:
        if isinstance(self.source, Path):
            with self.source.open("rb") as stream:
                yield from self._parse(stream, columns)
        else:
            yield from self._parse(self.source, columns)

    def _parse(
        self, stream: IO[bytes], columns: Sequence[str] | None
    ) -> Iterator[Rows]:
        start = 0
        while block := stream.read(BLOCK) + stream.readline():
            table = _json_table(block, start, self)
            if table is None:
                continue
            for name in columns or ():
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(len(table)))
            table = (
                table if columns is None else table.select(columns)
            ).combine_chunks()
            for batch in table.to_batches():
                yield start, batch
                start += len(batch)

    def place(self, row: int) -> Place:
        """Return the line of a row."""
        if isinstance(self.source, Path):
            with self.source.open("rb") as stream:
                lines = (n for n, line in enumerate(stream, 1) if line.strip())
                return Place("line", next(islice(lines, row, None), row + 1))
        return Place("line", row + 1)


def _json_table(block: bytes, start: int, source: JsonLines) -> pa.Table | None:
    """Return one row per object; a column of numbers and words becomes text."""
    block = block.removeprefix(codecs.BOM_UTF8)
    if not block.strip():
        return None
    reading = arrow_json.ReadOptions(block_size=len(block) + 1)
    try:
        found = arrow_json.read_json(BytesIO(block), reading)
        dated = [
            pa.field(each.name, pa.string())
            for each in found.schema
            if pa.types.is_timestamp(each.type)
        ]
        if not dated:
            return found
        # Arrow drops the offsets of times: they are read as they are written.
        parsing = arrow_json.ParseOptions(explicit_schema=pa.schema(dated))
        return arrow_json.read_json(BytesIO(block), reading, parsing).select(
            found.column_names
        )
    except pa.ArrowInvalid:  # it names no line: look for it
        rows = [*_objects(block, start, source)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_array([row.get(name) for row in rows]) for name in names]
    return pa.Table.from_arrays(columns, names=names) if names else None


def _objects(
    block: bytes, start: int, source: JsonLines
) -> Iterator[Mapping[str, Any]]:
    wrong: list[Fault] = []
    row = start
    for line in block.splitlines():
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield value
        else:
            found = _short(line.decode("utf-8", "replace"))
            wrong.append(
                Fault(
                    "not-an-object",
                    place=source.place(row),
                    found=found,
                    cures=(Cure("one-object"),),
                )
            )
        row += 1
    if wrong:
        first = Fault(**{**vars(wrong[0]), "count": len(wrong)})
        raise TableFaults([first], table=source.name)


def _joined(tables: list[pa.Table]) -> pa.Table:
    """Put tables below each other; a column of several types becomes text."""
    names = list(dict.fromkeys(name for table in tables for name in table.column_names))
    for name in names:
        kinds = {
            table.schema.field(name).type
            for table in tables
            if name in table.column_names
        }
        kinds.discard(pa.null())
        numbers = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds)
        if len(kinds) > 1 and not numbers:
            tables = [
                table
                if name not in table.column_names
                else table.set_column(
                    table.column_names.index(name),
                    name,
                    cells.trim(cells.plain(table.column(name))),
                )
                for table in tables
            ]
    return pa.concat_tables(tables, promote_options="permissive")


def _array(values: list[Any]) -> pa.Array:
    kinds = {type(v) for v in values if v is not None}
    with suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        if bool not in kinds or len(kinds) == 1:  # true is no 1 among numbers
            return pa.array(values)
    return pa.array([None if v is None else str(v) for v in values], pa.string())


@dataclass(eq=False)
class InMemory(Source):
    """Rows in memory; where a person finds one is for those who brought them."""

    rows: pa.Table

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns."""
        return tuple(self.rows.column_names)

    def table(self) -> pa.Table:
        """Return all rows."""
        return self.rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield the rows, of some columns or all."""
        chosen = self.rows if columns is None else self.rows.select(columns)
        start = 0
        for batch in chosen.combine_chunks().to_batches():
            yield start, batch
            start += len(batch)


@final
@dataclass(eq=False)
class Workbook(InMemory):
    """The first sheet of a workbook; its first row names the columns."""

    numbers: tuple[int, ...]
    name: str
    notes: tuple[Note, ...]

    @classmethod
    def read(cls, path: Path) -> "Workbook":
        """Read the sheet; rows without any value are left out."""
        try:
            from openpyxl import load_workbook
            from openpyxl.utils.exceptions import InvalidFileException
        except ImportError:
            raise MissingExtraError(
                "reading Excel files", "openpyxl", "truepool[excel]"
            ) from None
        from zipfile import BadZipFile

        try:
            book = load_workbook(path, read_only=True, data_only=True)
        except (BadZipFile, InvalidFileException, KeyError) as error:
            why = str(error)
            raise refusal("unreadable", path, kind="Excel", why=why) from None
        sheet, *others = book.worksheets
        unread = tuple(each.title for each in others if each.sheet_state == "visible")
        filled = {
            number: row
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1)
            if any(cell is not None for cell in row)
        }
        book.close()
        if len(filled) < 2:
            cures = [Cure("move-sheet", "", unread)] if unread else []
            raise refusal("no-rows", path, *cures)
        header = _header_of_sheet(filled)
        above = [number for number in filled if number <= header.above]
        rows = [row for number, row in filled.items() if number > header.above]
        width = max(j + 1 for j, name in enumerate(rows[0]) if name is not None)
        header.check(path, rows[0][:width])
        names = ["" if name is None else str(name) for name in rows[0][:width]]
        columns = [_array([row[j] for row in rows[1:]]) for j in range(width)]
        table = pa.Table.from_arrays(columns, names=_unique(names, path.name))
        about = {"sheet": sheet.title, "others": unread, "count": len(unread)}
        sheets = (Note("sheets", about),) if unread else ()
        numbers = tuple(filled)[len(above) + 1 :]
        return cls(table, numbers, path.name, (*sheets, *header.notes))

    def place(self, row: int) -> Place:
        """Return the number of a row in the sheet."""
        return Place("sheet-row", self.numbers[row])


def _header_of_sheet(rows: Mapping[int, Sequence[Any]]) -> Header:
    """Find the header of a sheet: the first row of many cells; rows by their number."""
    filled = [
        (number, [str(cell) for cell in row if cell is not None])
        for number, row in islice(rows.items(), LOOKED_AT)
    ]
    widest = max(len(found) for _, found in filled)
    header = next(number for number, found in filled if 2 * len(found) > widest)
    first, title = filled[0]
    if first < header <= MOST_TITLE_LINES:
        return Header(header - 1, _short(title[0]))
    return Header()


@final
@dataclass(eq=False)
class ParquetFiles(Source):
    """A Parquet file, or a data set of them: a folder, or a pattern."""

    dataset: Dataset

    def __post_init__(self) -> None:
        self.name = Path(self.dataset.source).name
        self.names = _unique(self.dataset.columns, self.name)
        own = set(self.dataset.parts[0].schema.names)
        keys = {key for part in self.dataset.parts for key, _ in part.keys}
        self.keys = tuple(sorted(keys - own))

    def table(self) -> pa.Table:
        """Return all rows."""
        self.dataset.check_columns()
        parts = [pa.Table.from_batches([batch]) for _, batch in self.batches()]
        if not parts:
            raise self.refuse("no-rows")
        # A part in which an agent never reports may have the type null.
        return pa.concat_tables(parts, promote_options="default")

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield rows in the order of the parts."""
        own = dict(zip(self.names, self.dataset.columns, strict=True))
        wanted = [own[name] for name in (self.names if columns is None else columns)]
        self.dataset.check_columns(wanted)
        start = 0
        for part in self.dataset.parts:
            for batch in prefetch(read_part(part, wanted, start)):
                names = [name.strip() for name in batch.rows.schema.names]
                yield batch.start, batch.rows.rename_columns(names)
            start += part.rows

    def place(self, row: int) -> Place:
        """Return the number of a row; of a data set, that in its file."""
        start = 0
        for part in self.dataset.parts:
            if row < start + part.rows and self.dataset.source != str(part.path):
                return Place("part-row", (row - start, part.name))
            start += part.rows
        return Place("row", row)


@final
@dataclass(eq=False)
class Frame(InMemory):
    """A pandas, polars or pyarrow frame in memory."""

    name: str = "the frame"
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Any) -> "Frame":
        """Read a frame; pandas takes any value for a name."""
        if isinstance(source, pa.Table):
            names, table = source.column_names, source
        else:
            try:
                frame = nw.from_native(source, eager_only=True)
            except TypeError:
                raise TableFaults(
                    [Fault("no-table", found=type(source).__name__)]
                ) from None
            native = nw.to_native(frame)
            names = [str(name) for name in native.columns]
            if hasattr(native, "set_axis"):  # pandas: names may be of any type
                table = _of_pandas(native, names)
            else:
                table = frame.to_arrow()
        if not len(table):
            raise TableFaults([Fault("no-rows")], table="the frame")
        return cls(table.rename_columns(_unique(names, "the frame")))

    def place(self, row: int) -> Place:
        """Return the number of a row."""
        return Place("row", row)


def _of_pandas(frame: Any, names: list[str]) -> pa.Table:
    columns = []
    for place in range(len(names)):
        column = frame.iloc[:, place]
        if column.dtype == object and _mixed_zones(column):
            column = column.map(lambda cell: cell and str(cell))
        try:
            columns.append(pa.array(column, from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers among text
            gone = column.isna()
            words = [None if g else str(v) for v, g in zip(column, gone, strict=True)]
            columns.append(pa.array(words, pa.string()))
    parts = [c if isinstance(c, pa.Array) else c.combine_chunks() for c in columns]
    return pa.Table.from_arrays(parts, names=[str(n) for n in range(len(names))])


def _mixed_zones(column: Any) -> bool:
    """Whether some times of a column of objects have a zone, and others have none."""
    zoned = {cell.tzinfo is not None for cell in column if isinstance(cell, datetime)}
    return len(zoned) > 1


def is_parquet(source: Path) -> bool:
    """Whether a path is a Parquet file by its name, or a data set of them."""
    return source.name.lower().endswith(PARQUET) or is_dataset(source)


def column_fault(
    key: str, name: str, names: Iterable[str], *, several: bool = False
) -> Fault:
    """Return the fault that a key names a column which is not there."""
    known = [each for each in names if each not in INDEXES]
    close = closest(name, known)
    value: Any = [close] if several else close
    cures = (Cure("set", key, value),) if close else ()
    fields = {"key": key, "known": known}
    return Fault("no-column", column=name, cures=cures, fields=fields)
