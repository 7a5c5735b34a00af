"""What one agent knows when it chooses its report."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.core.arrays import FloatArray, mean_report
from truepool.measures.decisions import EDGE
from truepool.panel.costs import Costs
from truepool.panel.weights import case_weights
from truepool.pools import LinearPool, Pool

ROWS_AT_ONCE = 1 << 14
"""Rows of a small panel's many trials that a pool gets in one call."""


@dataclass(frozen=True, eq=False)
class AgentView:
    """What agent ``agent`` knows about T cases with N agents.

    Attributes
    ----------
    reports : (T, N)
        The reports of all agents. With ``missing`` other agents may have no report
        (NaN) in some cases; this agent has one in every case.
    chance : (T,)
        Probability of a positive outcome.
    pool, costs, threshold
        The fitted pool, whose weights the agent takes as given, and how it decides.
    total, savings : (T,), optional
        The pooled reports and `expected_savings`, where they are known already.
    """

    agent: int
    reports: FloatArray
    chance: FloatArray
    pool: Pool
    costs: Costs
    threshold: float
    missing: bool = False
    total: FloatArray | None = None
    savings: FloatArray | None = None

    @property
    def cutoff(self) -> float:
        """Pooled probability that must be exceeded for the decision to be 1."""
        return self.threshold + EDGE

    @property
    def gains(self) -> FloatArray:
        """Expected savings of deciding 1 rather than 0 in each case, (T,)."""
        if self.savings is not None:
            return self.savings
        return expected_savings(self.chance, self.costs)

    @property
    def linear(self) -> bool:
        """Whether the pool is a weighted mean."""
        return isinstance(self.pool, LinearPool)

    @cached_property
    def _shares(self) -> FloatArray:
        """Weights (N,), or (T, N) where reports are missing."""
        weights = self.pool.weights_
        if not self.missing:
            return np.asarray(weights)
        return case_weights(weights, ~np.isnan(self.reports))

    @cached_property
    def weight(self) -> FloatArray:
        """Weight of this agent in a linear pool: (1,), or (T,) with missing reports."""
        shares = self._shares
        return shares[[self.agent]] if shares.ndim == 1 else shares[:, self.agent]

    @cached_property
    def rest(self) -> FloatArray:
        """Contribution of the other agents to a linear pool, (T,)."""
        if self.total is not None:
            return self.total - self.weight * self.reports[:, self.agent]
        if not self.missing:
            weights = self._shares.copy()
            weights[self.agent] = 0.0
            return np.asarray(self.reports @ weights)
        others = np.nan_to_num(self.others_only(self.reports)) * self._shares
        return np.asarray(others.sum(axis=1))

    @cached_property
    def others(self) -> FloatArray:
        """Mean report of the other agents, (T,); the own report where there is none."""
        if not self.missing:
            own = self.reports[:, self.agent]
            rest = self.reports.sum(axis=1) - own
            return np.asarray(rest / (self.reports.shape[1] - 1))
        others = mean_report(self.others_only(self.reports))
        return np.where(np.isnan(others), self.reports[:, self.agent], others)

    def others_only(self, reports: FloatArray) -> FloatArray:
        """Reports (T, N) with those of this agent removed (NaN)."""
        others = reports.copy()
        others[:, self.agent] = np.nan
        return others

    def pooled(self, report: FloatArray) -> FloatArray:
        """Pooled probability (T,) if this agent sends these reports (T,)."""
        if self.linear:
            # The shortcut past `Pool.pool` clips what rounding carried out of [0, 1].
            return np.clip(self.rest + self.weight * report, 0.0, 1.0)
        reports = self.reports.copy()
        reports[:, self.agent] = report
        return pooled_probability(self.pool, reports)

    def pooled_columns(self, reports: FloatArray) -> FloatArray:
        """Pooled probabilities (T, G) if this agent sends these reports (T, G)."""
        cases = len(reports)
        if self.linear or cases > ROWS_AT_ONCE:
            return np.stack([self.pooled(column) for column in reports.T], axis=1)
        # A small panel costs more in calls than in pooling: many columns in one call.
        step = ROWS_AT_ONCE // cases
        parts = [reports[:, i : i + step] for i in range(0, reports.shape[1], step)]
        return np.concatenate([self._pooled_together(part) for part in parts], axis=1)

    def _pooled_together(self, reports: FloatArray) -> FloatArray:
        columns = reports.shape[1]
        rows = np.tile(self.reports, (columns, 1))
        rows[:, self.agent] = reports.T.ravel()
        return pooled_probability(self.pool, rows).reshape(columns, -1).T

    def pooled_without(self) -> FloatArray:
        """Pooled probability (T,) without this agent.

        Where no other agent has a report it is the base rate.
        """
        others = self.others_only(self.reports)
        alone = np.isnan(others).all(axis=1)
        if alone.any():
            others[alone] = self.chance.mean()
        return pooled_probability(self.pool, others)


def pooled_probability(pool: Pool, reports: FloatArray) -> FloatArray:
    """Probability (T,) of a positive outcome that a pool makes of reports (T, N)."""
    values = np.ascontiguousarray(reports)[:, :, None]
    return pool.probabilities(values)[:, 1]


def expected_savings(chance: FloatArray, costs: Costs) -> FloatArray:
    """Expected cost that deciding 1 rather than 0 saves in each case, (T,).

    >>> expected_savings(np.array([0.0, 1.0]), Costs(fn=10, fp=1))
    array([-1., 10.])
    """
    return np.asarray((costs.fn + costs.fp) * chance - costs.fp)
