"""Verdicts in memory, whose rows have the places of another source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from truepool.tables import Note, Place
from truepool.tables.source import InMemory


@final
@dataclass(eq=False)
class VerdictRows(InMemory):
    """Rows of a table or a log, rewritten; ``at`` says where a person finds one."""

    name: str
    at: Callable[[int], Place]
    notes: tuple[Note, ...] = ()

    def place(self, row: int) -> Place:
        """Return where a person finds a row."""
        return self.at(row)
