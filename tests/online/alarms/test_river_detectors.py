"""Alarms tell who got worse and when, and seldom cry for nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import panels, random_panel

from truepool.core.errors import AgentError, MissingExtraError, UnknownNameError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.learners import make
from truepool.measures.losses import Loss
from truepool.online import replay
from truepool.online.alarms import Alarm, alarms, river_detectors
from truepool.stress.degradation import Degraded
from truepool.stress.drift import quality_panel

drift = pytest.importorskip("river.drift")

DETECTORS = list(river_detectors.every())
SKILLS = [1.2, 1.2, 1.0, 2.0, 0.8]
SPOILT = [1.2, 1.2, 1.0, -0.5, 0.8]
either = pytest.mark.parametrize("detector", DETECTORS)


def _world(kind, seed, after=SPOILT, cases=1000, **more):
    """Five agents; the best one, agent3, gets worse half-way through."""
    return quality_panel(
        kind,
        before=SKILLS,
        after=after,
        cases=cases,
        correlation=0.2,
        seed=seed,
        **more,
    )


@either
@pytest.mark.parametrize("seed", range(10))
def test_a_sudden_drift_alarms_soon_and_for_nobody_else(detector, seed):
    panel = _world("sudden", seed)
    (alarm,) = alarms(panel, detector)
    assert alarm.who == "agent3"
    assert 500 < alarm.case < 580
    lost = Loss("brier").of(panel.values[:, 3], panel.outcomes)
    # The change is placed within a few cases of where it was planted.
    assert_allclose(alarm.before, lost[:500].mean(), atol=0.01)
    assert_allclose(alarm.after, lost[500 : alarm.case + 1].mean(), atol=0.15)


@either
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_a_world_that_stands_still_seldom_alarms(detector, loss):
    # 100 worlds, five agents and the pool: 600 series of 1000 cases. Measured: none.
    found = [
        alarm
        for seed in range(100)
        for alarm in alarms(replay("window", _world("none", seed), loss=loss), detector)
    ]
    assert len(found) <= 6  # 1 % of the series


def test_even_losses_of_nought_and_one_seldom_alarm_adwin():
    found = [
        alarm
        for seed in range(100)
        for alarm in alarms(_world("none", seed), loss="cost")
    ]
    assert len(found) <= 5  # 1 % of the 500 series; measured: 1


@either
def test_a_pool_that_stays_with_a_degraded_agent_alarms_too(detector):
    heard = 0
    for seed in range(10):
        found = alarms(replay("static", _world("sudden", seed)), detector)
        assert {alarm.who for alarm in found} <= {"agent3", "pool"}
        heard += any(alarm.who == "pool" and alarm.case >= 500 for alarm in found)
    assert heard >= 9


def test_a_pool_that_follows_alarms_less_than_one_that_does_not():
    heard = {"window": 0, "static": 0}
    for seed in range(10):
        for learner in heard:
            found = alarms(
                replay(learner, _world("sudden", seed, after=[*SKILLS[:3], 0.5, 0.8]))
            )
            heard[learner] += any(alarm.who == "pool" for alarm in found)
    assert heard["window"] < heard["static"]


@either
def test_who_gets_better_sets_no_alarm_off(detector):
    for seed in range(5):
        panel = quality_panel(
            "sudden", before=[0.2, 0.2], after=[3, 0.2], cases=1000, honest=True, seed=seed
        )  # fmt: skip
        assert alarms(panel, detector, **_both(detector)) == ()
        watch = drift.ADWIN()
        noticed = False
        for lost in Loss("brier").of(panel.values[:, 0], panel.outcomes):
            watch.update(lost)
            noticed |= watch.drift_detected
        assert noticed  # river sees that something has changed


def _both(detector):
    """Let a one-sided detector look both ways."""
    return {"mode": "both"} if detector == "page-hinkley" else {}


@either
def test_a_drift_that_comes_back_alarms_again(detector):
    for seed in range(5):
        panel = _world("recurring", seed, cases=4000)
        cases = [
            a.case
            for a in alarms(panel, detector, **_both(detector))
            if a.who == "agent3"
        ]
        rises = {case // 1000 for case in cases}
        assert len(rises) == 4  # once in each of the four periods
        assert all(case % 1000 < 600 for case in cases)


@pytest.mark.parametrize("loss", ["brier", "log", "spherical", "cost", "cost-brier"])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_alarm_sounds_when_rivers_does(loss, classes):
    chosen = Loss(loss, Costs(fn=5, fp=1))
    panel = random_panel(4, cases=600, classes=classes, silent=0.2, skill=3.0)
    panel = Degraded("sudden", noise=3.0)(panel, "agent0")
    trace = replay("static", panel, loss=chosen)
    said = {agent: panel.values[:, i] for i, agent in enumerate(panel.agents)}
    said["pool"] = trace.pooled.reshape(600, -1)
    most = np.log(100) if loss == "log" else chosen.span(classes)
    asked = {}
    for who, reports in said.items():
        watch = drift.ADWIN(delta=0.01, clock=1)
        for t in range(600):
            if not np.isnan(reports[t, 0]):
                lost = chosen.of(reports[t], panel.outcomes[t])
                watch.update(min(float(lost) / most, 1.0))
                if watch.drift_detected:
                    asked.setdefault(who, t)
    found = {}
    for alarm in alarms(trace):
        assert alarm.before < alarm.after <= most
        found.setdefault(alarm.who, alarm.case)
    assert found == {who: asked[who] for who in found}
    assert "agent0" in found


@either
@settings(max_examples=20)
@given(panel=st.one_of(panels(cases=(2, 40)), panels(classes=3, cases=(2, 40))))
def test_any_panel_can_be_watched(detector, panel):
    for alarm in alarms(replay("hedge", panel), detector):
        assert 0 <= alarm.case < len(panel)
        assert alarm.before < alarm.after


def test_silence_is_passed_over():
    panel = _world("sudden", 0)
    (alarm,) = alarms(panel)
    reports = np.full((2000, 5), np.nan)
    reports[::2] = panel.reports
    outcomes = np.repeat(panel.outcomes, 2)
    sparse = Panel(reports, outcomes, mute_cases=True)
    (same,) = alarms(sparse)
    assert same == Alarm("agent3", 2 * alarm.case, alarm.before, alarm.after)
    pooled = [a for a in alarms(replay("static", sparse)) if a.who == "pool"]
    direct = [a for a in alarms(replay("static", panel)) if a.who == "pool"]
    assert [a.case for a in pooled] == [2 * a.case for a in direct]


def test_cases_are_counted_in_the_order_of_time():
    panel = _world("sudden", 1)
    shuffled = np.random.default_rng(0).permutation(1000)
    dated = Panel(panel.reports[shuffled], panel.outcomes[shuffled], times=shuffled)
    assert alarms(dated) == alarms(panel)
    assert alarms(replay("static", dated)) == alarms(replay("static", panel))


def test_another_loss_than_the_learners_can_be_watched():
    panel = _world("sudden", 2)
    trace = replay(make("hedge", loss=Loss("log")), panel)
    agents = [alarm for alarm in alarms(trace, loss="brier") if alarm.who != "pool"]
    assert tuple(agents) == alarms(panel)
    assert alarms(trace) == alarms(trace, loss="log") != alarms(trace, loss="brier")


def test_alarms_come_the_earliest_first():
    panel = quality_panel(
        "sudden", before=[2] * 5, after=[-2, 0, -2, 0, -1], cases=1000
    )
    cases = [alarm.case for alarm in alarms(panel)]
    assert len(cases) >= 5
    assert cases == sorted(cases)


def test_settings_go_to_the_detector():
    late = alarms(_world("sudden", 0), "page-hinkley", threshold=30.0)
    soon = alarms(_world("sudden", 0), "page-hinkley")
    assert late[0].case > soon[0].case


def test_unknown_detectors_and_settings_are_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'adwin'.*page-hinkley"):
        alarms(random_panel(), "adwim")
    with pytest.raises(UnknownNameError, match="no setting of adwin.*'delta'"):
        alarms(random_panel(), "adwin", dela=0.1)


def test_an_agent_called_pool_cannot_be_told_from_the_pool():
    panel = random_panel(agents=2)
    panel = Panel(panel.reports, panel.outcomes, agents=("pool", "ada"))
    with pytest.raises(AgentError, match="rename it"):
        alarms(replay("hedge", panel))
    assert alarms(panel) == ()


def test_without_river_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(river_detectors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'truepool\[drift\]'"):
        alarms(random_panel())


def test_a_detector_that_cries_at_once_has_nothing_to_compare_with():
    # Whatever it is told, the first case alone is no rise.
    found = alarms(random_panel(1), "page-hinkley", min_instances=1, threshold=-1.0)
    assert all(alarm.case > 0 for alarm in found)
