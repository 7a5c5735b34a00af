"""Networks that read the agents in their columns."""

from collections.abc import Mapping
from typing import Any, ClassVar

from truepool.pools.neural import CLASSES, NeuralPool
from truepool.pools.onnx.graph import ReportTensors, Tensor, dense
from truepool.pools.stacked import MODEL

COLUMNS = "the network starts from random numbers that belong to columns"


class DensePool(NeuralPool):
    """A multi-layer perceptron on the log-odds of a case, and on which are missing.

    The slopes of missing reports start at zero and stay there if none was missing,
    so that a silence never seen before only means agreement with those who reported.
    """

    layers: ClassVar[int]
    exemptions: ClassVar[Mapping[str, str]] = {
        "unanimity": MODEL,
        "label swap": CLASSES,
        "permutation": COLUMNS,
        "duplicate": COLUMNS,
    }

    def _module(self, modules: Any, agents: int, odds: int) -> Any:
        return modules.Dense(agents, odds, self.hidden, self.layers)

    def _odds_onnx(self, reports: ReportTensors, scale: Tensor) -> Tensor:
        N, J = reports.agents, reports.classes - 1
        silent = (1.0 - reports.reported).reshape(-1, N)
        features = scale.reshape(-1, N * J).apply("Concat", silent, axis=1)
        return dense(features, self._layers("head"))
