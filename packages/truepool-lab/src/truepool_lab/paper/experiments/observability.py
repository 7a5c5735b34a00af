"""Shifts of agents that see some, all or none of the others' reports."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from truepool.core.engine import Cell, Row
from truepool_lab.games import Equilibrium
from truepool_lab.paper.canonical_game import (
    ABOVE,
    BELOW,
    CALIBRATED,
    GAME,
    GameExperiment,
    offset_note,
    price_rows,
    row_name,
    solve,
)
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Axes, Reading, row
from truepool_lab.paper.verdicts import numbers, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE, BASIC = "tab:observability", "tab:observability_basic"
FIGURE = "fig:observability"
PAYMENT_NAMES = ("VCG", "Brier", "Externality")
SIGHTS: dict[str, str | int] = {"full": "all", "partial": 2, "none": "none"}
AGENTS, RHOS = (5, 10), (0.2, 0.5)
SIGHT = "Agents take those whose reports they do not see to tell the truth."


@final
class Observability(GameExperiment):
    """Three payments by three views at one offset, two by five views at another."""

    name: ClassVar[str] = "observability"
    axes: ClassVar[Axes] = {"n": AGENTS, "rho": RHOS, "calibrated": (False, True)}
    seconds: ClassVar[float] = 0.1
    readings: ClassVar[Mapping[str, Reading]] = {
        BASIC: Reading(
            f"{offset_note(ABOVE)} {GAME} {SIGHT}",
            "As in tab:poa truthful agents miss nobody, so no price is defined; Brier "
            "agents shift alike with every view, blind VCG agents all shade down, and "
            "too far, and Externality agents are carried away less the less they see.",
            basis="inferred",
        ),
        TABLE: Reading(
            f"{offset_note(BELOW)} {GAME} {SIGHT} With five agents floor(n/2) is 2: "
            "both rows "
            "are one game. Brier was played with every view, and averaged.",
            "As printed, Brier agents undo the offset whatever they see and VCG agents "
            "over-report, by all they can when blind and less the more they see; but "
            "with all in sight they still make up for threshold and offset, which "
            "takes more than is printed, rows 2 and floor(n/2) cannot differ at n = 5 "
            "(the latter may hold the values of k = n, one row too high), and Brier's "
            "price hardly changes with n, where the print has it halved, "
            "since pools of correlated beliefs keep their variance.",
            methods="none",
            basis="inferred",
            fitted=("Brier, * | *abs delta",),
        ),
        FIGURE: Reading(f"The prices of tab:observability. {offset_note(BELOW)}"),
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve the game with every view."""
        rows = _by_number(cell)
        canonical = (cell["n"], cell["rho"]) == (5, 0.5)
        return rows + _by_view(cell) if canonical else rows

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw the prices against the number of reports that are seen."""
        means = summarise(rows, TABLE)
        panels: dict[str, dict[str, Series]] = {"VCG": {}, "Brier": {}}
        for n in AGENTS:
            for rho in RHOS:
                column, name = f"rho={rho}/n={n}/PoA", f"n = {n}, rho = {rho}"
                seen = _view_sizes(n)
                vcg = numbers(means, [("VCG", k) for k in seen], column)
                brier = numbers(means, [("Brier", "all k")], column)
                panels["VCG"][name] = Series(list(seen.values()), vcg)
                panels["Brier"][name] = Series([0, n], brier * 2)
        return lines(panels, "reports seen", "price of anarchy (FN)")


def _view_sizes(n: int) -> dict[Any, int]:
    """Number of reports that an agent sees, by the paper's name."""
    return {0: 0, 1: 1, 2: 2, "floor(n/2)": n // 2, "n": n}


def _by_number(cell: Cell) -> list[Row]:
    n, rho = cell["n"], cell["rho"]
    offset = CALIBRATED if cell["calibrated"] else BELOW
    ends_by_view = {
        (paid, k): solve(
            cell, paid, sees=count, agents=n, correlation=rho, offset=offset
        )
        for paid in ("VCG", "Brier")
        for k, count in _view_sizes(n).items()
    }
    ends = {key: [end] for key, end in ends_by_view.items() if key[0] == "VCG"}
    ends["Brier", "all k"] = [
        end for (paid, _), end in ends_by_view.items() if paid == "Brier"
    ]
    rows = []
    for (paid, k), found in ends.items():
        who = row_name(paid, offset, BELOW)
        for what, value in _price_and_shift(found).items():
            rows.append(row(TABLE, [who, k], f"rho={rho}/n={n}/{what}", value))
    return rows


def _price_and_shift(ends: list[Equilibrium]) -> dict[str, float | None]:
    missed = float(np.mean([end.fn for end in ends]))
    before = ends[0].truthful_fn
    return {
        "abs delta": float(np.mean([abs(end.shift) for end in ends])),
        "PoA": missed / before if before else None,
    }


def _by_view(cell: Cell) -> list[Row]:
    offset = CALIBRATED if cell["calibrated"] else ABOVE
    rows = []
    for view, sees in SIGHTS.items():
        ends = {
            paid: solve(cell, paid, sees=sees, offset=offset) for paid in PAYMENT_NAMES
        }
        rows += price_rows(BASIC, view, ends, offset, ABOVE)
    return rows
