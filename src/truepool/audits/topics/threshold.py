"""What decisions cost at every threshold, and at the one in use."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import expit

from truepool.audits.evidence import Evidence
from truepool.audits.suspicion import Suspicion
from truepool.audits.topic import Topic
from truepool.audits.values import CostCurve
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.formatting import amount, number
from truepool.data.costs import Costs
from truepool.measures.decisions import EDGE
from truepool.measures.inference import paired_p_values
from truepool.measures.losses import Loss

POINTS, FARTHEST = 101, 12.0
"""Thresholds of the figure: so many evenly between 0 and 1, and so many evenly in
log-odds up to this far, because costs and rare events can put them close to 0."""
RATIOS = np.geomspace(0.01, 100.0, 41)
"""Ratios of costs, of a missed case to a false alarm, that the figure shows."""

POOL_FAULTS = ("under-confident-pool", "over-confident-pool", "biased-pool")
"""Why another threshold than the costs' own can cost less."""

NOTICEABLE = 0.05
"""A saving below this share of the pool's cost does not matter."""


def cost_curve(evidence: Evidence) -> CostCurve | None:
    """Costs over thresholds and over ratios of costs; None for more than two classes.

    The best agent is the one with the lowest Brier loss, on the cases it reported on.
    """
    if evidence.panel.classes != 2:
        return None
    spread = expit(np.linspace(-FARTHEST, FARTHEST, POINTS))
    thresholds = np.union1d(np.linspace(0.0, 1.0, POINTS), spread)
    y = evidence.outcomes
    missed, alarms = error_rates(evidence.pooled[:, 0], y, thresholds)
    costs = evidence.costs
    panel = evidence.panel
    best = panel.values[:, panel.agents.index(evidence.best_agent), 0]
    known = ~np.isnan(best)
    return CostCurve(
        thresholds,
        costs.fn * missed + costs.fp * alarms,
        RATIOS,
        _over_ratios(evidence.pooled[:, 0], y),
        _over_ratios(best[known], panel.outcomes[known]),
        (1 - y.mean()) / np.maximum(RATIOS, 1.0),
        RATIOS * y.mean() / np.maximum(RATIOS, 1.0),
        best_threshold(evidence.pooled[:, 0], y, costs),
    )


def best_threshold(p: FloatArray, outcomes: IntArray, costs: Costs) -> float:
    """Threshold of least cost on these cases, half-way to the next report.

    >>> best_threshold(np.array([0.2, 0.6, 0.8]), np.array([0, 1, 1]), Costs())
    0.4
    """
    edges = np.r_[0.0, np.unique(p), 1.0]
    lines = (edges[1:] + edges[:-1]) / 2
    missed, alarms = error_rates(p, outcomes, lines)
    return float(lines[np.argmin(costs.fn * missed + costs.fp * alarms)])


def error_rates(
    p: FloatArray, outcomes: IntArray, thresholds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Missed cases and false alarms, as shares of all cases, at each threshold.

    >>> error_rates(np.array([0.2, 0.6, 0.8]), np.array([1, 0, 1]), np.array([0.5]))
    (array([0.33333333]), array([0.33333333]))
    """
    line = thresholds + EDGE
    ones, zeros = (np.sort(p[outcomes == k]) for k in (1, 0))
    missed = np.searchsorted(ones, line, side="right") / len(p)
    alarms = (len(zeros) - np.searchsorted(zeros, line, side="right")) / len(p)
    return missed, alarms


def _over_ratios(p: FloatArray, outcomes: IntArray) -> FloatArray:
    """Cost at each ratio's own threshold, as a share of the more expensive error."""
    missed, alarms = error_rates(p, outcomes, 1 / (1 + RATIOS))
    return np.asarray((RATIOS * missed + alarms) / np.maximum(RATIOS, 1.0))


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test, if a threshold was given that differs from the one the costs imply."""
    line = evidence.threshold
    if line is None or abs(line - evidence.costs.threshold) < 1e-9:
        return
    implied = evidence.costs.threshold
    best = Loss("cost", evidence.costs).of(evidence.pooled, evidence.outcomes)
    saved = evidence.cost - best
    saving = float(saved.mean())
    few = evidence.shortage is not None
    if saving <= 0:
        yield Suspicion(
            "threshold-kept",
            (),
            f"Deciding above {number(line)} costs {number(-saving)} less per case "
            f"than at {number(implied)}, which the costs imply: the pool's "
            "probabilities are off.",
            "Recalibrate the pool and decide at the threshold that the costs imply.",
            least="note",
            price=partial(evidence.estimate, saved),
            figure="threshold",
        )
        return
    yield Suspicion(
        "threshold",
        (),
        f"Deciding above {number(line)} costs {number(saving)} more per case than "
        f"at {number(implied)}, where a missed case at {amount(evidence.costs.fn)} and "
        f"a false alarm at {amount(evidence.costs.fp)} balance.",
        f"Decide above {number(implied)}{_alternative(line)}.",
        p_value=None if few else float(paired_p_values(saved[:, None])[0]),
        least="note" if few else None,
        matters=saving >= NOTICEABLE * float(evidence.cost.mean()),
        price=partial(evidence.estimate, saved),
        figure="threshold",
    )


def _alternative(line: float) -> str:
    """Advice on costs that would imply the threshold in use, if there are any."""
    if not 0 < line < 1:
        return ""
    ratio = number((1 - line) / line)
    return (
        f", or state the costs that make {number(line)} right: a missed case at "
        f"{ratio} false alarms"
    )


topic = Topic("threshold", check, few_cases=True)
