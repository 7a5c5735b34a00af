"""Where a table came from: what was guessed of it, and what its rows are called."""

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from truepool.core.errors import AgentError, OutcomeError, SourceError
from truepool.panel.row_names import named_rows

LEGACY = "cp1252"
"""Encoding of text that is not UTF-8: that of spreadsheets on Western Windows."""


@dataclass(frozen=True)
class Origin:
    """A file, or a frame in memory where there is no ``path``.

    ``separator`` is the one that was detected, and ``encoding`` the one that was
    guessed, None where nothing was. ``delimiter`` separates the columns, and
    ``sheet_rows`` are the numbers of the rows in the sheet of a workbook, and
    ``sheets`` the names of the sheet that was read and of those that were not.
    ``no_outcome`` counts the rows of words that mean that there is no outcome yet,
    and ``trimmed`` the names of cases and agents of a long table, per column, that had
    spaces around them; ``class_columns`` are the names ``agent:class`` of columns that
    are called else.
    """

    path: Path | None = None
    kind: str = ""
    separator: str | None = None
    encoding: str | None = None
    delimiter: str = ","
    sheet_rows: tuple[int, ...] = ()
    sheets: tuple[str, ...] = ()
    no_outcome: Mapping[str, int] = field(default_factory=dict)
    trimmed: Mapping[str, int] = field(default_factory=dict)
    class_columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def naming(self) -> Callable[[int], str] | None:
        """What rows are called as an editor or a spreadsheet numbers them.

        None where a table has no numbers of its own: a frame, or Parquet.
        """
        if self.sheet_rows:
            return self._in_sheet
        return self._in_text if self.kind in ("csv", "JSON lines") else None

    def other_sheets(self) -> Iterator[str]:
        """Name the sheets of a workbook that were not read, if there are any."""
        if len(self.sheets) > 1:
            read, *others = map(repr, self.sheets)
            yield (
                f"The first sheet, {read}, was read; not read: {', '.join(others)}. "
                "If the table is in another sheet, move that to the front."
            )

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Call rows as the file numbers them; errors about columns name the sheet."""
        try:
            with named_rows(self.naming):
                yield
        except (AgentError, OutcomeError, SourceError) as error:
            for sentence in self.other_sheets():
                raise type(error)(f"{error} {sentence}") from None
            raise

    def _in_sheet(self, row: int) -> str:
        return f"row {self.sheet_rows[row]} of the sheet"

    def _in_text(self, row: int) -> str:
        try:
            return f"line {next(islice(self._lines(), row, None))} of the file"
        except csv.Error:  # a cell longer than the reader of lines takes
            return f"row {row + 1} below the header"

    def _lines(self) -> Iterator[int]:
        """Yield the line on which each row starts, without the header.

        Empty lines are no rows, and a quoted cell may hold a line feed.
        """
        if self.path is None:  # a frame has no lines
            raise AssertionError
        packed = self.path.suffix == ".gz"
        # No byte is refused here, and what separates cells and lines is ASCII.
        with (gzip.open if packed else open)(
            self.path, "rt", encoding="latin-1", newline=""
        ) as stream:
            if self.kind != "csv":
                yield from (n for n, line in enumerate(stream, 1) if line.strip())
                return
            reader, before, header = csv.reader(stream, delimiter=self.delimiter), 0, 1
            for cells in reader:
                if cells and not header:
                    yield before + 1
                header -= bool(cells and header)
                before = reader.line_num
