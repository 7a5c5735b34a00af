"""The quick run of the compiled loop: small rates, where it takes nearly every case."""

import numpy as np
import pytest
from compiled_learners import check_the_quick_run
from numpy.testing import assert_allclose
from panels import random_panel

from truepool import replay
from truepool.core import kernels
from truepool.learners import make
from truepool.panel.panel import Panel

SLOW = {
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
    check_the_quick_run(name, agents, silent, late, monkeypatch, **SLOW[name])


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
