"""Stacking with a logistic regression."""

import warnings
from typing import ClassVar, final

from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from truepool.core.arrays import FloatArray, IntArray
from truepool.pools.onnx.graph import Tensor
from truepool.pools.stacked import MODEL, Parameters, StackedPool, output_layer

PRECISION = 1e-8
"""Largest gradient at which the regression has converged."""


@final
class StackedLR(StackedPool):
    """Logistic regression on the log-odds of the reports, 3-fold cross-fitted.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> StackedLR().fit(reports, [1, 0, 1, 0] * 5).predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "stacked-lr"
    exemptions: ClassVar = {"unanimity": MODEL}

    def _train(
        self, features: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> Parameters:
        # Newton's method reaches the optimum; lbfgs stops up to 1e-3 short of it, at a
        # place that depends on the order of the agents.
        model = LogisticRegression(
            solver="newton-cholesky", tol=PRECISION, max_iter=1000
        )
        with warnings.catch_warnings():
            # Agents that are copies of each other leave Newton no direction;
            # scikit-learn then goes on with lbfgs, and says so.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", LinAlgWarning)
            model.fit(features, outcomes, cases)
        slopes, shifts = output_layer(
            model, model.coef_, model.intercept_, len(self.classes_)
        )
        return {"slopes": slopes, "shifts": shifts}

    def _scores(self, features: FloatArray, parameters: Parameters) -> FloatArray:
        return features @ parameters["slopes"].T + parameters["shifts"]

    def _scores_onnx(self, features: Tensor, parameters: Parameters) -> Tensor:
        return features @ parameters["slopes"].T + parameters["shifts"]
