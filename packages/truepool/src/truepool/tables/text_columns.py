"""Columns of text where those of agents were looked for: what they may be instead."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from truepool.core.errors import ReportError
from truepool.core.formatting import join_names
from truepool.tables.table_format import TableFormat
from truepool.tables.times import time_formats

MOST_MARKS = 10
"""A column with more different texts than this is no agent with marks for no report."""

VERDICTS = (
    "; if these are votes of an agent, write them as 1 and 0, or use truepool jury "
    "(truepool_jury.juries.read_verdicts in Python)"
)
"""What a column of two words may be, except where a jury is read."""


@dataclass(frozen=True)
class TextColumn:
    """A column without any number: its name, and its different texts."""

    name: str
    texts: tuple[str, ...]

    @cached_property
    def formats(self) -> tuple[str, ...]:
        """Ways in which all texts can be read as times; "" is ISO 8601."""
        return time_formats(self.texts)

    def cure(self, table: TableFormat) -> str:
        """Say what the column may be, and how it is left out."""
        if table.long:
            return (
                "Name a column of numbers as the third of --long; verdicts in words "
                "are read by truepool jury, with --positive."
            )
        name, count = shlex.quote(self.name), len(self.texts)
        out = f"leave it out (--ignore {name}; of a saved pool, in its fit)"
        if self.formats:
            written = [f" --time-format {f!r}" if f else "" for f in self.formats]
            ways = " or ".join(f"--time {name}{each}" for each in written)
            return f"It holds dates: pass {ways} if it dates the cases, else {out}."
        if count > MOST_MARKS:
            return (
                f"It has {count:,} different texts, so it is no agent: {out} or, if it "
                f"names the cases, pass --id {name}. A table with one row per report "
                "is read with --long."
            )
        verdicts = ""
        if count == 2:
            verdicts = VERDICTS
        return f"It holds no numbers: {out}{verdicts}."


def check_texts(
    columns: Sequence[TextColumn], others: int, written: TableFormat
) -> None:
    """Refuse several columns of text at once, beside ``others`` that hold numbers."""
    if len(columns) < 2:
        return
    words = {frozenset(text.casefold() for text in each.texts) for each in columns}
    if len(words) == 1 and len(*words) == 2:
        names = join_names([repr(each.name) for each in columns])
        first, second = sorted(columns[0].texts[:2])
        raise ReportError(
            f"a report must be a number in [0, 1]; {names} hold the words {first!r} "
            f"and {second!r}. Verdicts in words are read by truepool jury, with "
            "--positive, and in Python by truepool_jury.juries.read_verdicts; columns "
            "that are no agents are left out with --ignore."
        )
    names = join_names(
        [f"{each.name!r}{' (dates)' * bool(each.formats)}" for each in columns]
    )
    cures = ["leave them out of --agents"]
    if not written.agents:
        cures = ["name the agents with --agents"]
    cures += ["name a column of dates with --time"] * any(c.formats for c in columns)
    cure = ", ".join(cures).capitalize()
    long = " A table with one row per report is read with --long." * (others < 2)
    raise ReportError(
        f"an agent must be a column of numbers; {names} hold text. {cure}, or let "
        f"truepool init TABLE find out what the columns are.{long}"
    )
