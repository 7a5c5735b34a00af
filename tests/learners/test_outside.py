"""A learner of somebody else's works by its update alone, and fast with a kernel."""

from dataclasses import dataclass
from types import FunctionType
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import Stream, replay
from truepool.core import kernels
from truepool.core.errors import LearnerError
from truepool.core.kernels import compilation
from truepool.data.panel import Panel
from truepool.learners import Learner, every


@dataclass(frozen=True, kw_only=True)
class Inverse(Learner):
    """Weights by one over the summed losses, and one more."""

    name: ClassVar[str] = "inverse"
    more: float = 1.0

    class Memory(NamedTuple):
        losses: np.ndarray

    @property
    def signal(self):
        return "own"

    def memory(self, agents):
        return self.Memory(np.zeros(agents))

    def update(self, state, feedback):
        losses = state.memory.losses + np.nan_to_num(feedback.losses)
        return state.after(1 / (self.more + losses), self.Memory(losses))


class Settings(NamedTuple):
    more: float


def add(total, loss):
    return total + loss if loss == loss else total


def inverse(weights, memory, feedback, settings):
    losses = memory.losses
    for i in range(weights.size):
        losses[i] = add(losses[i], feedback.losses[i])
        weights[i] = 1.0 / (settings.more + losses[i])
    return memory


@dataclass(frozen=True, kw_only=True)
class Compiled(Inverse):
    """The same, with a kernel."""

    @property
    def kernel(self):
        return inverse

    def settings(self, agents, classes):
        return Settings(self.more)


def by_hand(panel):
    lost = np.nancumsum((panel.reports - panel.outcomes[:, None]) ** 2, axis=0)
    weights = 1 / (1 + np.vstack([np.zeros(lost.shape[1]), lost]))
    return weights / weights.sum(axis=1, keepdims=True)


def said(panel, t):
    row = zip(panel.agents, panel.reports[t], strict=True)
    return {agent: report for agent, report in row if not np.isnan(report)}


@pytest.mark.parametrize("mind", [Inverse(), Compiled()], ids=["plain", "compiled"])
def test_it_learns_what_its_update_says(mind):
    panel = random_panel(1, silent=0.2)
    trace = replay(mind, panel)
    assert mind.name not in every()
    assert_allclose(trace.weights, by_hand(panel), rtol=1e-12)
    assert trace.state.settled == len(panel)


@pytest.mark.parametrize("mind", [Inverse(), Compiled()], ids=["plain", "compiled"])
def test_its_stream_is_its_replay_bit_for_bit(mind):
    panel = random_panel(2, silent=0.2)
    late = np.random.default_rng(0).integers(0, 5, len(panel))
    trace = replay(mind, panel, delay=late)
    stream = Stream(mind, panel.agents)
    for t in range(len(panel)):
        assert_array_equal(stream.state.weights, trace.weights[t])
        assert stream.predict_proba_one(said(panel, t), case=t)[1] == trace.pooled[t]
        for case in np.flatnonzero(np.arange(len(panel)) + late == t):
            stream.settle(int(case), int(panel.outcomes[case]))
    assert_array_equal(stream.state.memory.losses, trace.state.memory.losses)


def test_a_plain_one_never_reaches_the_compiled_loop(monkeypatch):
    monkeypatch.setattr(kernels.online, "specialise", None)
    assert_allclose(replay(Inverse(), random_panel(1)).weights[-1].sum(), 1.0)


@pytest.mark.parametrize("mind", [Inverse(), Compiled()], ids=["plain", "compiled"])
def test_agents_join_and_leave_it(mind):
    stream = Stream(mind, ("ada", "bob"))
    stream.learn_one({"ada": 0.9, "bob": 0.2}, 1)
    stream.join("eve", prior=0.5)
    assert stream.weights["eve"] == pytest.approx(0.5)
    stream.leave("bob")
    stream.learn_one({"ada": 0.9, "eve": 0.9}, 1)
    assert_allclose(stream.state.memory.losses, [0.02, 0.01])


def test_what_is_compiled_is_named_by_all_of_its_code():
    """So that no change, in whichever function, meets what was compiled before it."""

    def name(helper):
        kernel = FunctionType(inverse.__code__, {**globals(), "add": helper}, "inverse")
        made = kernels.online.specialise(kernel, (tuple,) * 3, "own", "brier", True)
        return made.py_func.__qualname__

    twice = FunctionType(add.__code__, globals(), "add")
    assert name(add) == name(twice)
    assert name(add) != name(lambda total, loss: total + 2 * loss)


def test_a_folder_that_cannot_be_written_to_only_costs_time(monkeypatch):
    compiled, asked = compilation.njit, []

    def refusing(**options):
        asked.append(options.get("cache"))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return compiled(**options)

    monkeypatch.setattr(compilation, "njit", refusing)
    kernels.online.pooling.cache_clear()
    pooled = np.empty((1, 1))
    kernels.online.pooling(True)(np.array([[0.2, 0.6]]), np.array([1.0, 3.0]), pooled)
    kernels.online.pooling.cache_clear()
    assert asked == [True, None]
    assert pooled[0, 0] == pytest.approx(0.5)


class Broken(Inverse):
    def update(self, state, feedback):
        return state.after(np.zeros(len(state.agents)), state.memory)


class Forgetful(Inverse):
    def update(self, state, feedback):
        return state


@pytest.mark.parametrize(
    ("mind", "match"),
    [
        (Broken(), "not all 0; update.. of learner 'inverse' returned array"),
        (Forgetful(), "must count its cases; .* Return state.after"),
    ],
)
def test_an_update_that_breaks_the_contract_is_named(mind, match):
    with pytest.raises(LearnerError, match=match):
        replay(mind, Panel([[0.2, 0.4], [0.6, 0.8]], [0, 1]))


def test_a_setting_that_it_does_not_have_is_refused():
    with pytest.raises(TypeError, match="rate"):
        Inverse(rate=2.0)
