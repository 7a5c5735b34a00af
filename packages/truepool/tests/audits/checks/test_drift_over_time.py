import numpy as np
from checked import evidence_of
from faults import COSTS, drifted, sound, timed
from numpy.testing import assert_allclose

from truepool.audits import Note, audit
from truepool.audits.checks import drift
from truepool.audits.checks.drift import drift_over_time
from truepool.panel.panel import Panel


def shown_of(panel, **settings):
    return drift_over_time(evidence_of(panel, **settings))


def test_without_times_there_is_no_drift_to_see():
    assert shown_of(sound(cases=100)) is None


def test_the_figure_shows_losses_weights_and_alarms():
    panel = drifted(cases=1000)
    shown = shown_of(panel)
    assert set(shown.losses) == {*panel.agents, "pool"}
    assert len(shown.cases) == len(shown.losses["pool"]) == len(shown.weights) == 100
    late = shown.losses["agent3"][60:].mean()
    assert late > shown.losses["agent3"][:40].mean() + 0.05
    brier = ((panel.reports[:, 0] - panel.outcomes) ** 2).mean()
    assert_allclose(np.mean(shown.losses["agent0"]), brier)
    assert shown.weights[-1][3] < shown.weights[45][3]
    assert "agent3" in {who for who, *_ in shown.alarms}
    assert all(500 < case < 1000 for who, case, *_ in shown.alarms if who == "agent3")


def test_times_in_any_order_are_put_in_order():
    panel = drifted(cases=1000)
    mixed = np.random.default_rng(0).permutation(1000)
    shuffled = Panel(
        panel.reports[mixed], panel.outcomes[mixed], times=mixed,
        ids=[f"p{t}" for t in mixed],
    )  # fmt: skip
    one, two = (audit(p, costs=COSTS, resamples=20) for p in (panel, shuffled))
    assert [(a.code, a.since) for a in one.agents] == [
        (a.code, a.since) for a in two.agents
    ]
    assert_allclose(one.drift.losses["agent3"], two.drift.losses["agent3"])
    assert two.drift.alarm_ids == tuple(f"p{case}" for _, case, *_ in one.drift.alarms)


def test_cases_that_only_teach_leave_a_gap_in_the_pools_losses():
    shown = shown_of(timed(sound(cases=300)), pool="vcg")
    assert np.isnan(shown.losses["pool"][0])
    assert np.isfinite(shown.losses["pool"][-1])


def test_without_river_there_are_no_alarms_and_a_note(monkeypatch):
    monkeypatch.setattr(drift, "find_spec", lambda name: None)
    evidence = evidence_of(timed(sound(cases=200)))
    assert drift_over_time(evidence).alarms == ()
    assert evidence.sampling.notes == [Note("no-river")]


def test_many_cases_are_thinned_and_that_is_noted(monkeypatch):
    monkeypatch.setattr(drift, "alarms", lambda watched: ())
    monkeypatch.setattr(drift, "DRIFT_CASES", 100)
    evidence = evidence_of(timed(sound(cases=200)))
    drift_over_time(evidence)
    assert evidence.sampling.notes == [Note("thinned-in-time", {"cases": 100})]


def test_findings_and_figures_have_dates_where_the_cases_have_them():
    panel = drifted(cases=600)
    days = np.datetime64("2024-01-01") + np.arange(600)
    dated = Panel(panel.reports, panel.outcomes, panel.agents, times=days)
    result = audit(dated, costs=COSTS, resamples=20)
    shown = result.drift
    assert len(shown.dates) == len(shown.cases)
    assert shown.dates[0].startswith("2024-01")
    assert len(shown.alarm_dates) == len(shown.alarms)
    since = [f for f in result.findings if f.since is not None]
    assert since
    assert [f.date for f in since] == [str(days[f.since]) for f in since]
