"""Effect of one shift by every agent on pools of more and more agents."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.paper.canonical_game import (
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    row_name,
    solve,
)
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Axes, Reading, row
from truepool_lab.paper.verdicts import numbers, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE, FIGURE = "tab:convergence", "fig:convergence"
AGENTS = (2, 3, 5, 10, 20, 50, 100, 200)
OFFSET = -0.05
"""Offset that Brier agents offset by the shift of 0.050 fixed in the table."""


@final
class Convergence(GameExperiment):
    """Brier payments by number of agents."""

    name: ClassVar[str] = "convergence"
    axes: ClassVar[Axes] = {"n": AGENTS, "offset": (OFFSET, CALIBRATED)}
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            f"{offset_note(OFFSET)} That is the deviation of 0.050 which the table "
            "holds fixed, "
            f"as Brier agents find it. {GAME} Independent beliefs (rho 0), at the "
            "same threshold and at one below mean belief (0.2), stand beside it.",
            "A pool of beliefs of correlation 0.5 keeps half the variance of one "
            "belief however many agents there are, so the price stays; it falls to 0 "
            "only for independent beliefs and a threshold below their mean, where "
            "truthful pools miss fewer and fewer, too, until no price is defined.",
            methods="none",
            basis="inferred",
            fitted=("* | delta",),
            constructed=("* | n*delta",),
        ),
        FIGURE: Reading(
            f"Price and n times delta of tab:convergence. {offset_note(OFFSET)}"
        ),
    }

    def effort(self, cell: Cell) -> float:
        """Grows with the number of agents."""
        return 0.002 * float(cell["n"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game of n agents under Brier payments."""
        n, offset = cell["n"], cell["offset"]
        end = solve(cell, "Brier", agents=n, offset=offset)
        found = {
            "delta": end.shift,
            "n*delta": n * end.shift,
            "PoA": end.poa,
            "FN": end.fn,
            "truthful FN": end.truthful_fn,
        }
        for tau in (0.3, 0.2):
            apart = solve(
                cell, "Brier", agents=n, offset=offset, correlation=0, threshold=tau
            )
            found[f"PoA, rho=0, tau={tau}"] = apart.poa
        return [
            row(TABLE, [n], row_name(column, offset, OFFSET), value)
            for column, value in found.items()
        ]

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw the price on one axis and n times delta on the other."""
        means = summarise(rows, TABLE)
        keys = [(n,) for n in AGENTS]
        panels = {
            title: {"": Series(AGENTS, numbers(means, keys, column))}
            for title, column in (("price of anarchy (FN)", "PoA"), ("n δ", "n*delta"))
        }
        return lines(panels, "agents n", log_x=True)
