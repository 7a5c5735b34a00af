"""Whether the price of anarchy depends on the threshold, and on the prevalence."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool.core.engine import Cell, Row
from truepool_lab.games import Equilibrium
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

BY_TAU, BY_PREVALENCE = "tab:threshold", "tab:threshold_prevalence"
TAUS = (0.1, 0.3, 0.5, 0.7, 0.9)
PREVALENCES = (0.01, 0.05, 0.1, 0.5)


@final
class Threshold(GameExperiment):
    """Brier by threshold; Brier and VCG by threshold and prevalence."""

    name: ClassVar[str] = "threshold"
    axes: ClassVar[Axes] = {"tau": TAUS}
    seconds: ClassVar[float] = 0.2
    readings: ClassVar[Mapping[str, Reading]] = {
        BY_TAU: Reading(
            f"{offset_note(ABOVE)} {GAME} The mechanism, which the paper does not "
            "name, is "
            "Brier: it has prices of this size elsewhere; FN and FP are those of the "
            "equilibrium, since 12.8 times a truthful FN of 0.117 would exceed 1. "
            "Calibrated agents answer case by case (E[y | b]): no shift pays them.",
            "The price hangs on tau: it is undefined where truthful agents miss nobody "
            "and falls towards 1 where all miss nearly everything (calibrated: below 1 "
            "for a tau below the base rate, above 1 for one above); up to 0.5 printed "
            "FN and FP are both lower than ours, which takes beliefs that tell more "
            "about outcomes than Beta beliefs of concentration 4 (the paper names no "
            "concentration), and from 0.7 on nobody is called a 1 here, rightly or "
            "wrongly.",
            methods="none",
            basis="inferred",
        ),
        BY_PREVALENCE: Reading(
            "Belief offset E[b] - E[y] = 0: all are calibrated, at base rate pi. "
            f"{GAME} Both mechanisms are played out; beside them stand the FN of "
            "truthful agents, and that of Brier agents who answer case by case "
            "(E[y | b]) over it. Repeats in which VCG agents miss nobody have no "
            "ratio.",
            "VCG agents move the pool to where the costs ask for, wherever a shift of "
            "0.5 reaches that far, and Brier agents, calibrated, tell the truth: the "
            "former miss fewer, by ratios from 1.2 (at tau 0.1) to hundreds, and where "
            "thresholds are high and 1s rare both miss everybody.",
            methods="none",
        ),
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the games at one threshold."""
        return [*_rows_by_tau(cell), *_by_prevalence(cell)]


def _rows_by_tau(cell: Cell) -> list[Row]:
    tau, rows = cell["tau"], []
    for offset, response in ((ABOVE, "shift"), (CALIBRATED, "exact")):
        end = solve(cell, "Brier", response=response, offset=offset, threshold=tau)
        rows += [
            row(BY_TAU, [tau], row_name(column, offset, ABOVE), value)
            for column, value in _rates(end).items()
        ]
    return rows


def _rates(end: Equilibrium) -> dict[str, float | None]:
    return {
        "FN": end.fn,
        "FP": end.fp,
        "PoA": end.poa,
        "truthful FN": end.truthful_fn,
        "truthful FP": end.truthful_fp,
    }


def _by_prevalence(cell: Cell) -> list[Row]:
    tau, rows = cell["tau"], []
    for pi in PREVALENCES:
        vcg = solve(cell, "VCG", mean=pi, threshold=tau)
        brier = solve(cell, "Brier", mean=pi, threshold=tau)
        exact = solve(cell, "Brier", response="exact", mean=pi, threshold=tau)
        found = {
            "VCG FN": vcg.fn,
            "Brier/VCG FN ratio": brier.fn / vcg.fn if vcg.fn else None,
            "truthful FN": vcg.truthful_fn,
            "Brier case by case/truthful FN ratio": exact.poa,
        }
        rows += [
            row(BY_PREVALENCE, [tau], f"{what}/pi={pi}", value)
            for what, value in found.items()
        ]
    return rows
