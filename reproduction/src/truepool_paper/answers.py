"""Results: every table beside the paper's, as values and as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truepool.core.engine import Row
from truepool_paper.expected import PaperTable
from truepool_paper.interface import Experiment, Reading, Size
from truepool_paper.verdicts import CellVerdict, Place, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Answer:
    """One table or figure: what is printed, what we measured, and how it was read.

    ``rows`` are all that the experiment measured: a figure may draw those of a table.
    """

    table: PaperTable
    reading: Reading
    cells: Mapping[Place, CellVerdict]
    verdict: Verdict
    rows: tuple[Row, ...] = ()
    experiment: Experiment | None = None

    def figure(self) -> "Figure | None":
        """Draw the figure; None if it is a table, or pending."""
        if self.experiment is None or self.table.kind != "figure":
            return None
        return self.experiment.figure(self.table.label, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict and the numbers as plain values."""
        return {
            "kind": self.table.kind,
            "title": self.table.title,
            "section": self.table.section,
            "shows": self.table.shows,
            "verdict": self.verdict,
            "reading": self.reading.reading,
            "cause": self.reading.cause,
            "experiment": self.experiment and self.experiment.name,
            "seeds": self.table.seeds,
            "row_key": list(self.table.row_key),
            "columns": list(self.table.columns),
            "cells": [_cell_data(place, cell) for place, cell in self.cells.items()],
        }


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Answers to all requested labels, and the environment they were measured in."""

    size: Size
    answers: tuple[Answer, ...]
    environment: Mapping[str, str]

    def __getitem__(self, label: str) -> Answer:
        return next(a for a in self.answers if a.table.label == label)

    def figures(self) -> dict[str, "Figure"]:
        """Draw the figures that have been measured, by label."""
        drawn = {answer.table.label: answer.figure() for answer in self.answers}
        return {label: page for label, page in drawn.items() if page is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows and the figures as plain values."""
        return {
            "size": self.size,
            "environment": dict(self.environment),
            "tables": {a.table.label: a.to_dict() for a in self.answers},
        }


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
        "tolerance": cell.tolerance,
        "spread": cell.tolerance and _spread(cell),
    }


def _spread(cell: CellVerdict) -> str:
    """Source of the paper's spread in the tolerance: printed, or taken from ours."""
    known = cell.printed is not None and cell.printed.error is not None
    return "printed" if known else "as ours"
