r"""Logistic recalibration: a factor and a shift on the log scale, by least log loss.

:math:`\mathrm{logit}\, p' = a\, \mathrm{logit}\, p + b`; K classes share the factor and
have a shift each. The pools that correct another pool, the online correction and the
audit's regression of outcomes on reports are all fitted by the steps written here.
"""

from typing import NamedTuple

import numpy as np

from truepool.core.arrays import (
    FloatArray,
    IntArray,
    case_count,
    from_log_scale,
    log_scale,
)

CLEAR = 7.0
"""Log-odds beyond this (1 in 1,000) teach nothing more: the votes of a forest are
exactly 0 or 1, and one such report must not outweigh all others."""

CAUTION = 0.01
"""Weight of the pull towards no change: felt only by a handful of cases, or by data
so cleanly separated that an unbounded correction would fit best."""

STEPS, FAR = 50, 1e3
"""Newton's method takes at most so many steps, and goes no further than this: a
coefficient of a thousand means that the outcomes are told apart without error."""

SUREST = 1e-6
"""Log-odds are taken of probabilities this far from 0 and 1: beyond it the regression
would speak of little else."""

FAINT = 1e-6
"""A slope known to less than this (one over its variance) is not known: one report for
nearly all cases, or outcomes told apart without error."""

CONDENSED_ABOVE, WIDTH = 20_000, 1e-3
"""Above so many cases, log-odds that lie closer than this are put together."""


class Cox(NamedTuple):
    """Intercept and slope with standard errors, and twice the log-likelihood gained."""

    intercept: float
    slope: float
    slope_error: float
    gained: float
    free: int


def clipped_log_scale(values: FloatArray) -> FloatArray:
    """Coordinates on the log scale, no clearer than `CLEAR`.

    >>> clipped_log_scale(np.array([0.5, 1.0])[:, None]).T
    array([[0., 7.]])
    """
    return np.clip(log_scale(values), -CLEAR, CLEAR)


def fit_scaling(
    scale: FloatArray, outcomes: IntArray, cases: FloatArray, *, shift: bool
) -> tuple[float, FloatArray]:
    r"""Factor a and shift b of least log loss for :math:`a z + b` on the log scale.

    They are pulled towards no change (a = 1, b = 0) by `CAUTION`.

    >>> z = np.repeat([[-1.0], [1.0]], 100, axis=0)
    >>> came = np.r_[np.arange(100) < 25, np.arange(100) < 75].astype(int)
    >>> a, b = fit_scaling(z, came, np.ones(200), shift=True)
    >>> round(a, 2), abs(b).round(2)
    (1.1, array([0.]))
    """
    came = (outcomes[:, None] == np.arange(1, scale.shape[1] + 1)).astype(np.float64)
    counted = cases * (case_count(cases) / cases.sum())
    start = np.append(1.0, np.zeros(scale.shape[1]))
    free = slice(None) if shift else slice(0, 1)
    found, _ = _fit(start, free, scale, came, counted, CAUTION)
    return float(found[0]), found[1:]


def cox(p: FloatArray, came: IntArray) -> Cox:
    r"""Logistic regression of what came on the log-odds of what was said (Cox 1958).

    :math:`\mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, p`; calibrated reports
    have a = 0 and b = 1, which the likelihood ratio tests. The standard error is the
    sandwich's, which holds where the regression is not the whole truth. The slope is
    NaN where it cannot be told: one report for all cases, or outcomes told apart.

    >>> p = np.repeat([0.1, 0.9], 50)
    >>> fit = cox(p, np.r_[np.arange(50) < 15, np.arange(50) < 35].astype(int))
    >>> round(fit.slope, 2)
    0.39
    """
    z, ones, total = _condensed(log_odds(p), came)
    one_report = np.ptp(z) <= 1e-9
    # Centred, or the two columns would be nearly one.
    centre = 0.0 if one_report else float(z @ total / total.sum())
    z = z - centre
    truth = (ones / total)[:, None]
    free = slice(1, 2) if one_report else slice(None)
    start = np.array([1.0, centre])
    found, gained = _fit(start, free, z[:, None], truth, total)
    slope, intercept = map(float, found)
    curve = newton_terms(found, z[:, None], truth, total)[1]
    if one_report or np.linalg.det(curve) < FAINT * max(curve[1, 1], FAINT):
        return Cox(intercept, np.nan, np.nan, gained, 1 if one_report else 2)
    chance = _chances(found, z[:, None])[:, 0]
    square = ones * (1 - chance) ** 2 + (total - ones) * chance**2
    design = np.stack([z, np.ones_like(z)])
    inverse = np.linalg.inv(curve)
    spread = inverse @ ((design * square) @ design.T) @ inverse
    error = float(np.sqrt(max(spread[0, 0], 0.0)))
    return Cox(intercept - slope * centre, slope, error, gained, 2)


def newton_terms(
    coefficients: FloatArray,
    scale: FloatArray,
    truth: FloatArray,
    cases: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Gradient and curvature of the log loss, summed over the cases.

    Parameters
    ----------
    coefficients : (1 + J,)
        The factor, then a shift for each of the J = K - 1 log-odds.
    scale : (T, J)
        Log-odds before the correction.
    truth : (T, J)
        Share of the case in which classes 1 to J came: 0 or 1 for a single case.
    cases : (T,)
        How much each counts.
    """
    chance = _chances(coefficients, scale)
    error = cases[:, None] * (chance - truth)
    gradient = np.append((error * scale).sum(), error.sum(axis=0))
    mass = cases[:, None] * chance
    mean = (chance * scale).sum(axis=1, keepdims=True)
    curve = np.empty((gradient.size, gradient.size))
    curve[0, 0] = (mass * scale * (scale - mean)).sum()
    curve[0, 1:] = curve[1:, 0] = (mass * (scale - mean)).sum(axis=0)
    curve[1:, 1:] = np.diag(mass.sum(axis=0)) - mass.T @ chance
    return gradient, curve


def log_odds(p: FloatArray) -> FloatArray:
    """Log-odds, held at `SUREST`."""
    held = np.clip(p, SUREST, 1 - SUREST)
    return np.asarray(np.log(held) - np.log1p(-held))


def _fit(
    start: FloatArray,
    free: slice,
    scale: FloatArray,
    truth: FloatArray,
    cases: FloatArray,
    caution: float = 0.0,
) -> tuple[FloatArray, float]:
    """Coefficients of least log loss by Newton's steps, and twice what they gain.

    The coefficients that are not free stay where they start; the others are pulled
    there by ``caution``.
    """

    def price(x: FloatArray) -> float:
        moved = x[0] * scale + x[1:]
        lost = np.logaddexp.reduce(moved, axis=1, initial=0.0)  # class 0 lies at 0
        lost -= (truth * moved).sum(axis=1)
        return float(cases @ lost + caution * np.square(x - start).sum())

    found = start.copy()
    level = first = price(found)
    for _ in range(STEPS):
        gradient, curve = newton_terms(found, scale, truth, cases)
        gradient += 2 * caution * (found - start)
        curve[np.diag_indices(len(found))] += 2 * caution + 1e-9
        step = np.zeros_like(found)
        step[free] = np.linalg.solve(curve[free, free], gradient[free])
        fallen = price(found - step)
        while fallen > level and np.abs(step).max() > 1e-9:
            step /= 2
            fallen = price(found - step)
        if fallen > level:
            break
        found, level = found - step, fallen
        # What is left after a step of Newton's is about its square.
        if np.abs(step).max() < 1e-6 or np.abs(found).max() > FAR:
            break
    return found, 2 * (first - level)


def _chances(coefficients: FloatArray, scale: FloatArray) -> FloatArray:
    """Probabilities (T, J) of classes 1 to J after the correction."""
    moved = from_log_scale(coefficients[0] * scale + coefficients[1:])
    return moved if moved.shape[1] == 1 else moved[:, 1:]


def _condensed(
    z: FloatArray, came: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds, how often 1 came there and how many cases; neighbours put together.

    A million cases take no longer than ten thousand, and `WIDTH` is far less than a
    slope could tell apart.
    """
    if len(z) <= CONDENSED_ABOVE:
        return z, came.astype(np.float64), np.ones(len(z))
    cell = ((z - z.min()) / WIDTH).astype(np.int64)
    total = np.bincount(cell).astype(np.float64)
    kept = total > 0
    total = total[kept]
    ones = np.bincount(cell, came)[kept].astype(np.float64)
    return np.bincount(cell, z)[kept] / total, ones, total
