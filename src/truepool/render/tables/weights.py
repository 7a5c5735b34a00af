"""The weights of a pool, as a table."""

from collections.abc import Mapping

from truepool.render.numbers import percent, signed
from truepool.render.tables.grid import Grid


def grid(
    weights: Mapping[str, float], credit: Mapping[str, float] | None, loss: str | None
) -> Grid:
    """Lay out who counts how much, heaviest first, and why where credit is known."""
    order = sorted(weights, key=lambda agent: -weights[agent])
    if credit is None:
        plain = tuple((agent, percent(weights[agent])) for agent in order)
        return Grid("Weights", ("agent", "weight"), plain)
    like = max(map(abs, credit.values())) or 1.0
    rows = tuple(
        (agent, percent(weights[agent]), signed(credit[agent], like)) for agent in order
    )
    note = (
        f"Without an agent the {loss} loss would change by this much, a case in which "
        "it spoke."
    )
    return Grid("Weights", ("agent", "weight", "credit"), rows, (note,))
