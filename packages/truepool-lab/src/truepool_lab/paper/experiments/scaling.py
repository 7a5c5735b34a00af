"""Price of anarchy and running time by number of agents."""

from collections.abc import Mapping
from time import perf_counter
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.paper.canonical_game import (
    ABOVE,
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    price_rows,
    row_name,
    solve,
)
from truepool_lab.paper.interface import Axes, Reading, row

TABLE = "tab:scaling"
AGENTS = (3, 5, 10, 20)


@final
class Scaling(GameExperiment):
    """Three payments by number of agents."""

    name: ClassVar[str] = "scaling"
    axes: ClassVar[Axes] = {"n": AGENTS, "offset": (ABOVE, CALIBRATED)}
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            f"{offset_note(ABOVE)} {GAME} Time is that of one whole game under VCG, "
            "beliefs "
            "drawn, on the machine at hand.",
            "As in tab:poa truthful agents miss nobody, so no price is defined; Brier "
            "agents take out the offset however many they are, and among ten or more "
            "nobody alone can turn a decision, so that VCG agents tell the truth for "
            "want of a better report.",
            basis="inferred",
            timed=("VCG time (s) | *",),
        )
    }
    alone: ClassVar[bool] = True

    def effort(self, cell: Cell) -> float:
        """Grows with the number of agents."""
        return 0.01 * float(cell["n"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game under three payments; time the first, once compiled."""
        n, offset = cell["n"], cell["offset"]
        solve(cell, "VCG", offset=offset, agents=2)
        start = perf_counter()
        ends = {"VCG": solve(cell, "VCG", offset=offset, agents=n)}
        took = perf_counter() - start
        for paid in ("Brier", "Externality"):
            ends[paid] = solve(cell, paid, offset=offset, agents=n)
        timed = row(TABLE, [row_name("VCG time (s)", offset, ABOVE)], f"n={n}", took)
        return [*price_rows(TABLE, f"n={n}", ends, offset, ABOVE, " PoA"), timed]
