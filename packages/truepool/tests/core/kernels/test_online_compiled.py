"""The quick run of the compiled loop: small rates, where it takes nearly every case."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import Stream, replay
from truepool.core import kernels
from truepool.data.panel import Panel
from truepool.learners import make

SLOW = {
    "marginal": {"rate": 0.02},
    "gradient": {"rate": 0.01},
    "hedge": {"rate": 0.09},
    "wsu": {"rate": 0.05},
}
quick = pytest.mark.parametrize("name", list(SLOW))


@quick
@pytest.mark.parametrize("agents", [2, 5, 19, 70])
@pytest.mark.parametrize(("silent", "late"), [(0.0, 0), (0.01, 0), (0.0, 6), (0.01, 6)])
def test_it_is_the_specification_and_a_stream_is_a_replay_bit_for_bit(
    name, agents, silent, late, monkeypatch
):
    panel = random_panel(5, cases=150, agents=agents, silent=silent)
    delay = np.random.default_rng(1).integers(0, late + 1, 150)
    trace = replay(name, panel, delay=delay, **SLOW[name])
    stream = Stream(name, panel.agents, **SLOW[name])
    for t in range(150):
        assert_array_equal(stream.state.weights, trace.weights[t])
        pairs = zip(panel.agents, panel.reports[t], strict=True)
        x = {agent: report for agent, report in pairs if not np.isnan(report)}
        assert stream.predict_proba_one(x, case=t)[1] == trace.pooled[t]
        for case in np.flatnonzero(np.arange(150) + delay == t):
            stream.settle(int(case), int(panel.outcomes[case]))
    for field, twin in zip(stream.state.memory, trace.state.memory, strict=True):
        assert_array_equal(field, twin)
    monkeypatch.setattr(kernels, "online", None)
    slow = replay(name, panel, delay=delay, **SLOW[name])
    assert_allclose(trace.weights, slow.weights, rtol=1e-12, atol=1e-13)
    assert_allclose(trace.pooled, slow.pooled, rtol=1e-12)
    for field, twin in zip(trace.state.memory, slow.state.memory, strict=True):
        assert_allclose(field, twin, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["gradient", "hedge"])
def test_the_rate_falls_as_specified(name, monkeypatch):
    panel = random_panel(6, cases=2000, agents=3)
    fast = replay(name, panel)
    monkeypatch.setattr(kernels, "online", None)
    slow = replay(name, panel)
    assert fast.state.memory.rate == pytest.approx(slow.state.memory.rate, rel=1e-12)
    assert_allclose(fast.weights, slow.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["hedge", "wsu"])
def test_an_agent_at_the_weight_floor_recovers_as_specified(name, monkeypatch):
    """It falls to the floor in one half of the cases and rises from it in the other."""
    half = 2000
    outcomes = np.tile([0, 1], half)
    good, bad = np.abs(1 - outcomes - 0.98), np.abs(1 - outcomes - 0.03)
    reports = np.column_stack([good, bad])
    reports[half:] = reports[half:, ::-1]
    panel = Panel(reports, outcomes)
    learner = make(name, rate=0.04)
    fast = replay(learner, panel)
    monkeypatch.setattr(kernels, "online", None)
    slow = replay(learner, panel)
    assert fast.weights[half, 1] < 1e-25
    assert fast.weights[-1, 1] > 0.5
    assert_allclose(fast.weights, slow.weights, rtol=1e-9, atol=1e-12)
