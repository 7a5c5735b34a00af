"""The contract of every learner. Learners are found by folder."""

import pickle
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import promises
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels, random_panel

from truepool import Stream, learners, load_stream, replay
from truepool.core import kernels
from truepool.core.errors import AgentError, SettingError
from truepool.measures.losses import NAMES, Loss
from truepool.online import decide, feedback, loop, settle
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

EVERY = list(learners.every())
each = pytest.mark.parametrize("name", EVERY)


def owing(promise):
    """Every learner that makes this promise."""
    return promises.owing(learners.every(), promise)


def assert_same_memory(state, other):
    assert type(state.memory) is type(other.memory)
    for field, twin in zip(state.memory, other.memory, strict=True):
        assert_array_equal(field, twin)


@each
def test_an_exemption_is_for_a_known_promise_and_gives_a_reason(name):
    exemptions = learners.every()[name].exemptions
    assert set(exemptions) <= promises.LEARNERS
    assert all(len(reason) > 20 for reason in exemptions.values())


@pytest.mark.no_cover
@each
@given(panel=st.one_of(panels(), panels(classes=3)))
@settings(max_examples=10)
def test_weights_stay_on_the_simplex_and_pools_are_probabilities(name, panel):
    trace = replay(name, panel)
    assert (trace.weights >= 0).all()
    assert_allclose(trace.weights.sum(axis=1), 1.0)
    assert ((trace.pooled >= 0) & (trace.pooled <= 1 + 1e-12)).all()


def priced(name, loss):
    return learners.make(name, loss=Loss(loss, Costs(fn=3, fp=1)), horizon=60)


def assert_specified(learner, monkeypatch):
    for classes, silent, delay in product([2, 3], [0.0, 0.3], [0, 4]):
        panel = random_panel(1, cases=60, classes=classes, silent=silent)
        fast = replay(learner, panel, delay=delay)
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "online", None)
            slow = replay(learner, panel, delay=delay)
        for found in ("weights", "pooled", "losses"):
            assert_allclose(
                getattr(fast, found), getattr(slow, found), rtol=1e-9, atol=1e-12
            )


@pytest.mark.no_cover
@each
def test_the_compiled_loop_is_the_specification(name, monkeypatch):
    assert_specified(priced(name, "brier"), monkeypatch)


def suited(names):
    """Learners with every loss that they accept: slopes need a convex one, wsu a bound."""
    pairs = []
    for name, loss in product(names, NAMES):
        with suppress(SettingError):
            priced(name, loss)
            pairs.append((name, loss))
    assert {"brier", "cost-brier"} <= {loss for _, loss in pairs}
    return pytest.mark.parametrize(("name", "loss"), pairs)


@pytest.mark.no_cover
@suited(["hedge", "gradient"])
def test_every_compiled_loss_and_slope_is_as_specified(name, loss, monkeypatch):
    """Each once: every kernel and signal is compiled for one loss by the test above.

    All of them together are compared before they are compiled, by the next test.
    """
    assert_specified(priced(name, loss), monkeypatch)


@contextmanager
def uncompiled(monkeypatch):
    """The kernels in plain Python: compiling takes seconds for each loss."""
    loop.program.cache_clear()
    with monkeypatch.context() as patch:
        plain = partial(kernels.online.specialise, compiled=False)
        patch.setattr(kernels.online, "specialise", plain)
        with np.errstate(divide="ignore", invalid="ignore"):  # as compiled code does
            yield
    loop.program.cache_clear()


@pytest.mark.no_cover
@suited(EVERY)
def test_every_kernel_is_as_specified_under_every_loss(name, loss, monkeypatch):
    with uncompiled(monkeypatch):
        assert_specified(priced(name, loss), monkeypatch)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_a_kernel_can_be_stepped_through_in_plain_python(name, classes, monkeypatch):
    panel = random_panel(1, cases=130, classes=classes, silent=0.2)
    learner = priced(name, "brier")
    fast = replay(learner, panel, delay=3)
    with uncompiled(monkeypatch):
        stepped = replay(learner, panel, delay=3)
    assert_allclose(stepped.weights, fast.weights, rtol=1e-9, atol=1e-12)
    assert_allclose(stepped.losses, fast.losses, rtol=1e-9, atol=1e-12)


@each
def test_agents_that_cannot_be_told_apart_keep_equal_weights(name, monkeypatch):
    panel = Panel(np.full((6, 3), 0.4), [0, 1, 0, 1, 1, 0])
    learner = priced(name, "brier")
    with uncompiled(monkeypatch):
        stepped = replay(learner, panel)
    for trace in (stepped, replay(learner, panel)):
        assert_allclose(trace.weights, 1 / 3, rtol=1e-9)


@pytest.mark.no_cover
@each
@given(panel=st.one_of(panels(cases=(2, 6)), panels(classes=3, cases=(2, 6))))
@settings(max_examples=15)
def test_the_compiled_loop_is_the_specification_to_the_last_digits(name, panel):
    learner = learners.make(name, horizon=10)
    fast = replay(learner, panel).weights
    state = learner.start(panel.agents, panel.classes)
    for t in range(len(panel)):
        assert_allclose(fast[t], state.weights, rtol=1e-12, atol=1e-12)
        case = decide(state, panel.values[t])
        feedback_of_case = feedback(learner, state, case, int(panel.outcomes[t]))
        if name == "adahedge":  # its rate is 1 / gap: close losses magnify rounding
            apart = np.ptp(feedback_of_case.losses[feedback_of_case.reported])
            assume(apart < 1e-15 or apart > 1e-3)
        state = learner.update(state, feedback_of_case)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_a_stream_is_a_replay_bit_for_bit(name, classes):
    panel = random_panel(2, cases=80, classes=classes, silent=0.2)
    trace = replay(name, panel)
    stream = Stream(name, panel.agents, classes=classes, horizon=80)
    for t in range(len(panel)):
        x = {
            agent: report
            for agent, report in zip(panel.agents, panel.reports[t], strict=True)
            if not np.isnan(np.atleast_1d(report)[0])
        }
        pooled = stream.predict_proba_one(x)
        expected = [pooled[1]] if classes == 2 else list(pooled.values())
        assert_array_equal(expected, np.atleast_1d(trace.pooled[t]))
        assert_array_equal(stream.state.weights, trace.weights[t])
        stream.learn_one(x, int(panel.outcomes[t]))
        stream = pickle.loads(pickle.dumps(stream))
    assert_array_equal(stream.state.weights, trace.weights[-1])
    assert_same_memory(stream.state, trace.state)


@each
def test_a_late_stream_is_a_late_replay_bit_for_bit(name):
    panel = random_panel(3, cases=60)
    late = np.random.default_rng(0).integers(0, 9, 60)
    trace = replay(name, panel, delay=late)
    stream = Stream(name, panel.agents, horizon=60)
    for t in range(60):
        assert_array_equal(stream.state.weights, trace.weights[t])
        x = dict(zip(panel.agents, panel.reports[t], strict=True))
        stream.predict_proba_one(x, case=t)
        for case in np.flatnonzero(np.arange(60) + late == t):
            stream.settle(int(case), int(panel.outcomes[case]))
    assert_array_equal(stream.state.weights, trace.weights[-1])
    assert trace.unsettled == len(stream.waiting)


@each
def test_a_delay_of_0_changes_nothing(name):
    panel = random_panel(4, cases=50, silent=0.1)
    assert_array_equal(
        replay(name, panel, delay=np.zeros(50, int)).weights,
        replay(name, panel).weights,
    )


@each
def test_the_old_state_stays_valid(name):
    panel = random_panel(1)
    learner = learners.make(name)
    state = learner.start(panel.agents)
    case = decide(state, panel.values[0])
    before = state.copy()
    first = settle(learner, state, case, 1)
    again = settle(learner, state, case, 1)
    assert_array_equal(state.weights, before.weights)
    assert_same_memory(state, before)
    assert_array_equal(first.weights, again.weights)


@each
def test_without_compiled_code_a_stream_is_its_replay(name, monkeypatch):
    monkeypatch.setattr(kernels, "online", None)
    base = random_panel(2, cases=140)
    reports = base.reports.copy()
    reports[7] = np.nan
    panel = Panel(reports, base.outcomes, allow_empty_cases=True)
    trace = replay(name, panel)
    assert trace.skipped == 1
    stream = Stream(name, panel.agents, horizon=140)
    for t in np.delete(np.arange(140), 7):
        x = dict(zip(panel.agents, panel.reports[t], strict=True))
        assert stream.predict_proba_one(x)[1] == pytest.approx(trace.pooled[t])
        stream.learn_one(x, int(panel.outcomes[t]))
    assert_allclose(stream.state.weights, trace.weights[-1], rtol=1e-12)


@each
def test_before_any_case_the_bound_is_0_or_positive(name):
    learner = learners.make(name)
    bound = learner.bound(learner.start(("a", "b")))
    assert bound is None or bound >= 0
    if name in ("hedge", "gradient", "fixed-share", "adahedge", "wsu"):
        assert bound == 0


def test_an_agent_may_join_before_any_case():
    learner = learners.make("adahedge")
    joined = learner.join(learner.start(("a", "b")), "c")
    assert_allclose(joined.weights, 1 / 3)


@each
def test_the_order_of_the_agents_does_not_matter(name):
    panel = random_panel(5, silent=0.1)
    order = [2, 0, 3, 1]
    other = Panel(panel.reports[:, order], panel.outcomes)
    assert_allclose(
        replay(name, other).weights, replay(name, panel).weights[:, order], atol=1e-9
    )


@each
def test_without_the_path_nothing_else_changes(name):
    panel = random_panel(6, silent=0.1)
    late = np.arange(80) % 5
    with_path, without = (
        replay(name, panel, delay=late, path=p) for p in (True, False)
    )
    assert without.weights is None
    assert_array_equal(without.pooled, with_path.pooled)
    assert_array_equal(without.state.weights, with_path.state.weights)


@owing("asleep")
@given(seed=st.integers(0, 50))
@settings(max_examples=10)
def test_an_agent_without_a_report_keeps_its_weight(name, seed):
    panel = random_panel(seed, cases=40)
    # With a constant rate: a new one would change every weight.
    rate = (
        {"rate": 0.2} if "rate" in learners.every()[name].__dataclass_fields__ else {}
    )
    learner = learners.make(name, **rate)
    state = replay(learner, panel).state
    m = random_panel(seed + 1).values[0].copy()
    m[2] = np.nan
    after = settle(learner, state, decide(state, m), 1)
    assert_allclose(after.weights[2], state.weights[2], rtol=1e-12)


@owing("joining")
def test_a_new_agent_starts_at_its_prior_weight(name):
    learner = learners.make(name)
    state = replay(learner, random_panel(1, cases=40)).state
    for prior in (None, 0.3):
        joined = learner.join(state, "new", prior)
        share = 0.2 if prior is None else prior
        assert_allclose(joined.weights[-1], share)
        assert_allclose(joined.weights[:-1], state.weights * (1 - share))
        assert joined.agents[-1] == "new"


@each
def test_learning_continues_after_agents_join_and_leave(name):
    learner = learners.make(name)
    state = replay(learner, random_panel(1, cases=40)).state
    state = learner.leave(learner.join(state, "new"), "agent0")
    assert state.agents == ("agent1", "agent2", "agent3", "new")
    for t in range(30):
        m = random_panel(2).values[t]
        state = settle(
            learner, state, decide(state, m), int(random_panel(2).outcomes[t])
        )
    assert_allclose(state.weights.sum(), 1.0)
    assert np.isfinite(state.weights).all()


@each
def test_the_weight_of_an_agent_that_leaves_goes_to_the_others_in_proportion(name):
    learner = learners.make(name)
    state = replay(learner, random_panel(1, cases=40)).state
    gone = learner.leave(state, "agent3")
    before = state.weights[:3]
    assert_allclose(gone.weights, before / before.sum() if before.sum() else 1 / 3)


@each
def test_impossible_joins_and_leaves_are_refused(name):
    learner = learners.make(name)
    state = learner.start(("ada", "bob"))
    with pytest.raises(AgentError, match="'ada' is taken"):
        learner.join(state, "ada")
    with pytest.raises(SettingError, match="between 0 and 1"):
        learner.join(state, "eve", prior=1.0)
    with pytest.raises(AgentError, match="no agent is called 'eve'"):
        learner.leave(state, "eve")
    with pytest.raises(AgentError, match="one of only 2"):
        learner.leave(state, "ada")
    with pytest.raises(AgentError, match="got 1"):
        learner.start(("ada",))


@each
def test_when_the_only_agent_with_weight_leaves_the_others_are_equal(name):
    learner = learners.make(name)
    state = replace(
        learner.start(("a", "b", "c")), unnormalised=np.array([1.0, 0.0, 0.0])
    )
    assert_allclose(learner.leave(state, "a").weights, 0.5)


@each
def test_a_case_without_reports_is_skipped_and_counted(name):
    base = random_panel(1, cases=40)
    reports = base.reports.copy()
    reports[[5, 17]] = np.nan
    panel = Panel(reports, base.outcomes, allow_empty_cases=True)
    trace = replay(name, panel)
    assert trace.skipped == 2
    assert np.isnan(trace.losses[[5, 17]]).all()
    assert np.isnan(trace.pooled[[5, 17]]).all()
    assert_array_equal(trace.weights[5], trace.weights[6])
    rest = panel.take(np.delete(np.arange(40), [5, 17]))
    alone = replay(learners.make(name, horizon=40), rest)
    assert_array_equal(trace.state.weights, alone.state.weights)
    assert len(trace.regret_to_agent) == 40


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_stream_goes_on_as_if_it_had_not_been_saved(name, classes, tmp_path):
    panel = random_panel(4, cases=40, classes=classes, silent=0.2)
    cases = [dict(zip("abcd", row, strict=True)) for row in panel.reports]
    stream = Stream(name, agents="abcd", classes=classes)

    def follow(stream, start):
        pooled = []
        for t in range(start, 40):  # outcomes come five cases late
            pooled.append(stream.predict_proba_one(cases[t], case=t))
            if t >= 5:
                stream.settle(t - 5, int(panel.outcomes[t - 5]))
            if t == 20 and start == 0:
                stream.save(tmp_path / "x.stream")
        return pooled

    pooled = follow(stream, 0)
    again = load_stream(tmp_path / "x.stream")
    assert follow(again, 21) == pooled[21:]
    assert_array_equal(again.state.unnormalised, stream.state.unnormalised)
    assert_same_memory(again.state, stream.state)
    assert again.outcomes == stream.outcomes
