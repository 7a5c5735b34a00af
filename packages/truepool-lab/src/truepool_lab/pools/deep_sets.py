"""A network that sees the set of reports, not which agent made which."""

from typing import Any, ClassVar, final

import numpy as np

from truepool.pools.onnx.graph import dense
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

    def _record_odds(self, scale: Any, reported: Any) -> Any:
        each = np.maximum(dense(scale, self._layers("each")), 0.0)
        count = reported.sum(axis=1, keepdims=True)
        mean = np.where(reported[:, :, None], each, 0.0).sum(axis=1) / count
        missing = 1.0 - count / reported.shape[1]
        return dense(np.concatenate([mean, missing], axis=1), self._layers("head"))
