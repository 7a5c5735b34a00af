from functools import cache

import numpy as np
from checked import evidence_of
from faults import COSTS, sound
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from truepool.audits.checks.threshold import cost_curve, error_rates
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

PANEL = sound(cases=200)


@cache
def curve():
    return cost_curve(evidence_of(PANEL))


@given(st.integers(0, 500))
def test_errors_are_counted_as_decisions_are_made(seed):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0, 0.25, 0.5, 1.0], 30)
    y = rng.integers(0, 2, 30)
    lines = np.array([0.0, 0.25, 0.4, 1.0])
    missed, alarms = error_rates(p, y, lines, np.ones(30))
    for i, line in enumerate(lines):
        assert_allclose(missed[i], ((y == 1) & ~(p > line)).mean())
        assert_allclose(alarms[i], ((y == 0) & (p > line)).mean())


def test_the_curve_is_the_cost_of_the_pool_at_each_threshold():
    pooled = PANEL.reports.mean(axis=1)[:, None]
    for i in (0, 17, 50, 100):
        line = float(curve().thresholds[i])
        cost = Loss("cost", COSTS, line).evaluate(pooled, PANEL.outcomes).mean()
        assert_allclose(curve().cost[i], cost)


def test_over_a_range_of_costs_each_decides_at_its_own_threshold():
    brier = ((PANEL.reports - PANEL.outcomes[:, None]) ** 2).mean(axis=0)
    best = PANEL.reports[:, [int(brier.argmin())]]
    for i in (0, 20, 40):
        ratio = float(curve().ratios[i])
        costs = Costs(fn=ratio, fp=1)
        largest = max(ratio, 1.0)
        pairs = [
            (curve().pool, PANEL.reports.mean(axis=1)[:, None]),
            (curve().best, best),
            (curve().always, np.ones((200, 1))),
            (curve().never, np.zeros((200, 1))),
        ]
        for shown, reports in pairs:
            cost = Loss("cost", costs).evaluate(reports, PANEL.outcomes).mean()
            assert_allclose(shown[i], cost / largest, atol=1e-12)


def test_a_silent_best_agent_is_judged_where_it_speaks():
    reports = PANEL.reports.copy()
    reports[:50, 3] = np.nan
    shown = cost_curve(evidence_of(Panel(reports, PANEL.outcomes)))
    assert np.isfinite(shown.best).all()
