"""Table files: which there are, and how each is read and written."""

import codecs
import csv as text
import gzip
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from glob import has_magic
from json import loads
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, csv, json, parquet

from truepool.core.arrays import Array
from truepool.core.errors import MissingExtraError, SourceError
from truepool.core.files import atomic_path, missing_file
from truepool.tables.csv_faults import (
    MAX_QUOTED,
    NAMES,
    check_sheet,
    lines_above_header,
    uneven_lines,
)
from truepool.tables.origin import LEGACY, Origin
from truepool.tables.table_format import TableFormat
from truepool.tables.time_zones import ONE_KIND

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
JSON_LINES = (".jsonl", ".ndjson")
FORMULA = r"[=+\-@\t\r]"
"""What a text begins with that a spreadsheet takes for a formula."""
WRITTEN = (".csv", ".csv.gz", *PARQUET)
IN_BATCHES = (*JSON_LINES, ".xlsx")
"""What is also written some thousand cases at a time."""


def file_format(path: Path, use: str, *, batches: bool = False) -> str:
    """Return ``csv``, ``parquet``, ``excel`` or ``JSON lines``, by the file's name.

    Tables that are written in ``batches`` may be JSON lines and Excel, too.
    """
    name = path.name.lower()
    known: tuple[str, ...] = (*CSV, *PARQUET, *EXCEL, *JSON_LINES)
    if use == "written":
        known = (*WRITTEN, *IN_BATCHES) if batches else WRITTEN
    if name.endswith(known):
        if name.endswith(PARQUET):
            return "parquet"
        if name.endswith(JSON_LINES):
            return "JSON lines"
        return "excel" if name.endswith(EXCEL) else "csv"
    raise SourceError(
        f"a table is {use} as {', '.join(known)}; {str(path)!r} is none of these. "
        "Name a file with one of these endings."
    )


def is_dataset(source: Path) -> bool:
    """Whether a path is a folder or a pattern, and not one file.

    >>> is_dataset(Path("new.parquet")), is_dataset(Path("2026-*.parquet"))
    (False, True)
    """
    return source.is_dir() or (has_magic(str(source)) and not source.exists())


def is_parquet(source: Path) -> bool:
    """Whether a path is a Parquet file by its name, or a data set of them."""
    return source.name.lower().endswith(PARQUET) or is_dataset(source)


def read_file(path: Path, written: TableFormat) -> tuple[pa.Table, Origin]:
    """Return the table of a file, and what was guessed of it."""
    if not path.is_file():
        if path.is_dir():
            raise SourceError(f"{str(path)!r} is a folder; name a file in it")
        raise SourceError(missing_file(path))
    kind = file_format(path, "read")
    if path.stat().st_size == 0:
        raise SourceError(f"the table must have at least one row; {path} is empty")
    origin = Origin(path, kind)
    try:
        if kind == "csv":
            table, origin = _read_text(path, written)
        elif kind == "excel":
            table, origin = _read_excel(path)
        elif kind == "JSON lines":
            table = _read_json_lines(path)
        else:
            table = parquet.read_table(path)
        names = [str(name).strip() for name in table.column_names]
    except UnicodeDecodeError:
        raise unknown_encoding(str(path)) from None
    except (pa.ArrowException, OSError, EOFError) as error:
        raise unreadable(path, kind, error, written.sep) from None
    return table.rename_columns(names), origin


def unreadable(
    path: Path, kind: str, error: Exception, separator: str | None
) -> SourceError:
    """Return the refusal of a file: the line at fault, where that can be found."""
    found = None
    if kind == "csv" and isinstance(error, pa.ArrowInvalid):
        _, used = parse_header(_first_line(path), separator)
        found = uneven_lines(path, used)
    reason = str(error).splitlines()[0]
    if "zone offset" in reason:  # a time unlike those of the blocks before
        reason = f"{reason}. {ONE_KIND}"
    return found or SourceError(f"{path} cannot be read as {kind}: {reason}")


def read_names(path: Path, written: TableFormat) -> list[str]:
    """Return the names of the columns of a file, without reading its rows."""
    if not path.is_file() or file_format(path, "read") in ("excel", "JSON lines"):
        return [str(name) for name in read_file(path, written)[0].column_names]
    if file_format(path, "read") == "parquet":
        names = parquet.read_schema(path).names
    else:
        names, _ = parse_header(_first_line(path), written.sep)
    return [str(name).strip() for name in names]


def _read_text(path: Path, written: TableFormat) -> tuple[pa.Table, Origin]:
    try:
        _, separator = parse_header(_first_line(path), written.sep)
    except SourceError as error:
        raise lines_above_header(path) or error from None
    # An id is a label: 007 is not 7, and a long number is not a float.
    case = written.long[0] if written.long else None
    labels = ["id", written.id, written.group, case]
    if written.time_format is not None:  # which dates in ISO 8601 must fit as well
        labels += [written.time or "time", written.decision_time]
    options = csv.ConvertOptions(
        column_types={name: pa.string() for name in labels if name},
        strings_can_be_null=False,
        decimal_point=written.decimal,
    )
    table, encoding = _read_csv(path, csv.ParseOptions(delimiter=separator), options)
    guessed = written.sep is None and separator != ","
    detected = separator if guessed else None
    return table, Origin(path, "csv", detected, encoding, separator)


def _read_csv(
    path: Path, parsing: csv.ParseOptions, conversion: csv.ConvertOptions
) -> tuple[pa.Table, str | None]:
    """Read a table as UTF-8 or, where it is not, as `LEGACY`; say which was guessed."""
    try:
        table = csv.read_csv(path, None, parsing, conversion)
        if table.column_names and not any(map(pa.types.is_binary, table.schema.types)):
            return table, None
    except UnicodeDecodeError:  # in a name
        pass
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
    reading = csv.ReadOptions(encoding=LEGACY)
    return csv.read_csv(path, reading, parsing, conversion), LEGACY


def unknown_encoding(what: str) -> SourceError:
    """Refuse text that is in neither of the two encodings that are read."""
    return SourceError(
        f"a text table must be written as UTF-8 or Windows-1252; {what} is in neither. "
        "Save it as CSV UTF-8."
    )


def _first_line(path: Path) -> bytes:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
        line: bytes = stream.readline()
    return line


def parse_header(line: bytes, separator: str | None) -> tuple[list[str], str]:
    r"""Return the names in the first line of a text table, and what separates them.

    >>> parse_header(b"id; rf;y\n", None)
    (['id', 'rf', 'y'], ';')
    """
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError(
            "a text table must be written as UTF-8; this one is UTF-16, which Excel "
            "calls Unicode text. Save it as CSV UTF-8."
        )
    header = _decode(line)
    found = detect_separator(header)
    chosen = separator or found
    if chosen not in header and found in header:
        option = shlex.quote("tab" if found == "\t" else found)
        raise SourceError(
            f"the columns must be separated by {NAMES.get(chosen, repr(chosen))}; the "
            f"first line has none, but {NAMES[found]}. Pass --sep {option}."
        )
    try:
        names = next(text.reader([header], delimiter=chosen), [])
    except text.Error as error:
        raise SourceError(
            f"the first line of a text table must name its columns; it does not: "
            f"{error}. End every line with a line feed."
        ) from None
    return [name.strip() for name in names], chosen


def is_utf8(text: bytes) -> bool:
    """Whether text is written in UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode(line: bytes) -> str:
    for encoding in ("utf-8-sig", LEGACY):
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise unknown_encoding("this one")


def detect_separator(header: str) -> str:
    """Return the separator that occurs most often in the header, a comma if none.

    >>> detect_separator("id;vendor, EU;model"), detect_separator("y")
    (';', ',')
    """
    return max(NAMES, key=header.count)


def _read_json_lines(path: Path) -> pa.Table:
    """Return one row per object; a column of numbers and words becomes text."""
    try:
        return json.read_json(path)
    except pa.ArrowInvalid:  # it names no line: look for it
        rows = [*_json_objects(path)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_cells([row.get(name) for row in rows]) for name in names]
    return pa.Table.from_arrays(columns, names=names)


def _json_objects(path: Path) -> Iterator[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = loads(line)
        except ValueError:
            fault = "which is cut off or not JSON. Correct the line or remove it"
        else:
            if isinstance(value, dict):
                yield value
                continue
            fault = "which is no object. Write each object on a line of its own"
        shown = line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}..."
        raise SourceError(
            f"JSON lines must hold one object per line; line {number} of {path} is "
            f"{shown!r}, {fault}."
        )


def _read_excel(path: Path) -> tuple[pa.Table, Origin]:
    """Return the first sheet of a workbook; its first row names the columns.

    Rows without any value are left out.
    """
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
        raise SourceError(f"{path} cannot be read as excel: {error}") from None
    sheet, *others = book.worksheets
    unread = tuple(each.title for each in others if each.sheet_state == "visible")
    cells = sheet.iter_rows(values_only=True)
    filled = {
        number: row
        for number, row in enumerate(cells, 1)
        if any(cell is not None for cell in row)
    }
    rows = [*filled.values()]
    book.close()
    if len(rows) < 2:
        raise _no_table(path, sheet.title, unread)
    check_sheet(path, filled)
    width = max(j + 1 for j, name in enumerate(rows[0]) if name is not None)
    names = ["" if name is None else str(name) for name in rows[0][:width]]
    columns = [_cells([row[j] for row in rows[1:]]) for j in range(width)]
    table = pa.Table.from_arrays(columns, names=names)
    sheets = (sheet.title, *unread)
    return table, Origin(path, "excel", sheet_rows=tuple(filled)[1:], sheets=sheets)


def _no_table(path: Path, sheet: str, unread: Sequence[str]) -> SourceError:
    """Return the refusal of a sheet without cases; another one may have them."""
    cure = "Write the cases into it, or name another table."
    if unread:
        names = ", ".join(map(repr, unread))
        cure = f"If the table is in another one ({names}), move that to the front."
    return SourceError(
        "the first sheet of a workbook must have a header and at least one row below "
        f"it; {sheet!r} of {path} has not. {cure}"
    )


def _cells(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers among text
        return pa.array([None if v is None else str(v) for v in values])


def write_table(
    path: str | Path, columns: Mapping[str, Array], *, spreadsheet_safe: bool = False
) -> None:
    """Write columns to a CSV or Parquet file, whole or not at all."""
    path = Path(path)
    kind = file_format(path, "written")
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
        compute.replace_substring_regex(column, f"^({FORMULA})", r"'\1")
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        else column
        for column in table.columns
    ]
    names = [re.sub(f"^({FORMULA})", r"'\1", name) for name in table.column_names]
    return pa.table(columns, names=names)


def _table(columns: Mapping[str, Array]) -> pa.Table:
    return pa.table({n: pa.array(c, from_pandas=True) for n, c in columns.items()})
