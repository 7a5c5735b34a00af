"""A seat at the table: what an agent knows when it chooses its report."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.core.arrays import FloatArray, mean_report
from truepool.data.costs import Costs
from truepool.data.weights import case_weights
from truepool.measures.decisions import EDGE
from truepool.pools import LinearPool, Pool


@dataclass(frozen=True, eq=False)
class Seat:
    """What agent ``agent`` knows: the reports of all (T, N), chances, pool and costs.

    The pool is fitted; its weights are taken as given. ``threshold`` decides.
    ``total``, the pool of these reports, and ``stakes``, what deciding 1 saves, are
    given by whom has worked them out already. With
    ``silences`` the reports may be NaN where another agent is silent, not where
    this one is.
    """

    agent: int
    reports: FloatArray
    chance: FloatArray
    pool: Pool
    costs: Costs
    threshold: float
    silences: bool = False
    total: FloatArray | None = None
    stakes: FloatArray | None = None

    @property
    def line(self) -> float:
        """What a pool must exceed for 1 to be decided."""
        return self.threshold + EDGE

    @property
    def gains(self) -> FloatArray:
        """What deciding 1 rather than 0 saves in each case, in expectation."""
        return (
            self.stakes if self.stakes is not None else saved(self.chance, self.costs)
        )

    @property
    def linear(self) -> bool:
        """Whether the pool is a weighted mean."""
        return isinstance(self.pool, LinearPool)

    @cached_property
    def _shares(self) -> FloatArray:
        """Weights (N,), or (T, N) where somebody is silent."""
        weights = self.pool.weights_
        if not self.silences:
            return np.asarray(weights)
        return case_weights(weights, ~np.isnan(self.reports))

    @cached_property
    def weight(self) -> FloatArray:
        """Weight of this agent in a linear pool: (1,), or (T,) with silences."""
        shares = self._shares
        return shares[[self.agent]] if shares.ndim == 1 else shares[:, self.agent]

    @cached_property
    def rest(self) -> FloatArray:
        """What the others put into a linear pool, (T,)."""
        if self.total is not None:
            return self.total - self.weight * self.reports[:, self.agent]
        if not self.silences:
            weights = self._shares.copy()
            weights[self.agent] = 0.0
            return np.asarray(self.reports @ weights)
        heard = np.nan_to_num(self.others_only(self.reports)) * self._shares
        return np.asarray(heard.sum(axis=1))

    @cached_property
    def others(self) -> FloatArray:
        """Mean report of the others who speak, (T,); the own one where nobody does."""
        if not self.silences:
            own = self.reports[:, self.agent]
            rest = self.reports.sum(axis=1) - own
            return np.asarray(rest / (self.reports.shape[1] - 1))
        others = mean_report(self.others_only(self.reports))
        return np.where(np.isnan(others), self.reports[:, self.agent], others)

    def others_only(self, reports: FloatArray) -> FloatArray:
        """Reports with this agent silent."""
        others = reports.copy()
        others[:, self.agent] = np.nan
        return others

    def pooled(self, report: FloatArray) -> FloatArray:
        """Pool (T,) if this agent reports so."""
        if self.linear:
            return np.asarray(self.rest + self.weight * report)
        reports = self.reports.copy()
        reports[:, self.agent] = report
        return self.combined(reports)

    def without(self) -> FloatArray:
        """Pool (T,) of the others; the base rate where nobody else speaks."""
        others = self.others_only(self.reports)
        alone = np.isnan(others).all(axis=1)
        if alone.any():
            others[alone] = self.chance.mean()
        return self.combined(others)

    def combined(self, reports: FloatArray) -> FloatArray:
        """Pool (T,) of reports (T, N)."""
        return self.pool.combine(np.ascontiguousarray(reports)[:, :, None])[:, 0]


def saved(chance: FloatArray, costs: Costs) -> FloatArray:
    """What deciding 1 rather than 0 saves in each case, in expectation.

    >>> saved(np.array([0.0, 1.0]), Costs(fn=10, fp=1))
    array([-1., 10.])
    """
    return np.asarray((costs.fn + costs.fp) * chance - costs.fp)
