"""The compiled loop over cases, against a plain loop and one pass of numpy.sum.

Processor time is measured, the yardstick between the runs it is compared with: other
work on the machine then counts for neither.
"""

import time
from math import log, sqrt

import numpy as np
import pytest

from truepool import Stream, replay
from truepool.core import kernels
from truepool.learners import every, make
from truepool.panel.panel import Panel

SIZES = {5: (1_000_000, 200), 50: (1_000_000, 60), 500: (100_000, 15)}
LEARNERS = ["marginal", "gradient", "wsu", "hedge"]
PLAIN = 500


@pytest.fixture(scope="module", params=list(SIZES))
def sized(request):
    N = request.param
    T, times = SIZES[N]
    rng = np.random.default_rng(0)
    return Panel(rng.random((T, N)), rng.integers(0, 2, T)), N, times


@pytest.mark.parametrize("name", LEARNERS)
def test_the_compiled_loop_against_its_specification(name, sized, monkeypatch, record):
    panel, N, times = sized
    replay(name, panel.take(np.arange(10)), path=False)
    few = panel.take(np.arange(PLAIN))
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "online", None)
        slow = (
            min(timed(lambda: replay(name, few, path=False)) for _ in range(3)) / PLAIN
        )
    record(
        f"specification / compiled, {name} at N = {N}",
        slow / per_case(name, panel),
        at_least=times,
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_the_compiled_loop_against_a_plain_loop_of_numpy(name, sized, record):
    """The shortest loop of Python and numpy with the same output, without generality."""
    panel, N, times = sized
    few = panel.take(np.arange(20_000))
    trace = replay(make(name, horizon=len(panel)), few, path=False)
    pooled, losses, weights = plain_loop(STEPS[name], few, len(panel))
    np.testing.assert_allclose(pooled, trace.pooled, atol=1e-12)
    np.testing.assert_allclose(losses, trace.losses, atol=1e-12)
    np.testing.assert_allclose(weights, trace.state.weights, atol=1e-12)
    slow = timed_best(lambda: plain_loop(STEPS[name], few, len(panel))) / len(few)
    lean = timed_best(lambda: lean_loop(LEAN[name], few)) / len(few)
    ours = per_case(name, panel)
    record(f"its bare update / compiled, {name} at N = {N}", lean / ours)
    what = f"plain numpy loop / compiled, {name} at N = {N}"
    record(what, slow / ours, at_least=times)


class Pace:
    """The rate, falling when the sum of squared reaches has doubled, and the bound."""

    def __init__(self, agents, horizon, doubling):
        self.agents, self.doubling = agents, doubling
        self.rate = sqrt((8 if doubling else 1 / horizon) * log(agents))
        self.limit, self.spent, self.allowed = 1.0, 0.0, 0.0

    def follow(self, w, reach):
        self.spent += reach * reach
        self.allowed += min(self.rate * reach * reach / 8, reach)
        if self.doubling and self.spent > self.limit:
            while self.limit < self.spent:
                self.limit *= 2
            rate = sqrt(8 * log(self.agents) / self.limit)
            w = w ** (rate / self.rate)
            self.rate = rate
            return np.maximum(w / w.sum(), 1e-30)
        return w


def marginal(w, m, p, y, pace):
    w = w * np.exp(pace.rate * (((p - w * m) / (1 - w) - y) ** 2 - (p - y) ** 2))
    return pace.follow(np.maximum(w / w.sum(), 1e-30), 1.0)


def gradient(w, m, p, y, pace):
    slope = 2 * (p - y)
    w = w * np.exp(-pace.rate * slope * m)
    return pace.follow(np.maximum(w / w.sum(), 1e-30), abs(slope))


def hedge(w, m, p, y, pace):
    w = w * np.exp(-pace.rate * (m - y) ** 2)
    return pace.follow(np.maximum(w / w.sum(), 1e-30), 1.0)


def wsu(w, m, p, y, pace):
    gaps = (m - y) ** 2
    gaps = gaps - w @ gaps
    pace.spent = pace.spent + gaps**2
    w = w * (1 - pace.rate * gaps)
    return np.maximum(w / w.sum(), 1e-30)


STEPS = {"marginal": marginal, "gradient": gradient, "hedge": hedge, "wsu": wsu}


def plain_loop(step, panel, horizon):
    reports, outcomes = panel.reports, panel.outcomes
    T, N = reports.shape
    w, pooled, losses = np.full(N, 1 / N), np.empty(T), np.empty(T)
    pace = Pace(N, horizon, step in (gradient, hedge))
    for t in range(T):
        m, y = reports[t], outcomes[t]
        p = w @ m
        pooled[t] = p
        losses[t] = (p - y) ** 2
        w = step(w, m, p, y, pace)
    return pooled, losses, w


LEAN = {
    "marginal": lambda w, m, p, y: (
        w * np.exp(0.01 * (((p - w * m) / (1 - w) - y) ** 2 - (p - y) ** 2))
    ),
    "gradient": lambda w, m, p, y: w * np.exp(-0.02 * (p - y) * m),
    "hedge": lambda w, m, p, y: w * np.exp(-0.01 * (m - y) ** 2),
    "wsu": lambda w, m, p, y: w * (1 - 0.01 * ((m - y) ** 2 - w @ (m - y) ** 2)),
}


def lean_loop(step, panel):
    """The update alone: nothing is kept, no floor, no rate that adapts."""
    reports, outcomes = panel.reports, panel.outcomes
    w = np.full(reports.shape[1], 1 / reports.shape[1])
    for m, y in zip(reports, outcomes, strict=True):
        w = step(w, m, w @ m, y)
        w = w / w.sum()


def per_case(name, panel):
    replay(name, panel, path=False)
    return timed_best(lambda: replay(name, panel, path=False), 7) / len(panel)


AT_MOST = {5: 6.0, 500: 10.0}
"""Sums of one case that a case of any learner may take, by the number of agents."""
SLOWER = {("boa", 500): 15.0}
"""Above it, or at it: see decision 18."""


@pytest.mark.parametrize("agents", list(AT_MOST))
@pytest.mark.parametrize("name", list(every()))
def test_a_case_of_every_learner_against_a_sum_of_its_reports(name, agents, record):
    T = 100_000
    rng = np.random.default_rng(0)
    panel = Panel(rng.random((T, agents)), rng.integers(0, 2, T))
    replay(name, panel, path=False)
    ours = theirs = np.inf
    for _ in range(7):
        theirs = min(theirs, timed(lambda: panel.reports.sum(axis=1)))
        ours = min(ours, timed(lambda: replay(name, panel, path=False)))
    limit = SLOWER.get((name, agents), AT_MOST[agents])
    if name in LEARNERS:
        limit = min(limit, 6.0)
    what = f"compiled / numpy.sum(axis=1), {name} at N = {agents}"
    record(what, ours / theirs, at_most=limit)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_learns_a_case_within_twenty_five_microseconds(name, record):
    agents = tuple("abcde")
    stream = Stream(name, agents)
    x = dict(zip(agents, np.random.default_rng(0).random(5).tolist(), strict=True))
    for _ in range(100):
        stream.learn_one(x, 1)
    best = min(
        timed(lambda: [stream.learn_one(x, 1) for _ in range(1000)]) for _ in range(7)
    )
    record(f"learn_one, {name}, in microseconds", best * 1000, at_most=25)


def test_without_the_path_memory_does_not_grow_with_cases_times_agents(record):
    import tracemalloc

    rng = np.random.default_rng(0)
    panel = Panel(rng.random((100_000, 100)), rng.integers(0, 2, 100_000))
    replay("gradient", panel.take(np.arange(10)), path=False)
    tracemalloc.start()
    replay("gradient", panel, path=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    record("peak bytes / (T + N), without the path", peak / 100_100, at_most=64)


def timed_best(call, times=3):
    return min(timed(call) for _ in range(times))


def timed(call):
    start = time.process_time()
    call()
    return time.process_time() - start
