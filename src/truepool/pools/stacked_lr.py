"""Stacking with a logistic regression."""

from typing import Any, ClassVar, final

from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from truepool.core.arrays import FloatArray
from truepool.pools.stacked import StackedPool


@final
class StackedLR(StackedPool):
    """Logistic regression on the log-odds of the reports, 3-fold cross-fitted.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> StackedLR().fit(reports, [1, 0, 1, 0] * 5).predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "stacked-lr"
    excused: ClassVar = {
        "unanimity": "a learned model answers how often the event came when the "
        "agents said p, not p"
    }

    def _fitted(
        self, features: FloatArray, outcomes: NDArray[Any], cases: FloatArray
    ) -> Any:
        return LogisticRegression(max_iter=1000).fit(features, outcomes, cases)
