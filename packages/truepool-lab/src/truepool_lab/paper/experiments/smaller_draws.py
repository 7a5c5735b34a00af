"""Two tables of real data read as drawn from fewer rows than tab:hyperparams says."""

from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np

from truepool import Panel
from truepool.core.engine import Cell, Row, cells
from truepool_lab.paper.experiments.adversarial import (
    ATTACKS,
    SHARES,
    rows_under_attack,
)
from truepool_lab.paper.experiments.heterogeneity import COMPOSITIONS, team
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.methods import pool_with, tally, vcg
from truepool_lab.paper.real_task import PACKAGES, SOURCES, task, ten_agents

MAKE_UP, ATTACKED = "tab:heterogeneity@inferred", "tab:adversarial@inferred"
ROWS = {"NSL-KDD": 10_000, "Credit Card": 15_000}
"""Rows that the printed spreads of tab:heterogeneity imply."""
QUICK = {"NSL-KDD": 1500, "Credit Card": 3000}
INFERRED = (
    "10,000 rows of NSL-KDD and 15,000 of Credit Card instead of the 50,000 of "
    "tab:hyperparams: the printed standard deviations are those of test sets of about "
    "that size (two row counts tried for each)."
)


@final
class SmallerDraws(Experiment):
    """The five make-ups and the ten attacked agents, trained on fewer rows."""

    name: ClassVar[str] = "smaller-draws"
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 1, "full": 5}
    readings: ClassVar[Mapping[str, Reading]] = {
        MAKE_UP: Reading(
            f"{INFERRED} Disagreement is the mean absolute difference of two agents' "
            "reports, mean over pairs, not the share of different decisions. All else "
            "as in our reading.",
            basis="inferred",
            fitted=("* | *disagreement",),
        ),
        ATTACKED: Reading(
            f"{INFERRED} All else as in our reading.",
            basis="inferred",
            methods="columns",
        ),
    }
    needs: ClassVar[tuple[str, ...]] = tuple(SOURCES[data] for data in ROWS)
    packages: ClassVar[Mapping[str, str]] = PACKAGES

    def cells(self, size: Size) -> list[Cell]:
        """Return both data sets for the make-ups, one for the attacks."""
        axes = {"data": tuple(ROWS), "size": [size]}
        return cells(self.name, self.repeats[size], axes)

    def effort(self, cell: Cell) -> float:
        """Mostly the networks."""
        return 40.0 if cell["size"] == "full" else 8.0

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train every make-up on one data set; attack ten agents of NSL-KDD."""
        data, full = cell["data"], cell["size"] == "full"
        here = task(SOURCES[data], (ROWS if full else QUICK)[data], cell)
        found = []
        for name, kinds in COMPOSITIONS.items():
            found += _make_up(data, name, *here.panels(team(kinds)))
        if data != "NSL-KDD":
            return found
        validation, test = here.panels(ten_agents())
        for attack in ATTACKS:
            for percent in SHARES:
                found += rows_under_attack(
                    ATTACKED, attack, percent, validation, test, cell.seed("who")
                )
        return found


def _make_up(data: str, name: str, validation: Panel, test: Panel) -> list[Row]:
    counts = tally(pool_with(vcg(), validation, test), test)
    found = {
        "FN": counts.fn_rate,
        "F1": counts.f1,
        "disagreement": soft_disagreement(test),
    }
    return [row(MAKE_UP, [name], f"{data}/{what}", v) for what, v in found.items()]


def soft_disagreement(panel: Panel) -> float:
    """Mean absolute difference of two agents' reports, over all pairs.

    >>> round(soft_disagreement(Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0])), 3)
    0.2
    """
    reports = panel.reports
    pairs = np.triu_indices(reports.shape[1], 1)
    gaps = [
        np.abs(reports[:, i] - reports[:, j]).mean()
        for i, j in zip(*pairs, strict=True)
    ]
    return float(np.mean(gaps))
