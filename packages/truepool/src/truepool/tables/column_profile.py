"""One column of an unknown table: which values it has, and what it could be."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.formatting import pluralize
from truepool.panel.case_columns import CURRENCY
from truepool.panel.report_units import CODES, FAR_CODE, MAX_SCORE
from truepool.tables.agent_columns import looks_like_id
from truepool.tables.class_columns import class_columns
from truepool.tables.doubtful_columns import says_percent
from truepool.tables.numbers import MISSING
from truepool.tables.outcome_column import spelled_alike
from truepool.tables.times import nearly_time_formats, time_formats

NEARLY_UNIQUE = 0.99
"""Share of different texts among the rows from which a column names the cases."""

MOST_WORDS = 2
"""A column of numbers with more different words is text."""

MANY_NUMBERS = 20
"""So many different numbers up to 100 make a column one of numbers with words in it."""

MOST_SCORE, WORD_SHARE = 1000.0, 0.1
"""Whole numbers up to this may be scores beside such a share of words."""

FEW_CELLS, FEW_SHARE = 3, 0.01
"""So many cells that are no dates, or this share, are mistakes in a column of dates."""

UNITS = ("percentages", "numbers between 0 and 1", "numbers up to 100", "scores")

NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?\s*%?")

THOUSANDS = (
    r"([-+]?[1-9]\d{0,2}(?:(?:\.\d{3})+(?=,)|(?:,\d{3})+(?=\.)|(?:['’\s]\d{3})+))"
    r"([.,]\d+)"
)
"""Amounts whose thousands are set apart, with another decimal mark."""

GROUPS = r"[-+]?[1-9]\d{0,2}(?:,\d{3})+"
"""What could be thousands set apart as well as a decimal comma."""


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """Values of a column, as trimmed text.

    ``distinct`` holds them in order of appearance, ``codes`` (T,) the number of each
    row's value, -1 where there is none; ``dated`` columns have a type of times.
    ``words`` are few cells of a column of numbers, which may mean that there is none,
    and how often they occur.
    """

    name: str
    distinct: tuple[str, ...]
    codes: IntArray
    dated: bool
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows, T."""
        return len(self.codes)

    @cached_property
    def complete(self) -> bool:
        """Whether every row has a value."""
        return bool((self.codes >= 0).all())

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each value occurs."""
        found = np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))
        return dict(zip(self.distinct, found.tolist(), strict=True))

    @cached_property
    def numbers(self) -> FloatArray | None:
        """Distinct values as numbers, percentages as written; None if they are not."""
        try:
            return np.array([_number(value) for value in self.distinct], np.float64)
        except ValueError:
            return None

    @property
    def by_row(self) -> FloatArray:
        """Numbers (T,), NaN where there is none."""
        numbers = np.empty(0) if self.numbers is None else self.numbers
        return np.append(numbers, np.nan)[self.codes]

    @property
    def percent(self) -> bool:
        """Whether numbers carry a percent sign."""
        return self.numbers is not None and any(v.endswith("%") for v in self.distinct)

    @property
    def comma(self) -> bool:
        """Whether numbers have a decimal comma, which no separator of thousands is."""
        if self.numbers is None:
            return False
        bare = [_bare(value) for value in self.distinct]
        return any("," in v and not re.fullmatch(GROUPS, v) for v in bare)

    @property
    def point(self) -> bool:
        """Whether numbers have a decimal point."""
        return self.numbers is not None and any("." in _bare(v) for v in self.distinct)

    @cached_property
    def currency(self) -> bool:
        """Whether some values carry a currency: amounts, and no reports."""
        return any(re.search(CURRENCY, value) for value in self.distinct)

    def lies_within(self, limit: float) -> bool:
        """Whether the values are more than two numbers between 0 and a limit."""
        n = None if self.currency else self.numbers
        return n is not None and len(n) > 2 and bool(n.min() >= 0 and n.max() <= limit)

    @property
    def is_report(self) -> bool:
        """Whether the values could be probabilities: in [0, 1], or with a % sign."""
        return self.lies_within(100.0 if self.percent else 1.0)

    def without_words(self) -> "ColumnProfile":
        """Return a column of numbers but for a word or two without these words.

        The numbers look like reports or are many: up to 100 or, if they are whole and
        words are rare, as large as scores. A number such as 9999 that is far from all
        others, and occurs several times, is such a word.
        """
        if self.dated:
            return self
        words = {v: n for v, n in self.counts.items() if not _is_number(v)}
        if self.numbers is not None:
            words = self._code
        if not words or len(words) > MOST_WORDS or sum(words.values()) >= self.rows / 2:
            return self
        others = [v for v in self.distinct if v not in words]
        number = {v: i for i, v in enumerate(others)}
        codes = np.array([*(number.get(v, -1) for v in self.distinct), -1])[self.codes]
        rest = ColumnProfile(self.name, tuple(others), codes, self.dated, words)
        scores = sum(words.values()) <= WORD_SHARE * self.rows and rest.is_whole
        limit = MOST_SCORE if scores else 100.0
        many = len(others) > MANY_NUMBERS and rest.lies_within(limit)
        return rest if rest.is_report or many else self

    @cached_property
    def _code(self) -> dict[str, int]:
        """A number that may mean that there is none, and how often it occurs."""
        numbers = np.empty(0) if self.numbers is None else self.numbers
        for place in np.flatnonzero(np.isin(numbers, list(CODES))).tolist():
            value, number = self.distinct[place], numbers[place]
            others = numbers[numbers != number]
            far = number < 0 or number >= FAR_CODE * others.max(initial=0.0)
            if far and self.counts[value] > 1:
                return {value: self.counts[value]}
        return {}

    @property
    def is_score(self) -> bool:
        """Whether the values are whole or halves, above 1 and up to 10."""
        if self.percent or self.numbers is None or not self.lies_within(MAX_SCORE):
            return False
        return self.in_halves and bool(self.numbers.max() > 1)

    @property
    def in_halves(self) -> bool:
        """Whether the values are whole numbers and halves, as scores are."""
        return self.numbers is not None and bool((2 * self.numbers % 1 == 0).all())

    @property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return self.numbers is not None and bool((self.numbers % 1 == 0).all())

    @property
    def may_be_score(self) -> bool:
        """Whether the values are whole or halves that nothing calls percentages."""
        if self.percent or self.is_id or not self.in_halves:
            return False
        return self.lies_within(MAX_SCORE) or not says_percent(self.name)

    @property
    def is_key(self) -> bool:
        """Whether rows may be told apart by the values: text or whole numbers."""
        if not (self.complete and 2 <= len(self.distinct) < self.rows):
            return False
        return self.numbers is None or self.is_whole

    @cached_property
    def spelled_alike(self) -> bool:
        """Whether some of few texts differ only by upper and lower case."""
        few = len(self.distinct) <= MANY_NUMBERS and self.numbers is None
        return few and bool(spelled_alike(self.distinct))

    @property
    def is_amount(self) -> bool:
        """Whether the values are numbers from 0 on, some above 1, that may repeat."""
        n = self.numbers
        if n is None or self.percent or self.is_id or len(n) <= 2 or self.words:
            return False
        if self.lies_within(100.0) and says_percent(self.name):
            return False
        return bool(n.min() >= 0 and n.max() > 1)

    @property
    def is_id(self) -> bool:
        """Whether every row has a value of its own: text, or a whole number."""
        if not self.complete or len(self.distinct) < self.rows:
            return False
        if self.time_formats or self.nearly_times:
            return False
        return self.numbers is None or looks_like_id(self.numbers)

    @property
    def is_nearly_unique(self) -> bool:
        """Whether nearly every row has a text of its own."""
        if self.numbers is not None or not self.complete:
            return False
        if self.time_formats or self.nearly_times:
            return False
        return len(self.distinct) >= max(2, NEARLY_UNIQUE * self.rows)

    @cached_property
    def time_formats(self) -> tuple[str, ...]:
        """Ways in which all values can be read as times; "" is ISO 8601."""
        if not self.complete:
            return ()
        if self.dated or (self.numbers is not None and self.name == "time"):
            return ("",)
        if self.numbers is not None:
            return ()
        return time_formats(self.distinct)

    @cached_property
    def nearly_times(self) -> tuple[tuple[str, ...], int] | None:
        """Ways to read nearly all cells as times, and how many cells are none."""
        if self.time_formats or self.numbers is not None or self.dated:
            return None
        formats, others = nearly_time_formats(self.distinct, MOST_WORDS)
        gaps = int((self.codes < 0).sum()) + sum(self.counts[v] for v in others)
        if not formats or gaps > max(FEW_CELLS, FEW_SHARE * self.rows):
            return None
        return formats, gaps

    def is_constant_by(self, other: "ColumnProfile") -> bool:
        """Whether there is one value for each value of another column; gaps aside."""
        known = (self.codes >= 0) & (other.codes >= 0)
        return self.count_pairs(other) == len(np.unique(other.codes[known]))

    def count_pairs(self, other: "ColumnProfile") -> int:
        """Count the different pairs of values of two columns; gaps aside."""
        known = (self.codes >= 0) & (other.codes >= 0)
        pairs = other.codes[known] * len(self.distinct) + self.codes[known]
        return len(np.unique(pairs))

    def describe(self) -> str:
        """Say in a few words what the values are."""
        if len(self.distinct) <= 2:
            return " and ".join(map(repr, self.distinct)) or "empty"
        if self.is_id:
            return "a different value in each row"
        if self.time_formats:
            return "times"
        kind = "text" if self.numbers is None else "numbers"
        return f"{kind}, {pluralize(len(self.distinct), 'different value')}"


def profile_columns(table: pa.Table) -> dict[str, ColumnProfile]:
    """Return the profile of each column of a table that holds plain values."""
    columns = zip(table.column_names, table.columns, strict=True)
    return {
        name: _profile(name, column).without_words()
        for name, column in columns
        if not (pa.types.is_nested(column.type) or pa.types.is_binary(column.type))
    }


def name_class_columns(
    columns: Mapping[str, ColumnProfile],
) -> tuple[dict[str, ColumnProfile], dict[str, str]]:
    """Call columns of classes ``agent:class``; also return what they were called.

    The labels are those of any column.
    """
    numbers = [name for name, column in columns.items() if column.lies_within(100.0)]
    labels = [column.distinct for column in columns.values() if not column.dated]
    found = [class_columns(numbers, own) for own in labels if len(own) <= len(columns)]
    joined = next(filter(None, found), {})
    if any(other not in ({}, joined) for other in found):
        joined = {}
    named = {joined.get(name, name): column for name, column in columns.items()}
    return {n: replace(column, name=n) for n, column in named.items()}, joined


def columns_by_class(columns: Mapping[str, ColumnProfile]) -> dict[str, list[str]]:
    """Columns of each agent that has one per class, ``agent:class``."""
    agents: dict[str, list[str]] = {}
    for name, column in columns.items():
        agent, colon, label = name.rpartition(":")
        if colon and agent and label and column.lies_within(100.0):
            agents.setdefault(agent, []).append(name)
    classes = {tuple(n.rpartition(":")[2] for n in names) for names in agents.values()}
    return agents if len(classes) == 1 and len(*classes) > 1 else {}


def agents_in_percent(
    columns: Sequence[ColumnProfile], *, by_class: bool
) -> bool | list[str]:
    """Agents whose reports carry percent signs; True where nobody reports otherwise.

    Others report fractions, or scores.
    """
    signed = [column.name for column in columns if column.percent]
    others = [
        c for c in columns if not c.percent and (c.lies_within(1.0) or c.is_score)
    ]
    if not signed or not others:
        return bool(signed)
    agents = (name.rpartition(":")[0] if by_class else name for name in signed)
    return list(dict.fromkeys(agents))


def describe_units(columns: Sequence[ColumnProfile]) -> str:
    """Say in which units columns of reports are."""
    kinds = [
        "percentages" if c.percent
        else "numbers between 0 and 1" if c.lies_within(1.0) or c.numbers is None
        else "scores" if c.is_score
        else "numbers up to 100"
        for c in columns
    ]  # fmt: skip
    return " and ".join(sorted({*kinds}, key=UNITS.index))


def format_mean(reports: Sequence[FloatArray], columns: Sequence[ColumnProfile]) -> str:
    """Return the mean of reports (T,) of each column, in percent if any column is.

    Scores among other reports are left out.
    """
    kept = [i for i, c in enumerate(columns) if not c.is_score] or range(len(columns))
    columns = [columns[i] for i in kept]
    values = np.array([reports[i] for i in kept])
    if not np.isfinite(values).any():
        return ""
    fractions = np.array([c.lies_within(1.0) and not c.percent for c in columns])
    if fractions.all() or all(column.is_score for column in columns):
        return f"{np.nanmean(values):.3g}"
    values[fractions] *= 100
    return f"{np.nanmean(values):.3g} %"


def largest_by_agent(values: FloatArray, owner: ColumnProfile) -> dict[str, float]:
    """Largest value of each agent, 0 where there is none."""
    tops = np.zeros(len(owner.distinct))
    known = np.isfinite(values) & (owner.codes >= 0)
    np.maximum.at(tops, owner.codes[known], values[known])
    return dict(zip(owner.distinct, tops.tolist(), strict=True))


def _profile(name: str, column: pa.ChunkedArray) -> ColumnProfile:
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    gone = pc.is_in(text, value_set=pa.array(["", *MISSING]))
    text = pc.if_else(gone, pa.scalar(None, pa.string()), text)
    encoded = text.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    distinct = tuple(encoded.dictionary.to_pylist())
    return ColumnProfile(name, distinct, codes, pa.types.is_temporal(column.type))


def _is_number(value: str) -> bool:
    try:
        _number(value)
    except ValueError:
        return False
    return True


def _bare(value: str) -> str:
    """Return an amount without its currency, and what separates its thousands.

    >>> _bare("1.234,50 €"), _bare("$1,200.00"), _bare("1.234")
    ('1234,50', '1200.00', '1.234')
    """
    amount = re.sub(CURRENCY, "", value).strip()
    found = re.fullmatch(THOUSANDS, amount)  # the last mark says what the others are
    return re.sub(r"[.,'’\s]", "", found[1]) + found[2] if found else amount


def _number(value: str) -> float:
    value = _bare(value)
    if NUMBER.fullmatch(value):
        value = value.rstrip("% ").replace(",", ".")
    return float(value)
