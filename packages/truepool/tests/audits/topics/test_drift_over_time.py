import numpy as np
import pytest
from faults import COSTS, drifted, sound, timed
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.topics import drift
from truepool.panel.panel import Panel
from truepool.render.tables.evidence import alarms

QUICK = {"costs": COSTS, "resamples": 50}


def test_without_times_there_is_no_drift_to_see():
    assert audit(sound(cases=100), **QUICK).drift is None


def test_the_figure_shows_losses_weights_and_alarms():
    panel = drifted(cases=1000)
    shown = audit(panel, **QUICK).drift
    assert set(shown.losses) == {*panel.agents, "pool"}
    assert len(shown.cases) == len(shown.losses["pool"]) == len(shown.weights) == 100
    late = shown.losses["agent3"][60:].mean()
    assert late > shown.losses["agent3"][:40].mean() + 0.05
    assert_allclose(np.mean(shown.losses["agent0"]),
                    ((panel.reports[:, 0] - panel.outcomes) ** 2).mean())  # fmt: skip
    assert shown.weights[-1][3] < shown.weights[45][3]
    assert "agent3" in {who for who, *_ in shown.alarms}
    assert all(500 < case < 1000 for who, case, *_ in shown.alarms if who == "agent3")


def test_times_in_any_order_are_put_in_order():
    panel = drifted(cases=1000)
    mixed = np.random.default_rng(0).permutation(1000)
    shuffled = Panel(panel.reports[mixed], panel.outcomes[mixed], times=mixed)
    one, two = (audit(p, **QUICK) for p in (panel, shuffled))
    assert one.findings[0].sentence == two.findings[0].sentence
    assert_allclose(one.drift.losses["agent3"], two.drift.losses["agent3"])


def test_cases_that_only_teach_leave_a_gap_in_the_pools_losses():
    shown = audit(timed(sound(cases=300)), **QUICK, pool="vcg").drift
    assert np.isnan(shown.losses["pool"][0])
    assert np.isfinite(shown.losses["pool"][-1])


def test_without_river_alarms_are_withheld(monkeypatch):
    monkeypatch.setattr(drift, "find_spec", lambda name: None)
    finding = audit(timed(sound(cases=200)), **QUICK)
    assert finding.drift.alarms == ()
    assert "river is not installed" in dict(finding.withheld)["drift alarms"]


@pytest.mark.parametrize(
    ("river", "what"), [(None, "Weight paths"), ("", "Drift alarms and weight paths")]
)
def test_what_is_from_fewer_cases_is_what_was_not_withheld(river, what, monkeypatch):
    monkeypatch.setattr(drift, "find_spec", lambda name: river)
    monkeypatch.setattr(drift, "alarms", lambda watched: ())
    monkeypatch.setattr(drift, "DRIFT_CASES", 100)
    finding = audit(timed(sound(cases=200)), **QUICK)
    assert f"{what} are from 100 cases, thinned evenly in time." in finding.sampled


def test_dates_are_told_where_the_cases_have_them():
    panel = drifted(cases=600)
    days = np.datetime64("2024-01-01") + np.arange(600)
    dated = audit(
        Panel(panel.reports, panel.outcomes, panel.agents, times=days),
        costs=COSTS, resamples=20,
    )  # fmt: skip
    assert len(dated.drift.dates) == len(dated.drift.cases)
    assert dated.drift.dates[0].startswith("2024-01")
    assert len(dated.drift.alarm_dates) == len(dated.drift.alarms)
    since = [f for f in dated.findings if f.since is not None]
    assert since
    told = {finding.key: finding.sentence for finding in dated.findings}
    for finding in since:
        assert finding.date == str(days[finding.since])
        # What follows from a broken feed has its date, which is said once.
        sentences = finding.sentence + told.get(finding.cause, "")
        assert f"({finding.date})" in sentences


def test_live_alarms_count_cases_from_1_and_name_their_ids():
    panel = drifted(cases=1000)
    mixed = np.random.default_rng(0).permutation(1000)  # rows are not in order of time
    named = Panel(
        panel.reports[mixed], panel.outcomes[mixed], panel.agents, times=mixed,
        ids=[f"p{t}" for t in mixed],
    )  # fmt: skip
    shown = audit(named, **QUICK).drift
    assert shown.alarms
    assert shown.alarm_ids == tuple(f"p{case}" for _, case, *_ in shown.alarms)
    grid = alarms(shown)
    assert grid.headers[:3] == ("who", "case", "id")
    assert [row[:3] for row in grid.rows] == [
        (who, f"{case + 1:,}", f"p{case}") for who, case, *_ in shown.alarms
    ]
