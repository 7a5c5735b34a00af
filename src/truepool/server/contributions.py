"""What each agent contributed to past decisions: V(m) - V(m without i), in costs.

The entry of a decision holds the pooled probability and how much each report changed
it. So the decision without an agent is known, and what either decision cost.
"""

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.decisions import choose
from truepool.server.history import History


def savings(history: History) -> FloatArray:
    """Cost (T, N) that the report of each agent saved in each case; negative: it cost.

    0 where an agent did not report. NaN where no contribution is known: the rule that
    decided does not pool by weights.
    """
    K, N = len(history.pool.labels.names), len(history.agents)
    if not history.cases:
        return np.empty((0, N))
    pooled = np.array([_pooled(case.decision) for case in history.cases])
    changes = np.zeros((len(history.cases), N, pooled.shape[1]))
    for changed, case in zip(changes, history.cases, strict=True):
        known = case.decision["contributions"]
        if known is None:
            changed[:] = np.nan
            continue
        for i, agent in enumerate(history.agents):
            changed[i] = known.get(agent, 0.0)
    unknown = np.isnan(changes).any(axis=2)
    without = np.where(np.isnan(changes), 0.0, pooled[:, None] - changes)
    costs = history.costs
    beside = costs.shape((len(pooled), 1))
    outcomes = history.outcomes
    others = choose(without, beside, history.pool.threshold)
    decided = choose(pooled, costs, history.pool.threshold)
    paid = costs.paid(outcomes, decided, K)[:, None]
    return np.where(unknown, np.nan, beside.paid(outcomes[:, None], others, K) - paid)


def _pooled(decision: dict[str, object]) -> list[float]:
    """Pooled coordinates of the rule that decided."""
    values = decision["pooled"][decision["champion"]]  # type: ignore[index]
    return list(values[1:] if len(values) == 2 else values)
