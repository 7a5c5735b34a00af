"""The best fixed weights in hindsight."""

from dataclasses import replace
from typing import ClassVar, final

from truepool.core.arrays import FloatArray
from truepool.measures.fixed_weights import MAX_GRAM, FixedWeights, best_by_gram
from truepool.measures.losses import as_loss
from truepool.panel.panel import Panel
from truepool.pools.interface import LinearPool
from truepool.pools.interface.result import Explanation


@final
class Convex(LinearPool):
    """Weights on the simplex with the least mean loss: the hindsight comparator.

    The loss must be convex: ``brier`` (solved exactly), ``cost-brier`` or ``log``.
    While the weights are learned, an agent without a report is taken to agree with
    those who reported.

    >>> reports = [[0.9, 0.6, 0.5], [0.2, 0.4, 0.5], [0.7, 0.9, 0.5], [0.3, 0.1, 0.5]]
    >>> Convex().fit(reports, [1, 0, 1, 0]).weights_.round(3)
    array([0.762, 0.238, 0.   ])
    """

    name: ClassVar[str] = "convex"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 2

    loss: str = "brier"

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        loss = as_loss(self.loss, self.costs, self.threshold)
        return FixedWeights(panel, loss, case_weights).best()

    def streams(self, agents: int) -> bool:
        """Whether it learns from sums over the cases: the products of the errors."""
        squared = as_loss(self.loss, self.costs, self.threshold).squared
        return squared and agents <= MAX_GRAM

    def _sums(self, panel: Panel, prior: FloatArray) -> FloatArray:
        loss = as_loss(self.loss, self.costs, self.threshold)
        return FixedWeights(panel.fill_missing(), loss).gram_sums()

    def _weigh_sums(self, sums: FloatArray) -> FloatArray:
        return best_by_gram(sums)

    def _explanation(self) -> Explanation:
        return replace(super()._explanation(), loss=self.loss)
