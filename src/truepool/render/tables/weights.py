"""The weights of a pool, as a table."""

import numpy as np

from truepool.arrays import FloatArray
from truepool.render.numbers import percent, signed
from truepool.render.tables.grid import Grid


def grid(
    agents: tuple[str, ...],
    weights: FloatArray,
    credit: FloatArray | None,
    loss: str | None,
) -> Grid:
    """Lay out who counts how much, heaviest first, and why where credit is known."""
    order = np.argsort(-weights, kind="stable")
    if credit is None:
        plain = tuple((agents[i], percent(weights[i])) for i in order)
        return Grid("Weights", ("agent", "weight"), plain)
    like = float(np.abs(credit).max()) or 1.0
    rows = tuple(
        (agents[i], percent(weights[i]), signed(credit[i], like)) for i in order
    )
    note = (
        f"Without an agent the {loss} loss would change by this much, a case in which "
        "it spoke."
    )
    return Grid("Weights", ("agent", "weight", "credit"), rows, (note,))
