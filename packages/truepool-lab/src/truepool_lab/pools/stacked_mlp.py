"""Stacking with a small neural network."""

import warnings
from typing import ClassVar, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.seeds import short_seed
from truepool.pools.interface.agent_reports import content_order
from truepool.pools.interface.stacked import (
    MODEL,
    Parameters,
    StackedPool,
    output_layer,
)
from truepool_lab.pools.dense import COLUMNS
from truepool_lab.pools.neural import CLASSES


@final
class StackedMLP(StackedPool):
    """A network of one hidden layer of 32 on the log-odds, 3-fold cross-fitted.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> StackedMLP().fit(reports, [1, 0, 1, 0] * 5).predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "stacked-mlp"
    exemptions: ClassVar = {
        "unanimity": MODEL,
        "label swap": CLASSES,
        "duplicate": COLUMNS,
    }

    def _train(
        self, features: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> Parameters:
        network = MLPClassifier(
            hidden_layer_sizes=(32,),
            alpha=1e-3,
            max_iter=300,
            random_state=short_seed(self.seed),
        )
        with warnings.catch_warnings():
            # Stopping early is a mild regulariser here, not a fault of the user's.
            warnings.simplefilter("ignore", ConvergenceWarning)
            order = content_order(features[:, :, None])
            network.fit(features[:, order], outcomes, sample_weight=cases)
        hidden, output = network.coefs_
        hidden = hidden[np.argsort(order)]
        slopes, shifts = output_layer(
            network, output.T, network.intercepts_[1], len(self.classes_)
        )
        return {
            "hidden_slopes": hidden.T,
            "hidden_shifts": network.intercepts_[0],
            "slopes": slopes,
            "shifts": shifts,
        }

    def _scores(self, features: FloatArray, parameters: Parameters) -> FloatArray:
        hidden = features @ parameters["hidden_slopes"].T + parameters["hidden_shifts"]
        output: FloatArray = np.maximum(hidden, 0.0) @ parameters["slopes"].T
        return output + parameters["shifts"]
