"""The beta-transformed linear pool."""

from typing import ClassVar, final

import numpy as np
from scipy.optimize import minimize
from scipy.special import betainc, betaln

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
from truepool.pools.onnx import graph
from truepool.pools.onnx.graph import ReportTensors, Tensor
from truepool.pools.recalibrated import RECALIBRATED, RecalibratedPool

MAX_GROUPS = 10_000


@final
class Beta(RecalibratedPool):
    r"""Another pool, transformed by a beta distribution: :math:`p' = H_{a,b}(p)`.

    With the mean inside, the beta-transformed linear pool of Ranjan & Gneiting (2010):
    a = b > 1 corrects under-confidence, :math:`a \ne b` a bias. a and b have the least
    log loss. K classes are transformed one against the rest.

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
    exemptions: ClassVar = RECALIBRATED

    shape_: FloatArray

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

    def _corrected_onnx(self, pooled: Tensor, reports: ReportTensors) -> Tensor:
        bent = _incomplete_beta(pooled, *self.shape_.T)
        clipped = bent.clip(SMALLEST, 1 - SMALLEST)
        return graph.normalize(clipped, reports.coordinates)


def _fit(pooled: FloatArray, outcomes: IntArray, cases: FloatArray) -> FloatArray:
    """Shape (a, b) with the lowest log loss for one class."""
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
    """At most `MAX_GROUPS` groups of close probabilities, and the cases of 0 and 1.

    Each call of the incomplete beta function is slow; a curve of two parameters does
    not need a million of them.
    """
    order = np.argsort(pooled, kind="stable")
    ends = np.linspace(0, len(pooled), min(len(pooled), MAX_GROUPS), endpoint=False)
    starts = ends.astype(np.int64)
    share = (cases / cases.sum())[order]
    hit = outcomes[order] == 1
    mass = np.stack([np.add.reduceat(share * part, starts) for part in (~hit, hit)])
    total = np.add.reduceat(share * pooled[order], starts)
    whole = mass.sum(axis=0)
    used = whole > 0
    return total[used] / whole[used], mass[:, used]


def _incomplete_beta(x: Tensor, a: FloatArray, b: FloatArray) -> Tensor:
    r"""Regularised incomplete beta function :math:`I_x(a, b)` inside an ONNX graph.

    By its continued fraction (Press et al. 2007, section 6.4), which converges fast
    below the mean of the distribution; above it, by
    :math:`I_x(a, b) = 1 - I_{1 - x}(b, a)`.
    """
    low = _lower_tail(x, a, b)
    high = 1.0 - _lower_tail(1.0 - x, b, a)
    return (x < (a + 1) / (a + b + 2)).where(low, high)


def _lower_tail(x: Tensor, a: FloatArray, b: FloatArray) -> Tensor:
    fraction = 1.0 + 0.0 * x
    for m in range(_terms(a, b), 0, -1):
        odd = -(a + m - 1) * (a + b + m - 1) / ((a + 2 * m - 2) * (a + 2 * m - 1))
        even = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
        fraction = 1.0 + x * odd / (1.0 + x * even / fraction)
    scale = np.asarray(np.log(a) + betaln(a, b))
    return (x.log() * a + (1.0 - x).log() * b - scale).exp() / fraction


def _terms(a: FloatArray, b: FloatArray) -> int:
    """Terms of the continued fraction that are enough up to the mean."""
    return 20 + int(5 * np.sqrt(max(a.max(), b.max())))
