"""Whether the price of a score grows with the correlation of beliefs."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.paper.canonical_game import (
    ABOVE,
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    price_rows,
    solve,
)
from truepool_lab.paper.interface import Axes, Reading

TABLE = "tab:corr_poa"
PAYMENT_NAMES = ("VCG", "Brier", "Externality", "LogScore")
RHOS = (0, 0.2, 0.5, 0.8, 0.95)


@final
class CorrelatedBeliefs(GameExperiment):
    """Four payments by correlation, with the latent factor of apd:correlation."""

    name: ClassVar[str] = "correlated-beliefs"
    axes: ClassVar[Axes] = {"rho": RHOS, "offset": (ABOVE, CALIBRATED)}
    seconds: ClassVar[float] = 0.1
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            f"{offset_note(ABOVE)} {GAME} Instead of Beta marginals, agents see a "
            "shared "
            "latent factor through noise, and outcomes follow the mean belief (with "
            "rho = 0 and the factor as the truth they would know nothing).",
            "As in tab:poa truthful agents miss nobody, so no price is defined; Brier "
            "agents shift by minus the offset at every rho and miss fewer the higher "
            "it is, where the print has their price grow; agents paid by the log score "
            "take out nearly as much, and Externality agents stay at the truth only "
            "where they agree anyway.",
            basis="inferred",
        )
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game under every payment at one correlation."""
        rho, offset = cell["rho"], cell["offset"]
        settings = {"offset": offset, "correlation": rho, "model": "factor"}
        ends = {paid: solve(cell, paid, **settings) for paid in PAYMENT_NAMES}
        return price_rows(TABLE, f"rho={rho}", ends, offset, ABOVE)
