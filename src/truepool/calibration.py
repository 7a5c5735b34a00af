"""Logistic regression on the log-odds of what was said."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from truepool.arrays import FloatArray, IntArray

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
    free = 2 if np.ptp(z) > 1e-9 else 1
    centre = float(z @ total / total.sum())  # or the two columns would be nearly one
    design = np.stack([np.ones_like(z), z - centre][:free])
    offset = np.zeros_like(z) if free == 2 else z
    start = np.array([centre, 1.0]) if free == 2 else np.zeros(1)
    found, gained = _climbed(start, design, offset, ones, total)
    chance = expit(found @ design + offset)
    curve = (design * (total * chance * (1 - chance))) @ design.T
    if free == 1 or np.linalg.det(curve) < FAINT * max(curve[0, 0], FAINT):
        return Cox(float(found[0]), np.nan, np.nan, gained, free)
    square = ones * (1 - chance) ** 2 + (total - ones) * chance**2
    inverse = np.linalg.inv(curve)
    spread = inverse @ ((design * square) @ design.T) @ inverse
    error = float(np.sqrt(max(spread[1, 1], 0.0)))
    steep = float(found[1])
    return Cox(float(found[0]) - steep * centre, steep, error, gained, free)


def _climbed(
    start: FloatArray,
    design: FloatArray,
    offset: FloatArray,
    ones: FloatArray,
    total: FloatArray,
) -> tuple[FloatArray, float]:
    """Coefficients of most likelihood by Newton's steps, and twice what they gain."""
    found = start
    level = first = _likelihood(found @ design + offset, ones, total)
    for _ in range(50):
        chance = expit(found @ design + offset)
        curve = (design * (total * chance * (1 - chance))) @ design.T
        curve[np.diag_indices(len(found))] += 1e-9
        step = np.linalg.solve(curve, design @ (ones - total * chance))
        risen = _likelihood((found + step) @ design + offset, ones, total)
        while risen < level and np.abs(step).max() > 1e-9:
            step = step / 2
            risen = _likelihood((found + step) @ design + offset, ones, total)
        if risen < level:
            break
        found, level = found + step, risen
        if np.abs(step).max() < 1e-8 or np.abs(found).max() > 1e3:
            break
    return found, 2 * (level - first)


def log_odds(p: FloatArray) -> FloatArray:
    """Log-odds, held at `SUREST`."""
    held = np.clip(p, SUREST, 1 - SUREST)
    return np.asarray(np.log(held) - np.log1p(-held))


def _condensed(
    z: FloatArray, came: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds, how often 1 came there and how many cases; neighbours put together.

    A million cases are no dearer than ten thousand, and `WIDTH` is far less than a
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


def _likelihood(z: FloatArray, ones: FloatArray, total: FloatArray) -> float:
    """Log-likelihood where the log-odds are z."""
    return float(ones @ z - total @ np.logaddexp(0.0, z))
