"""What decisions cost at every threshold, and at the one in use."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import expit

from truepool.audits.best_agent import best_agent
from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.audits.values import CostCurve
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.decisions import EDGE
from truepool.panel.costs import Costs

POINTS, FARTHEST = 101, 12.0
"""Thresholds of the figure: so many evenly between 0 and 1, and so many evenly in
log-odds up to this far, because costs and rare events can put them close to 0."""
RATIOS = np.geomspace(0.01, 100.0, 41)
"""Ratios of costs, of a missed case to a false alarm, that the figure shows."""

NOTICEABLE = 0.05
"""A saving below this share of the pool's cost does not matter."""


def cost_curve(evidence: Evidence) -> CostCurve | None:
    """Costs over thresholds and over ratios of costs; None for more than two classes.

    Those of the best agent are on the cases that it reported on.
    """
    if evidence.panel.classes != 2:
        return None
    spread = expit(np.linspace(-FARTHEST, FARTHEST, POINTS))
    thresholds = np.union1d(np.linspace(0.0, 1.0, POINTS), spread)
    y, panel, costs = evidence.outcomes, evidence.panel, evidence.tested_loss.costs
    best = panel.values[:, panel.agents.index(evidence.compute(best_agent)), 0]
    known, counted = ~np.isnan(best), panel.case_weights()
    weights = np.ones(len(panel)) if counted is None else counted
    tested = weights[evidence.cases]
    rate = float(np.average(y, weights=tested))
    return CostCurve(
        thresholds,
        costs_at(evidence.pooled[:, 0], y, costs, thresholds, tested),
        RATIOS,
        _over_ratios(evidence.pooled[:, 0], y, tested),
        _over_ratios(best[known], panel.outcomes[known], weights[known]),
        (1 - rate) / np.maximum(RATIOS, 1.0),
        RATIOS * rate / np.maximum(RATIOS, 1.0),
        float(costs.mean(tested).threshold),
        best_threshold(evidence.pooled[:, 0], y, costs, tested),
    )


def best_threshold(
    p: FloatArray, outcomes: IntArray, costs: Costs, weights: FloatArray
) -> float:
    """Threshold of least cost on these cases, half-way to the next report.

    >>> p, y = np.array([0.2, 0.6, 0.8]), np.array([0, 1, 1])
    >>> best_threshold(p, y, Costs(), np.ones(3))
    0.4
    """
    edges = np.r_[0.0, np.unique(p), 1.0]
    lines = (edges[1:] + edges[:-1]) / 2
    return float(lines[np.argmin(costs_at(p, outcomes, costs, lines, weights))])


def costs_at(
    p: FloatArray,
    outcomes: IntArray,
    costs: Costs,
    thresholds: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Cost per case of deciding 1 above each threshold, the same for all cases.

    >>> costs = Costs(fn=[10, 1, 1], fp=1)
    >>> p, y = np.array([0.2, 0.6, 0.8]), np.array([1, 0, 1])
    >>> costs_at(p, y, costs, np.array([0.1, 0.5, 0.9]), np.ones(3)).round(3)
    array([0.333, 3.667, 3.667])
    """
    no, yes = (
        weights * costs.cost_per_case(outcomes, np.full(len(p), k), 2) for k in (0, 1)
    )
    paid = _sum_below(p, no - yes, thresholds) + yes.sum()
    return np.asarray(paid / weights.sum())


def error_rates(
    p: FloatArray, outcomes: IntArray, thresholds: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Missed cases and false alarms, as shares of all cases, at each threshold.

    >>> p, y = np.array([0.2, 0.6, 0.8]), np.array([1, 0, 1])
    >>> error_rates(p, y, np.array([0.5]), np.ones(3))
    (array([0.33333333]), array([0.33333333]))
    """
    ones, zeros = weights * outcomes, weights * (1 - outcomes)
    missed = _sum_below(p, ones, thresholds)
    alarms = zeros.sum() - _sum_below(p, zeros, thresholds)
    return missed / weights.sum(), alarms / weights.sum()


def _sum_below(
    p: FloatArray, amounts: FloatArray, thresholds: FloatArray
) -> FloatArray:
    """Sum of the amounts where p is not above each threshold."""
    order = np.argsort(p)
    total = np.r_[0.0, np.cumsum(amounts[order])]
    below = np.searchsorted(p[order], thresholds + EDGE, side="right")
    return np.asarray(total[below])


def _over_ratios(p: FloatArray, outcomes: IntArray, weights: FloatArray) -> FloatArray:
    """Cost at each ratio's own threshold, as a share of the costlier error."""
    missed, alarms = error_rates(p, outcomes, 1 / (1 + RATIOS), weights)
    return np.asarray((RATIOS * missed + alarms) / np.maximum(RATIOS, 1.0))


def check_others(evidence: Evidence) -> Iterator[Candidate]:
    """One test of all thresholds other than the one that is left after a step."""
    if evidence.line is not None:
        yield _other_threshold(evidence, evidence.line)


def _other_threshold(evidence: Evidence, line: float) -> Candidate:
    """Test thresholds chosen on other cases, so that chance gains nothing by it."""
    p, y, loss = evidence.pooled[:, 0], evidence.outcomes, evidence.tested_loss
    counted, panel = evidence.panel.case_weights(), evidence.panel
    weights = np.ones(len(panel)) if counted is None else counted
    validation = evidence.validation
    everywhere, moved = validation.pooled_everywhere[:, 0], evidence.cost.copy()
    for learn, test in validation.folds:  # with times, it is chosen on earlier cases
        rest = learn[~np.isnan(everywhere[learn])]
        if not rest.size:
            continue
        costs = evidence.loss.take(rest).costs
        chosen = best_threshold(
            everywhere[rest], panel.outcomes[rest], costs, weights[rest]
        )
        own = np.searchsorted(evidence.cases, np.sort(test))
        moved[own] = replace(loss.take(own), threshold=chosen).evaluate(
            p[own, None], y[own]
        )
    saved = evidence.cost - moved
    saving = evidence.mean(saved)
    return Candidate(
        "other-threshold",
        facts={
            "best": best_threshold(p, y, loss.costs, weights[evidence.cases]),
            "line": line,
        },
        p_value=evidence.saving_p_value(saved) if saving > 0 else 1.0,
        matters=saving >= NOTICEABLE * evidence.stake,
        price=partial(evidence.saving, saved),
    )


def check_implied(evidence: Evidence) -> Iterator[Candidate]:
    """One test, if a threshold was given that differs from the one the costs imply."""
    line, costs = evidence.threshold, evidence.implied_loss.costs
    if line is None or np.abs(line - costs.threshold).max() < 1e-9:
        return
    best = evidence.implied_loss.evaluate(evidence.pooled, evidence.outcomes)
    saved = evidence.cost - best
    saving = evidence.mean(saved)
    few = evidence.shortage is not None
    implied = float(costs.threshold) if costs.constant else None
    test = Candidate(
        "implied-threshold",
        facts={
            "form": "each" if implied is None else "one",
            "line": line,
            "implied": implied,
            "ratio": (1 - line) / line if 0 < line < 1 else None,
        },
        least="note",
        price=partial(evidence.saving, saved),
    )
    if saving <= 0:
        yield test
        return
    yield replace(
        test,
        code="threshold",
        p_value=None if few else evidence.saving_p_value(saved),
        least="note" if few else None,
        matters=saving >= NOTICEABLE * evidence.stake,
    )


checks = (
    Check(
        "threshold in use", check_implied, about="pool", few_cases=True, as_decided=True
    ),
    Check("thresholds", check_others, about="pool"),
)
