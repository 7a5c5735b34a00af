"""Shifts of two agents, and the closed form of thm:brier_strengthened."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.games import theory
from truepool_lab.paper.canonical_game import (
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    row_name,
    solve,
)
from truepool_lab.paper.interface import Axes, Reading, row

TABLE = "tab:n2_verify"
OFFSET = 0.12
"""A fourth offset: the size of the table's own shifts at rho > 0."""
MEANS = (0.3, 0.5, 0.7)
RHOS = (0, 0.3, 0.6, 0.9)


@final
class TwoAgents(GameExperiment):
    """Brier and VCG for three mean beliefs by correlation."""

    name: ClassVar[str] = "two-agents"
    axes: ClassVar[Axes] = {"rho": RHOS, "mean": MEANS, "offset": (OFFSET, CALIBRATED)}
    seconds: ClassVar[float] = 0.02
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            f"{offset_note(OFFSET)} The offset is that of the table's own shifts at "
            "rho > 0, "
            'being in none of the three families. "(0.3, 0.3)" are two agents of '
            f"mean belief 0.3, with a base rate lower by the offset. {GAME} "
            "eq:delta_star stands beside them, with the sign of the table.",
            "Brier agents take out the offset at every rho, zero being no exception as "
            "it is in print, and eq:delta_star tells neither size nor sign; VCG agents "
            "make up for threshold and offset at every rho, with less to gain where "
            "high, independent beliefs seldom bring a pool near the threshold.",
            basis="inferred",
            fitted=("Brier, *",),
        )
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game under both payments at one mean belief and correlation."""
        rho, mean, offset = cell["rho"], cell["mean"], cell["offset"]
        settings = {"agents": 2, "correlation": rho, "mean": mean - offset}
        found = {
            row_name(paid, offset, OFFSET): solve(
                cell, paid, offset=offset, **settings
            ).shift
            for paid in ("Brier", "VCG")
        }
        if offset == OFFSET:
            # The variance of beliefs cancels: only its ratio to rho matters.
            found["eq:delta_star"] = -theory.paper_delta_star(1.0, rho, mean)
        return [
            row(TABLE, [who, f"({mean}, {mean})"], f"rho={rho}", value)
            for who, value in found.items()
        ]
