"""Why a text table cannot be read: the line at fault, and the cure."""

import csv
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pyarrow.csv import InvalidRow

from truepool.core.errors import SourceError

NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""Separators that are looked for, in order of preference, and what they are called."""

LOOKED_AT = 1_000
"""Lines from which the layout of a table is told."""

ALIKE = 0.8
"""Share of the lines that have as many cells as a header must have."""

MOST_TITLE_LINES = 20
"""A header further down is none."""

MAX_QUOTED = 40
"""Characters of a faulty line that an error shows."""


@dataclass
class UnevenRow:
    """Notes at which row the parser of standard input stops, which is read once."""

    separator: str
    refusal: SourceError | None = None

    def __call__(self, row: InvalidRow) -> str:
        """Keep the refusal of a row, and let the parser stop."""
        place = f"row {row.number} below the header of standard input"
        counts = (row.actual_columns, row.expected_columns)
        self.refusal = _uneven_line(place, row.text, counts, self.separator)
        return "error"


def uneven_lines(path: Path, separator: str) -> SourceError | None:
    """Return the refusal of a table whose lines differ in their number of cells.

    None where that is not what is wrong with it.
    """
    try:
        return lines_above_header(path) or _uneven(path, separator)
    except (csv.Error, OSError, EOFError):
        return None


def lines_above_header(path: Path) -> SourceError | None:
    """Return the refusal of a table with lines above its header, such as a title."""
    try:
        return _title(path)
    except (csv.Error, OSError, EOFError):
        return None


def _title(path: Path) -> SourceError | None:
    layouts = [_layout([*islice(_rows(path, s), LOOKED_AT)]) for s in NAMES]
    share, _, header = max(layouts, key=lambda layout: layout[:2])
    if share < ALIKE or header in (None, 1):
        return None
    with _open(path) as stream:
        first = stream.readline().strip()
    return SourceError(
        f"a text table must begin with the names of its columns; {path} begins with "
        f"{_quoted(first)}, and its header seems to be line {header}. Remove the lines "
        "above it."
    )


def check_sheet(path: Path, rows: Mapping[int, Sequence[Any]]) -> None:
    """Refuse a sheet with rows above its header, such as a title; rows by number.

    A header has more than half as many cells as the widest of the rows.
    """
    filled = [
        (number, [str(cell) for cell in row if cell is not None])
        for number, row in islice(rows.items(), LOOKED_AT)
    ]
    widest = max(len(cells) for _, cells in filled)
    header = next(number for number, cells in filled if 2 * len(cells) > widest)
    first, title = filled[0]
    if first < header <= MOST_TITLE_LINES:
        raise SourceError(
            f"a sheet must begin with the names of its columns; that of {path} begins "
            f"with {_quoted(title[0])}, and its header seems to be row {header}. "
            "Remove the rows above it."
        )


def _layout(rows: Sequence[tuple[int, list[str]]]) -> tuple[float, int, int | None]:
    """Share of the lines with the most common number of cells, it, and the header."""
    widths = Counter(len(cells) for _, cells in rows)
    width, count = max(
        widths.items(), key=lambda each: (each[1], each[0]), default=(0, 0)
    )
    if width < 2:
        return 0.0, width, None
    header = next(line for line, cells in rows if len(cells) == width)
    return count / len(rows), width, header if header <= MOST_TITLE_LINES else None


def _uneven(path: Path, separator: str) -> SourceError | None:
    """Refuse the first line that has more or fewer cells than the header."""
    rows = _rows(path, separator)
    _, header = next(rows, (0, []))
    for line, cells in rows:
        if len(cells) != len(header):
            text, place = separator.join(cells), f"line {line} of {path}"
            return _uneven_line(place, text, (len(cells), len(header)), separator)
    return None


def _uneven_line(
    place: str, text: str, counts: tuple[int, int], separator: str
) -> SourceError:
    """Return the refusal of a line: how many cells it has, and how many the header."""
    count, expected = counts
    cells_of = NAMES.get(separator, repr(separator))
    more = (
        f"put quotes around a cell that contains {cells_of}"
        if count > expected
        else "add the cells that it lacks"
    )
    return SourceError(
        f"every line must have as many cells as the header, {expected}; {place} has "
        f"{count}: {_quoted(text)}. Correct it: {more}, or remove the line."
    )


def _rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line on which each row starts, and its cells."""
    with _open(path) as stream:
        reader, before = csv.reader(stream, delimiter=separator), 0
        for cells in reader:
            if cells:
                yield before + 1, cells
            before = reader.line_num


def _open(path: Path) -> IO[str]:
    # No byte is refused here, and what separates cells and lines is ASCII.
    packed = path.suffix == ".gz"
    return (gzip.open if packed else open)(path, "rt", encoding="latin-1", newline="")


def _quoted(line: str) -> str:
    return repr(line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}...")
