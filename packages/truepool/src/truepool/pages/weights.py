"""The weights of a pool, as a table."""

from collections.abc import Iterator, Mapping

from truepool.pages.grid import Grid
from truepool.pages.numbers import percent, signed
from truepool.pools.interface.result import Explanation

SHOWN = 50
"""Largest number of agents whose weights are printed."""


def explanation_grids(explanation: Explanation) -> Iterator[Grid]:
    """Lay out the weights of the agents or of the pools combined, and the scores."""
    if explanation.learned:
        rows = ((p.name, f"{p.value:.3g}", p.meaning) for p in explanation.learned)
        yield Grid("What it learned", ("", "value", "meaning"), tuple(rows), prose=True)
    if explanation.weights is not None:
        yield grid(explanation.weights, explanation.credit, explanation.loss)
    if explanation.members is not None:
        members = ((name, percent(w)) for name, w in explanation.members.items())
        yield Grid("Pools combined", ("pool", "weight"), tuple(members))
    if explanation.scores is not None:
        scores = ((name, f"{s:.4g}") for name, s in explanation.scores.items())
        note = "On cases that the pool had not learned from; less is better."
        headers = ("pool", f"{explanation.scored_by} loss per case")
        yield Grid("Pools tried", headers, tuple(scores), (note,))


def grid(
    weights: Mapping[str, float], credit: Mapping[str, float] | None, loss: str | None
) -> Grid:
    """Lay the weights out, largest first, with the credit behind them if known."""
    every = sorted(weights, key=lambda agent: -weights[agent])
    order, others = every[:SHOWN], every[SHOWN:]
    more: tuple[str, ...] = ()
    if others:
        rest = percent(sum(weights[agent] for agent in others))
        more = (f"{len(others):,} other agents share {rest}; --json lists all.",)
    shares = [percent(weights[agent]) for agent in order]
    if credit is None:
        plain = tuple(zip(order, shares, strict=True))
        return Grid("Weights", ("agent", "weight"), plain, more)
    like = max(map(abs, credit.values())) or 1.0
    signs = [signed(credit[agent], like) for agent in order]
    rows = tuple(zip(order, shares, signs, strict=True))
    note = (
        f"Credit: by how much the {loss} loss per case would rise without the agent, "
        "on the cases it reported on."
    )
    return Grid("Weights", ("agent", "weight", "credit"), rows, (*more, note))
