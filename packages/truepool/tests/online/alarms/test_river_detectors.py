"""Alarms name the agent that got worse, and when; false alarms are rare."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import panels, random_panel
from simulated_faults import degradation, quality_panel

from truepool.core import kernels
from truepool.core.errors import AgentError, MissingExtraError, UnknownNameError
from truepool.learners import make
from truepool.measures.losses import Loss
from truepool.online import replay
from truepool.online.alarms import Alarm, alarms, river_detectors
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

drift = pytest.importorskip("river.drift")

DETECTORS = list(river_detectors.every())
SKILLS = [1.2, 1.2, 1.0, 2.0, 0.8]
DEGRADED = [1.2, 1.2, 1.0, -0.5, 0.8]
either = pytest.mark.parametrize("detector", DETECTORS)


def _drifting_panel(kind, seed, after=DEGRADED, cases=1000, **more):
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
def test_sudden_drift_raises_an_alarm_soon_and_for_no_other_agent(detector, seed):
    panel = _drifting_panel("sudden", seed)
    (alarm,) = alarms(panel, detector)
    assert alarm.who == "agent3"
    assert 500 < alarm.case < 580
    losses = Loss("brier").evaluate(panel.values[:, 3], panel.outcomes)
    # The change is placed within a few cases of where it was planted.
    assert_allclose(alarm.before, losses[:500].mean(), atol=0.01)
    assert_allclose(alarm.after, losses[500 : alarm.case + 1].mean(), atol=0.15)


@either
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_without_drift_alarms_are_rare(detector, loss):
    # 100 panels, five agents and the pool: 600 series of 1000 cases. Measured: none.
    found = [
        alarm
        for seed in range(100)
        for alarm in alarms(
            replay("gradient", _drifting_panel("none", seed), loss=loss), detector
        )
    ]
    assert len(found) <= 6  # 1 % of the series


def test_losses_of_0_and_1_seldom_raise_an_alarm_of_adwin():
    found = [
        alarm
        for seed in range(100)
        for alarm in alarms(_drifting_panel("none", seed), loss="cost")
    ]
    assert len(found) <= 5  # 1 % of the 500 series; measured: 1


@either
def test_a_pool_with_fixed_weights_on_a_degraded_agent_raises_an_alarm_too(detector):
    alarmed = 0
    for seed in range(10):
        found = alarms(replay("static", _drifting_panel("sudden", seed)), detector)
        assert {alarm.who for alarm in found} <= {"agent3", "pool"}
        alarmed += any(alarm.who == "pool" and alarm.case >= 500 for alarm in found)
    assert alarmed >= 9


def test_online_weights_raise_fewer_alarms_of_the_pool_than_fixed_ones():
    alarmed = {"gradient": 0, "static": 0}
    for seed in range(10):
        for learner in alarmed:
            found = alarms(
                replay(
                    learner,
                    _drifting_panel("sudden", seed, after=[*SKILLS[:3], 0.5, 0.8]),
                )
            )
            alarmed[learner] += any(alarm.who == "pool" for alarm in found)
    assert alarmed["gradient"] < alarmed["static"]


@either
def test_an_agent_that_gets_better_raises_no_alarm(detector):
    for seed in range(5):
        panel = quality_panel(
            "sudden", before=[0.2, 0.2], after=[3, 0.2], cases=1000, honest=True, seed=seed
        )  # fmt: skip
        assert alarms(panel, detector, **_two_sided(detector)) == ()
        adwin = drift.ADWIN()
        noticed = False
        for loss_of_case in Loss("brier").evaluate(panel.values[:, 0], panel.outcomes):
            adwin.update(loss_of_case)
            noticed |= adwin.drift_detected
        assert noticed  # river itself detects the change


def _two_sided(detector):
    """Settings that make a one-sided detector two-sided."""
    return {"mode": "both"} if detector == "page-hinkley" else {}


@either
def test_recurring_drift_raises_an_alarm_each_time(detector):
    for seed in range(5):
        panel = _drifting_panel("recurring", seed, cases=4000)
        cases = [
            a.case
            for a in alarms(panel, detector, **_two_sided(detector))
            if a.who == "agent3"
        ]
        rises = {case // 1000 for case in cases}
        assert len(rises) == 4  # once in each of the four periods
        assert all(case % 1000 < 600 for case in cases)


@pytest.mark.parametrize("loss", ["brier", "log", "spherical", "cost", "cost-brier"])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_alarm_is_raised_when_river_raises_it(loss, classes, monkeypatch):
    monkeypatch.setattr(kernels, "online", None)  # ten loops would be compiled
    chosen = Loss(loss, Costs(fn=5, fp=1))
    panel = random_panel(4, cases=600, classes=classes, silent=0.2, skill=3.0)
    panel = degradation(panel, "agent0", noise=3.0)
    trace = replay("static", panel, loss=chosen)
    series = {agent: panel.values[:, i] for i, agent in enumerate(panel.agents)}
    series["pool"] = trace.pooled.reshape(600, -1)
    largest = np.log(100) if loss == "log" else chosen.span(classes)
    expected = {}
    for who, reports in series.items():
        adwin = drift.ADWIN(delta=0.01, clock=1)
        for t in range(600):
            if not np.isnan(reports[t, 0]):
                loss_of_case = chosen.evaluate(reports[t], panel.outcomes[t])
                adwin.update(min(float(loss_of_case) / largest, 1.0))
                if adwin.drift_detected:
                    expected.setdefault(who, t)
    found = {}
    for alarm in alarms(trace):
        assert alarm.before < alarm.after <= largest
        found.setdefault(alarm.who, alarm.case)
    assert found == {who: expected[who] for who in found}
    assert "agent0" in found


@either
@settings(max_examples=10)
@given(panel=st.one_of(panels(cases=(2, 40)), panels(classes=3, cases=(2, 40))))
def test_any_panel_can_be_monitored(detector, panel):
    for alarm in alarms(replay("hedge", panel), detector):
        assert 0 <= alarm.case < len(panel)
        assert alarm.before < alarm.after


def test_missing_reports_are_passed_over():
    panel = _drifting_panel("sudden", 0)
    (alarm,) = alarms(panel)
    reports = np.full((2000, 5), np.nan)
    reports[::2] = panel.reports
    outcomes = np.repeat(panel.outcomes, 2)
    sparse = Panel(reports, outcomes, allow_empty_cases=True)
    (same,) = alarms(sparse)
    assert same == Alarm("agent3", 2 * alarm.case, alarm.before, alarm.after)
    pooled = [a for a in alarms(replay("static", sparse)) if a.who == "pool"]
    direct = [a for a in alarms(replay("static", panel)) if a.who == "pool"]
    assert [a.case for a in pooled] == [2 * a.case for a in direct]


def test_cases_are_counted_in_time_order():
    panel = _drifting_panel("sudden", 1)
    shuffled = np.random.default_rng(0).permutation(1000)
    dated = Panel(panel.reports[shuffled], panel.outcomes[shuffled], times=shuffled)
    assert alarms(dated) == alarms(panel)
    assert alarms(replay("static", dated)) == alarms(replay("static", panel))


def test_another_loss_than_that_of_the_learner_can_be_monitored():
    panel = _drifting_panel("sudden", 2)
    trace = replay(make("hedge", loss=Loss("log")), panel)
    agents = [alarm for alarm in alarms(trace, loss="brier") if alarm.who != "pool"]
    assert tuple(agents) == alarms(panel)
    assert alarms(trace) == alarms(trace, loss="log") != alarms(trace, loss="brier")


def test_alarms_are_sorted_by_case():
    panel = quality_panel(
        "sudden", before=[2] * 5, after=[-2, 0, -2, 0, -1], cases=1000
    )
    cases = [alarm.case for alarm in alarms(panel)]
    assert len(cases) >= 5
    assert cases == sorted(cases)


def test_settings_go_to_the_detector():
    late = alarms(_drifting_panel("sudden", 0), "page-hinkley", threshold=30.0)
    soon = alarms(_drifting_panel("sudden", 0), "page-hinkley")
    assert late[0].case > soon[0].case


def test_the_error_about_an_unknown_detector_or_setting_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'adwin'.*page-hinkley"):
        alarms(random_panel(), "adwim")
    with pytest.raises(UnknownNameError, match="no setting of adwin.*'delta'"):
        alarms(random_panel(), "adwin", dela=0.1)


def test_an_agent_called_pool_is_refused():
    panel = random_panel(agents=2)
    panel = Panel(panel.reports, panel.outcomes, agents=("pool", "ada"))
    with pytest.raises(AgentError, match="rename it"):
        alarms(replay("hedge", panel))
    assert alarms(panel) == ()


def test_without_river_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(river_detectors, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'truepool\[drift\]'"):
        alarms(random_panel())


def test_the_first_case_alone_is_never_a_rise():
    found = alarms(random_panel(1), "page-hinkley", min_instances=1, threshold=-1.0)
    assert all(alarm.case > 0 for alarm in found)
