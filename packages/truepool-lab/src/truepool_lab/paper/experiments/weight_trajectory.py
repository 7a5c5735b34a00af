"""How fast weight moves away from an agent that got worse."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from truepool import replay
from truepool.core.engine import Cell, Row
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.stress.drift import quality_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES, EVERY, WINDOW = 1000, 10, 50
BEFORE = (1.5, 1.5, 2.0, 1.0, 1.0)
AFTER = (1.5, 1.5, 0.0, 1.0, 1.0)
LABEL = "fig:weight_trajectory"


@final
class WeightTrajectory(Experiment):
    """Five agents, the best of which is uninformative in the second half."""

    name: ClassVar[str] = "weight-trajectory"
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 10, "full": 10}
    seconds: ClassVar[float] = 0.02
    readings: ClassVar[Mapping[str, Reading]] = {
        LABEL: Reading(
            "Agents of skill 1.5, 1.5, 2, 1 and 1, the third of which loses all skill "
            "at case 500 of 1,000 without noticing; weights of the last 50 cases by "
            "leave-one-out Brier; bands are one standard deviation over the repeats."
        )
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Replay one stream; return every tenth case."""
        panel = quality_panel(
            "sudden", before=BEFORE, after=AFTER, cases=CASES, seed=cell.seed("stream")
        )
        weights = replay("window", panel, length=WINDOW).weights
        return [
            row(LABEL, [t, i + 1], "weight", weights[t, i])  # type: ignore[index]
            for t in range(0, CASES + 1, EVERY)
            for i in range(len(BEFORE))
        ]

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw the mean weight of every agent with its band."""
        found: dict[str, dict[int, list[float]]] = {}
        for each in rows:
            t, agent = each["key"]
            path = found.setdefault(f"Agent {agent}", {})
            path.setdefault(t, []).append(each["value"])
        series = {
            agent: Series(
                list(path),
                [float(np.mean(weights)) for weights in path.values()],
                [float(np.std(weights)) for weights in path.values()],
            )
            for agent, path in found.items()
        }
        return lines({"": series}, "case", "weight", vertical=CASES / 2)
