"""Stacking with a logistic regression."""

from dataclasses import replace
from typing import ClassVar, final

from truepool.core.arrays import FloatArray, IntArray
from truepool.pools.interface.result import Explanation
from truepool.pools.interface.stacked import (
    MODEL,
    Parameters,
    StackedPool,
    describe_coefficients,
)
from truepool.pools.training.logistic import LogisticData, solve

PENALTY = 1.0
"""Penalty on the squared slopes, scikit-learn's default."""


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
        data = LogisticData.build(features, outcomes, len(self.classes_), cases)
        return {"coefficients": data.expand(solve(data, PENALTY))}

    def _explanation(self) -> Explanation:
        if len(self.classes_) > 2:
            return super()._explanation()
        mean = self.parameters_["coefficients"].mean(axis=0)[0]
        learned = describe_coefficients(self.agents_, mean, "log-odds")
        return replace(super()._explanation(), learned=tuple(learned))

    def _scores(self, features: FloatArray, parameters: Parameters) -> FloatArray:
        coefficients = parameters["coefficients"]
        return features @ coefficients[:, :-1].T + coefficients[:, -1]
