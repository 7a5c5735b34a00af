"""The beta-transformed linear pool."""

from typing import ClassVar, final

import numpy as np
from scipy.optimize import minimize
from scipy.special import betainc

from truepool.core.arrays import (
    SMALLEST,
    FloatArray,
    IntArray,
    case_count,
    classes,
    normalize,
)
from truepool.measures.calibration import RIDGE
from truepool.measures.losses import indicator
from truepool.pools.recalibrated import BENDS, RecalibratedPool

GROUPS = 10_000


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
    exemptions: ClassVar = BENDS

    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        truth = indicator(outcomes, classes(pooled.shape[1])).astype(np.int64)
        self.shape_ = np.stack(
            [_fit(pooled[:, c], truth[:, c], cases) for c in range(pooled.shape[1])]
        )

    def _corrected(self, pooled: FloatArray, values: FloatArray) -> FloatArray:
        bent = betainc(*self.shape_.T, pooled)
        return normalize(np.clip(bent, SMALLEST, 1 - SMALLEST))


def _fit(pooled: FloatArray, outcomes: IntArray, cases: FloatArray) -> FloatArray:
    """Shape (a, b) of least log loss for one class."""
    pooled, mass = _condensed(np.clip(pooled, SMALLEST, 1 - SMALLEST), outcomes, cases)
    pull = RIDGE / case_count(cases)

    def price(x: FloatArray) -> float:
        bent = np.clip(betainc(*np.exp(x), pooled), SMALLEST, 1 - SMALLEST)
        lost = -(mass[1] @ np.log(bent) + mass[0] @ np.log1p(-bent))
        return float(lost + pull * (x @ x))

    found = minimize(
        price,
        np.zeros(2),
        jac="3-point",
        method="L-BFGS-B",
        bounds=[(-7.0, 7.0)] * 2,
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    return np.asarray(np.exp(found.x))


def _condensed(
    pooled: FloatArray, outcomes: IntArray, cases: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """At most `GROUPS` groups of near probabilities, and how often 0 and 1 happened.

    Each call of the incomplete beta function is slow; a curve of two parameters does
    not need a million of them.
    """
    order = np.argsort(pooled, kind="stable")
    ends = np.linspace(0, len(pooled), min(len(pooled), GROUPS), endpoint=False)
    starts = ends.astype(np.int64)
    share = (cases / cases.sum())[order]
    hit = outcomes[order] == 1
    mass = np.stack([np.add.reduceat(share * part, starts) for part in (~hit, hit)])
    total = np.add.reduceat(share * pooled[order], starts)
    whole = mass.sum(axis=0)
    kept = whole > 0
    return total[kept] / whole[kept], mass[:, kept]
