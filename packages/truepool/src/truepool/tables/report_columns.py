"""Columns of reports: from cells as a table has them to probabilities."""

import shlex
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.core.errors import ReportError
from truepool.core.formatting import join_names
from truepool.panel.case_columns import number_cure
from truepool.panel.report_units import (
    UNIT_RATIO,
    is_slip,
    percent_option,
    range_cure,
    small_scale,
)
from truepool.panel.row_names import row_name
from truepool.tables.agent_columns import is_chosen
from truepool.tables.numbers import (
    cast,
    first_other,
    is_numeric,
    is_word,
    mark_cure,
    trimmed_text,
    truth_values,
    typed_numbers,
    with_one_mark,
)
from truepool.tables.table_format import TableFormat
from truepool.tables.text_columns import MOST_MARKS, TextColumn, check_texts
from truepool.tables.units import EDGE, ENOUGH


@dataclass(frozen=True, eq=False)
class ReportColumn:
    """Cells (T,) of a column, and whose reports they are.

    ``owner`` (T,) is the number of each row's agent: a column of a long table holds the
    reports of several agents. ``first_row`` is the number of the first row in its
    table.
    """

    cells: nw.Series[Any]
    agents: Sequence[str]
    owner: IntArray
    written: TableFormat
    first_row: int = 0

    @cached_property
    def text(self) -> Any:
        """Trimmed text of each cell, null where there is no report."""
        return trimmed_text(self.cells, self.written)

    @cached_property
    def _marked(self) -> Any:
        """Text with one decimal mark; each agent may have its own."""
        return with_one_mark(self.text, self.owner, self.written.decimal)

    @cached_property
    def percent(self) -> BoolArray:
        """Which rows (T,) are percentages."""
        by_agent = [self.written.in_percent(name) for name in self.agents]
        return np.array(by_agent, dtype=bool)[self.owner]

    @cached_property
    def scored(self) -> BoolArray:
        """Which rows (T,) are scores."""
        by_agent = [self.written.score_range(name) is not None for name in self.agents]
        return np.array(by_agent, dtype=bool)[self.owner]

    @cached_property
    def signed(self) -> BoolArray:
        """Which cells (T,) carry a percent sign."""
        if is_numeric(self.cells):
            return np.zeros(len(self.cells), dtype=bool)
        signs = pc.fill_null(pc.ends_with(self.text, "%"), False)
        return np.asarray(signs.to_numpy(zero_copy_only=False), dtype=bool)

    @property
    def signed_agents(self) -> list[str]:
        """Agents of which every report carries a percent sign."""
        if not self.signed.any():
            return []
        empty = np.asarray(pc.is_null(self.text).to_numpy(zero_copy_only=False))
        signed = np.bincount(self.owner[self.signed], minlength=len(self.agents))
        bare = self.owner[~self.signed & ~empty]
        signed[bare] = 0
        return [self.agents[i] for i in np.flatnonzero(signed).tolist()]

    @property
    def tops(self) -> FloatArray:
        """Largest number of each agent (N,), as written; 0 where there is none."""
        tops = np.zeros(len(self.agents))
        np.fmax.at(tops, self.owner, self.numbers)
        return tops

    @cached_property
    def numbers(self) -> FloatArray:
        """Numbers (T,) as they are written, NaN where there is no report."""
        written = self.written
        numbers = typed_numbers(self.cells, written.missing)
        if numbers is not None:
            return numbers
        try:
            return cast(self._marked, written.decimal, self.percent, written.missing)
        except pa.ArrowInvalid:
            votes = truth_values(self.text)
            if votes is None:
                raise
            return votes

    def probabilities(self) -> FloatArray:
        """Return the numbers (T,) in [0, 1], if those of the table are in range."""
        if not (self.written.percent or self.written.scores):
            return self.numbers
        self._check_signs()
        ends = np.array([self.written.ends(name) for name in self.agents])
        zero, one = ends.T if len(ends) == 1 else ends[self.owner].T
        for rows, what in ((self.percent, "percentage"), (self.scored, "score")):
            if rows.any():
                self._check_range(np.where(rows, self.numbers, np.nan), zero, one, what)
        return np.asarray((self.numbers - zero) / (one - zero))

    def check_numbers(self, table: Sequence["ReportColumn"]) -> None:
        """Refuse a cell that is no number; other columns of the table help to say why.

        A number above 1 of an agent that is not named to be in percent is refused here,
        where its option is known.
        """
        try:
            numbers = self.numbers
        except pa.ArrowInvalid:
            row, _ = first_other(self._marked, self.written.decimal, self.percent)
            cell = self.text[row].as_py()
            what = "a report must be a number in [0, 1]"
            low, high = sorted(self.written.ends(self.agents[self.owner[row]]))
            if self.percent[row] or self.scored[row]:
                unit = "percentage" if self.percent[row] else "score"
                what = f"a {unit} must be a number from {low:g} to {high:g}"
            raise ReportError(
                f"{what}; column {self.cells.name!r} has {cell!r} in {self._row(row)}. "
                f"{self._cure(row, cell, table)}"
            ) from None
        if isinstance(self.written.percent, bool):
            return
        rest = np.where(self.percent | self.scored, np.nan, numbers)
        low, high = np.nanmin(rest, initial=0.0), np.nanmax(rest, initial=0.0)
        if 1 + EDGE < high <= 100 and low >= 0 and not is_slip(rest):
            row = int(np.argmax(rest > 1 + EDGE))
            name = self.agents[self.owner[row]]
            new, kept = _percentages(table)
            names = dict.fromkeys(_agent(each, table) for each in (name, *new))
            which = "it is" if len(names) == 1 else f"{join_names([*names])} are"
            option = percent_option([*kept, *names])
            own = rest[(self.owner == self.owner[row]) & np.isfinite(rest)]
            if own.size >= ENOUGH and (span := small_scale(own)):
                span = shlex.quote(f"{name.replace(',', '?')}={span}")
                option += f"; if these are scores, --scores {span} (lowest-highest)"
            raise ReportError(
                f"a report must lie in [0, 1]; {self._kind} {name!r} has "
                f"{self._cell(row)} in {self._row(row)}. If {which} in percent, pass "
                f"{option}. A column that is not an agent is left out with --ignore "
                f"{shlex.quote(name)} (of a saved pool, in its fit)."
            )

    @property
    def _kind(self) -> str:
        return "column" if self.written.long is None else "agent"

    def _row(self, row: int) -> str:
        return row_name(self.first_row + row)

    def _check_signs(self) -> None:
        """Refuse an agent some of whose percentages carry a sign, and others do not."""
        signed = self.percent & self.signed
        bare = self.percent & ~self.signed & ~np.isnan(self.numbers)
        mixed = np.intersect1d(self.owner[signed], self.owner[bare])
        if mixed.size:
            rows = (
                int(np.argmax(of & (self.owner == mixed[0]))) for of in (signed, bare)
            )
            first, second = (
                f"{self.text[row].as_py()!r} in {self._row(row)}" for row in rows
            )
            raise ReportError(
                f"with --percent either all reports of one {self._kind} carry a "
                f"percent sign or none; {self._kind} {self.agents[mixed[0]]!r} has "
                f"{first} and {second}. Write them in one unit."
            )

    def _check_range(
        self, values: FloatArray, zero: FloatArray, one: FloatArray, what: str
    ) -> None:
        """Refuse numbers outside the range of their unit, as the table has them."""
        low, high = np.minimum(zero, one), np.maximum(zero, one)
        outside = (values < low - EDGE) | (values > high + EDGE)
        if outside.any():
            row = int(np.argmax(outside))
            name = self.agents[self.owner[row]]
            least, most = sorted(self.written.ends(name))
            own = values[outside & (self.owner == self.owner[row])]
            raise ReportError(
                f"a {what} must lie between {least:g} and {most:g}; {self._kind} "
                f"{name!r} has {self._cell(row)} in {self._row(row)}. "
                f"{range_cure(own, self._cell(row), what)}, or leave the {self._kind} "
                f"out (--ignore {shlex.quote(name)}; of a saved pool, in its fit)."
            )

    def _cell(self, row: int) -> str:
        """Return a number as the table has it."""
        if is_numeric(self.cells):
            return f"{self.numbers[row]:g}"
        return str(self.text[row].as_py())

    @cached_property
    def as_text(self) -> TextColumn | None:
        """The column if it holds texts and no numbers; None if it holds any number."""
        try:
            _ = self.numbers
        except pa.ArrowInvalid:
            texts = self.text.unique().drop_null().to_pylist()
            if len(texts) > 1 and all(map(is_word, texts)):
                return TextColumn(self.cells.name, tuple(texts))
        return None

    def _cure(self, row: int, cell: str, table: Sequence["ReportColumn"]) -> str:
        if is_word(cell):
            return self._word_cure(cell)
        own = self.text.filter(pa.array(self.owner == self.owner[row]))
        if cure := mark_cure(cell, own, self.written.decimal):
            return cure
        comma = "," in cell and self.written.decimal != ","
        options = ["--decimal ','"] if comma else []
        if "%" in cell:
            if self.agents[self.owner[row]] not in self.signed_agents:
                return number_cure(cell, "")  # alone among fractions
            signed = [name for column in table for name in column.signed_agents]
            every = len(signed) == sum(len(column.agents) for column in table)
            new = [name for name in signed if not self.written.in_percent(name)]
            agents = dict.fromkeys(_agent(name, table) for name in new)
            option = self.written.percent_option([*agents])
            options.append("--percent" if every else option)
        return f"Pass {' and '.join(options)}."

    def _word_cure(self, cell: str) -> str:
        texts = self.text.unique().drop_null().to_pylist()
        words = tuple(text for text in texts if is_word(text))
        if self.as_text is not None or len(words) > MOST_MARKS:
            return TextColumn(self.cells.name, words).cure(self.written)
        name = shlex.quote(self.cells.name)
        return (
            f"If it means no report, pass --missing {shlex.quote(cell)}; an empty "
            "cell, NA, NaN or null means that already. Else correct it. A column that "
            f"is not an agent is left out with --ignore {name} (of a saved pool, in "
            "its fit)."
        )


def parse_reports(
    columns: Iterable[nw.Series[Any]], written: TableFormat, first_row: int = 0
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """Return the reports of each column, and the columns that carry percent signs.

    NaN where there is no report. Percentages become shares, scores from a to b become
    (s - a) / (b - a). ``first_row`` is the number of the first row in its table.
    """
    table = []
    for each in columns:
        owner = np.broadcast_to(np.int64(0), len(each))  # one agent; takes no memory
        table.append(ReportColumn(each, (each.name,), owner, written, first_row))
    found, signed = _parse(table, written)
    names = (column.cells.name for column in table)
    return dict(zip(names, found, strict=True)), signed


def parse_long_reports(
    column: nw.Series[Any],
    agents: Sequence[str],
    owner: IntArray,
    written: TableFormat,
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the reports of a long table, and the agents that write percent signs.

    ``owner`` (T,) is the number of each row's agent.
    """
    (reports,), signed = _parse([ReportColumn(column, agents, owner, written)], written)
    return reports, signed


def _parse(
    table: Sequence[ReportColumn], written: TableFormat
) -> tuple[list[FloatArray], tuple[str, ...]]:
    texts = [column.as_text for column in table if column.as_text is not None]
    check_texts(texts, len(table) - len(texts), written)
    for column in table:
        column.check_numbers(table)
    reports = [column.probabilities() for column in table]
    if not written.percent:
        return reports, ()
    signed = [name for column in table for name in column.signed_agents]
    if signed and written.percent is True:
        _check_unsigned(table, signed)
    return reports, tuple(signed)


def _check_unsigned(table: Sequence[ReportColumn], signed: Collection[str]) -> None:
    """Refuse numbers up to 1 without percent signs, where others carry them.

    They may be fractions. Where the agents in percent are named, nothing is in doubt.
    """
    tops = {
        name: float(top)
        for column in table
        for name, top in zip(column.agents, column.tops, strict=True)
    }
    small = [n for n, top in tops.items() if 0 < top <= 1 and n not in signed]
    if small:
        certain = [n for n, top in tops.items() if n in signed or top > 1]
        first = next(name for name in certain if name in signed)
        raise ReportError(
            "with --percent every report is a percentage; "
            f"{first!r} carries percent signs, and {small[0]!r} has none and goes only "
            f"up to {tops[small[0]]:g}. If it reports fractions, pass "
            f"{percent_option(certain)}; else write a percent sign after each number."
        )


def _percentages(table: Sequence[ReportColumn]) -> tuple[list[str], list[str]]:
    """Agents up to 100 that --percent does not name, and what it names.

    Names of fractions alone are left out, where enough of them say so.
    """
    tops: dict[str, float] = {}
    counts: dict[str, int] = {}
    for column in table:
        with suppress(pa.ArrowInvalid):  # refused for its own sake
            slip = column.tops.max() > 1 and is_slip(column.numbers)
            if not slip or len(column.agents) > 1:
                tops |= zip(column.agents, column.tops.tolist(), strict=True)
                own = column.owner[~np.isnan(column.numbers)]
                reports = np.bincount(own, minlength=len(column.agents)).tolist()
                counts |= zip(column.agents, reports, strict=True)
    written = table[0].written
    signed = {name for column in table for name in column.signed_agents}
    above = [
        name for name, top in tops.items()
        if 1 + EDGE < top <= 100 and name not in signed
        and written.score_range(name) is None
    ]  # fmt: skip
    new = [name for name in above if not written.in_percent(name)]
    largest = max((tops[name] for name in above), default=0.0)
    fractions = {
        name for name, top in tops.items()
        if 0 < UNIT_RATIO * top <= largest and top <= 1 and name not in signed
        and counts[name] >= ENOUGH
    }  # fmt: skip
    patterns = () if isinstance(written.percent, bool) else written.percent
    wrong = {
        pattern for pattern in patterns
        if (of := {n for n in tops if is_chosen(n, (pattern,))}) and of <= fractions
    }  # fmt: skip
    return new, [pattern for pattern in patterns if pattern not in wrong]


def _agent(name: str, table: Sequence[ReportColumn]) -> str:
    """Return the agent that a column belongs to, where it has several."""
    agent, _, _ = name.rpartition(":")
    own = [c for c in table if agent and c.cells.name.startswith(f"{agent}:")]
    return agent if len(own) > 1 else name
