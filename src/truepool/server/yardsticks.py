"""What a pool is compared with: the mean of the reports, and each agent alone."""

from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.decisions import choose
from truepool.server.history import History


@dataclass(frozen=True, eq=False)
class Yardsticks:
    """Cost (T,) of what was decided, and of what others would have decided.

    NaN where there was no report to decide by.
    """

    pool: FloatArray
    mean: FloatArray
    agents: dict[str, FloatArray]

    @classmethod
    def from_history(cls, history: History) -> "Yardsticks":
        """Decide every settled case again by the mean and by each agent."""
        K = len(history.pool.labels.names)
        costs, outcomes = history.costs, history.outcomes
        decided = np.array([case.decision["decision"] for case in history.cases])

        def paid(pooled: FloatArray) -> FloatArray:
            known = np.asarray(~np.isnan(pooled).any(axis=1))
            filled = np.where(known[:, None], pooled, 1.0 / K)
            decisions = choose(filled, costs, history.pool.threshold)
            return np.where(known, costs.cost_per_case(outcomes, decisions, K), np.nan)

        values = history.values
        count = (~np.isnan(values)).sum(axis=1)
        mean = np.where(count, np.nansum(values, axis=1) / np.maximum(count, 1), np.nan)
        agents = {agent: paid(values[:, i]) for i, agent in enumerate(history.agents)}
        return cls(costs.cost_per_case(outcomes, decided, K), paid(mean), agents)

    @property
    def best_agent(self) -> str | None:
        """The agent whose decisions cost least, of those that report on most cases."""
        means = {
            name: float(np.nanmean(costs))
            for name, costs in self.agents.items()
            if 2 * np.isnan(costs).sum() < len(costs)
        }
        return min(means, key=lambda name: means[name], default=None)

    @property
    def rows(self) -> dict[str, FloatArray]:
        """The pool, the mean and the best agent, by what they are called."""
        found = {"the pool": self.pool, "the mean of the reports": self.mean}
        best = self.best_agent
        if best is not None:
            found[f"the best agent ({best})"] = self.agents[best]
        return found
