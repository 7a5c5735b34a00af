"""Networks that read the agents in their columns."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.pools.interface.agent_reports import content_order
from truepool.pools.interface.stacked import MODEL
from truepool.pools.onnx.graph import dense
from truepool_lab.pools.networks.training import Parameters
from truepool_lab.pools.neural import CLASSES, NeuralPool

COLUMNS = "the network starts from random numbers that belong to columns"


class DensePool(NeuralPool):
    """A multi-layer perceptron on the log-odds of a case, and on which are missing.

    It learns from the agents in an order by their reports, so that their columns do not
    matter. The slopes of missing reports start at zero and stay there if none was
    missing: a silence never seen before only means agreement with those who reported.
    """

    layers: ClassVar[int]
    exemptions: ClassVar[Mapping[str, str]] = {
        "unanimity": MODEL,
        "label swap": CLASSES,
        "duplicate": COLUMNS,
    }

    def _column_order(self, values: FloatArray) -> IntArray:
        return np.array(content_order(values))

    def _in_columns(self, parameters: Parameters, order: IntArray) -> Parameters:
        first = "head.0.weight"
        slopes, N = parameters[first], len(order)
        odds, silent = np.split(slopes, [slopes.shape[1] - N], axis=1)
        by_agent = odds.reshape(len(slopes), N, -1)
        moved = np.argsort(order)
        columns = [by_agent[:, moved].reshape(odds.shape), silent[:, moved]]
        return {**parameters, first: np.concatenate(columns, axis=1)}

    def _module(self, modules: Any, agents: int, odds: int) -> Any:
        return modules.Dense(agents, odds, self.hidden, self.layers)

    def _record_odds(self, scale: Any, reported: Any) -> Any:
        flat = scale.reshape(-1, scale.shape[1] * scale.shape[2])
        features = np.concatenate([flat, 1.0 - reported], axis=1)
        return dense(features, self._layers("head"))
