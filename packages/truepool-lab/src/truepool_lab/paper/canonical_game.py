"""The canonical game of sec:poa, its variations, and how its tables are read."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truepool.core.engine import Cell, Row, cells
from truepool_lab.games import ClippedBeliefsWarning, Equilibrium, Game
from truepool_lab.paper.interface import Axes, Experiment, Size, row
from truepool_lab.paper.settings import COSTS

CANONICAL = Game(
    agents=5,
    correlation=0.5,
    mean=0.3,
    threshold=0.3,
    costs=COSTS,
    outcomes="drawn",
)
ABOVE, CALIBRATED, BELOW = 0.36, 0.0, -0.055
"""Mean belief minus base rate, for the three families of READINGS 1."""
PAYMENTS = {
    "VCG": "vcg",
    "Brier": "brier",
    "Externality": "externality",
    "LogScore": "log",
    "Spherical": "spherical",
    "Brier+Reg": "regularised",
}
"""Our name of each payment, by the paper's."""
REPEATS = {"quick": 4, "full": 10}
CASES = {"quick": 2000, "full": 10_000}
GAME = (
    "Beta beliefs (concentration 4) of Pearson correlation rho under a Gaussian "
    "copula, outcomes drawn with the mean calibrated belief as their chance, 20 rounds "
    "of best responses, one agent after the other, by shifts from -0.5 to 0.5 in steps "
    "of 0.01; five agents, rho 0.5, base rate 0.3, threshold 0.3, costs FN 10, FP 1 "
    "unless the table varies them; 10,000 cases (2,000 at reduced size: the paper "
    "names no number), ten repeats (four)."
)


def game_cells(name: str, size: Size, axes: Axes) -> list[Cell]:
    """Return cells of the game for these settings, each with draws of its own."""
    return cells(name, REPEATS[size], {"cases": [CASES[size]], **axes})


class GameExperiment(Experiment):
    """An experiment that solves the game for every setting of its axes."""

    def cells(self, size: Size) -> list[Cell]:
        """Return every setting at this size."""
        return game_cells(self.name, size, self.axes)


def solve(
    cell: Cell,
    payment: str,
    *,
    sees: str | int | None = None,
    response: str = "shift",
    **changed: Any,
) -> Equilibrium:
    """Solve the canonical game, or one with some fields changed.

    Beliefs depend only on the repeat, so they are the same for every payment.

    >>> end = solve(game_cells("poa", "quick", {})[0], "Brier", offset=0.36)
    >>> end.payment, bool(-0.39 < end.shift < -0.33), end.poa
    ('brier', True, None)
    """
    game = replace(CANONICAL, cases=cell["cases"], **changed)
    with warnings.catch_warnings():
        # The reading of each table says which offset it uses, and that it is clipped.
        warnings.simplefilter("ignore", ClippedBeliefsWarning)
        return game.solve(
            PAYMENTS[payment],
            seed=cell.seed("beliefs"),
            sees=sees,
            response=response,
        )


def row_name(what: str, offset: float, main: float) -> str:
    """Name of a row or column: the paper's at its own offset, else "calibrated".

    >>> row_name("Brier", ABOVE, ABOVE), row_name("Brier", CALIBRATED, ABOVE)
    ('Brier', 'Brier, calibrated')
    """
    return what if offset == main else f"{what}, calibrated"


def offset_note(offset: float) -> str:
    """Which offset a table uses, how it was inferred, and which rows are beside it.

    >>> offset_note(BELOW)[:64]
    'Belief offset E[b] - E[y] = -0.055, inferred from printed shifts'
    """
    return (
        f"Belief offset E[b] - E[y] = {offset:+g}, inferred from printed shifts, so "
        "that shifts that match are no evidence (clipped to [0, 1] less of it "
        'arrives); rows or columns "calibrated" have offset 0.'
    )


def price_rows(
    table: str,
    column: str,
    ends: Mapping[str, Equilibrium],
    offset: float,
    main: float,
    price: str = "",
) -> list[Row]:
    """Rows of a table of prices, one per payment, with the misses and shifts.

    Misses and shifts are defined even where the price is not.
    """
    found: dict[str, float | None] = {}
    for paid, end in ends.items():
        found[paid + price] = end.poa
        found[f"{paid} FN"] = end.fn
        found[f"{paid} shift"] = end.shift
        found["truthful FN"] = end.truthful_fn
    return [
        row(table, [row_name(what, offset, main)], column, value)
        for what, value in found.items()
    ]
