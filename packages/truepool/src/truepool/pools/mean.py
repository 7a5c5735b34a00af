"""The plain mean."""

from typing import ClassVar, final

from truepool.core.arrays import FloatArray
from truepool.panel.panel import Panel
from truepool.panel.weights import uniform
from truepool.pools.interface import LinearPool


@final
class Mean(LinearPool):
    r"""Equal weights: :math:`p = \frac{1}{N} \sum_i r_i` over those who reported.

    The pool to beat. The mean of agents that are calibrated but distinct is itself
    under-confident (Ranjan & Gneiting 2010); `Extremized` and `Beta` correct that.

    >>> Mean().fit([[0.9, 0.5], [0.1, 0.5]], [1, 0]).predict_proba([[0.8, 0.4]])
    array([[0.4, 0.6]])
    """

    name: ClassVar[str] = "mean"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 0

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        return uniform(len(panel.agents))

    def streams(self, agents: int) -> bool:
        """Whether it learns from sums over the cases: it needs none."""
        return True

    def _weigh_sums(self, sums: FloatArray) -> FloatArray:
        return uniform(len(self.agents_))
