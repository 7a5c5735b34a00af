"""Which of many agents a table shows."""

from truepool.audits.values import Audit
from truepool.measures.groups import FEWEST_CASES

MOST_AGENTS = 20
"""Agents that a terminal shows of many; Markdown, the page and JSON have all."""


def choose_agents(audit: Audit, most: int | None) -> tuple[set[str], list[str]]:
    """Return the agents to show, and a note on how many more there are."""
    every = audit.agent_summaries
    if most is None or len(every) <= most:
        return set(audit.agents), []
    weights = {one.agent: one.weight.value if one.weight else 0.0 for one in every}
    order = sorted(
        every,
        key=lambda one: (one.cases < FEWEST_CASES, -weights[one.agent], -one.cases),
    )
    rest = len(every) - most
    return {one.agent for one in order[:most]}, [
        f"Shown are {most} agents: those with {FEWEST_CASES} tested cases or more "
        f"first, by the weights they earn; {rest:,} more are in --json and --markdown."
    ]
