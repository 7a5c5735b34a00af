"""What the compiled loop owes to every learner, of this package or another."""

import hashlib

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import Stream, replay
from truepool.core import kernels
from truepool.online import loop
from truepool.panel.panel import Panel


def digests(names):
    """A short name for the bits of a replay that no library function has touched."""
    T, N = 300, 37
    reports = np.arange(T)[:, None] * 7919 + np.arange(N) * 104729
    panel = Panel(reports % 1000 / 1000, np.arange(T) * 31 % 7 % 2)
    for name in names:
        trace = replay(name, panel)
        bits = trace.state.unnormalised.tobytes() + trace.pooled.tobytes()
        yield name, hashlib.sha256(bits).hexdigest()[:16]


def check_a_fixed_number_of_agents(name, monkeypatch):
    """A loop for a fixed number of agents gives the bits of the general one."""
    rng = np.random.default_rng(0)
    panel = Panel(rng.random((400, 5)), rng.integers(0, 2, 400))
    loop.program.cache_clear()  # whatever other tests have compiled
    traces = []
    for many in (401, 400):
        monkeypatch.setattr(loop, "MANY_CASES", many)
        traces.append(replay(name, panel))
    assert loop.program.cache_info().misses == 2
    general, fixed = traces
    assert_array_equal(fixed.pooled, general.pooled)
    assert_array_equal(fixed.state.unnormalised, general.state.unnormalised)


def check_the_quick_run(name, agents, silent, late, monkeypatch, **settings):
    """It is the specification, and a stream is a replay bit for bit."""
    panel = random_panel(5, cases=150, agents=agents, silent=silent)
    delay = np.random.default_rng(1).integers(0, late + 1, 150)
    trace = replay(name, panel, delay=delay, **settings)
    stream = Stream(name, panel.agents, **settings)
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
    slow = replay(name, panel, delay=delay, **settings)
    assert_allclose(trace.weights, slow.weights, rtol=1e-12, atol=1e-13)
    assert_allclose(trace.pooled, slow.pooled, rtol=1e-12)
    for field, twin in zip(trace.state.memory, slow.state.memory, strict=True):
        assert_allclose(field, twin, rtol=1e-12, atol=1e-15)
