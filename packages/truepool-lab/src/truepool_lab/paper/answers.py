"""Results: every table beside the paper's, as values and as plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from truepool.core.engine import Row
from truepool_lab.paper import claims
from truepool_lab.paper.agreement import Level, Order, level, order
from truepool_lab.paper.expected import PaperTable
from truepool_lab.paper.interface import Experiment, Reading, Size
from truepool_lab.paper.verdicts import CellVerdict, Measurement, Place, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Status: TypeAlias = Literal["compared", "drawn", "not printed", "pending"]
"""What became of a table; one of our own is not printed."""


@dataclass(frozen=True)
class Run:
    """Version of the experiment that measured a table, and the day."""

    version: str
    day: str


@dataclass(frozen=True, eq=False)
class Answer:
    """One table or figure: what is printed, what we measured, and how it was read.

    A table has one answer per reading; ``variant`` names a reading other than the
    first. ``rows`` are all that the experiment measured: a figure may draw those of a
    table. ``run`` says by which version of the experiment it was measured, and when.
    """

    table: PaperTable
    reading: Reading
    cells: Mapping[Place, CellVerdict]
    status: Status
    rows: tuple[Row, ...] = ()
    experiment: Experiment | None = None
    variant: str = ""
    run: Run | None = None

    @property
    def outdated(self) -> bool:
        """Whether the experiment has changed since it was measured."""
        if self.run is None or self.experiment is None:
            return False
        return self.run.version != self.experiment.version

    @property
    def label(self) -> str:
        """The paper's label; with another reading than the first, its name too."""
        name = self.table.label
        return f"{name}@{self.variant}" if self.variant else name

    @property
    def level(self) -> Level:
        """How near the numbers are to the printed ones."""
        return level(self.cells.values())

    @property
    def order(self) -> Order:
        """Whether methods come in the printed order."""
        return order(self.cells, self.reading.methods)

    def figure(self) -> "Figure | None":
        """Draw the figure; None if it is a table, or pending."""
        if self.experiment is None or self.table.kind != "figure":
            return None
        return self.experiment.figure(self.table.label, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return conclusions, agreement, reading and numbers as plain values."""
        about = () if self.variant else claims.about(self.table.label)
        return {
            "kind": self.table.kind,
            "title": self.reading.title or self.table.title,
            "section": self.table.section,
            "shows": self.table.shows,
            "status": self.status,
            "conclusions": [claim.to_dict() for claim in about],
            "level": self.level.to_dict(),
            "order": self.order.to_dict(),
            "basis": self.reading.basis,
            "reading": self.reading.reading,
            "cause": self.reading.cause,
            "experiment": self.experiment and self.experiment.name,
            "run": self.run and {**asdict(self.run), "outdated": self.outdated},
            "seeds": self.table.seeds,
            "row_key": list(self.table.row_key),
            "columns": [] if self.reading.title else list(self.table.columns),
            "cells": [_cell_data(place, cell) for place, cell in self.cells.items()],
        }


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Answers to all requested labels, and the environment they were measured in.

    ``added`` are the labels whose rows were measured in runs of their own.
    """

    size: Size
    answers: tuple[Answer, ...]
    environment: Mapping[str, str]
    added: tuple[str, ...] = ()

    def __getitem__(self, label: str) -> Answer:
        return next(a for a in self.answers if a.label == label)

    def figures(self) -> dict[str, "Figure"]:
        """Draw the figures that have been measured, by label."""
        drawn = {answer.table.label: answer.figure() for answer in self.answers}
        return {label: page for label, page in drawn.items() if page is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows and the figures as plain values."""
        return {
            "size": self.size,
            "environment": dict(self.environment),
            "added": list(self.added),
            "conclusions": [claim.to_dict() for claim in claims.main()],
            "tables": {a.label: a.to_dict() for a in self.answers},
        }


def answered(
    table: PaperTable,
    reading: Reading,
    ours: Mapping[Place, Measurement],
    experiment: Experiment,
    *,
    variant: str = "",
    rows: tuple[Row, ...] = (),
    run: Run | None = None,
) -> Answer:
    """Judge what was measured; the points of a figure are not printed in the paper."""
    drawn = table.kind == "figure"
    cells = {} if drawn else judge(table, ours, reading)
    status: Status = "compared"
    if drawn or reading.title:
        status = "drawn" if drawn else "not printed"
    return Answer(table, reading, cells, status, rows, experiment, variant, run)


def _cell_data(place: Place, cell: CellVerdict) -> dict[str, Any]:
    key, column = place
    measured = cell.measured
    return {
        "key": list(key),
        "column": column,
        "printed": cell.printed and cell.printed.text,
        "measured": measured and measured.value,
        "error": measured and measured.error,
        "repeats": measured and measured.repeats,
        "verdict": cell.verdict,
        "kind": cell.kind,
        "tolerance": cell.tolerance,
        "spread": cell.tolerance and _spread(cell),
    }


def _spread(cell: CellVerdict) -> str:
    """Source of the paper's spread in the tolerance: printed, or taken from ours."""
    known = cell.printed is not None and cell.printed.error is not None
    return "printed" if known else "as ours"
