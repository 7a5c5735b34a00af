"""Whether miscalibration matters, how it is described, and what it is measured by."""

import numpy as np

from truepool.audits.severity import LIKELY
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import Array, FloatArray, IntArray, case_mean
from truepool.core.formatting import percent
from truepool.measures.inference import independent_units, paired_p_values
from truepool.measures.inference.bootstrap import standard_errors
from truepool.measures.inference.unseen_cases import unseen_variance
from truepool.measures.scores import auc
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool

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
OVER = "is over-confident (too extreme)"
UNDER = "is under-confident (not extreme enough)"
SURER = "too sure of the class that it finds likeliest"
LESS_SURE = "not sure enough of the class that it finds likeliest"

REVERSED_POOL = (
    "Find out which class the agents mean by 1, and whether the right label is named "
    "as positive (--positive). Do not recalibrate the pool before that is clear."
)
POOL_BACKFIRES = (
    "Recalibrating the pool would make decisions cost more on these cases: leave it "
    "as it is for these costs."
)
POOL_INDIFFERENT = (
    "Recalibrating the pool makes no significant difference to the cost on these cases."
)
CORRECTED = (
    " If its probabilities are used for more than decisions, `truepool fit --pool "
    "platt` corrects them."
)
NOT_CORRECTED = (
    " Nor does it make the probabilities better: what earlier cases teach does not "
    "hold for later ones."
)
PLATT_COSTS_MORE = " On these cases `platt` costs more: keep {} for decisions."
YOUNGER = (
    " Tested are pools fitted to some of the cases; one fitted to all may be closer."
)
ALL_AT_ONCE = " `truepool fit --pool {}` learns to correct all agents at once."
BACKFIRES = (
    "Leave it as it is unless you change the pool too: recalibrated alone, it would "
    "make decisions cost more on these cases."
)
INDIFFERENT = (
    "Recalibrating it alone makes no significant difference to the cost on these cases."
)


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


def describe(found: Calibration, classes: int = 2) -> tuple[str, str]:
    """Return what is wrong as a code and in words.

    With more than two classes, where the probability of the likeliest class counts, a
    mean that is too high is over-confidence too, unless the slope says otherwise.
    """
    slope = found.slope
    if slope_leads(found):
        over = slope is not None and slope.value < 1
    else:
        over = found.bias is not None and found.bias.value > 0
        if classes == 2:
            return "biased", f"reports too {'high' if over else 'low'}"
        if slope is not None and not (slope.high < 1 if over else slope.low > 1):
            return "biased", f"is {SURER if over else LESS_SURE}"
    return ("over-confident", OVER) if over else ("under-confident", UNDER)


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
    """Return the number that shows best what is wrong, and its name."""
    if slope_leads(found):
        return found.slope, "calibration slope"
    return found.bias, "bias"


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


def share_gone(found: Calibration, other: Calibration) -> float:
    """Share of what is wrong here that is not wrong there; all where that is unknown.

    Below 0 it is worse there; what is wrong the other way round there is not the same.
    """
    steep = slope_leads(found)
    now, then = ((c.slope if steep else c.bias) for c in (found, other))
    if then is None or now is None:
        return 1.0
    sound = 1.0 if steep else 0.0
    return 1 - max((then.value - sound) / (now.value - sound), 0.0)


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


def class_bias(panel: Panel, agent: int) -> tuple[str, str] | None:
    """Name the class that an agent of K classes reports too high or too low.

    It is the one whose mean report differs most clearly from its share of the cases,
    by t-tests adjusted for the number of classes; None if no difference is significant.
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
    return (
        f"is biased {'towards' if gap > 0 else 'against'} {name}",
        f"it gives {name} {percent(said)} on average, and {percent(said - gap)} of "
        "cases are",
    )


def keep_pool(pool: Pool, platt_costs_more: bool) -> str:
    """Say that a pool is kept where `platt` costs more, and what was tested of it."""
    if not platt_costs_more:
        return ""
    kept = PLATT_COSTS_MORE.format(pool.name)
    return f"{kept}{YOUNGER}" if pool.complexity else kept
