"""Shifts of Brier agents by their number, beside eq:delta_general."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.games import theory
from truepool_lab.paper.canonical_game import (
    ABOVE,
    CALIBRATED,
    CANONICAL,
    GAME,
    GameExperiment,
    offset_note,
    row_name,
    solve,
)
from truepool_lab.paper.interface import Axes, Reading, row

BY_N, BY_N_RHO = "tab:delta_vs_n", "tab:poa_n_rho"
FORMULA = (2, 3, 5, 10, 20, 50)
AGENTS = (2, 5, 10, 20)
RHOS = (0, 0.2, 0.5, 0.8, 0.95)


@final
class ManyAgents(GameExperiment):
    """Calibrated agents for the formula; agents with an offset for the bias."""

    name: ClassVar[str] = "many-agents"
    axes: ClassVar[Axes] = {"n": FORMULA}
    readings: ClassVar[Mapping[str, Reading]] = {
        BY_N: Reading(
            "Belief offset E[b] - E[y] = 0: all are calibrated. "
            f"{GAME} delta theory is eq:delta_general, with the sign of the table; "
            "what the best report of each case (E[y | b]) leads to stands beside it.",
            "Calibrated agents gain by no shift, so that ours is the luck of the "
            "outcomes drawn, of either sign; the printed ones, all below 0, are those "
            "of beliefs slightly above their base rate, and not those of "
            "eq:delta_general, which shrink with n where they do not.",
            methods="none",
            basis="stated",
            constructed=("* | delta theory",),
        ),
        BY_N_RHO: Reading(
            f"{offset_note(ABOVE)} {GAME} The bias is that of the pool.",
            "The bias is minus what arrives of the offset, for every n and rho, and "
            "calibrated agents have none; without the offset the pool is centred on "
            "the threshold (tau = mu), and the less beliefs correlate the closer all "
            "cases lie to it, so that FN falls with rho where the paper's grows.",
            methods="none",
            basis="inferred",
            fitted=("equilibrium bias, *",),
        ),
    }

    def effort(self, cell: Cell) -> float:
        """Up to a dozen games, which take longer with more agents."""
        return 0.02 * float(cell["n"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game of n agents under Brier payments."""
        rows = _rows_by_n(cell)
        return rows + _rows_by_rho(cell) if cell["n"] in AGENTS else rows


def _rows_by_n(cell: Cell) -> list[Row]:
    n, rho, mean = cell["n"], CANONICAL.correlation, CANONICAL.mean
    end = solve(cell, "Brier", agents=n)
    exact = solve(cell, "Brier", response="exact", agents=n)
    found = {
        "delta theory": -theory.paper_delta_general(n, rho, mean),
        "delta empirical": end.shift,
        "PoA": end.poa,
        "bias, case by case": exact.bias,
        "PoA, case by case": exact.poa,
    }
    return [row(BY_N, [n], column, value) for column, value in found.items()]


def _rows_by_rho(cell: Cell) -> list[Row]:
    n, rows = cell["n"], []
    for rho in RHOS:
        for offset in (ABOVE, CALIBRATED):
            end = solve(cell, "Brier", agents=n, correlation=rho, offset=offset)
            found = {
                "equilibrium bias": end.bias,
                "equilibrium FN": end.fn,
                "truthful FN": end.truthful_fn,
            }
            rows += [
                row(BY_N_RHO, [row_name(what, offset, ABOVE), n], f"rho={rho}", value)
                for what, value in found.items()
            ]
    return rows
