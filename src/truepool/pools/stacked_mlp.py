"""Stacking with a small neural network."""

import warnings
from typing import Any, ClassVar, final

from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from truepool.core.arrays import FloatArray
from truepool.pools.stacked import StackedPool


@final
class StackedMLP(StackedPool):
    """A network of one hidden layer of 32 on the log-odds, 3-fold cross-fitted.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> StackedMLP().fit(reports, [1, 0, 1, 0] * 5).predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "stacked-mlp"
    excused: ClassVar = {
        "unanimity": "a learned model answers how often the event came when the "
        "agents said p, not p",
        "permutation": "the network starts from random numbers that belong to columns",
        "label swap": "the network starts from random numbers that belong to classes",
        "duplicate": "the network starts from random numbers that belong to columns",
    }

    def _fitted(
        self, features: FloatArray, outcomes: NDArray[Any], cases: FloatArray
    ) -> Any:
        network = MLPClassifier(
            hidden_layer_sizes=(32,), alpha=1e-3, max_iter=300, random_state=self.seed
        )
        with warnings.catch_warnings():
            # Stopping early is a mild regulariser here, not a fault of the user's.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return network.fit(features, outcomes, sample_weight=cases)
