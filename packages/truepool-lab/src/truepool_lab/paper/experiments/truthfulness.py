"""Whether an agent gains by misreporting while the others are truthful."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.games import ClippedBeliefsWarning, verify
from truepool_lab.paper.canonical_game import (
    ABOVE,
    CALIBRATED,
    CANONICAL,
    PAYMENTS,
    GameExperiment,
)
from truepool_lab.paper.interface import Axes, Reading, row

TABLE = "tab:ic_verify"
PAYMENT_NAMES = ("VCG", "Brier", "Externality")
TRIALS = 100


@final
class Truthfulness(GameExperiment):
    """A hundred games per payment; the best shift of one agent in each."""

    name: ClassVar[str] = "truthfulness"
    axes: ClassVar[Axes] = {"payment": PAYMENT_NAMES, "offset": (CALIBRATED, ABOVE)}
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "Belief offset E[b] - E[y] = 0: all are calibrated; the last rows have "
            f"{ABOVE:+g} as in tab:poa. {TRIALS} games of five agents, rho 0.5, base "
            "rate and threshold 0.3, costs FN 10, FP 1, outcomes drawn, 10,000 cases "
            "each (2,000 at reduced size); all others tell the truth. A violation is a "
            "game in which some shift gains more than the 0.003 that the paper calls "
            "noise; the gap is what the best shift, chosen on half of the games, gains "
            "a case on the other half, with its p-value; ten repeats.",
            "At threshold 0.3 and costs of 10 to 1 over-reporting pays a calibrated "
            "VCG agent in every game, which is no noise, and under the other two no "
            "shift pays, so that a gap of 0 has no small p-value; with the offset of "
            "tab:poa VCG and Externality come near the printed rows and Brier agents "
            "gain in every game: these rows cannot come from the same beliefs.",
            basis="stated",
        )
    }

    def effort(self, cell: Cell) -> float:
        """A hundred games."""
        return float(cell["cases"]) / 20_000

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Try every shift in every game."""
        paid, offset = cell["payment"], cell["offset"]
        game = replace(CANONICAL, cases=cell["cases"], offset=offset)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClippedBeliefsWarning)
            found = verify(
                PAYMENTS[paid], game, trials=TRIALS, seed=cell.seed("beliefs")
            )
        who = paid if offset == CALIBRATED else f"{paid}, offset {offset:+g}"
        columns = {
            "violations (%)": 100 * found.violations,
            "utility gap": found.gain,
            "p-value": found.p_value,
            "shift": found.deviation[0],
        }
        return [row(TABLE, [who], column, value) for column, value in columns.items()]
