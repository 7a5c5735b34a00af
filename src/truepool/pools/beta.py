"""The beta-transformed linear pool."""

from typing import ClassVar, final

import numpy as np
from scipy.optimize import minimize
from scipy.special import betainc

from truepool.arrays import SMALLEST, FloatArray, IntArray, classes, scaled_to_one
from truepool.losses import Loss, happened
from truepool.pools.recalibrated import (
    BENDS,
    CAUTION,
    RecalibratedPool,
)


@final
class Beta(RecalibratedPool):
    r"""Another pool, bent by a beta distribution: :math:`p' = H_{a,b}(p)`.

    With the mean inside, the beta-transformed linear pool of Ranjan & Gneiting (2010):
    a = b > 1 repairs under-confidence, :math:`a \ne b` a tilt. a and b have the least
    log loss. K classes are bent one against the rest.

    Attributes
    ----------
    shape_ : (C, 2)
        a and b, for class 1 or for each class.

    Examples
    --------
    >>> reports = [[0.6, 0.5], [0.7, 0.6], [0.4, 0.4], [0.3, 0.5]] * 10
    >>> bool((Beta().fit(reports, [1, 1, 0, 0] * 10).shape_ > 1).all())
    True
    """

    name: ClassVar[str] = "beta"
    excused: ClassVar = BENDS

    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        truth = happened(outcomes, classes(pooled.shape[1])).astype(np.int64)
        self.shape_ = np.stack(
            [_fit(pooled[:, c], truth[:, c], cases) for c in range(pooled.shape[1])]
        )

    def _corrected(self, pooled: FloatArray, values: FloatArray) -> FloatArray:
        return scaled_to_one(betainc(*self.shape_.T, pooled))


def _fit(said: FloatArray, came: IntArray, cases: FloatArray) -> FloatArray:
    """Shape (a, b) of least log loss for one class."""
    loss = Loss("log")
    share = cases / cases.sum()
    said = np.clip(said, SMALLEST, 1 - SMALLEST)

    def price(x: FloatArray) -> float:
        a, b = np.exp(x)
        lost = share @ loss.of(betainc(a, b, said)[:, None], came)
        return float(lost + CAUTION / cases.sum() * (x @ x))

    bounds = [(-7.0, 7.0)] * 2
    found = minimize(price, np.zeros(2), method="L-BFGS-B", bounds=bounds)
    return np.asarray(np.exp(found.x))
