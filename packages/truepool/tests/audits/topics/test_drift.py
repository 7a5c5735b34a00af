import numpy as np
import pytest
from faults import COSTS, SKILLS, drifted, sound, timed
from numpy.testing import assert_allclose
from simulated_faults import quality_panel

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.topics import drift
from truepool.measures.folds import evaluation_cases, splits
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

QUICK = {"costs": COSTS, "resamples": 50}


def codes(panel):
    return [f.code for f in audit(panel, **QUICK).findings]


def candidate_of(panel, code, agent=None):
    """The candidate of this code, of one agent if it is named."""
    evidence = Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, 0)
    return next(
        s for s in drift.check(evidence) if s.code == code and agent in (*s.who, None)
    )


def test_its_cost_is_what_silence_since_then_saves():
    panel = drifted()
    finding = candidate_of(panel, "drifted", "agent3")
    assert abs(finding.since - 1000) < 50
    assert f"from case {finding.since + 1:,} of 2,000" in finding.sentence
    before_change = panel.reports.copy()
    before_change[finding.since :, 3] = np.nan
    loss = Loss("cost", COSTS)
    tested = evaluation_cases(splits(panel.outcomes, times=panel.times))
    as_is, silenced = (
        loss.evaluate(np.nanmean(reports, axis=1)[:, None], panel.outcomes)[
            tested
        ].mean()
        for reports in (panel.reports, before_change)
    )
    assert_allclose(finding.price().value, as_is - silenced)


def test_a_rise_is_that_of_the_users_cost_beside_the_others():
    panel = drifted()
    reports = panel.reports.copy()
    reports[1000:, 3] = np.where(panel.outcomes[1000:] == 1, 0.01, 0.99)  # at its worst
    panel = Panel(reports, panel.outcomes, times=np.arange(2000))
    finding = candidate_of(panel, "drifted", "agent3")
    loss = Loss("cost", COSTS)
    cost = loss.evaluate(reports[:, :, None], panel.outcomes[:, None])
    beside = cost[:, 3] - np.delete(cost, 3, axis=1).mean(axis=1)
    rise = beside[finding.since :].mean() - beside[: finding.since].mean()
    assert abs(finding.since - 1000) < 20
    assert_allclose(finding.number.value, rise)
    assert 0 < finding.number.low < rise < finding.number.high
    assert finding.p_value < 1e-9


def test_discrimination_that_is_lost_is_found_where_decisions_do_not_change():
    # At costs that never flag a case the cost says nothing.
    panel = drifted(cases=4000)
    costs = Costs(fn=1e-3, fp=1)
    evidence = Evidence(panel, Mean(costs=costs), costs, None, 0.95, 50, 0)
    finding = next(
        s for s in drift.check(evidence) if s.code == "drifted" and "agent3" in s.who
    )
    assert finding.unit == "change in its AUC"
    assert finding.p_value < 1e-9
    assert abs(finding.since - 2000) < 100
    before, after = (
        auc(panel.reports[part, 3], panel.outcomes[part])
        for part in (slice(None, finding.since), slice(finding.since, None))
    )
    assert f"AUC {before:.2f} before, {after:.2f} since" in finding.sentence
    assert_allclose(finding.number.value, after - before)


def test_discrimination_of_many_classes_is_watched_too():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 3, 3000)
    weights = np.eye(3)[outcomes][:, None, :] + rng.exponential(size=(3000, 4, 3))
    weights[1500:, 2] = rng.permutation(weights[1500:, 2])
    reports = weights / weights.sum(axis=2, keepdims=True)
    findings = audit(
        Panel(reports, outcomes, times=np.arange(3000)), resamples=50
    ).findings
    errors = [f for f in findings if f.severity == "error" and f.since is not None]
    assert {f.who for f in errors} == {("agent2",)}
    assert all(abs(f.since - 1500) < 150 for f in errors)


def test_without_times_nobody_drifts():
    panel = drifted()
    assert "drifted" not in codes(Panel(panel.reports, panel.outcomes))


def test_harder_cases_for_all_are_the_pools_drift_and_nobodys_fault():
    later = [skill / 3 for skill in SKILLS]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=3000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    found = audit(timed(panel), **QUICK).findings
    finding = {f.code: f for f in found}
    assert finding["drifted-pool"].severity == "warning"
    assert not any(f.code == "drifted" and f.severity == "error" for f in found)


@pytest.mark.parametrize("seed", range(3))
def test_a_feed_that_dies_does_not_make_the_others_look_worse(seed):
    """Cases get harder for all, and agent 3 raised more false alarms than it does."""
    rng = np.random.default_rng(seed)
    T, at = 3_000, 2_000
    rate = np.where(np.arange(T) < at, 0.05, 0.08)
    outcomes = (rng.random(T) < rate).astype(int)
    scores = 1.5 * outcomes[:, None] + rng.normal(size=(T, 4)) - 3
    reports = 1 / (1 + np.exp(-scores))
    reports[:, 3] = rng.uniform(0, 0.5, T)
    reports[at:, 3] = 0.001
    panel = Panel(reports, outcomes, times=np.arange(T))
    p_values = [candidate_of(panel, "drifted", f"agent{i}").p_value for i in range(3)]
    assert min(p_values) > 0.001


def test_an_agent_that_gets_better_is_not_blamed_nor_are_the_others():
    later = [*SKILLS[:3], 2.5, *SKILLS[4:]]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=2000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    found = audit(timed(panel), **QUICK).findings
    assert not any(f.code == "drifted" and "agent3" in f.who for f in found)


def test_silence_in_a_stream():
    panel = sound(cases=400)
    reports = panel.reports.copy()
    reports[::3, 1:] = np.nan
    finding = audit(Panel(reports, panel.outcomes, times=np.arange(400)), **QUICK)
    assert "drifted" not in [f.code for f in finding.findings]


def test_an_agent_that_hardly_spoke_is_not_judged():
    panel = sound(cases=300)
    reports = panel.reports.copy()
    reports[20:, 4] = np.nan
    finding = audit(Panel(reports, panel.outcomes, times=np.arange(300)), **QUICK)
    assert not any(f.code == "drifted" and "agent4" in f.who for f in finding.findings)
