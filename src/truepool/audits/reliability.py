"""Reports against observed frequencies, in groups of similar reports."""

from math import floor, log10

import numpy as np

from truepool.audits.miscalibration import slope_leads
from truepool.audits.values import Calibration, Reliability
from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray

GROUPS = 10
"""Groups of a reliability diagram."""


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


def worst_group(found: Calibration, classes: int = 2, line: float | None = None) -> str:
    """Say where reports and frequencies differ most, in cost if it costs anything.

    A group costs something where its reports lead to the wrong decision at the
    threshold ``line``. Groups outside their bands come first. The group shows what is
    said of the whole: where reports are called too high, one where they are.
    """
    groups = found.reliability
    if groups is None:  # only what has enough cases is tested
        raise AssertionError(found.who)
    outside = groups.outside
    lost = np.zeros(len(outside)) if line is None else excess_costs(groups, line)
    shown = _fitting(found, groups) if classes == 2 else np.ones_like(outside)
    lost = lost * outside * shown
    gaps = abs(groups.mean_report - groups.frequency) * (1 + 9 * outside) * shown
    worst = int(lost.argmax() if lost.any() else gaps.argmax())
    report, frequency = (
        _percent(column[worst]) for column in (groups.mean_report, groups.frequency)
    )
    if classes > 2:
        return f"when it is {report} sure, it is right {frequency} of the time"
    most = "; reports in this range cost the most" if lost.any() else ""
    return f"when it says {report}, {frequency} of cases are positive{most}"


def _fitting(found: Calibration, groups: Reliability) -> BoolArray:
    """Which groups (B,) show what is said of the whole; all, if none does."""
    report, frequency = groups.mean_report, groups.frequency
    if found.slope is not None and slope_leads(found):
        extreme = abs(report - 0.5) - abs(frequency - 0.5)
        fits = extreme * (1 - found.slope.value) > 0
    else:
        bias = 0.0 if found.bias is None else found.bias.value
        fits = (report - frequency) * bias > 0
    return np.asarray(fits if fits.any() else np.ones_like(fits))


def excess_costs(groups: Reliability, line: float) -> FloatArray:
    """Cost (B,) of deciding by the mean report of a group and not by its frequency.

    In units of the cost of both errors together: a decision on the wrong side of the
    threshold costs the distance of the frequency from it.
    """
    wrong = (groups.mean_report > line) != (groups.frequency > line)
    return np.asarray(wrong * groups.cases * abs(groups.frequency - line))


def _percent(p: float) -> str:
    """Percentage with two significant digits of how far it is from 0 or 100 %.

    >>> [_percent(p) for p in (0.0, 0.00018, 0.0011, 0.016, 0.0996, 0.31, 0.9989, 1.0)]
    ['0 %', '0.018 %', '0.11 %', '1.6 %', '10 %', '31 %', '99.89 %', '100 %']
    """
    rest = float(f"{100 * min(p, 1 - p):.1e}")
    places = 1 - floor(log10(rest)) if rest > 0 else 0
    return f"{100 * p:.{min(places, 6)}f}".removesuffix(".0") + " %"
