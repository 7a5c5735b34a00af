"""The beta-transformed linear pool."""

from typing import ClassVar, final

import numpy as np
from scipy.special import betainc, betaincc, betaln, digamma, polygamma

from truepool.core.arrays import (
    SMALLEST,
    FloatArray,
    IntArray,
    case_count,
    classes,
    logit,
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
STEPS, MAX_STEP, MIN_CURVATURE, PRECISION = 50, 1.0, 1e-6, 1e-11
"""Limits of Newton's method: its steps, the largest one, the least curvature that it
divides by, and the fall per case that its last step promises."""
LIMIT = 7.0
"""Largest logarithm of a shape, up or down."""
DIGITS = 12
"""Of a pooled probability that is learned from."""
WIDTH = 1e-4
STENCIL = WIDTH * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]])
HALVINGS = 20
PIECE = 0.8
"""Longest piece of the log-odds, times the larger shape, that four nodes integrate."""
NODES, SHARES = (np.polynomial.legendre.leggauss(4) + np.array([[1.0], [0.0]])) / 2


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
    found = np.zeros(2)
    level, gradient, curve = _objective(found, pooled, mass, pull)
    for _ in range(STEPS):
        # The objective need not be convex: steps go downhill by its absolute curvature.
        sizes, axes = np.linalg.eigh(curve)
        step = axes @ ((axes.T @ gradient) / np.maximum(np.abs(sizes), MIN_CURVATURE))
        step *= min(1.0, MAX_STEP / max(np.abs(step).max(), MAX_STEP))
        if (
            gradient @ step <= PRECISION
        ):  # the error after this step is about its square
            found = np.clip(found - step, -LIMIT, LIMIT)
            break
        for halving in range(HALVINGS):
            new = np.clip(found - step / 2**halving, -LIMIT, LIMIT)
            tried = _objective(new, pooled, mass, pull)
            if tried[0] < level:
                break
        else:
            break
        found, (level, gradient, curve) = new, tried
    return np.asarray(np.exp(found))


def _objective(
    logs: FloatArray, pooled: FloatArray, mass: FloatArray, pull: float
) -> tuple[float, FloatArray, FloatArray]:
    """Log loss at the logarithms (2,) of a and b, its gradient and its Hessian (2, 2).

    ``pooled`` (J,) are ascending, ``mass`` (2, J) the shares of the cases of 0 and 1.
    """
    value = pull * float(logs @ logs)
    gradient, curve = 2 * pull * logs, 2 * pull * np.eye(2)
    for tail, share in zip(_tails(logs, pooled), mass[::-1], strict=True):
        seen = tail[0] > SMALLEST
        p = np.where(seen, tail[0], SMALLEST)
        slope = np.where(seen, tail[1:3] / p, 0.0)
        bend = np.where(seen, tail[3:] / p, 0.0) @ share
        value -= float(np.log(p) @ share)
        gradient = gradient - slope @ share
        curve = curve + (slope * share) @ slope.T - bend[[[0, 1], [1, 2]]]
    return value, gradient, curve


def _tails(logs: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Beta distribution below and above ascending x (J,), each (6, J).

    The chance, its derivatives by the logarithms of a and b, and the second ones: by
    that of a, by both, by that of b. Between the x they are integrals over u = logit x
    of :math:`x^a (1 - x)^b / B(a, b)`, by Gauss and Legendre on short pieces; beyond
    the first and the last they are differences of the incomplete beta function.
    """
    a, b = np.exp(logs)
    u = logit(x, SMALLEST)
    gaps = np.diff(u)
    pieces = np.maximum(np.ceil(gaps * max(a, b) / PIECE), 1.0).astype(np.int64)
    ends = np.cumsum(pieces)
    place = np.arange(pieces.sum()) - np.repeat(ends - pieces, pieces)
    width = np.repeat(gaps / pieces, pieces)
    start = np.repeat(u[:-1], pieces) + place * width
    nodes = start[:, None] + width[:, None] * NODES
    above = -np.log1p(np.exp(-np.abs(nodes))) - np.maximum(nodes, 0.0)  # log(1 - x)
    below = nodes + above
    density = np.exp(a * below + b * above - betaln(a, b)) * width[:, None] * SHARES
    by_a = a * (below - digamma(a) + digamma(a + b))
    by_b = b * (above - digamma(b) + digamma(a + b))
    joint = polygamma(1, a + b)
    terms = (
        np.ones_like(nodes), by_a, by_b,
        by_a * (1.0 + by_a) + a * a * (joint - polygamma(1, a)),
        by_a * by_b + a * b * joint,
        by_b * (1.0 + by_b) + b * b * (joint - polygamma(1, b)),
    )  # fmt: skip
    each = np.stack([(density * term).sum(axis=1) for term in terms])
    inner = np.add.reduceat(each, ends - pieces, axis=1) if len(gaps) else each
    shapes = np.exp(logs + STENCIL).T
    first = _differences(betainc(*shapes, x[0]))[:, None]
    last = _differences(betaincc(*shapes, x[-1]))[:, None]
    rising = np.cumsum(np.hstack([first, inner]), axis=1)
    falling = np.cumsum(np.hstack([last, inner[:, ::-1]]), axis=1)
    return rising, falling[:, ::-1]


def _differences(values: FloatArray) -> FloatArray:
    """Value and derivatives, as of `_tails`, by central differences on `STENCIL`."""
    level, right, left, up, down, both, neither = values
    mixed = (both + neither + 2 * level - right - left - up - down) / 2
    pure = np.array([right + left, up + down]) - 2 * level
    slopes = np.array([right - left, up - down]) / (2 * WIDTH)
    return np.array([level, *slopes, *np.array([pure[0], mixed, pure[1]]) / WIDTH**2])


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
