import numpy as np
import pytest
from checked import candidates, found_by, of
from faults import COSTS, SKILLS, drifted, sound, timed
from numpy.testing import assert_allclose
from simulated_faults import quality_panel

from truepool.audits import audit
from truepool.audits.diagnosis import explain_drift
from truepool.audits.findings import select_findings
from truepool.measures.folds import evaluation_cases, splits
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel


def candidate_of(panel, agent="agent3", costs=COSTS):
    tests = candidates("drift", panel, costs=costs)
    return next(one for one in tests if one.who == (agent,))


def test_its_saving_is_what_silence_since_then_saves():
    panel = drifted()
    found = candidate_of(panel)
    assert abs(found.since - 1000) < 50
    assert found.facts["from"].place == found.since
    before_change = panel.reports.copy()
    before_change[found.since :, 3] = np.nan
    loss = Loss("cost", COSTS)
    tested = evaluation_cases(splits(panel.outcomes, times=panel.times))
    as_is, silenced = (
        loss.evaluate(np.nanmean(reports, axis=1)[:, None], panel.outcomes)[
            tested
        ].mean()
        for reports in (panel.reports, before_change)
    )
    assert_allclose(found.price().value, as_is - silenced)


def test_a_rise_is_that_of_the_users_cost_beside_the_others():
    panel = drifted()
    reports = panel.reports.copy()
    reports[1000:, 3] = np.where(panel.outcomes[1000:] == 1, 0.01, 0.99)  # at its worst
    panel = Panel(reports, panel.outcomes, times=np.arange(2000))
    found = candidate_of(panel)
    loss = Loss("cost", COSTS)
    cost = loss.evaluate(reports[:, :, None], panel.outcomes[:, None])
    beside = cost[:, 3] - np.delete(cost, 3, axis=1).mean(axis=1)
    rise = 1000 * (beside[found.since :].mean() - beside[: found.since].mean())
    assert abs(found.since - 1000) < 20
    assert (found.unit, found.facts["form"]) == ("cost-rise-beside", "cost")
    assert_allclose(found.number.value, rise)
    assert 0 < found.number.low < rise < found.number.high
    assert found.p_value < 1e-9
    own = [1000 * part.mean() for part in np.split(cost[:, 3], [found.since])]
    assert_allclose([found.facts["before"], found.facts["after"]], own)


def test_discrimination_that_is_lost_is_found_where_decisions_do_not_change():
    # At costs that never flag a case the cost says nothing.
    panel = drifted(cases=4000)
    found = candidate_of(panel, costs=Costs(fn=1e-3, fp=1))
    assert (found.unit, found.facts["form"]) == ("auc-change", "area")
    assert found.p_value < 1e-9
    assert abs(found.since - 2000) < 100
    before, after = (
        auc(panel.reports[part, 3], panel.outcomes[part])
        for part in (slice(None, found.since), slice(found.since, None))
    )
    assert_allclose([found.facts["before"], found.facts["after"]], [before, after])
    assert_allclose(found.number.value, after - before)


def test_discrimination_of_many_classes_is_watched_too():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 3, 3000)
    weights = np.eye(3)[outcomes][:, None, :] + rng.exponential(size=(3000, 4, 3))
    weights[1500:, 2] = rng.permutation(weights[1500:, 2])
    reports = weights / weights.sum(axis=2, keepdims=True)
    panel = Panel(reports, outcomes, times=np.arange(3000))
    found = found_by("drift", panel, costs=Costs())
    errors = [f for f in found if f.severity == "error"]
    assert {f.who for f in errors} == {("agent2",)}
    assert all(abs(f.since - 1500) < 150 for f in errors)


def test_without_times_nobody_drifts():
    panel = drifted(cases=600)
    undated = audit(Panel(panel.reports, panel.outcomes), costs=COSTS, resamples=20)
    assert not of("drifted", undated.findings)


def test_harder_cases_for_all_are_the_pools_drift_and_nobodys_fault():
    later = [skill / 3 for skill in SKILLS]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=3000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    panel = timed(panel)
    (found,) = found_by("drift of the pool", panel)
    assert (found.code, found.severity) == ("drifted-pool", "warning")
    assert abs(found.since - 1500) < 150
    assert not [f for f in found_by("drift", panel) if f.severity == "error"]


def with_causes(panel):
    """The drift of the pool, as it is explained by what was found about agents."""
    tests = candidates("drift", panel) + candidates("drift of the pool", panel)
    (found,) = of("drifted-pool", explain_drift(select_findings(tests)))
    return found.facts["form"], found.facts["agents"]


def test_the_drift_of_the_pool_is_explained_by_who_changed_near_its_date():
    panel = drifted()
    worse = np.delete(panel.reports, [0, 4], axis=1)  # agent3 weighs more in the mean
    panel = Panel(
        worse, panel.outcomes, ("agent1", "agent2", "agent3"), times=panel.times
    )
    assert with_causes(panel) == ("agents", ("agent3",))


def test_the_drift_of_the_pool_is_unknown_where_cases_get_harder():
    later = [skill / 3 for skill in SKILLS]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=3000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    assert with_causes(timed(panel)) == ("unknown", ())


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
    p_values = [candidate_of(panel, f"agent{i}").p_value for i in range(3)]
    assert min(p_values) > 0.001


def test_an_agent_that_gets_better_is_not_blamed_nor_are_the_others():
    later = [*SKILLS[:3], 2.5, *SKILLS[4:]]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=2000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    assert found_by("drift", timed(panel)) == []


def test_silence_in_a_stream():
    panel = sound(cases=400)
    reports = panel.reports.copy()
    reports[::3, 1:] = np.nan
    panel = Panel(reports, panel.outcomes, times=np.arange(400))
    assert found_by("drift", panel) == []


def test_an_agent_that_hardly_spoke_is_not_judged():
    panel = sound(cases=300)
    reports = panel.reports.copy()
    reports[20:, 4] = np.nan
    panel = Panel(reports, panel.outcomes, times=np.arange(300))
    assert ("agent4",) not in [one.who for one in candidates("drift", panel)]
