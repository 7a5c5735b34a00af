import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from scipy.special import expit

from truepool import Stream, replay, scores
from truepool.online import Recalibration
from truepool.panel.panel import Panel


def underconfident(cases=4000, agents=4, seed=0):
    """Distinct calibrated agents: their mean is under-confident (Ranjan & Gneiting)."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, cases)
    signals = rng.normal(size=(cases, agents)) + (2 * outcomes - 1)[:, None] * 0.8
    return Panel(expit(1.6 * signals), outcomes)


@pytest.mark.parametrize("name", ["static", "gradient", "wsu"])
def test_any_learner_can_be_recalibrated(name):
    panel = underconfident()
    plain, scaled = (replay(name, panel, recalibrate=on) for on in (False, True))
    assert_array_equal(scaled.weights, plain.weights)
    late = slice(500, None)
    assert scores.ece(scaled.pooled[late], panel.outcomes[late]) < 0.03
    assert scaled.losses[late].mean() <= plain.losses[late].mean() + 1e-3
    assert scaled.bound is None


def test_it_recovers_the_true_slope_and_shift():
    rng = np.random.default_rng(0)
    z = rng.normal(size=20_000) * 2
    outcomes = (rng.random(20_000) < expit(2.0 * z + 0.5)).astype(int)
    now = Recalibration.start(2)
    for p, y in zip(expit(z), outcomes, strict=True):
        now = now.learn(np.array([p]), int(y))
    assert_allclose(now.scale, [2.0, 0.5], atol=0.15)


def test_a_calibrated_pool_hardly_changes():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(3, 2.0), 3000)
    outcomes = (rng.random((3000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    now = Recalibration.start(3)
    for reports, y in zip(p, outcomes, strict=True):
        now = now.learn(reports, int(y))
    assert_allclose(now.scale, [1.0, 0.0, 0.0], atol=0.2)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_recalibrated_stream_is_its_replay(classes):
    panel = random_panel(2, cases=60, classes=classes)
    trace = replay("gradient", panel, recalibrate=True)
    stream = Stream("gradient", panel.agents, classes=classes, recalibrate=True)
    for t in range(60):
        x = dict(zip(panel.agents, panel.reports[t], strict=True))
        pooled = stream.predict_proba_one(x)
        reports = pooled[1] if classes == 2 else list(pooled.values())
        assert_allclose(reports, trace.pooled[t], rtol=1e-9)
        stream.learn_one(x, int(panel.outcomes[t]))


def test_late_outcomes_take_effect_late():
    panel = random_panel(2, cases=40)
    late = replay("hedge", panel, recalibrate=True, delay=40)
    assert_allclose(late.pooled, panel.reports.mean(axis=1))


def test_cases_without_reports_are_skipped():
    reports = random_panel(2, cases=40).reports.copy()
    reports[3] = np.nan
    panel = Panel(reports, random_panel(2, cases=40).outcomes, allow_empty_cases=True)
    trace = replay("hedge", panel, recalibrate=True)
    assert np.isnan(trace.pooled[3])
    assert np.isfinite(np.delete(trace.pooled, 3)).all()


def test_one_surprise_does_not_invert_the_pool():
    now = Recalibration.start(2).learn(np.array([0.999]), 0)
    low, high = now.apply(np.array([[0.001], [0.999]]))[:, 0]
    assert low < 0.5 < high
    for _ in range(50):
        now = now.learn(np.array([0.999]), 0)
    assert now.scale[0] > 0
