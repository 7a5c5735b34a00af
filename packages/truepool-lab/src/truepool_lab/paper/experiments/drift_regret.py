"""Regret of the paper's online weights when the agents' skills change."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from truepool import replay
from truepool.core.engine import Cell, Row, cells
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import SKILLS
from truepool_lab.paper.verdicts import Measurement, Place, summarise
from truepool_lab.stress.drift import quality_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = {"eta*/2": 0.5, "eta*": 1.0, "2eta*": 2.0}
KINDS = ("Sudden", "Gradual", "Recurring")
ALIKE = "Agents alike"
SKILL = 1.5
"""Skills of agents that are equally good."""
TABLE = "tab:drift_regret"


@final
class DriftRegret(Experiment):
    """Agents that swap skills: suddenly, gradually, and repeatedly."""

    name: ClassVar[str] = "drift-regret"
    seconds: ClassVar[float] = 0.02
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "alg:vcg as printed on the squared error; five agents of skill 2, 1.5, "
            "1.5, 1 and 0.5 whose skills are reversed along the drift without their "
            "noticing, base rate 0.3, against the best fixed weighting in hindsight; "
            "the extra rows have five agents that are alike throughout.",
            "Levels are set by how unlike the agents are, which is not stated: five "
            "agents that are alike come near the print at the slow rate (0.055, "
            "0.026, 0.015 for T = 100, 500, 1,000), but not to its rise with the "
            "rate; with unlike ones a faster rate loses less up to T = 1,000, and "
            "regret over sqrt(T) grows with T.",
            methods="none",
        ),
        "fig:drift_regret": Reading("The lines of tab:drift_regret, with ours."),
    }

    def cells(self, size: Size) -> list[Cell]:
        """Return the horizons of the paper; at full size one ten times as long."""
        horizons = [100, 500, 1000, *([10_000] if size == "full" else [])]
        return cells(self.name, 10, {"T": horizons, "kind": (*KINDS, ALIKE)})

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Replay one stream at three rates."""
        T, kind = cell["T"], cell["kind"]
        skills = [SKILL] * len(SKILLS) if kind == ALIKE else SKILLS
        panel = quality_panel(
            "none" if kind == ALIKE else kind.lower(),
            before=skills,
            after=skills[::-1],
            cases=T,
            base_rate=0.3,
            seed=cell.seed("stream"),
        )
        found = []
        for column, scale in SCALES.items():
            regret = replay("marginal", panel, scale=scale).regret
            found.append(row(TABLE, [kind, T], column, regret[-1] / np.sqrt(T)))  # type: ignore[index]
        return found

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw regret over sqrt(T) against T, one panel per drift."""
        means = summarise(rows, TABLE)
        panels = {
            kind: {
                column.replace("eta*", "η*"): _series(means, kind, column)
                for column in SCALES
            }
            for kind in KINDS
        }
        return lines(panels, "T", "regret / √T", log_x=True)


def _series(means: Mapping[Place, Measurement], kind: str, column: str) -> Series:
    found = {
        key[1]: mean
        for (key, name), mean in means.items()
        if (key[0], name) == (kind, column)
    }
    values = [float(mean.value) for mean in found.values()]
    return Series(list(found), values, [2 * mean.error for mean in found.values()])
