"""Whether miscalibration matters, how it is described, and what it is measured by."""

import numpy as np

from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.scores import auc

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
OVER = "is over-confident (too extreme)"
UNDER = "is under-confident (not extreme enough)"
SURER = "too sure of the class that it finds likeliest"
LESS_SURE = "not sure enough of the class that it finds likeliest"


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
    return "" if np.isfinite(slope) else "(nearly) all reports are the same"


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
