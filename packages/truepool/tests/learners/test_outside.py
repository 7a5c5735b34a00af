"""A learner from outside works with an update alone, and fast with a kernel."""

from dataclasses import dataclass
from types import FunctionType
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import Stream, replay
from truepool.core import kernels
from truepool.core.errors import LearnerError, SettingError
from truepool.core.kernels import compilation
from truepool.learners import Learner, every
from truepool.panel.panel import Panel


@dataclass(frozen=True, kw_only=True)
class Inverse(Learner):
    """Weights by one over the total loss plus an offset."""

    name: ClassVar[str] = "inverse"
    offset: float = 1.0

    class Memory(NamedTuple):
        losses: np.ndarray

    @property
    def signal(self):
        return "own"

    def memory(self, agents):
        return self.Memory(np.zeros(agents))

    def update(self, state, feedback):
        losses = state.memory.losses + np.nan_to_num(feedback.losses)
        return state.after(1 / (self.offset + losses), self.Memory(losses))


class Settings(NamedTuple):
    offset: float


def add(total, loss):
    return total + loss if loss == loss else total


def inverse(weights, memory, feedback, settings):
    losses = memory.losses
    for i in range(weights.size):
        losses[i] = add(losses[i], feedback.losses[i])
        weights[i] = 1.0 / (settings.offset + losses[i])
    return memory


@dataclass(frozen=True, kw_only=True)
class Compiled(Inverse):
    """The same, with a kernel."""

    @property
    def kernel(self):
        return inverse

    def settings(self, agents, classes):
        return Settings(self.offset)


def by_hand(panel):
    losses = np.nancumsum((panel.reports - panel.outcomes[:, None]) ** 2, axis=0)
    weights = 1 / (1 + np.vstack([np.zeros(losses.shape[1]), losses]))
    return weights / weights.sum(axis=1, keepdims=True)


def reports_of(panel, t):
    row = zip(panel.agents, panel.reports[t], strict=True)
    return {agent: report for agent, report in row if not np.isnan(report)}


@pytest.mark.parametrize("learner", [Inverse(), Compiled()], ids=["plain", "compiled"])
def test_it_learns_as_its_update_does(learner):
    panel = random_panel(1, silent=0.2)
    trace = replay(learner, panel)
    assert learner.name not in every()
    assert_allclose(trace.weights, by_hand(panel), rtol=1e-12)
    assert trace.state.settled == len(panel)


@pytest.mark.parametrize("learner", [Inverse(), Compiled()], ids=["plain", "compiled"])
def test_its_stream_is_its_replay_bit_for_bit(learner):
    panel = random_panel(2, silent=0.2)
    late = np.random.default_rng(0).integers(0, 5, len(panel))
    trace = replay(learner, panel, delay=late)
    stream = Stream(learner, panel.agents)
    for t in range(len(panel)):
        assert_array_equal(stream.state.weights, trace.weights[t])
        assert (
            stream.predict_proba_one(reports_of(panel, t), case=t)[1] == trace.pooled[t]
        )
        for case in np.flatnonzero(np.arange(len(panel)) + late == t):
            stream.settle(int(case), int(panel.outcomes[case]))
    assert_array_equal(stream.state.memory.losses, trace.state.memory.losses)


def test_a_learner_without_a_kernel_never_reaches_the_compiled_loop(monkeypatch):
    monkeypatch.setattr(kernels.online, "specialise", None)
    assert_allclose(replay(Inverse(), random_panel(1)).weights[-1].sum(), 1.0)


@pytest.mark.parametrize("learner", [Inverse(), Compiled()], ids=["plain", "compiled"])
def test_agents_can_join_and_leave(learner):
    stream = Stream(learner, ("ada", "bob"))
    stream.learn_one({"ada": 0.9, "bob": 0.2}, 1)
    stream.join("eve", prior=0.5)
    assert stream.weights["eve"] == pytest.approx(0.5)
    stream.leave("bob")
    stream.learn_one({"ada": 0.9, "eve": 0.9}, 1)
    assert_allclose(stream.state.memory.losses, [0.02, 0.01])


def test_compiled_code_is_named_by_all_of_its_source():
    """So that after any change the cached code of before is not used."""

    def name(helper):
        kernel = FunctionType(inverse.__code__, {**globals(), "add": helper}, "inverse")
        made = kernels.online.specialise(kernel, (tuple,) * 3, "own", "brier", True)
        return made.py_func.__qualname__

    twice = FunctionType(add.__code__, globals(), "add")
    assert name(add) == name(twice)
    assert name(add) != name(lambda total, loss: total + 2 * loss)


def test_without_a_writable_cache_everything_still_compiles(monkeypatch):
    compiled, cache_options = compilation.njit, []

    def njit_without_cache(**options):
        cache_options.append(options.get("cache"))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return compiled(**options)

    monkeypatch.setattr(compilation, "njit", njit_without_cache)
    kernels.online.pooling.cache_clear()
    pooled = np.empty((1, 1))
    kernels.online.pooling(True)(np.array([[0.2, 0.6]]), np.array([1.0, 3.0]), pooled)
    kernels.online.pooling.cache_clear()
    assert cache_options == [True, None]
    assert pooled[0, 0] == pytest.approx(0.5)


class Broken(Inverse):
    def update(self, state, feedback):
        return state.after(np.zeros(len(state.agents)), state.memory)


class Forgetful(Inverse):
    def update(self, state, feedback):
        return state


class Silent(Inverse):
    def update(self, state, feedback):
        state.after(np.ones(len(state.agents)), state.memory)


class WeightsAlone(Inverse):
    def update(self, state, feedback):
        return np.ones(len(state.agents))


class Listed(Inverse):
    def update(self, state, feedback):
        return state.after([1.0] * len(state.agents), state.memory)


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (Silent(), "must return the state after the case; .* 'inverse' returned None."),
        (WeightsAlone(), r"returned array\(.*End it with return state.after\("),
        (Listed(), r"one per agent; .* returned \[1.0, 1.0\]"),
        (Broken(), "one per agent; update.. of learner 'inverse' returned array"),
        (Forgetful(), "must count one more case; .* Return state.after"),
    ],
)
def test_an_update_that_breaks_the_contract_is_refused_by_name(learner, match):
    with pytest.raises(LearnerError, match=match):
        replay(learner, Panel([[0.2, 0.4], [0.6, 0.8]], [0, 1]))


def mistyped(weights, memory, feedback, settings):
    weights[0] = no_such_function(feedback.losses[0])  # noqa: F821
    return memory


def forgetful(weights, memory, feedback, settings):
    weights[0] += 1.0


def closed(step):
    def kernel(weights, memory, feedback, settings):
        weights[0] += step
        return memory

    return kernel


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (mistyped, "is not: .*no_such_function"),
        (closed(1.0), "is not: it uses step of the function that it is defined in"),
        (forgetful, "is not: it returned None, not the memory"),
        (3, "is not: got 3"),
    ],
    ids=["an unknown name", "a closure", "no memory", "a number"],
)
def test_a_kernel_that_numba_cannot_compile_is_refused_in_one_line(function, reason):
    @dataclass(frozen=True, kw_only=True)
    class Wrong(Inverse):
        kernel = staticmethod(function) if callable(function) else function

    with pytest.raises(LearnerError, match=reason) as refused:
        replay(Wrong(), Panel([[0.2, 0.4], [0.6, 0.8]], [0, 1]))
    assert "learner 'inverse'" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unknown_signal_is_refused():
    @dataclass(frozen=True, kw_only=True)
    class Wrong(Inverse):
        signal = "mine"

    with pytest.raises(SettingError, match="marginal, uniform; .*'inverse' has 'mine'"):
        Wrong()


def test_a_setting_that_it_does_not_have_is_refused():
    with pytest.raises(TypeError, match="rate"):
        Inverse(rate=2.0)


def test_a_learner_without_memory_or_settings_needs_neither():
    class Equal(Learner):
        name = "equal"
        signal = "own"

        def update(self, state, feedback):
            return state.after(np.ones(len(state.weights)), state.memory)

    learner = Equal()
    assert learner.memory(3) == learner.settings(3, 2) == ()
    trace = replay(learner, random_panel(1, cases=10))
    assert_allclose(trace.weights, 0.25)
