"""Verdicts in memory, whose rows have the places of another source."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import pyarrow as pa

from truepool.tables import Note, Place
from truepool.tables.source import Rows, Source


@final
@dataclass(eq=False)
class VerdictRows(Source):
    """Rows of a table or a log, rewritten; ``at`` says where a person finds one."""

    rows: pa.Table
    name: str
    at: Callable[[int], Place]
    notes: tuple[Note, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns."""
        return tuple(self.rows.column_names)

    def table(self) -> pa.Table:
        """Return all rows."""
        return self.rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield all rows at once."""
        chosen = self.rows if columns is None else self.rows.select(columns)
        yield from ((0, batch) for batch in chosen.combine_chunks().to_batches())

    def place(self, row: int) -> Place:
        """Return where a person finds a row."""
        return self.at(row)
