"""Interface of experiments: cells of work that yield rows of the paper's tables."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from truepool.core.engine import Cell, Row, cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size: TypeAlias = Literal["quick", "full"]
Basis: TypeAlias = Literal["stated", "inferred", "ours"]
Axes: TypeAlias = Mapping[str, Sequence[Any]]
MODEL_VARIABLE = "TRUEPOOL_LLM_MODEL"
"""Environment variable with the language model to ask; asking it may cost money."""
FULL_RUN_NOTE = "(Numbers in this sentence are those of the full run.)"


@dataclass(frozen=True)
class Reading:
    """How a table is read where the paper leaves a choice, and why ours may differ.

    ``cause`` is one sentence or two, shown where a cell differs, with numbers of the
    full run; ``methods`` says whether the methods that are ranked are the rows, the
    columns, or neither (``none``: the table compares settings, not methods).
    ``reduced`` adds why a run of reduced size differs further.

    ``basis`` says where the reading comes from: ``stated`` in the paper, ``inferred``
    from printed cells (the text says from which, and how many settings were tried), or
    ``ours`` where the paper leaves a choice. Three tuples of patterns ``key | column``
    name cells that are no evidence: ``fitted`` (a setting was chosen to meet them),
    ``constructed`` (true whatever is measured) and ``timed`` (on another machine).
    ``elsewhere`` names cells of hardware that is not at hand: they are never compared;
    rows of their own hold what the machine at hand does.

    ``title`` makes it a table of our own that stands beside a printed one, and has
    none of its cells: what the paper claims there and does not show.
    """

    reading: str
    cause: str = ""
    methods: str = "rows"
    reduced: str = ""
    basis: Basis = "ours"
    fitted: tuple[str, ...] = ()
    constructed: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    title: str = ""

    def for_size(self, size: Size) -> "Reading":
        """Return the reading at this size.

        >>> Reading("As is.", "No seed.", reduced="Few rows.").for_size("quick").cause
        'No seed. Few rows. (Numbers in this sentence are those of the full run.)'
        """
        if size == "full" or not self.cause:
            return replace(self, reduced="")
        parts = (self.cause, self.reduced, FULL_RUN_NOTE)
        return replace(self, cause=" ".join(filter(None, parts)), reduced="")


class Experiment(ABC):
    """One question, answered by cells of work that yield rows.

    A row is ``{"table": label, "key": [...], "column": name, "value": number}``: where
    in which table of the paper a measured number belongs. The mean over the repeats is
    what is shown. Numbers that the paper does not print have rows, too.
    """

    name: ClassVar[str]
    readings: ClassVar[Mapping[str, Reading]]
    """The tables and figures that it answers, by label."""
    version: ClassVar[str] = "1"
    """To be raised when stored rows no longer hold."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Data sets without which it cannot run."""
    packages: ClassVar[Mapping[str, str]] = {}
    """Packages without which it cannot run, and what brings each."""
    alone: ClassVar[bool] = False
    """Whether it measures time, so that nothing else may run beside it."""
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 2, "full": 10}
    """How often each cell is drawn anew."""
    axes: ClassVar[Axes] = {}
    """What the cells vary."""
    by_size: ClassVar[bool] = False
    """Whether the cells are told the size."""
    seconds: ClassVar[float] = 1.0
    """Roughly how long a cell takes."""

    def cells(self, size: Size) -> list[Cell]:
        """Return the work to do, at this size."""
        axes = {**self.axes, "size": [size]} if self.by_size else self.axes
        return cells(self.name, self.repeats[size], axes)

    @staticmethod
    @abstractmethod
    def measure(cell: Cell) -> list[Row]:
        """Measure one cell: a pure function."""

    def effort(self, cell: Cell) -> float:
        """Estimate the seconds that a cell takes, for the progress bar only."""
        return self.seconds

    def derive(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows computed from those of all cells: averages, tests."""
        return []

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw a figure from the rows."""
        raise NotImplementedError(label)


def model_in_use() -> str:
    """Return the language model that the user has named; empty if none."""
    return os.environ.get(MODEL_VARIABLE, "")


def is_row(found: Row) -> bool:
    """Whether an object of a file is a row, as `row` makes them.

    >>> is_row(row("tab:poa", ["Brier"], "PoA", 1.2)), is_row({"table": "tab:poa"})
    (True, False)
    """
    key = found.get("key")
    plain = str | int | float | None
    return (
        isinstance(found.get("table"), str)
        and isinstance(found.get("column"), str)
        and isinstance(key, list)
        and all(isinstance(part, plain) for part in (*key, found.get("value")))
    )


def row(table: str, key: Sequence[Any], column: str, value: Any) -> Row:
    """Return a measured number, and where in the paper it belongs.

    A value that is not finite is undefined and becomes None.

    >>> row("tab:poa", ["Brier"], "PoA", 1.2)["column"]
    'PoA'
    """
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and not isfinite(plain):
        plain = None
    return {"table": table, "key": list(key), "column": column, "value": plain}
