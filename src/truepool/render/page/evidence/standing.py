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
    drawn = []
    weighed = [one for one in audit.standings if one.weight is not None]
    if weighed:
        drawn.append(_weights(audit, sorted(weighed, key=_weight)[:MOST_ROWS]))
    known = [one for one in audit.standings if one.leave_one_out or one.shapley]
    if known:
        drawn.append(_credit(sorted(known, key=_weight)[:MOST_ROWS]))
    note = tag(
        "p",
        "Own cost: what its own decisions would cost a case. Weight earned: by "
        "leave-one-out credit. Without it (leave-one-out): rise of the pool's cost a "
        "case if it falls silent; below 0 the pool is better off. Shapley: its share "
        "of what the pool saves. Gain by lying: the most it could win by not telling "
        "what it believes.",
    )
    inside = joined(row_of(drawn), table(_grid(audit)), note)
    return Section("standing", "Agents", "Who earns the weight?", inside)


def _weight(one: Standing) -> float:
    """What puts the heaviest first."""
    return 0.0 if one.weight is None else -one.weight.value


def _weights(audit: Audit, heaviest: list[Standing]) -> Markup:
    few = len(heaviest) < len(audit.standings)
    told = listed((one.agent, estimated(one.weight)) for one in heaviest)
    return pictured(
        figures.weights(heaviest),
        "weights",
        f"Weights earned, with {100 * audit.level:g} % intervals: {told}.",
        "How much each agent should count by the credit it earns."
        f"{f' The {MOST_ROWS} heaviest.' if few else ''}",
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
        "agent", "spoke", "Brier", "own cost", "weight earned", "without it", "Shapley",
        "gain by lying",
    )  # fmt: skip
    return Grid("What each agent is worth", heads, rows)
