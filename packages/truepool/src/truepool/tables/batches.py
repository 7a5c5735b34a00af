"""Tables of any length in: read some thousand cases at a time."""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import BinaryIO

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import csv

from truepool.core.arrays import blocks
from truepool.core.errors import AgentError, PanelError, SourceError
from truepool.core.files import missing_file
from truepool.core.prefetch import prefetch
from truepool.panel.labels import Labels, format_names
from truepool.panel.panel import check_times
from truepool.panel.row_names import Naming, cases_of_rows, named_rows
from truepool.panel.sparse import SparseReports
from truepool.tables.column_selection import COST, Batch, ColumnSelection
from truepool.tables.csv_faults import UnevenRow, lines_above_header
from truepool.tables.dataset import Part, open_dataset, read_part
from truepool.tables.files import (
    JSON_LINES,
    file_format,
    is_dataset,
    is_utf8,
    parse_header,
    read_file,
    read_names,
    unknown_encoding,
    unreadable,
)
from truepool.tables.json_lines import (
    column_of_numbers,
    parse_object,
    peek,
    split_classes,
)
from truepool.tables.numbers import parse_numbers
from truepool.tables.origin import LEGACY, Origin
from truepool.tables.reader import load_table
from truepool.tables.report_columns import parse_reports
from truepool.tables.table_format import TableFormat
from truepool.tables.times import parse_times

BATCH_SIZE = 20_000
"""Cases in a batch of JSON lines; of CSV, what a megabyte holds."""

LONG_BLOCKS = 16
"""Blocks of numbers that a batch of a long table holds."""


def read_batches(
    source: Path | BinaryIO,
    agents: Sequence[str],
    labels: Labels,
    written: TableFormat,
    *,
    dated: bool = False,
    usual_id: str = "id",
    apart: Sequence[str] = (),
) -> Iterator[Batch]:
    """Read reports of known agents, with times if ``dated``, and ``written.columns``.

    The column ``usual_id``, if there is one, names the cases where the format does not.
    Columns ``apart`` are known not to be agents under another name.
    ``source`` is a CSV, TSV, Excel, Parquet or JSON-lines file, a data set of Parquet
    files, or a stream of CSV or JSON lines. A long table and a sheet of Excel are read
    whole (a stream is saved to a temporary file first), the others batch by batch.
    """
    time = (written.time or "time") if dated else None
    wanted = ColumnSelection(
        tuple(agents), labels, written, time, usual_id, tuple(apart)
    )
    start = 0
    for batch in _batches(source, wanted):
        if len(batch):
            yield replace(batch, start=start)
        start += len(batch)
    if not start:
        raise SourceError("the table must have at least one row; it has none")


def is_json_lines(source: Path | BinaryIO) -> bool:
    """Whether a file or a stream holds JSON lines; nothing of it is used up.

    >>> is_json_lines(Path("new.jsonl")), is_json_lines(Path("new.csv"))
    (True, False)
    """
    if isinstance(source, Path):
        return source.name.lower().endswith(JSON_LINES)
    return peek(source)[:1] == b"{"


def _batches(source: Path | BinaryIO, wanted: ColumnSelection) -> Iterator[Batch]:
    whole = wanted.written.long is not None
    if not isinstance(source, Path):
        read = _json if is_json_lines(source) else _csv
        yield from (_long_stream if whole else read)(source, wanted)
        return
    if is_dataset(source):
        if whole:
            raise SourceError(
                "a long table is read whole, from one file; got the data set "
                f"{str(source)!r}. Name a file, or write the cases in rows."
            )
        yield from _parquet(source, wanted)
        return
    if not source.is_file():
        raise SourceError(missing_file(source))
    if is_json_lines(source) and not whole:
        with source.open("rb") as stream:
            yield from _json(stream, wanted)
        return
    kind = file_format(source, "read")
    if whole:
        yield from _long(source, wanted)
    elif kind == "excel":
        table, origin = read_file(source, wanted.written)
        with origin.named_in_errors():
            names = wanted.choose(table.column_names)
        rows = table.select(names).to_batches()
        yield from _parse_each(rows, wanted, origin.naming)
    elif kind == "parquet":
        yield from _parquet(source, wanted)
    else:
        with (gzip.open if source.suffix == ".gz" else open)(source, "rb") as stream:
            yield from _csv(stream, wanted, source)  # type: ignore[arg-type]


def _csv(
    stream: BinaryIO, wanted: ColumnSelection, path: Path | None = None
) -> Iterator[Batch]:
    written = wanted.written
    line = next((line for line in stream if line.strip()), b"")
    if not line:
        raise SourceError(
            "the table must have a line with the names of its columns; "
            f"{'standard input' if path is None else path} is empty"
        )
    try:
        names, separator = parse_header(line, written.sep)
        chosen = wanted.choose(names)
    except PanelError as error:
        above = None if path is None else lines_above_header(path)
        raise above or error from None
    guessed = None if is_utf8(line) else LEGACY
    if not peek(stream):
        return
    numbers = (*wanted.reports(names), *written.columns)
    types = dict.fromkeys((*numbers, wanted.id), pa.string())
    types.pop(wanted.time, None)
    if wanted.time is not None and written.time_format is not None:
        types[wanted.time] = pa.string()
    # Text that is not UTF-8 is decoded batch by batch.
    options = csv.ConvertOptions(
        include_columns=chosen, column_types=types, check_utf8=False
    )
    naming: Naming = _below_header
    if path is not None:
        naming = Origin(path, "csv", delimiter=separator).naming or naming
    uneven = UnevenRow(separator)
    try:
        reader = csv.open_csv(
            pa.PythonFile(stream, "r"),
            # With threads the parser does not count the rows.
            csv.ReadOptions(column_names=names, use_threads=path is not None),
            csv.ParseOptions(delimiter=separator, invalid_row_handler=uneven),
            options,
        )
        for batch in _parse_each(reader, wanted, naming):
            yield replace(batch, encoding=batch.encoding or guessed)
    except UnicodeDecodeError:
        raise unknown_encoding("this one") from None
    except (pa.ArrowException, OSError, EOFError) as error:
        if path is None:
            reason = f"the table cannot be read as CSV: {str(error).splitlines()[0]}"
            raise uneven.refusal or SourceError(reason) from None
        raise unreadable(path, "csv", error, written.sep) from None


def _parquet(path: Path, wanted: ColumnSelection) -> Iterator[Batch]:
    dataset = open_dataset(path)
    names = wanted.choose(dataset.columns)
    dataset.check_columns(names)
    start = 0
    for part in dataset.parts:
        yield from read_part_batches(part, wanted, names, start)
        start += part.rows


def read_part_batches(
    part: Part, wanted: ColumnSelection, names: Sequence[str], start: int
) -> Iterator[Batch]:
    """Read one part of a data set; the next rows are decoded meanwhile.

    ``start`` is the place of its first row in the data set.
    """
    for each in prefetch(read_part(part, names, start)):
        try:
            batch = wanted.parse(each.rows, each.start)
        except PanelError as error:
            raise type(error)(f"{error} (in {each.place})") from None
        yield replace(batch, place=each.place)


def _below_header(row: int) -> str:
    """What a row of standard input is called: its lines cannot be counted again."""
    return f"row {row + 1} below the header"


def _parse_each(
    batches: Iterable[pa.RecordBatch],
    wanted: ColumnSelection,
    naming: Naming | None,
) -> Iterator[Batch]:
    start = 0
    for raw in batches:
        rows, encoding = _decoded(raw)
        with named_rows(naming):
            batch = wanted.parse(rows, start)
        yield replace(batch, naming=naming, encoding=encoding)
        start += len(rows)


def _decoded(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, str | None]:
    """Return rows whose text is UTF-8, and the encoding if it had to be guessed."""
    encoding = None
    for place, name in enumerate(batch.schema.names):
        column = batch.column(place)
        if not pa.types.is_string(column.type):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            encoding = LEGACY
            cells = column.cast(pa.binary()).to_pylist()
            text = [None if cell is None else cell.decode(LEGACY) for cell in cells]
            batch = batch.set_column(place, name, pa.array(text, pa.string()))
    return batch, encoding


def _long_stream(stream: BinaryIO, wanted: ColumnSelection) -> Iterator[Batch]:
    """All cases of a long table in a stream, which is saved first to be read whole."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("new.jsonl" if is_json_lines(stream) else "new.csv")
        with path.open("wb") as file:
            copyfileobj(stream, file)
        try:
            yield from _long(path, wanted)
        except PanelError as error:
            text = str(error).replace(str(path), "standard input")
            raise type(error)(text.replace("of the file", "of the input")) from None


def _long(path: Path, wanted: ColumnSelection) -> Iterator[Batch]:
    """All cases of a long table; agents that report on none of them have no reports.

    Sparse reports are written out some cases at a time. Agents that the pool does not
    know have no weight in it; their names, and the notes, come with the first batch.
    """
    if wanted.written.columns:
        wanted.check_costs(read_names(path, wanted.written))
    table = load_table(path, wanted.written)
    if set(table.agents).isdisjoint(wanted.agents):
        raise AgentError(
            "the table must have agents that the pool learned from, by name: "
            f"{format_names(wanted.agents)}; got {format_names(table.agents)}"
        )
    number = {agent: i for i, agent in enumerate(wanted.agents)}
    unknown = tuple(agent for agent in table.agents if agent not in number)
    notes = tuple(table.summary.notes())
    places = np.array([number.get(agent, -1) for agent in table.agents])
    cells = table.given
    if not isinstance(cells, SparseReports):
        cells = SparseReports.from_dense(cells)
    cells = cells.match_agents(places, len(number))
    ids = [] if table.ids is None else table.ids.tolist()
    for part in blocks(len(cells), len(number) // LONG_BLOCKS):
        cases = np.arange(part.start, part.stop)
        times = table.times[cases] if wanted.time and table.times is not None else None
        columns = table.columns.take(cases)
        yield Batch(
            part.start,
            ids[part],
            cube=cells.dense(part),
            times=check_times(times),
            columns=columns,
            unknown=unknown,
            naming=lambda row: f"case {ids[row]!r}",
            signed=table.summary.signed,
            notes=notes,
        )
        unknown = notes = ()


def _json(stream: BinaryIO, wanted: ColumnSelection) -> Iterator[Batch]:
    start, reports = 0, None
    while lines := list(islice(stream, BATCH_SIZE)):
        rows = [
            split_classes(parse_object(line, start + t), start + t, wanted)
            for t, line in enumerate(lines)
        ]
        keys = dict.fromkeys(key for row in rows for key in row)
        if reports is None:
            wanted.check_costs(keys)
            reports = wanted.reports(keys)
        decimal = wanted.written.decimal
        numbers = (
            column_of_numbers(rows, name, "a report", start, decimal)
            for name in reports
        )
        with named_rows(_line):
            series = wanted.series(numbers)
            values, signed = parse_reports(series, wanted.written, start)
        ids = [row.get(wanted.id) for row in rows] if wanted.id in keys else None
        times = None
        if wanted.time is not None:
            column = nw.new_series(
                wanted.time, [row.get(wanted.time) for row in rows], backend="pyarrow"
            )
            with named_rows(_line):
                times = parse_times(column, wanted.written, start, wanted.zones)
        with named_rows(_line):
            columns = {
                name: parse_numbers(
                    column_of_numbers(rows, name, COST, start, decimal),
                    wanted.written,
                    COST,
                    start,
                )
                for name in wanted.written.columns
            }
        known = {wanted.id, wanted.time, *reports, *wanted.written.columns}
        others = Counter(
            key for row in rows if not row.keys() >= {*reports} for key in row
            if key not in known
        )  # fmt: skip
        with cases_of_rows(np.arange(start, start + len(rows))), named_rows(_line):
            batch = wanted.batch([*values.values()], ids, times, columns)
        yield replace(batch, others=others, naming=_line, signed=signed)
        start += len(rows)


def _line(row: int) -> str:
    return f"line {row + 1}"
