"""How fast the weight of an agent that got worse goes to those that did not."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from truepool.lab import Cell, Row, cells
from truepool.paper.interface import Experiment, Reading, Size, row
from truepool.rounds import replay
from truepool.stress.drift import quality_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES, EVERY, WINDOW = 1000, 10, 50
BEFORE = (1.5, 1.5, 2.0, 1.0, 1.0)
AFTER = (1.5, 1.5, 0.0, 1.0, 1.0)
LABEL = "fig:weight_trajectory"


@final
class WeightTrajectory(Experiment):
    """Five agents, the best of which knows nothing in the second half."""

    name: ClassVar[str] = "weight-trajectory"
    readings: ClassVar[Mapping[str, Reading]] = {
        LABEL: Reading(
            "Agents of skill 1.5, 1.5, 2, 1 and 1, the third of which loses all skill "
            "at case 500 of 1,000 without noticing; weights of the last 50 cases by "
            "leave-one-out Brier; bands are one standard deviation over the repeats."
        )
    }

    def cells(self, size: Size) -> list[Cell]:
        """Return ten streams: they are cheap."""
        return cells(self.name, 10)

    def effort(self, cell: Cell) -> float:
        """Little: the round loop is compiled."""
        return 0.02

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Follow one stream; keep every tenth case."""
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
        from matplotlib.figure import Figure

        found: dict[tuple[int, int], list[float]] = {}
        for each in rows:
            t, agent = each["key"]
            found.setdefault((agent, t), []).append(each["value"])
        page = Figure(figsize=(8, 4), layout="constrained")
        axes = page.subplots()
        for agent in sorted({agent for agent, _ in found}):
            times = sorted(t for other, t in found if other == agent)
            paths = np.array([found[agent, t] for t in times])
            mean, spread = paths.mean(axis=1), paths.std(axis=1)
            (line,) = axes.plot(times, mean, label=f"Agent {agent}")
            low, high = mean - spread, mean + spread
            axes.fill_between(times, low, high, alpha=0.15, color=line.get_color())
        axes.axvline(CASES / 2, color="grey", linestyle="--", linewidth=1)
        axes.set(xlabel="case", ylabel="weight", ylim=(0, None))
        axes.margins(x=0)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return page
