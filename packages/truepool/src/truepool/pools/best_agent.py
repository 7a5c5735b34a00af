"""The best single agent."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.losses import as_loss
from truepool.measures.shrinkage import comparable_losses
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.panel.weights import pool_by_case, proportional
from truepool.pools.interface import Pool, by_agent, learned
from truepool.pools.interface.result import Explanation


@final
class BestAgent(Pool):
    """The agent with the lowest loss; where it has no report, the next best.

    Agents that tie count equally. Where less than half of the cells are filled, losses
    are relative to the mean of all reports on the same cases, and shrunk towards the
    crowd's, the more the rarer the agent reported (`truepool.measures.shrinkage`).

    Attributes
    ----------
    losses_ : (N,)
        Mean loss of each agent over the cases that it reported on, or shrunk.
    weights_ : (N,)
        All weight on the best.

    Examples
    --------
    >>> BestAgent().fit([[0.9, 0.5], [0.1, 0.5]], [1, 0]).weights_
    array([1., 0.])
    """

    name: ClassVar[str] = "best-agent"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 1

    loss: str = "brier"

    losses_: FloatArray = learned()
    weights_: FloatArray = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        loss = as_loss(self.loss, self.costs, self.threshold)
        self.losses_ = comparable_losses(panel, loss, case_weights)
        self.weights_ = proportional(_least(self.losses_))

    def _explanation(self) -> Explanation:
        weights = by_agent(self.agents_, self.weights_)
        return Explanation(self.name, weights=weights, loss=self.loss)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        reported = ~np.isnan(values[:, :, 0])
        return pool_by_case(values, _least(np.where(reported, self.losses_, np.inf)))

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        losses = self.losses_[reports.agent]
        best = np.full(len(reports), np.inf)
        np.minimum.at(best, reports.case, losses)
        tied = (losses <= best[reports.case]).astype(np.float64)
        return (reports.by_case(tied * reports.values) / reports.by_case(tied))[:, None]


def _least(losses: FloatArray) -> FloatArray:
    """1 for the least along the last axis and for all that tie with it, else 0."""
    least: FloatArray = (losses <= losses.min(axis=-1, keepdims=True)) * 1.0
    return least
