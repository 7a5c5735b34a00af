"""Whether miscalibration matters, what it is, and what it is measured by."""

from typing import Any

import numpy as np

from truepool.audits.kinds import LIKELY
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import Array, FloatArray, IntArray, case_mean
from truepool.measures.inference import independent_units, paired_p_values
from truepool.measures.inference.bootstrap import standard_errors
from truepool.measures.inference.unseen_cases import unseen_variance
from truepool.measures.scores import auc
from truepool.panel.panel import Panel

SLOPES = (0.8, 1.25)
BIAS, SHARE_OF_RATE = 0.02, 0.2
"""A slope outside these, or a bias above the smaller of 0.02 and a fifth of the rarer
outcome's share, is large enough to matter."""

SEPARATED, WRONG_PAIRS = 0.999, 10
"""No slope is estimated where the AUC is above the first and at most so many pairs of a
positive and a negative case are in the wrong order: it would rest on these alone."""

NO_OVERLAP = (
    "the reports separate nearly all positive from negative cases, so none can be "
    "estimated"
)
ONE_SHARED = (
    "positive and negative cases have only one report in common, so none can be "
    "estimated"
)
SAME = "(nearly) all reports are the same"


def matters(found: Calibration) -> bool:
    """Whether miscalibration is large enough to be called an error."""
    return slope_matters(found) or bias_matters(found)


def slope_matters(found: Calibration) -> bool:
    """Whether the slope lies outside `SLOPES`."""
    return found.slope is not None and not (SLOPES[0] <= found.slope.value <= SLOPES[1])


def bias_matters(found: Calibration) -> bool:
    """Whether the mean report is too far from the base rate."""
    if found.bias is None or found.reliability is None:
        return False
    groups = found.reliability
    rate = float(groups.frequency @ groups.cases / groups.cases.sum())
    most = min(BIAS, SHARE_OF_RATE * min(rate, 1 - rate))
    return abs(found.bias.value) > most


def code_of(found: Calibration, classes: int = 2) -> str:
    """Return the code of what is wrong.

    With more than two classes, where the probability of the likeliest class counts, a
    mean that is too high is over-confidence too, unless the slope says otherwise.
    """
    slope = found.slope
    if slope_leads(found):
        over = slope is not None and slope.value < 1
    else:
        over = found.bias is not None and found.bias.value > 0
        if classes == 2:
            return "biased"
        if slope is not None and not (slope.high < 1 if over else slope.low > 1):
            return "biased"
    return "over-confident" if over else "under-confident"


def is_high(found: Calibration) -> bool:
    """Whether the mean report is above the share of cases."""
    return found.bias is not None and found.bias.value > 0


def is_reversed(found: Calibration) -> bool:
    """Whether outcomes are surely less likely the higher the report: slope below 0."""
    return found.slope is not None and found.slope.high < 0


def slope_leads(found: Calibration) -> bool:
    """Whether the slope is off, and more clearly so than the mean."""
    slope, bias = found.slope, found.bias
    if slope is None or bias is None or slope.low <= 1 <= slope.high:
        return False
    from_slope = abs(slope.value - 1) * (bias.high - bias.low)
    return from_slope > abs(bias.value) * (slope.high - slope.low)


def measure(found: Calibration) -> tuple[Estimate | None, str]:
    """Return the number that shows best what is wrong, and its unit."""
    return (found.slope, "slope") if slope_leads(found) else (found.bias, "bias")


def missing_slope(
    p: FloatArray,
    outcomes: IntArray,
    slope: float,
    shares: FloatArray | None = None,
) -> str:
    """Say why a slope cannot be estimated, or is no estimate; empty where it is one.

    Pairs of cases are counted, whatever the cases weigh: a heavy case is no more than
    one. ``shares`` (T,) sum to 1 over the rows that a case is split into.
    """
    w = np.ones(len(p)) if shares is None else shares
    area = auc(p, outcomes, sample_weight=shares)
    ones = float(w @ outcomes)
    wrong = min(area, 1 - area) * ones * (float(w.sum()) - ones)
    if max(area, 1 - area) > SEPARATED and wrong <= WRONG_PAIRS:
        return NO_OVERLAP
    if np.isfinite(slope):
        return ""
    zeros, ones = p[outcomes == 0], p[outcomes == 1]
    apart = zeros.max() <= ones.min() or ones.max() <= zeros.min()
    return ONE_SHARED if apart and np.ptp(p) > 0 else SAME


def mean_bias(
    p: FloatArray,
    outcomes: IntArray,
    weights: FloatArray | None,
    groups: Array | None,
    questions: Array | None = None,
) -> tuple[float, float]:
    """Mean of reports (T,) minus outcomes (T,), and its standard error.

    Where weights differ much, heavy cases vary at least as they would if the reports
    were right, as in Cox's regression.
    """
    gaps = p - outcomes
    units = independent_units(gaps[:, None], weights, groups)[:, 0]
    mean, variance = float(units.mean()), float(units.var(ddof=1) / len(units))
    if weights is not None:
        w = weights / weights.sum()
        scores, design = (w * (gaps - mean))[None], np.ones((1, len(p)))
        variance += unseen_variance(scores, design, p, w, questions).item()
    return mean, float(np.sqrt(variance))


def interval_width(
    level: float, cases: int, groups: Array | None
) -> tuple[float, float]:
    """Half the width of an interval of a mean, and of a slope, in standard errors.

    Those of G groups are known from the groups alone: Student's t with G - 1 degrees of
    freedom. Cox's error of a slope divides by G where an unbiased one does by G - 1.
    Where each group is one case, such as one split into rows by updates, the cases are
    as independent as others.
    """
    G = cases if groups is None else len(np.unique(groups.astype(str)))
    if G == cases:
        z = standard_errors(level)
        return z, z
    from scipy.special import stdtrit

    t = -float(stdtrit(G - 1, (1 - level) / 2))
    return t, t * float(np.sqrt(G / (G - 1)))


def class_bias(panel: Panel, agent: int) -> dict[str, Any] | None:
    """Find the class that an agent of K classes reports too high or too low.

    It is the one whose mean report differs most clearly from its share of the cases,
    by t-tests adjusted for the number of classes; None if no difference is significant.
    Otherwise its name, the mean report and the share of the cases.
    """
    known = np.flatnonzero(~np.isnan(panel.values[:, agent, 0]))
    weights, groups = panel.case_weights(), panel.groups
    w = None if weights is None else weights[known]
    reports = panel.values[known, agent]
    gaps = independent_units(
        reports - np.eye(panel.classes)[panel.outcomes[known]],
        w,
        None if groups is None else groups[known],
    )
    p_values = paired_p_values(gaps)
    k = int(np.argmin(p_values))
    if panel.classes * p_values[k] >= LIKELY:
        return None
    name, gap = panel.labels.names[k], float(gaps[:, k].mean())
    said = float(case_mean(reports[:, k], w))
    return {"name": str(name), "said": said, "happened": said - gap}
