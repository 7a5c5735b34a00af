"""What a pool is compared with: the mean of the reports, and each agent alone."""

from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.decisions import choose
from truepool_serve.server.settled import Settled


@dataclass(frozen=True, eq=False)
class Yardsticks:
    """Cost (T,) of what a rule decided, and of what others would have decided.

    NaN where there was no report to decide by, and where the rule did not run yet.
    """

    pool: FloatArray
    mean: FloatArray
    agents: dict[str, FloatArray]

    @classmethod
    def of(cls, settled: Settled, rule: str) -> "Yardsticks":
        """Decide every settled case again by the mean and by each agent.

        Of the rule, its decisions count, and those that it made in shadow mode.
        """
        K, costs = len(settled.pool.labels.names), settled.costs
        found = settled.decisions(rule)
        decided = np.nan_to_num(found).astype(np.int64)
        pool = np.where(np.isnan(found), np.nan, settled.cost_of(decided))

        def paid(pooled: FloatArray) -> FloatArray:
            known = np.asarray(~np.isnan(pooled).any(axis=1))
            filled = np.where(known[:, None], pooled, 1.0 / K)
            decisions = choose(filled, costs, settled.pool.threshold)
            return np.where(known, settled.cost_of(decisions), np.nan)

        values = settled.values
        count = (~np.isnan(values)).sum(axis=1)
        mean = np.where(count, np.nansum(values, axis=1) / np.maximum(count, 1), np.nan)
        agents = {agent: paid(values[:, i]) for i, agent in enumerate(settled.agents)}
        return cls(pool, paid(mean), agents)

    @property
    def best_agent(self) -> str | None:
        """The agent whose decisions cost least, of those that report on most cases."""
        ran = ~np.isnan(self.pool)
        means = {
            name: float(np.nanmean(costs[ran]))
            for name, costs in self.agents.items()
            if 2 * np.isnan(costs[ran]).sum() < ran.sum()
        }
        return min(means, key=lambda name: means[name], default=None)

    @property
    def rows(self) -> dict[str, FloatArray]:
        """The pool, the mean and the best agent, on the cases of the rule."""
        found = {"the pool": self.pool, "the mean of the reports": self.mean}
        best = self.best_agent
        if best is not None:
            found[f"the best agent ({best})"] = self.agents[best]
        ran = ~np.isnan(self.pool)
        return {name: np.where(ran, costs, np.nan) for name, costs in found.items()}
