"""Who earns the weight."""

from truepool.audit.values import Audit, Standing
from truepool.render import figures
from truepool.render.markup import Markup, joined
from truepool.render.numbers import estimated
from truepool.render.page.frame import Section
from truepool.render.page.pictures import (
    MOST_ROWS,
    listed,
    pictured,
    row_of,
    table,
)
from truepool.render.tables import evidence


def section(audit: Audit) -> Section:
    """Return weights, credit, and what each agent is worth."""
    drawn = []
    weighed = [one for one in audit.standings if one.weight is not None]
    if weighed:
        drawn.append(_weights(audit, sorted(weighed, key=_weight)[:MOST_ROWS]))
    known = [one for one in audit.standings if one.leave_one_out or one.shapley]
    if known:
        drawn.append(_credit(sorted(known, key=_weight)[:MOST_ROWS]))
    inside = joined(row_of(drawn), table(evidence.standings(audit)))
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
