"""A network that sees the set of reports, not which agent made which."""

from typing import Any, ClassVar, final

from truepool.pools.onnx.graph import ReportTensors, Tensor, dense
from truepool_lab.pools.neural import NeuralPool


@final
class DeepSets(NeuralPool):
    r"""DeepSets (Zaheer et al. 2017): invariant to the order of the agents.

    .. math:: \rho \Bigl( \frac1{|S|} \sum_{i \in S} \phi(z_i),\;
              1 - \frac{|S|}{N} \Bigr),

    over the set S of those who reported, with two dense layers each for :math:`\phi`
    (half as wide) and :math:`\rho`. Every agent counts alike; what is learned is how to
    read their spread. The slopes of the share of missing reports start at zero.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> pool = DeepSets(epochs=50, rate=0.01).fit(reports, [1, 0, 1, 0] * 5)
    >>> pool.predict([[0.8, 0.7], [0.7, 0.8], [0.2, 0.3]])
    array([1, 1, 0])
    """

    name: ClassVar[str] = "deep-sets"

    def _module(self, modules: Any, agents: int, odds: int) -> Any:
        return modules.DeepSets(odds, self.hidden)

    def _odds_onnx(self, reports: ReportTensors, scale: Tensor) -> Tensor:
        each = dense(scale, self._layers("each")).relu()
        missing = 1.0 - reports.count / float(reports.agents)
        features = reports.mean(each).apply("Concat", missing, axis=1)
        return dense(features, self._layers("head"))
