"""Do somebody's probabilities mean what they say: numbers, a test, a diagram."""

import numpy as np
from scipy.special import chdtrc, ndtri

from truepool.audits.values import Calibration, Reliability
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.calibration import cox
from truepool.measures.scores import ece, smooth_ece

FEWEST_CASES, FEWEST_OF_A_CLASS = 30, 5
"""Below these no interval is given and no test is made."""

SLOPES = (0.8, 1.25)
BIAS, SHARE_OF_RATE = 0.02, 0.2
"""A slope outside, or a bias above the smaller of 0.02 and a fifth of the rarer
outcome's share, is large enough to matter."""

GROUPS = 10


def calibration(
    who: str, said: FloatArray, outcomes: IntArray, level: float
) -> Calibration:
    """Judge probabilities (T, C) by outcomes (T,); NaN where nothing was said.

    K classes: the confidence in the likeliest class, and whether that class came.
    """
    p, came = _top(said, outcomes)
    enough = supported(came)
    measured = (
        max(0.0, ece(p, came, debias=True)) if len(p) else float("nan"),
        smooth_ece(p, came) if len(p) else float("nan"),
    )
    if not enough:
        return Calibration(who, len(p), *measured, None, None, None, None)
    fit = cox(p, came)
    z = float(ndtri((1 + level) / 2))
    error = (p - came).std(ddof=1) / np.sqrt(len(p))
    return Calibration(
        who,
        len(p),
        *measured,
        _around(float((p - came).mean()), z * float(error)),
        _around(fit.slope, z * fit.slope_error) if np.isfinite(fit.slope) else None,
        _chance(fit.likelihood_ratio, fit.degrees_of_freedom),
        reliability(p, came, level),
    )


def supported(came: IntArray) -> bool:
    """Whether there are cases enough of both kinds for an interval."""
    ones = int(came.sum())
    rarer = min(ones, len(came) - ones)
    return len(came) >= FEWEST_CASES and rarer >= FEWEST_OF_A_CLASS


def matters(judged: Calibration) -> bool:
    """Whether what is off is large enough to be called an error."""
    return slanted(judged) or biased(judged)


def slanted(judged: Calibration) -> bool:
    """Whether the slope lies outside `SLOPES`."""
    return judged.slope is not None and not (
        SLOPES[0] <= judged.slope.value <= SLOPES[1]
    )


def biased(judged: Calibration) -> bool:
    """Whether the mean report is off the base rate by more than is harmless."""
    if judged.bias is None or judged.reliability is None:
        return False
    shown = judged.reliability
    rate = float(shown.happened @ shown.cases / shown.cases.sum())
    most = min(BIAS, SHARE_OF_RATE * min(rate, 1 - rate))
    return abs(judged.bias.value) > most


def reliability(p: FloatArray, came: IntArray, level: float) -> Reliability:
    """Frequencies in groups of about equal size, with consistency bands.

    The bands hold the middle share of what calibrated reports of that size would show
    (Bröcker & Smith 2007), from the binomial distribution of the group's mean report.
    """
    from scipy.stats import binom

    edges = np.unique(np.quantile(p, np.linspace(0, 1, GROUPS + 1)))
    group = np.searchsorted(edges, p, side="right") - 1
    top = group == len(edges) - 1  # a group of its own only where many said the most
    if len(edges) > 1 and top.sum() < len(p) / (2 * GROUPS):
        group[top] -= 1
    cases = np.bincount(group)
    kept = cases > 0
    cases = cases[kept]
    said = np.clip(np.bincount(group, p)[kept] / cases, 0.0, 1.0)
    low, high = (
        binom.ppf(q, cases, said) / cases for q in ((1 - level) / 2, (1 + level) / 2)
    )
    happened = np.bincount(group, came)[kept] / cases
    return Reliability(said, happened, cases.astype(np.float64), low, high)


def _top(said: FloatArray, outcomes: IntArray) -> tuple[FloatArray, IntArray]:
    """What was said (T',) of what (T',) came, where something was said."""
    spoke = ~np.isnan(said[:, 0])
    said, outcomes = said[spoke], outcomes[spoke]
    if said.shape[1] == 1:
        return said[:, 0], outcomes
    return said.max(axis=1), (said.argmax(axis=1) == outcomes).astype(np.int64)


def _chance(gained: float, free: int) -> float:
    """Tail of chi-squared with one or two degrees of freedom."""
    return float(chdtrc(free, max(gained, 0.0)))


def _around(value: float, reach: float) -> Estimate:
    return Estimate(value, value - reach, value + reach)
