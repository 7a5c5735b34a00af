"""The online mixture `auto`: agents and pools that are refitted as outcomes come."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

import truepool as tp
from truepool.core.errors import (
    AgentError,
    SettingError,
    StreamFileError,
    UnknownNameError,
)
from truepool.measures.losses import Loss
from truepool.online import experts as module
from truepool.online.experts import Experts
from truepool.pools.shrunk import Shrunk

AGENTS = ("a", "b", "c", "d")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Two cheap pools, refitted often."""
    monkeypatch.setattr(module, "WINDOWS", {"shrunk": 40, "platt": 60})
    monkeypatch.setattr(module, "LONGEST_WAIT", 25)


PANEL = random_panel(1, cases=120, silent=0.2)


def case(t, panel=PANEL):
    reports = panel.reports[t].tolist()
    return dict(zip(panel.agents, reports, strict=True))


def run(stream, cases, panel=PANEL):
    pooled = []
    for t in cases:
        pooled.append(stream.predict_proba_one(case(t, panel))[1])
        stream.learn_one(case(t, panel), int(panel.outcomes[t]))
    return pooled


def test_a_stream_and_a_replay_agree_to_the_last_bit():
    stream = tp.Stream("auto", PANEL.agents)
    trace = tp.replay("auto", PANEL)
    assert_array_equal(run(stream, range(120)), trace.pooled)
    assert list(stream.weights.values()) == trace.state.weights.tolist()
    assert trace.panel.agents == (*PANEL.agents, "pool:shrunk", "pool:platt")
    assert_array_equal(trace.weights[-1], trace.state.weights)
    assert repr(stream) == "Stream(auto, 4 agents, 120 cases settled, 0 waiting)"
    assert repr(trace).startswith("Trace(auto, 120 cases")


def test_an_unknown_learner_is_refused_with_auto_among_those_known():
    for make in (lambda name: tp.Stream(name, AGENTS), lambda n: tp.replay(n, PANEL)):
        with pytest.raises(UnknownNameError, match="'atuo' .did you mean 'auto'.*auto"):
            make("atuo")


def test_late_outcomes_are_learned_from_when_they_come():
    stream = tp.Stream("auto", PANEL.agents)
    pooled = []
    for t in range(120):
        pooled.append(stream.predict_proba_one(case(t), case=t)[1])
        if t >= 7:
            stream.settle(t - 7, int(PANEL.outcomes[t - 7]))
    assert_array_equal(pooled, tp.replay("auto", PANEL, delay=7, path=False).pooled)


def test_pools_are_refitted_when_the_cases_have_grown_by_half_on_the_latest_ones():
    experts, seen = Experts(PANEL.agents, 2), []
    for t in range(120):
        before = experts.pools
        experts = experts.learn(PANEL.values[t], int(PANEL.outcomes[t]))
        if experts.pools is not before:
            seen.append(experts.settled)
    assert seen == [10, 20, 30, 45, 67, 92, 117]
    alone = Shrunk().fit_panel(PANEL.take(np.arange(77, 117)))
    assert_array_equal(experts.pools[0].fits_, alone.fits_)
    assert len(experts.outcomes) == 60


@pytest.mark.parametrize("loss", ["brier", "log", "cost-brier"])
def test_the_regret_stays_below_the_bound_against_the_best_expert(loss):
    trace = tp.replay("auto", PANEL, loss=loss)
    assert trace.bound is not None
    assert trace.regret_to_agent[-1] <= trace.bound
    assert trace.regret[-1] <= trace.bound  # against any fixed weighting of them
    total = {}
    for i, name in enumerate(trace.panel.agents):
        there = ~np.isnan(trace.panel.values[:, i, 0])
        own = trace.learner.loss.evaluate(
            trace.panel.values[there, i], PANEL.outcomes[there]
        )
        total[name] = (trace.losses[there] - own).sum()
    assert max(total.values()) <= trace.bound


def test_a_refit_is_part_of_the_record_and_a_replay_follows_it(tmp_path):
    stream = tp.Stream("auto", PANEL.agents, record=tmp_path / "refits")
    pooled = run(stream, range(60))
    files = sorted(path.name for path in (tmp_path / "refits").iterdir())
    assert files[:2] == ["000000010-platt.pool", "000000010-shrunk.pool"]
    assert len(files) == 8
    part = PANEL.take(np.arange(60))
    again = tp.replay("auto", part, record=tmp_path / "refits")
    assert_array_equal(again.pooled, pooled)
    # Another machine may have rounded otherwise: what it recorded is what counts.
    path = tmp_path / "refits" / "000000010-shrunk.pool"
    changed = tp.load_pool(path)
    changed.fits_ = changed.fits_ + 0.5
    changed.save(path)
    moved = tp.replay("auto", part, record=tmp_path / "refits").pooled
    assert_array_equal(moved[:10], pooled[:10])
    assert not np.array_equal(moved[10:20], pooled[10:20])


def test_a_record_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="a folder that can be written; .*/file is"):
        tp.replay("auto", PANEL.take(np.arange(20)), record=tmp_path / "file")


def test_the_record_of_other_cases_is_refused(tmp_path):
    tp.replay("auto", PANEL.take(np.arange(20)), record=tmp_path)
    other = random_panel(9, cases=20)
    with pytest.raises(SettingError, match="was learned from others"):
        tp.replay("auto", other, record=tmp_path)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_stream_goes_on_as_if_nothing_had_happened(tmp_path, classes):
    panel = random_panel(3, cases=60, classes=classes)
    stream = tp.Stream("auto", panel.agents, classes=classes, record=tmp_path / "r")
    run(stream, range(35), panel)
    stream.predict_proba_one(case(35, panel), case="late")
    stream.save(tmp_path / "x.stream")
    loaded = tp.load_stream(tmp_path / "x.stream")
    for each in (stream, loaded):
        each.settle("late", int(panel.outcomes[35]))
    assert run(loaded, range(36, 60), panel) == run(stream, range(36, 60), panel)
    assert loaded.weights == stream.weights
    fresh = tp.Stream("auto", panel.agents, classes=classes)
    fresh.save(tmp_path / "fresh.stream")
    assert tp.load_stream(tmp_path / "fresh.stream").experts.pools == ()


def test_a_stream_whose_pools_are_about_other_agents_is_refused(tmp_path):
    stream = tp.Stream("auto", PANEL.agents)
    run(stream, range(12))
    stream.experts.pools[0].agents_ = ("x", "y", "z", "w")
    stream.save(tmp_path / "x.stream")
    with pytest.raises(StreamFileError, match="do not fit together"):
        tp.load_stream(tmp_path / "x.stream")


def test_a_loss_that_is_not_convex_is_mixed_by_own_losses():
    trace = tp.replay("auto", PANEL.take(np.arange(30)), loss="cost")
    assert trace.learner.signal == "own"
    assert trace.bound is None


def test_cases_without_reports_and_one_class_only_are_allowed():
    reports = np.array([[0.2, 0.3], [np.nan, np.nan]] * 20)
    panel = tp.Panel(reports, [0, 0] * 20, allow_empty_cases=True)
    trace = tp.replay("auto", panel)
    assert trace.skipped == 20
    assert (trace.pooled[::2] < 0.5).all()


def test_agents_of_auto_stay_and_are_not_called_like_its_pools():
    stream = tp.Stream("auto", AGENTS)
    for change in (lambda: stream.join("e"), lambda: stream.leave("a")):
        with pytest.raises(SettingError, match="make a new stream"):
            change()
    with pytest.raises(AgentError, match="no agent is called 'pool:shrunk'"):
        stream.predict_proba_one({"pool:shrunk": 0.4})
    with pytest.raises(AgentError, match="got an agent 'pool:x'"):
        tp.Stream("auto", ("a", "pool:x"))
    with pytest.raises(UnknownNameError, match="no setting of auto is called 'rate'"):
        tp.Stream("auto", AGENTS, rate=0.1)


def test_under_drift_the_mixture_beats_a_pool_that_was_fitted_once():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 600)
    skill = np.where(np.arange(600)[:, None] < 200, [2.0, 0.0], [0.0, 2.0])
    scores = skill * (2 * outcomes - 1)[:, None] + rng.normal(size=(600, 2))
    panel = tp.Panel(1 / (1 + np.exp(-scores)), outcomes)
    once = Shrunk().fit_panel(panel.take(np.arange(200)))
    late = np.arange(300, 600)
    frozen = Loss("brier").evaluate(once.combine(panel.values), outcomes)[late].mean()
    online = tp.replay("auto", panel).losses[late].mean()
    assert online < 0.7 * frozen


def test_the_pools_their_windows_and_the_mixer_are_those_that_were_judged(monkeypatch):
    monkeypatch.undo()
    assert module.WINDOWS == {"shrunk": 250, "auto": 2_000}
    assert module.MIXER == "adahedge"
    mixed = Experts(("a", "b"), 2).report(np.array([[0.2], [0.4]]))
    assert_allclose(mixed.ravel(), [0.2, 0.4, np.nan, np.nan])
