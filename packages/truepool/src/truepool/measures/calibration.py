r"""Logistic recalibration: a factor and a shift of the log-odds, by least log loss.

:math:`\mathrm{logit}\, p' = a\, \mathrm{logit}\, p + b`; K classes share the factor and
each has its own shift. Pools that recalibrate, the online recalibration and the
audit's regression of outcomes on reports are all fitted here.
"""

from typing import NamedTuple

import numpy as np

from truepool.core.arrays import (
    Array,
    FloatArray,
    IntArray,
    case_count,
    from_log_scale,
    log_scale,
)
from truepool.measures.inference.unseen_cases import unseen_variance
from truepool.measures.newton import BinaryLoss, Minimizer, newton_step

LOG_ODDS_LIMIT = 7.0
"""Log-odds are clipped here (1 in 1,000): the votes of a forest are exactly 0 or 1, and
one such report must not outweigh all others."""

RIDGE = 0.01
"""Penalty on the squared distance from no change: it matters only with a handful of
cases, or with separated data, where an unbounded correction would fit best."""

MAX_STEPS, MAX_COEFFICIENT = 50, 1e3
"""Limits of Newton's method: the number of steps, and the size of a coefficient. One of
a thousand means that the outcomes are separated."""

CLIP = 1e-6
"""Probabilities are clipped this far from 0 and 1 before the regression: more extreme
ones would dominate it."""

MIN_PRECISION = 1e-6
"""A slope of less precision (one over its variance) is unknown: nearly all reports are
the same, or the outcomes are separated."""

MAX_UNBINNED, BIN_WIDTH = 20_000, 1e-3
"""Above so many cases, log-odds are binned; the second number is the width of a bin."""


class Cox(NamedTuple):
    """Coefficients of the regression, and its likelihood ratio against a = 0, b = 1."""

    intercept: float
    slope: float
    slope_error: float
    likelihood_ratio: float
    degrees_of_freedom: int
    p_value: float


def clipped_log_scale(values: FloatArray) -> FloatArray:
    """Coordinates on the log scale, clipped at `LOG_ODDS_LIMIT`.

    >>> clipped_log_scale(np.array([0.5, 1.0])[:, None]).T
    array([[0., 7.]])
    """
    low = np.maximum(log_scale(values), -LOG_ODDS_LIMIT)
    clipped: FloatArray = np.minimum(low, LOG_ODDS_LIMIT)
    return clipped


def fit_scaling(
    scale: FloatArray, outcomes: IntArray, cases: FloatArray, *, shift: bool
) -> tuple[float, FloatArray]:
    r"""Factor a and shift b of :math:`a z + b` with the lowest log loss.

    They are shrunk towards no change (a = 1, b = 0) by `RIDGE`.

    >>> z = np.repeat([[-1.0], [1.0]], 100, axis=0)
    >>> y = np.r_[np.arange(100) < 25, np.arange(100) < 75].astype(int)
    >>> a, b = fit_scaling(z, y, np.ones(200), shift=True)
    >>> round(a, 2), abs(b).round(2)
    (1.1, array([0.]))
    """
    counts = cases * (case_count(cases) / cases.sum())
    if scale.shape[1] == 1:
        happened, ones = (outcomes == 1).astype(np.float64), np.ones(len(scale))
        features = np.stack([scale[:, 0], ones])[: 2 if shift else 1]
        loss = BinaryLoss(features, scale[:, 0].copy(), happened, counts)
        moved = np.zeros(len(features))
        found, _, _ = Minimizer(loss, moved, counts.sum()).find(moved + 2 * RIDGE)
        return float(1.0 + found[0]), found[1:] if shift else np.zeros(1)
    truth = (outcomes[:, None] == np.arange(1, scale.shape[1] + 1)).astype(np.float64)
    start = np.append(1.0, np.zeros(scale.shape[1]))
    free = slice(None) if shift else slice(0, 1)
    found, _ = _fit(start, free, scale, truth, counts, RIDGE)
    return float(found[0]), found[1:]


def cox(
    p: FloatArray,
    outcomes: IntArray,
    weights: FloatArray | None = None,
    groups: Array | None = None,
    questions: Array | None = None,
) -> Cox:
    r"""Logistic regression of outcomes on the log-odds of reports (Cox 1958).

    :math:`\mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, p`; calibrated reports
    have a = 0 and b = 1, which the likelihood ratio tests. The standard error is
    robust to misspecification (a sandwich estimate). The slope is NaN where it is not
    identified: one report for all cases, or separated outcomes. Where cases have
    weights or groups the test is Wald's, with the variance between the groups. Of G
    groups, W is referred to :math:`W (G - 2) / (2 G) \sim F(2, G - 2)`, as Hotelling's
    statistic is. Error and ratio are NaN with fewer than three groups, of which two
    coefficients are fitted and none is left to vary. Where weights differ much, heavy
    cases vary at least as they would if the reports were right: none of those that were
    seen may have been positive. Rows of one of the ``questions`` are one case there.

    >>> p = np.repeat([0.1, 0.9], 50)
    >>> fit = cox(p, np.r_[np.arange(50) < 15, np.arange(50) < 35].astype(int))
    >>> round(fit.slope, 2)
    0.39
    """
    plain = weights is None and groups is None
    if plain:
        z, ones, total = _condensed(log_odds(p), outcomes)
    else:
        w = np.ones(len(p)) if weights is None else weights
        total = w * (len(p) / w.sum())
        z, ones = log_odds(p), total * outcomes
    one_report = np.ptp(z) <= 1e-9
    # Centred, because the two columns would otherwise be nearly collinear.
    centre = 0.0 if one_report else float(z @ total / total.sum())
    z = z - centre
    truth = (ones / total)[:, None]
    free = slice(1, 2) if one_report else slice(None)
    start = np.array([1.0, centre])
    found, ratio = _fit(start, free, z[:, None], truth, total)
    slope, intercept = map(float, found)
    curve = newton_terms(found, z[:, None], truth, total)[1]
    if one_report or np.linalg.det(curve) < MIN_PRECISION * max(
        curve[1, 1], MIN_PRECISION
    ):
        free_ones = 1 if one_report else 2
        p_value = _p_value(ratio, free_ones)
        return Cox(intercept, np.nan, np.nan, ratio, free_ones, p_value)
    chance = _chances(found, z[:, None])[:, 0]
    design = np.stack([z, np.ones_like(z)])
    inverse = np.linalg.inv(curve)
    if plain:
        square = ones * (1 - chance) ** 2 + (total - ones) * chance**2
        between = (design * square) @ design.T
    else:
        scores = each = design * (ones - total * chance)
        if groups is not None:
            unit = np.unique(groups.astype(str), return_inverse=True)[1]
            scores = np.stack([np.bincount(unit, row) for row in scores])
            if scores.shape[1] < 3:
                intercept -= slope * centre
                return Cox(intercept, slope, np.nan, np.nan, 2, np.nan)
        between = scores @ scores.T
        if weights is not None:
            between += unseen_variance(each, design, p, total, questions)
    spread = inverse @ between @ inverse
    if not plain:
        gap = found - start
        ratio = float(gap @ newton_step(spread, gap))
    error = float(np.sqrt(max(spread[0, 0], 0.0)))
    p_value = _p_value(ratio, 2, None if groups is None else scores.shape[1])
    return Cox(intercept - slope * centre, slope, error, ratio, 2, p_value)


def _p_value(ratio: float, free: int, groups: int | None = None) -> float:
    """P-value of a likelihood ratio, or of Wald's statistic of so many groups."""
    from scipy.special import chdtrc, fdtrc

    statistic = max(ratio, 0.0)
    if groups is None:
        return float(chdtrc(free, statistic))
    rest = groups - free
    return float(fdtrc(free, rest, statistic * rest / (free * groups)))


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
        Share of the cases of classes 1 to J: 0 or 1 for a single case.
    cases : (T,)
        Weight of each case.
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
    """Log-odds of probabilities clipped at `CLIP`."""
    clipped = np.clip(p, CLIP, 1 - CLIP)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def _fit(
    start: FloatArray,
    free: slice,
    scale: FloatArray,
    truth: FloatArray,
    cases: FloatArray,
    ridge: float = 0.0,
) -> tuple[FloatArray, float]:
    """Coefficients with the lowest log loss, by Newton's method; likelihood ratio.

    Coefficients that are not free keep their start; ``ridge`` shrinks the others to it.
    """

    def objective(x: FloatArray) -> float:
        moved = x[0] * scale + x[1:]
        top = np.maximum(moved.max(axis=1), 0.0)  # class 0 is at 0
        rest = np.exp(moved - top[:, None]).sum(axis=1) + np.exp(-top)
        lost = top + np.log(rest) - (truth * moved).sum(axis=1)
        return float(cases @ lost + ridge * np.square(x - start).sum())

    found = start.copy()
    level = first = objective(found)
    for _ in range(MAX_STEPS):
        gradient, curve = newton_terms(found, scale, truth, cases)
        gradient += 2 * ridge * (found - start)
        curve[np.diag_indices(len(found))] += 2 * ridge + 1e-9
        step = np.zeros_like(found)
        step[free] = newton_step(curve[free, free], gradient[free])
        fallen = objective(found - step)
        while fallen > level and np.abs(step).max() > 1e-9:
            step /= 2
            fallen = objective(found - step)
        if fallen > level:
            break
        found, level = found - step, fallen
        # The error after a step of Newton's method is about its square.
        if np.abs(step).max() < 1e-6 or np.abs(found).max() > MAX_COEFFICIENT:
            break
    return found, 2 * (first - level)


def _chances(coefficients: FloatArray, scale: FloatArray) -> FloatArray:
    """Probabilities (T, J) of classes 1 to J after the correction."""
    moved = from_log_scale(coefficients[0] * scale + coefficients[1:])
    return moved if moved.shape[1] == 1 else moved[:, 1:]


def _condensed(
    z: FloatArray, outcomes: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return binned log-odds, with the positive cases and all cases of each bin.

    A million cases then take no longer than ten thousand, and `BIN_WIDTH` is far too
    small to affect a slope.
    """
    if len(z) <= MAX_UNBINNED:
        return z, outcomes.astype(np.float64), np.ones(len(z))
    cell = ((z - z.min()) / BIN_WIDTH).astype(np.int64)
    total = np.bincount(cell).astype(np.float64)
    filled = total > 0
    total = total[filled]
    ones = np.bincount(cell, outcomes)[filled].astype(np.float64)
    return np.bincount(cell, z)[filled] / total, ones, total
