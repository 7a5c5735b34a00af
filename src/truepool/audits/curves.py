"""What decisions cost at every threshold, and over a range of costs."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.values import Curve
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.decisions import EDGE
from truepool.measures.losses import Loss, agent_losses

POINTS = 101
RATIOS = np.geomspace(0.01, 100.0, 41)


def curve(evidence: Evidence) -> Curve | None:
    """Costs over thresholds and over ratios of costs; None for more than two classes.

    The best agent is the one of least Brier loss, over the cases in which it spoke.
    """
    if evidence.panel.classes != 2:
        return None
    thresholds = np.linspace(0.0, 1.0, POINTS)
    y = evidence.outcomes
    missed, alarms = errors(evidence.pooled[:, 0], y, thresholds)
    costs = evidence.costs
    panel = evidence.panel
    best = panel.values[:, int(np.argmin(agent_losses(panel, Loss("brier")))), 0]
    spoke = ~np.isnan(best)
    return Curve(
        thresholds,
        costs.fn * missed + costs.fp * alarms,
        RATIOS,
        _over_ratios(evidence.pooled[:, 0], y),
        _over_ratios(best[spoke], panel.outcomes[spoke]),
        (1 - y.mean()) / np.maximum(RATIOS, 1.0),
        RATIOS * y.mean() / np.maximum(RATIOS, 1.0),
    )


def errors(
    p: FloatArray, outcomes: IntArray, thresholds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Missed cases and false alarms, as shares of all cases, at each threshold.

    >>> errors(np.array([0.2, 0.6, 0.8]), np.array([1, 0, 1]), np.array([0.5]))
    (array([0.33333333]), array([0.33333333]))
    """
    line = thresholds + EDGE
    ones, zeros = (np.sort(p[outcomes == k]) for k in (1, 0))
    missed = np.searchsorted(ones, line, side="right") / len(p)
    alarms = (len(zeros) - np.searchsorted(zeros, line, side="right")) / len(p)
    return missed, alarms


def _over_ratios(p: FloatArray, outcomes: IntArray) -> FloatArray:
    """Cost at each ratio's own threshold, as a share of the dearer error."""
    missed, alarms = errors(p, outcomes, 1 / (1 + RATIOS))
    return np.asarray((RATIOS * missed + alarms) / np.maximum(RATIOS, 1.0))
