"""Whether another pool, or the best agent alone, costs significantly less."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.best_agent import best_agent
from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.comparison import choose_pool
from truepool.audits.evidence import Evidence
from truepool.audits.refits import cost_of, estimate_rise, rise_p_value


def check(evidence: Evidence) -> Iterator[Candidate]:
    """A note on the better pool; a warning where the best agent alone beats the pool.

    The comparison adjusts its own tests for the number of pools it tries.
    """
    choice = evidence.compute(choose_pool)
    if choice is None:
        return
    found = choice.comparison
    if found is not None and choice.pool != "best-agent":
        yield Candidate(
            "better-pool",
            facts={"pool": choice.pool, "in_use": evidence.in_use},
            least="note",
            price=lambda: found.saved,
        )
    if evidence.pool.name != "best-agent":
        yield from _best(evidence)


def _best(evidence: Evidence) -> Iterator[Candidate]:
    """Report where the pool costs more than its best agent."""
    in_use, alone = (
        cost_of(evidence, pool) for pool in (evidence.in_use, "best-agent")
    )
    if in_use is None or alone is None:
        return
    agent, cost = evidence.compute(best_agent), evidence.own_cost
    least = cost[evidence.panel.agents.index(agent)] <= np.nanmin(cost)
    saved = estimate_rise(evidence, in_use - alone)
    yield Candidate(
        "worse-than-best",
        facts={"agent": agent, "form": "cost" if least else "brier"},
        p_value=rise_p_value(evidence, in_use - alone) if saved.value > 0 else 1.0,
        price=lambda: saved,
    )


checks = (Check("comparison", check, about="pool"),)
