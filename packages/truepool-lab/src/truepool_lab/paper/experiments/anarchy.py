"""Misses under three payments in the paper's canonical game."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.paper.canonical_game import (
    ABOVE,
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    row_name,
    solve,
)
from truepool_lab.paper.interface import Axes, Reading, row

TABLE = "tab:poa"
PAYMENT_NAMES = ("VCG", "Brier", "Externality")


@final
class Anarchy(GameExperiment):
    """One game per payment, on the same beliefs."""

    name: ClassVar[str] = "anarchy"
    axes: ClassVar[Axes] = {"offset": (ABOVE, CALIBRATED)}
    seconds: ClassVar[float] = 0.05
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            f"{offset_note(ABOVE)} {GAME} All three mechanisms are played out: that "
            "VCG and "
            "Externality agents stay at the truth is measured, not taken for granted.",
            "No belief lies below the offset, so truthful agents miss nobody at a "
            "threshold of 0.3 and no price is defined; Brier agents take out the "
            "offset and nothing else (calibrated they stay: bias 0, price 1), VCG "
            "agents as much of it as their costs ask for, and Externality agents, who "
            "agree most easily where reports are clipped, run up to 1.",
            basis="inferred",
            fitted=("Brier | bias",),
        )
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game under every payment on the beliefs of one repeat."""
        offset, rows = cell["offset"], []
        for paid in PAYMENT_NAMES:
            end = solve(cell, paid, offset=offset)
            found = {
                "PoA": end.poa,
                "equilibrium FN": end.fn,
                "bias": end.bias,
                "truthful FN": end.truthful_fn,
                "equilibrium FP": end.fp,
            }
            rows += [
                row(TABLE, [paid], row_name(column, offset, ABOVE), value)
                for column, value in found.items()
            ]
        return rows
