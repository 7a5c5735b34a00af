"""Two tables of prices below 1, with beliefs mixed with a constant."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool import Panel
from truepool.core.engine import Cell, Row
from truepool_lab.games import Equilibrium, Game, draw_beliefs
from truepool_lab.paper.canonical_game import PAYMENTS, GameExperiment, game_cells
from truepool_lab.paper.experiments.convergence import AGENTS
from truepool_lab.paper.experiments.scoring_rules import AGENTS as RULE_AGENTS
from truepool_lab.paper.experiments.scoring_rules import RHOS, RULES
from truepool_lab.paper.interface import Reading, Size, row
from truepool_lab.paper.settings import COSTS

GROWING, BY_RULE = "tab:convergence@inferred", "tab:scoring_rules_poa@inferred"
CENTRE = 0.25
"""Mean belief, which all beliefs are mixed with."""
TAU = BASE_RATE = 0.3
SEPARATION = 0.1
"""Mean belief 0.32 given 1 and 0.22 given 0, before mixing."""
CONCENTRATION = 5.0
MIXED = (
    "Beliefs are 0.25 rho + (1 - rho) p, where p is Beta of concentration 6 around "
    "0.32 given 1 and 0.22 given 0, independent between agents, base rate and "
    "threshold 0.3; rho is then a share of a constant and no correlation. Found among "
    "147 settings tried against printed prices below 1; {cells} count as fitted. Best "
    "shifts on drawn outcomes."
)


@final
class MixedBeliefs(GameExperiment):
    """Brier by number of agents; five rules by number and share."""

    name: ClassVar[str] = "mixed-beliefs"
    readings: ClassVar[Mapping[str, Reading]] = {
        GROWING: Reading(
            MIXED.format(cells="prices up to n = 5 and delta"),
            methods="none",
            basis="inferred",
            fitted=("2 | PoA", "3 | PoA", "5 | PoA", "* | delta"),
            constructed=("* | n*delta",),
        ),
        BY_RULE: Reading(
            MIXED.format(cells="Brier cells at rho 0.5"),
            methods="columns",
            basis="inferred",
            fitted=("*, 0.5 | Brier*",),
        ),
    }

    def cells(self, size: Size) -> list[Cell]:
        """Return the numbers of agents of the first table, the pairs of the second."""
        rules = {"n": RULE_AGENTS, "rho": RHOS, "table": [BY_RULE]}
        return [
            *game_cells(
                self.name, size, {"n": AGENTS, "rho": [0.5], "table": [GROWING]}
            ),
            *game_cells(self.name, size, rules),
        ]

    def effort(self, cell: Cell) -> float:
        """Grows with the number of agents."""
        return 0.01 * float(cell["n"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the games of one number of agents and share."""
        n, rho = cell["n"], cell["rho"]
        game = Game.on(_panel(n, rho, cell), threshold=TAU, costs=COSTS)
        if cell["table"] == GROWING:
            return _growing(n, game.solve(PAYMENTS["Brier"]))
        return [
            row(BY_RULE, [n, rho], rule, game.solve(PAYMENTS[rule]).poa)
            for rule in RULES
        ]


def _panel(n: int, rho: float, cell: Cell) -> Panel:
    drawn = draw_beliefs(
        n,
        0.0,
        BASE_RATE,
        CENTRE - BASE_RATE,
        model="outcome",
        separation=SEPARATION,
        concentration=CONCENTRATION,
        cases=cell["cases"],
        seed=cell.seed("beliefs"),
        posterior=False,
    )
    return Panel(rho * CENTRE + (1 - rho) * drawn.values, drawn.outcomes)


def _growing(n: int, end: Equilibrium) -> list[Row]:
    found = {"delta": end.shift, "n*delta": n * end.shift, "PoA": end.poa}
    return [row(GROWING, [n], column, value) for column, value in found.items()]
