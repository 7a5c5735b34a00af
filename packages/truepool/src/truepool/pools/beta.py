"""The beta-transformed linear pool."""

from typing import ClassVar, final

import numpy as np
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
from truepool.panel.sparse import SparseReports
from truepool.pools.interface import learned
from truepool.pools.interface.recalibrated import RECALIBRATED, RecalibratedPool
from truepool.pools.interface.result import Parameter

MAX_GROUPS = 2_000
"""The curve is fitted on at most so many groups of close probabilities."""
STEPS, MAX_STEP, MIN_CURVATURE, PRECISION = 50, 1.0, 1e-6, 1e-14
"""Limits of Newton's method: its steps, the largest one, the least curvature that it
divides by, and the fall per case that the last step promised."""
LIMIT = 7.0
"""Largest logarithm of a shape, up or down."""
DIGITS = 12
"""Of a pooled probability that is learned from."""
WIDTH = 1e-4
STENCIL = WIDTH * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]])
HALVINGS = 0.5 ** np.arange(20)[:, None]


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

    shape_: FloatArray = learned()

    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        truth = indicator(outcomes, classes(pooled.shape[1])).astype(np.int64)
        self.shape_ = np.stack(
            [_fit(pooled[:, c], truth[:, c], cases) for c in range(pooled.shape[1])]
        )

    def _parameters(self) -> tuple[Parameter, ...]:
        words = (
            "above 1 lowers probabilities, most of all small ones",
            "above 1 raises probabilities, most of all large ones",
        )
        labels = (
            [""] if len(self.classes_) == 2 else [f" of {c}" for c in self.classes_]
        )
        return tuple(
            Parameter(f"{name}{label}", float(value), meaning)
            for label, pair in zip(labels, self.shape_, strict=True)
            for name, value, meaning in zip("ab", pair, words, strict=True)
        )

    def _corrected(
        self, pooled: FloatArray, values: FloatArray | SparseReports
    ) -> FloatArray:
        bent = betainc(*self.shape_.T, pooled)
        return normalize(np.clip(bent, SMALLEST, 1 - SMALLEST))


def _fit(pooled: FloatArray, outcomes: IntArray, cases: FloatArray) -> FloatArray:
    """Shape (a, b) with the lowest log loss for one class, by Newton's method."""
    # The minimum is flat: last digits, which the order of agents changes, would move
    # it.
    pooled = np.clip(pooled.round(DIGITS), SMALLEST, 1 - SMALLEST)
    pooled, mass = _condensed(pooled, outcomes, cases)
    pull = RIDGE / case_count(cases)

    def objective(logs: FloatArray) -> FloatArray:
        """Log loss at each of the logarithms (M, 2) of a and b."""
        a, b = np.exp(logs).T[:, :, None]
        bent = np.clip(betainc(a, b, pooled), SMALLEST, 1 - SMALLEST)
        lost = -(np.log(bent) @ mass[1] + np.log1p(-bent) @ mass[0])
        return np.asarray(lost + pull * np.square(logs).sum(axis=1))

    found = np.zeros(2)
    for _ in range(STEPS):
        gradient, curve, level = _derivatives(objective(found + STENCIL))
        # The objective need not be convex: steps go downhill by its absolute curvature.
        sizes, axes = np.linalg.eigh(curve)
        step = axes @ ((axes.T @ gradient) / np.maximum(np.abs(sizes), MIN_CURVATURE))
        step *= min(1.0, MAX_STEP / max(np.abs(step).max(), MAX_STEP))
        tries = np.clip(found - HALVINGS * step, -LIMIT, LIMIT)
        for new in tries:
            if objective(new[None])[0] < level:
                found = new
                break
        else:
            break
        if gradient @ step <= PRECISION:
            break
    return np.asarray(np.exp(found))


def _derivatives(values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Gradient (2,), Hessian (2, 2) and value by central differences on `STENCIL`."""
    level, right, left, up, down, both, neither = values
    gradient = np.array([right - left, up - down]) / (2 * WIDTH)
    mixed = (both + neither + 2 * level - right - left - up - down) / 2
    pure = np.array([right + left, up + down]) - 2 * level
    curve = np.array([[pure[0], mixed], [mixed, pure[1]]]) / WIDTH**2
    return gradient, curve, float(level)


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
