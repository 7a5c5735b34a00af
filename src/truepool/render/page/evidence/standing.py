"""Who earns the weight."""

from truepool.audit.values import Audit, Standing
from truepool.render import figures
from truepool.render.grid import Grid
from truepool.render.markup import Markup, joined, tag
from truepool.render.numbers import estimated, number, percent
from truepool.render.page.frame import Section
from truepool.render.page.pictures import (
    MOST_ROWS,
    listed,
    pictured,
    row_of,
    table,
)


def section(audit: Audit) -> Section:
    """Return weights, credit, and what each agent is worth."""
    heaviest = sorted(audit.standings, key=lambda one: -one.weight.value)[:MOST_ROWS]
    known = [one for one in heaviest if one.leave_one_out or one.shapley]
    drawn = [_weights(audit, heaviest)] + ([_credit(known)] if known else [])
    note = tag(
        "p",
        "Credit is what the pool would lose without an agent, in your costs. Gain is "
        "the most an agent could win by not telling what it believes, in the units of "
        "its reward.",
    )
    inside = joined(row_of(drawn), table(_grid(audit)), note)
    return Section("standing", "Agents", "Who earns the weight?", inside)


def _weights(audit: Audit, heaviest: list[Standing]) -> Markup:
    few = len(heaviest) < len(audit.standings)
    told = listed((one.agent, percent(one.weight.value)) for one in heaviest)
    return pictured(
        figures.weights(heaviest),
        "weights",
        f"Weights in the pool, with {100 * audit.level:g} % intervals: {told}.",
        f"Who counts how much.{f' The {MOST_ROWS} heaviest.' if few else ''}",
    )


def _credit(known: list[Standing]) -> Markup:
    told = listed(
        (one.agent, estimated(one.leave_one_out or one.shapley)) for one in known
    )
    return pictured(
        figures.credit(known),
        "credit",
        f"Credit of the agents: {told}.",
        "What the pool would lose without each agent. Left of the line the pool would "
        "be better off without it.",
    )


def _grid(audit: Audit) -> Grid:
    rows = tuple(
        (
            one.agent,
            percent(one.spoke),
            number(one.brier),
            number(one.cost),
            estimated(one.weight),
            estimated(one.leave_one_out),
            estimated(one.shapley),
            "-" if one.gain is None else number(one.gain),
        )
        for one in audit.standings
    )
    heads = (
        "agent", "spoke", "Brier", "cost", "weight", "leave-one-out", "Shapley", "gain",
    )  # fmt: skip
    return Grid("What each agent is worth", heads, rows)
