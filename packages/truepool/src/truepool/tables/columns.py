"""Columns: what each one holds, and which of them have no role yet."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import FloatArray, IntArray
from truepool.tables import cells
from truepool.tables.faults import Cure, FaultList, Note, Question
from truepool.tables.schema import Declared, is_chosen
from truepool.tables.source import INDEXES

MOST_LABELS = 1_000
"""So many different values are no labels."""
LOOKED_AT = 1_000
"""Cells that say whether a column of text holds numbers or times."""
NUMERIC = r"^[-+]?(?:\d+|\d{1,3}(?:[.,]\d{3})+)?(?:[.,]\d+)?(?:[eE][-+]?\d+)?\s*%?$"
NEARLY = 0.95
"""A column is one of times if so large a share of its cells are."""
ID_ROWS = 20
"""So many different whole numbers are ids, or the like."""
ID = "id"
"""What the column of ids is called, whatever it looks like."""


@dataclass(frozen=True, eq=False)
class Look:
    """What one column holds; ``numbers`` are there if half of its cells are."""

    name: str
    column: pa.Array
    numbers: cells.Numbers | None = None

    @cached_property
    def text(self) -> pa.Array | None:
        """Cells as text, None where they have a type."""
        return cells.trim(self.column) if cells.is_text(self.column) else None

    @cached_property
    def known(self) -> FloatArray:
        """The numbers that there are."""
        values = np.zeros(0) if self.numbers is None else self.numbers.values
        gone = np.isnan(values)
        return values[~gone] if gone.any() else values

    @cached_property
    def distinct(self) -> list[Any]:
        """Different values, in the order of the rows."""
        return self._values.to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def count(self) -> int:
        """How many different values there are."""
        return len(self._values)

    @property
    def _values(self) -> pa.Array:
        column = self.column if self.text is None else self.text
        nothing = pa.types.is_nested(column.type)
        return pa.nulls(0) if nothing else pc.unique(column).drop_null()

    @property
    def kind(self) -> str:
        """Whether it holds times, text or numbers."""
        plain = "text" if self.numbers is None else "numbers"
        return "times" if self.is_time else plain

    @property
    def rows(self) -> int:
        """Number of rows, T."""
        return len(self.column)

    @cached_property
    def complete(self) -> bool:
        """Whether no cell is empty."""
        return not cells.is_empty(self.column).any()

    @cached_property
    def whole(self) -> bool:
        """Whether the numbers are whole."""
        first, n = self.known[:LOOKED_AT], self.known
        if not len(n) or (first != np.floor(first)).any():
            return False
        return bool((n == np.floor(n)).all())

    @cached_property
    def binary(self) -> bool:
        """Whether the numbers are 0 and 1, and no other."""
        n = self.known
        return bool(len(n) and n.min() >= 0 and n.max() <= 1 and self.whole)

    @cached_property
    def signed(self) -> bool:
        """Whether numbers carry a percent sign."""
        return self.numbers is not None and bool(
            self.numbers.signed is not None and self.numbers.signed.any()
        )

    @cached_property
    def is_key(self) -> bool:
        """Whether every row has a value of its own: text, or a whole number."""
        if not self.complete or self.is_time or pa.types.is_nested(self.column.type):
            return False
        if self.numbers is not None and not (self.whole and self.rows >= ID_ROWS):
            return False
        if self.count != self.rows:
            return False
        return self.text is None or self.numbers is not None or self._is_name

    @property
    def _is_name(self) -> bool:
        """Whether text is neither amounts nor, but for a few cells, times."""
        first = self._values[:LOOKED_AT].to_pylist()
        found = cells.amounts(pa.array(first, pa.string()))
        most = np.count_nonzero(np.isnan(found.values)) > len(first) / 2
        return bool(most) and not cells.likely_formats(first)

    @cached_property
    def is_class(self) -> bool:
        """Whether a cell holds one number per class."""
        return bool(pa.types.is_nested(self.column.type))

    @cached_property
    def is_report(self) -> bool:
        """Whether these are probabilities, or percentages with their sign.

        At least half of the numbers lie in [0, 1]. Counts do not, as whole numbers
        above 1 show, and a number for each row is an id.
        """
        if self.numbers is None or self.is_key or not len(self.known):
            return self.is_class
        if self.signed:
            return True
        inside = np.count_nonzero((self.known >= 0) & (self.known <= 1))
        counts = self.whole and self.known.max() > 1
        return bool(not counts and 2 * inside >= len(self.known))

    @cached_property
    def has_unit(self) -> bool:
        """Whether the numbers may be reports in a unit that nobody has declared."""
        if self.numbers is None or self.is_key or self.is_report or not len(self.known):
            return False
        return bool(self.known.min() >= 0 and self.known.max() <= 100)

    @cached_property
    def formats(self) -> tuple[str, ...]:
        """Ways in which every cell can be read as a time; "" has none to choose."""
        if cells.is_time_type(self.column):
            return ("",)
        if self.text is None or self.numbers is not None:
            return ()
        first = self.text.drop_null()[:LOOKED_AT].to_pylist()
        if not first or not cells.time_formats(first):
            return ()
        return cells.time_formats(self.distinct)

    @cached_property
    def is_time(self) -> bool:
        """Whether all cells are times."""
        return bool(self.formats) and not cells.is_empty(self.column).any()

    @cached_property
    def is_nearly_time(self) -> bool:
        """Whether all cells are times but for a few that cannot be, as 31 February."""
        if self.text is None or self.numbers is not None or not self.complete:
            return False
        likely = cells.likely_formats(self.distinct)
        odd = cells.times(self.column, likely[0]).odd if likely else None
        return odd is not None and bool(odd.mean() <= 1 - NEARLY)

    @cached_property
    def codes(self) -> IntArray:
        """The number of each row's value, -1 where there is none."""
        column = self.column if self.text is None else self.text
        coded = pc.dictionary_encode(column)
        return np.asarray(pc.fill_null(coded.indices, -1), dtype=np.int64)

    def labels(self, missing: Sequence[str]) -> dict[Any, int]:
        """Return the labels that the cells are, and how many rows have each."""
        if self.is_class or cells.is_time_type(self.column):
            return {}
        found = pc.value_counts(cells.labels(self.column, missing).drop_null())
        values, counts = found[: MOST_LABELS + 1].flatten()
        return dict(zip(values.to_pylist(), counts.to_pylist(), strict=True))


def look_at(
    table: pa.Table, missing: Sequence[str], decimal: str | None = None
) -> tuple[dict[str, Look], str | None]:
    """Look at every column of a table, and find its decimal mark where it has one."""
    columns = {
        n: cells.plain(c)
        for n, c in zip(table.column_names, table.columns, strict=True)
        if n not in INDEXES
    }
    mark = decimal or decimal_mark(table, missing)
    looks = {}
    for name, column in columns.items():
        given = None
        if name != ID and (
            cells.is_number_type(column) or _is_numeric(column, missing)
        ):
            given = cells.numbers(column, mark or ".", missing)
            if cells.is_text(column) and np.isnan(given.values).all():
                given = None  # amounts with a currency
        looks[name] = Look(name, column, given)
    return looks, mark


def decimal_mark(table: pa.Table, missing: Sequence[str]) -> str | None:
    """Return the decimal mark that most columns of text show; None where none does.

    Columns of plain numbers, with a point or none, are read by either mark.
    """
    columns = (
        cells.plain(c)
        for n, c in zip(table.column_names, table.columns, strict=True)
        if n != ID and not cells.is_number_type(c)
    )
    texts = [c for c in columns if cells.is_text(c) and _is_numeric(c, missing)]
    texts = [c for c in texts if not cells.is_plain(c, missing)]
    votes = Counter(filter(None, (_usual_mark(cells.bare(c, missing)) for c in texts)))
    return votes.most_common(1)[0][0] if votes else None


def _usual_mark(text: pa.Array) -> str | None:
    """Return the decimal mark that a column shows, of two the one of more cells."""
    marks = sorted(cells.decimal_marks(text) - {"?"}, reverse=True)
    last = [pc.match_substring_regex(text, rf"[{m}]\d*\s*%?$") for m in marks]
    counts = [pc.sum(each).as_py() or 0 for each in last]
    return marks[int(np.argmax(counts))] if marks else None


def _is_numeric(column: pa.Array, missing: Sequence[str]) -> bool:
    """Whether at least half of the first cells of text are numbers."""
    if not cells.is_text(column):
        return False
    text = cells.bare(column[:LOOKED_AT], missing).drop_null()
    if len(text) < LOOKED_AT < len(column):  # some of the first are empty
        text = cells.bare(column, missing).drop_null()[:LOOKED_AT]
    fits = pc.sum(pc.match_substring_regex(text, NUMERIC)).as_py() or 0
    return bool(len(text)) and 2 * fits >= len(text)


@dataclass(eq=False)
class Inference:
    """A schema in the making: what is known, and columns that have no role yet.

    ``by_class`` has the columns of each agent by class, where there is one for each.
    """

    declared: Declared
    looks: dict[str, Look]
    table: str
    open: dict[str, Look] = field(init=False)
    by_class: dict[str, dict[str, str]] = field(default_factory=dict)
    long: tuple[str, str, str] | None = None
    agents: tuple[str, ...] = ()
    reports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    formats: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    faults: FaultList = field(default_factory=FaultList)

    def __post_init__(self) -> None:
        self.open = dict(self.looks)

    def take(self, *names: str | None) -> None:
        """Give columns a role, so that they can have no other."""
        for name in names:
            self.open.pop(name or "", None)

    def name_usual(self, key: str) -> str | None:
        """Take the column that is named for a role, or is called like it."""
        name: str | None = vars(self.declared)[key]
        if name is None and key in self.open:
            name = key
        self.take(name)
        return name if name in self.looks else None

    def is_agent(self, name: str) -> bool:
        """Whether an agent is not left out, nor others named."""
        declared = self.declared
        named = not declared.agents or is_chosen(name, declared.agents)
        return named and not is_chosen(name, declared.ignore)

    def order_classes(self, labels: Sequence[Any]) -> None:
        """Put the columns of each agent in the order of the labels."""
        if self.classes and labels:
            place = [self.classes.index(str(label)) for label in labels]
            for agent, own in self.reports.items():
                if len(own) > 1:
                    self.reports[agent] = tuple(own[k] for k in place)
            self.classes = tuple(self.classes[k] for k in place)

    def ask(self, code: str, key: str, choices: Iterable[Any], **settings: Any) -> None:
        """Ask about a key."""
        self.questions.append(Question(code, key, tuple(choices), **settings))

    def refuse(self, code: str, *cures: Cure, **settings: Any) -> None:
        """Note a fault."""
        self.faults.refuse(code, *cures, **settings)

    def has(self, *codes: str) -> bool:
        """Whether one of these faults was noted."""
        return any(fault.code in codes for fault in self.faults.found.values())
