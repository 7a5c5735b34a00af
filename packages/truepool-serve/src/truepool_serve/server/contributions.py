"""What each agent contributed to past decisions: V(m) - V(m without i), in costs.

The entry of a decision holds the pooled probability and how much each report changed
it. So the decision without an agent is known, and what either decision cost.
"""

from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.decisions import choose
from truepool_serve.server.history import History


def savings(history: History) -> FloatArray:
    """Cost (T, N) that the report of each agent saved in each case; negative: it cost.

    0 where an agent did not report. NaN where no contribution is known: the rule that
    decided does not pool by weights.
    """
    paid, without = costs_without(history)
    return np.asarray(without - paid[:, None])


def costs_without(history: History) -> tuple[FloatArray, FloatArray]:
    """Cost (T,) of the decisions, and (T, N) of those without each agent."""
    K, N = len(history.pool.labels.names), len(history.agents)
    if not history.cases:
        return np.empty(0), np.empty((0, N))
    pooled, changes = pooled_coordinates(history), report_changes(history)
    unknown = np.asarray(np.isnan(changes).any(axis=2))
    others = np.where(unknown[:, :, None], 0.0, pooled[:, None] - changes)
    costs, outcomes = history.costs, history.outcomes
    beside = costs.shape((len(pooled), 1))
    decisions = choose(others, beside, history.pool.threshold)
    paid = costs.cost_per_case(
        outcomes, choose(pooled, costs, history.pool.threshold), K
    )
    without = beside.cost_per_case(outcomes[:, None], decisions, K)
    return paid, np.where(unknown, np.nan, without)


def pooled_coordinates(history: History) -> FloatArray:
    """Pooled coordinates (T, C) of the rule that decided each case."""
    found = [_coordinates(case.decision) for case in history.cases]
    return np.array(found, dtype=np.float64).reshape(len(found), history.coordinates)


def report_changes(history: History) -> FloatArray:
    """How much each report changed the pooled coordinates, (T, N, C).

    0 where an agent did not report, NaN where no contribution is known.
    """
    changes = np.zeros((len(history.cases), len(history.agents), history.coordinates))
    for changed, case in zip(changes, history.cases, strict=True):
        known = case.decision["contributions"]
        for i, agent in enumerate(history.agents):
            changed[i] = np.nan if known is None else known.get(agent, 0.0)
    return changes


def _coordinates(decision: dict[str, Any]) -> list[float]:
    values = decision["pooled"][decision["champion"]]
    return list(values[1:] if len(values) == 2 else values)
