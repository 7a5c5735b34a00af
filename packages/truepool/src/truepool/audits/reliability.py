"""Reports against observed frequencies, in groups of similar reports."""

import numpy as np
from scipy.special import expit

from truepool.audits.miscalibration import (
    interval_width,
    mean_bias,
    missing_slope,
    slope_leads,
)
from truepool.audits.values import Calibration, Reliability
from truepool.comparison import Estimate
from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.measures.calibration import cox, log_odds
from truepool.measures.groups import describe_shortage, describe_uneven
from truepool.measures.scores import ece, smooth_ece
from truepool.panel.panel import last_rows

GROUPS = 10
"""Groups of a reliability diagram."""


def calibration(
    who: str,
    reports: FloatArray,
    outcomes: IntArray,
    level: float,
    weights: FloatArray | None = None,
    groups: Array | None = None,
    questions: Array | None = None,
    propensity: FloatArray | None = None,
) -> Calibration:
    """Compare probabilities (T, C) with outcomes (T,); NaN where there is no report.

    Rows of one of the ``questions`` (T,) are one case. With K classes: the probability
    of the likeliest class, and whether it happened. Where the ``propensity`` (T,) is so
    uneven that a class rests on a handful of heavy cases, nothing is tested.
    """
    known = ~np.isnan(reports[:, 0])
    p, y = _likeliest(reports[known], outcomes[known])
    w = None if weights is None else weights[known]
    g = None if groups is None else groups[known]
    errors = (
        max(0.0, ece(p, y, debias=True, sample_weight=w)) if len(p) else float("nan"),
        smooth_ece(p, y, sample_weight=w) if len(p) else float("nan"),
    )
    q = np.arange(len(p)) if questions is None else questions[known].astype(str)
    each = last_rows(q)
    few = describe_shortage(y[each], groups=g)
    if propensity is not None and not few:
        few = describe_uneven(y[each], propensity[known][each])
    if few:
        return Calibration(who, len(each), *errors, None, None, None, None, few)
    fit = cox(p, y, w, g, q)
    shares = None
    if questions is not None:
        _, row, rows = np.unique(q, return_inverse=True, return_counts=True)
        shares = 1 / rows[row]
    no_slope = missing_slope(p, y, fit.slope, shares)
    bias, error = mean_bias(p, y, w, g, q)
    of_mean, of_slope = interval_width(level, len(each), g)
    return Calibration(
        who,
        len(each),
        *errors,
        _interval(bias, of_mean * error),
        None if no_slope else _interval(fit.slope, of_slope * fit.slope_error),
        fit.p_value,
        reliability(p, y, level, w, questions=q),
        no_slope,
        fit.intercept,
    )


def _likeliest(reports: FloatArray, outcomes: IntArray) -> tuple[FloatArray, IntArray]:
    """Probability (T',) of an event and whether it happened (T',), where reported."""
    if reports.shape[1] == 1:
        return reports[:, 0], outcomes
    return reports.max(axis=1), (reports.argmax(axis=1) == outcomes).astype(np.int64)


def _interval(value: float, reach: float) -> Estimate:
    return Estimate(value, value - reach, value + reach)


def reliability(
    p: FloatArray,
    outcomes: IntArray,
    level: float,
    weights: FloatArray | None = None,
    questions: Array | None = None,
) -> Reliability:
    """Frequencies in groups of similar reports, with consistency bands.

    The bands contain the frequency of calibrated reports at this level (Bröcker & Smith
    2007), from the binomial distribution at the group's mean report. Weighted cases
    count as their effective number, and rows of one of the ``questions`` (T,) as one.
    """
    from scipy.stats import binom

    case = np.arange(len(p))
    if questions is not None:
        case = np.unique(questions, return_inverse=True)[1]
    total = int(case.max()) + 1
    w = np.ones(len(p)) if weights is None else weights
    w = w * (total / w.sum())
    group = _groups(p, w)
    cases = np.asarray(np.bincount(group, w), dtype=np.float64)
    filled = cases > 0
    cases = cases[filled]
    mean = np.clip(np.bincount(group, w * p)[filled] / cases, 0.0, 1.0)
    cells, place = np.unique(group * total + case, return_inverse=True)
    squares = np.bincount(cells // total, np.bincount(place, w) ** 2)[filled]
    whole = np.floor(cases**2 / squares + 1e-9)  # 20 cases may be 19.999999999999996
    number = np.maximum(whole, 1.0)
    low, high = (
        binom.ppf(q, number, mean) / number for q in ((1 - level) / 2, (1 + level) / 2)
    )
    frequency = np.bincount(group, w * outcomes)[filled] / cases
    return Reliability(mean, frequency, cases, low, high)


def too_many_outside(found: Reliability, level: float) -> bool:
    """Whether more groups lie outside their bands than those of calibrated reports.

    Of ten groups with bands at 95 %, one or two lie outside by chance.
    """
    from scipy.stats import binom

    outside = found.outside
    return bool(binom.sf(outside.sum() - 1, len(outside), 1 - level) < 1 - level)


def _groups(p: FloatArray, weights: FloatArray) -> IntArray:
    """Group of each report (T,); equal reports are in one group.

    Groups hold equal shares of the cases and of the uncertainty p (1 - p), half and
    half: where events are rare, groups of equal size would show one point.
    """
    values, place = np.unique(p, return_inverse=True)
    count = np.bincount(place, weights)
    spread = count * values * (1 - values)
    share = count / count.sum()
    if spread.sum() > 0:
        share = (share + spread / spread.sum()) / 2
    middle = np.cumsum(share) - share / 2
    group = np.minimum((GROUPS * middle).astype(np.int64), GROUPS - 1)
    return np.asarray(group[place])


def worst_group(
    found: Calibration, classes: int = 2, line: float | None = None
) -> dict[str, float]:
    """Find one group of reports that shows what is said of the whole.

    What the reports there say, and how often it happened. Where reports are called too
    high, it is one where they are. Of these, the one nearest to the threshold ``line``
    (of two classes), or else where report and frequency differ most; those outside
    their bands come first.
    """
    groups = found.reliability
    if groups is None:  # only what has enough cases is tested
        raise AssertionError(found.who)
    shown = _fitting(found, groups)
    shown = shown & groups.outside if (shown & groups.outside).any() else shown
    if line is None or classes > 2:
        order = -abs(groups.mean_report - groups.frequency)
    else:
        order = abs(log_odds(groups.mean_report) - log_odds(np.array(line)))
    worst = int(np.argmin(np.where(shown, order, np.inf)))
    said, happened = groups.mean_report[worst], groups.frequency[worst]
    return {"said": float(said), "happened": float(happened)}


def _fitting(found: Calibration, groups: Reliability) -> BoolArray:
    """Which groups (B,) show what is said of the whole; all, if none does."""
    report, frequency = groups.mean_report, groups.frequency
    bias = 0.0 if found.bias is None else found.bias.value
    expected = report - bias
    if found.slope is not None and slope_leads(found):
        z = log_odds(report)
        expected = expit(found.intercept + found.slope.value * z)
    fits = (report - frequency) * (report - expected) > 0
    return np.asarray(fits if fits.any() else np.ones_like(fits))
