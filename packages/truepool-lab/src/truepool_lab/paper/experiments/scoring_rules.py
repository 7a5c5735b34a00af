"""Price of anarchy by scoring rule."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.paper.canonical_game import (
    BELOW,
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    row_name,
    solve,
)
from truepool_lab.paper.charts import bars
from truepool_lab.paper.interface import Axes, Reading, row
from truepool_lab.paper.verdicts import numbers, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE, FIGURE = "tab:scoring_rules_poa", "fig:scoring_rules_poa"
RULES = ("Brier", "LogScore", "Spherical", "Brier+Reg", "VCG")
AGENTS, RHOS = (3, 5, 10), (0.0, 0.2, 0.5)


@final
class ScoringRules(GameExperiment):
    """Five rules by number of agents and correlation."""

    name: ClassVar[str] = "scoring-rules"
    axes: ClassVar[Axes] = {"n": AGENTS, "rho": RHOS, "offset": (BELOW, CALIBRATED)}
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            f"{offset_note(BELOW)} {GAME}",
            "As printed, Brier agents undo the offset and miss less, the regulariser "
            "changes next to nothing and VCG agents miss least; but Brier's price "
            "falls little with n, and not at all at rho 0.5, since pools of correlated "
            "beliefs keep their variance, and log agents go above that shift and "
            "spherical ones below it, calibrated or not, the more so the less beliefs "
            "correlate: the reverse of the printed order at rho 0 and 0.2.",
            methods="columns",
            basis="inferred",
        ),
        FIGURE: Reading(f"The prices of tab:scoring_rules_poa. {offset_note(BELOW)}"),
    }

    def effort(self, cell: Cell) -> float:
        """Mostly log and spherical scores, which try shifts one by one."""
        return 0.02 * float(cell["n"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game under all five rules."""
        n, rho, offset, rows = cell["n"], cell["rho"], cell["offset"], []
        for rule in RULES:
            end = solve(cell, rule, agents=n, correlation=rho, offset=offset)
            for what, value in {rule: end.poa, f"{rule} shift": end.shift}.items():
                rows.append(row(TABLE, [n, rho], row_name(what, offset, BELOW), value))
        return rows

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw a group of bars for each n and rho."""
        means = summarise(rows, TABLE)
        groups = [(n, rho) for n in AGENTS for rho in RHOS]
        series = {rule: numbers(means, groups, rule) for rule in RULES}
        labels = [f"{n}, {rho}" for n, rho in groups]
        return bars(labels, series, "n, rho", "price of anarchy (FN)", level=1)
