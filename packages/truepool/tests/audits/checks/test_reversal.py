import numpy as np
import pytest
from checked import candidates, found_by, ill, of, treated
from faults import COSTS, flipped, sound, timed
from numpy.testing import assert_allclose
from panels import random_panel
from scipy.special import expit, ndtri
from simulated_faults import label_flip, sleeper

from truepool.audits import audit, kinds
from truepool.audits.checks import reversal
from truepool.audits.checks.reversal import (
    best_constant,
    doubt_labels,
    is_unrelated,
    reversed_agents,
)
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(panel, costs=COSTS):
    return found_by("reversed reports", panel, costs=costs)


def test_a_reversed_agent_is_the_only_diagnosis_and_is_reversed():
    """It is over-confident and harmful too: that is evidence."""
    panel = flipped()
    result = audit(panel, **QUICK)
    assert ill(result) == {"agent1": ("reversed", "error")}
    assert treated(result) == {("reverse", ("agent1",))}
    found = result.agents[1].finding
    assert_allclose(found.number.value, auc(panel.reports[:, 1], panel.outcomes))
    assert found.saving.low > 0
    (same,) = reversed_agents(panel)  # what other commands say
    assert (same.agent, same.area) == ("agent1", found.number.value)


def rare_panel(seed, area, cases=3000, share=0.02, agents=5):
    """Agents of one AUC (normal scores), correlated by 0.3, and rare events."""
    rng = np.random.default_rng([seed, cases])
    outcomes = (np.arange(cases) < round(share * cases)).astype(int)
    apart = np.sqrt(2) * ndtri(area) * (outcomes[:, None] - 0.5)
    shared, own = rng.normal(size=(cases, 1)), rng.normal(size=(cases, agents))
    return Panel(expit(apart + np.sqrt(0.3) * shared + np.sqrt(0.7) * own), outcomes)


def opposed(panel, agent="agent2"):
    return [(one.agent, one.cases) for one in reversed_agents(label_flip(panel, agent))]


@pytest.mark.parametrize("seed", range(20))
def test_commands_find_one_reversed_agent_where_events_are_rare(seed):
    assert opposed(rare_panel(seed, 0.75)) == [("agent2", 3000)]


def test_commands_blame_hardly_any_sound_or_uninformative_agent():
    """Each agent is tested at 0.01 / 5, on one side: at most 0.5 % of the panels."""
    for area in (0.5, 0.55, 0.7):
        for cases, share in ((200, 0.3), (500, 0.02), (3000, 0.02)):
            found = [
                bool(reversed_agents(rare_panel(seed, area, cases, share)))
                for seed in range(50)
            ]
            assert sum(found) <= 2  # P(Binomial(50, 0.005) > 2) = 0.002


def test_commands_judge_nobody_by_few_cases_few_groups_or_reports_now_and_then():
    panel = rare_panel(0, 0.95, cases=60, share=0.5)
    assert opposed(panel) == [("agent2", 60)]
    reports = panel.reports.copy()
    reports[15:45, 2] = np.nan
    few = Panel(reports, panel.outcomes)
    assert opposed(few) == [("agent2", 30)]
    reports[15, 2], reports[:2, 2] = 0.9, np.nan
    assert opposed(Panel(reports, panel.outcomes)) == []  # 29 cases
    groups = Panel(panel.reports, panel.outcomes, groups=np.arange(60) % 4)
    assert opposed(groups) == []
    values = label_flip(panel, "agent2").reports
    sparse = SparseReports.from_dense(values)
    assert reversed_agents(Panel(sparse, panel.outcomes)) == []


def test_of_many_cases_some_are_looked_at(monkeypatch):
    monkeypatch.setattr(reversal, "MOST_CASES", 500)
    assert opposed(rare_panel(0, 0.9, share=0.2)) == [("agent2", 500)]


def test_noise_is_not_reversed():
    base = sound()
    noise = np.random.default_rng(0).random((2000, 1))
    assert findings_of(Panel(np.hstack([base.reports, noise]), base.outcomes)) == []


def test_an_agent_that_spoke_once_is_not_judged():
    panel = sound(cases=100)
    reports = panel.reports.copy()
    reports[1:, 4] = np.nan
    assert findings_of(Panel(reports, panel.outcomes)) == []


def test_its_interval_is_where_resamples_of_the_area_fall():
    panel = flipped(cases=600)
    (finding,) = findings_of(panel)
    rng = np.random.default_rng(0)
    draws = [
        auc(panel.reports[rows, 1], panel.outcomes[rows])
        for rows in rng.integers(0, 600, (400, 600))
    ]
    # The error of 400 resamples at their 2.5 % points is about a tenth of the width.
    assert_allclose(
        (finding.number.low, finding.number.high),
        np.quantile(draws, (0.025, 0.975)),
        atol=0.01,
    )


def test_an_area_of_more_than_two_classes_has_no_interval():
    panel = random_panel(2, cases=400, classes=3, skill=3.0)
    outcomes = np.where(panel.outcomes == 1, 0, panel.outcomes)
    outcomes[:3] = [0, 1, 2]
    reports = panel.reports.copy()
    reports[:, 0] = reports[:, 0, ::-1]
    (finding,) = findings_of(Panel(reports, outcomes), costs=Costs())
    assert np.isnan(finding.number.low)


def turned(at, seed=0):
    """A sound panel in which agent2 reports the opposite from a share of it on."""
    return sleeper(timed(sound(seed, cases=3000)), "agent2", at=at)


@pytest.mark.parametrize(("seed", "at"), [(0, 0.3), (1, 0.3), (0, 0.6)])
def test_an_agent_that_turned_is_dated_and_its_sound_reports_are_not_reversed(seed, at):
    """Nor is it taken for another unit: half of the reports moved up, too."""
    result = audit(turned(at, seed), **QUICK)
    (own,) = [one for one in result.agents if one.severity is not None]
    assert (own.who, own.severity) == ("agent2", "error")
    assert kinds.every()[own.code].state == "reversed"
    assert abs(own.since - at * 3000) < 60
    assert treated(result) == {("leave-out", ("agent2",))}


def test_what_an_agent_that_turned_costs_is_what_leaving_it_out_since_then_saves():
    panel = turned(0.3)
    tests = candidates("reversed reports", panel)
    found = next(one for one in tests if one.since is not None)
    later = panel.reports.copy()
    later[found.since :, 2] = np.nan
    loss = Loss("cost", COSTS)
    as_is, without = (
        loss.evaluate(np.nanmean(reports, axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, later)
    )
    tested = 5 / 6  # the first sixth of the cases only teaches
    assert_allclose(found.price().value, (as_is - without) / tested)


def test_an_agent_that_was_always_reversed_has_no_date():
    (found,) = findings_of(timed(flipped()))
    assert (found.since, found.facts["form"]) == (None, "always")


# The wrong label called positive


def upside_down(cases=600, labels=("fraud", "legit")):
    """Reports are probabilities of fraud, but legit is called positive."""
    panel = sound(cases=cases)
    outcomes = np.where(panel.outcomes == 1, *labels)
    return Panel(panel.reports, outcomes, positive=labels[1])


def test_where_all_agents_are_reversed_the_labels_are_asked_about_and_nobody_blamed():
    """Nothing that depends on outcomes is shown, and nothing else is to be done."""
    result = audit(upside_down(), **QUICK)
    assert (result.outcome.code, result.outcome.severity) == (
        "reversed-labels",
        "error",
    )
    found = result.outcome.finding
    assert found.number.high < 0.5
    said = {"form": "all", "positive": "legit", "label": "fraud", "judged": 5}
    assert said.items() <= found.facts.items()
    assert ill(result) == {}
    codes = {finding.code for finding in result.findings} - {"reversed-labels"}
    assert not any(kinds.every()[code].needs_outcomes for code in codes)
    assert (result.plan.in_doubt, result.plan.pool) == (True, None)
    (step,) = result.plan.steps
    assert (step.action, step.arguments["label"]) == ("name-positive", "fraud")
    assert (result.operations, result.tradeoff) == ((), None)


def test_an_agent_is_reversed_where_events_are_rare():
    """With 2 % of events it says nearly 1 nearly always: only its ranks tell."""
    rng = np.random.default_rng(0)
    scores = rng.normal(-4.5, 1.3, 6000)
    outcomes = (rng.random(6000) < 1 / (1 + np.exp(-scores))).astype(int)
    said = scores[:, None] + rng.normal(0, [0.4, 0.6, 0.8], (6000, 3))
    reports = 1 / (1 + np.exp(-said))
    reports[:, 2] = 1 - reports[:, 2]
    (found,) = findings_of(Panel(reports, outcomes))
    assert (found.who, found.severity) == (("agent2",), "error")
    assert found.number.high < 0.4


def test_the_labels_are_asked_about_where_events_are_rare():
    """With 2 % of events a few large reports decide a test of the reports themselves."""
    rng = np.random.default_rng(0)
    fraud = rng.random(3000) < 0.02
    scores = rng.normal(0, 1.5, (3000, 5)) + 2 * fraud[:, None] - 6
    reports = 1 / (1 + np.exp(-scores))
    labels = np.where(fraud, "fraud", "ok")
    assert doubt_labels(Panel(reports, labels, positive="ok")).positive == "ok"
    assert doubt_labels(Panel(reports, labels, positive="fraud")) is None


def test_with_the_other_label_the_question_is_answered():
    panel = upside_down()
    labels = np.array(panel.labels.names)[panel.outcomes]
    answered = Panel(panel.reports, labels, positive=panel.labels.negative)
    assert doubt_labels(answered) is None
    assert findings_of(answered) == []


def test_a_dead_feed_is_still_a_dead_feed_whatever_the_labels():
    panel = upside_down()
    reports = panel.reports.copy()
    reports[400:, 2] = 0.5
    labels = np.array(panel.labels.names)[panel.outcomes]
    panel = Panel(reports, labels, positive="legit", times=np.arange(600))
    result = audit(panel, **QUICK)
    assert result.outcome.code == "reversed-labels"
    assert ill(result) == {"agent2": ("constant-feed", "error")}
    assert [step.action for step in result.plan.steps] == ["name-positive", "leave-out"]


def test_nothing_is_asked_of_three_classes():
    panel = random_panel(1, cases=400, classes=3, skill=3.0)
    reports = np.roll(panel.reports, 1, axis=2)
    turned_round = Panel(reports, panel.outcomes)
    assert doubt_labels(turned_round) is None
    assert of("reversed", findings_of(turned_round, Costs()))


def test_among_too_many_agents_their_mean_alone_decides(monkeypatch):
    panel = upside_down()
    sparse = sparse_copy(panel)
    assert doubt_labels(sparse).facts == doubt_labels(panel).facts
    monkeypatch.setattr(reversal, "DENSE_CELLS", 100)
    found = doubt_labels(sparse).facts
    assert (found["form"], found["agents"]) == ("mean", 5)


def tournament(flip, cases=400, agents=120, each=12, reversed_agents=0):
    """A long table: nobody reports on more than a few cases, all know something."""
    rng = np.random.default_rng(3)
    log_odds = rng.normal(0, 1.8, cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-log_odds))).astype(int)
    said = log_odds[:, None] + rng.normal(0, 0.8, (cases, agents))
    said[:, :reversed_agents] *= -1
    reports = 1 / (1 + np.exp(-said))
    for own in reports.T:
        own[rng.permutation(cases)[each:]] = np.nan
    asked = ~np.isnan(reports).all(axis=1)
    labels = np.array(["no", "yes"])[outcomes]
    return Panel(reports[asked], labels[asked], positive="no" if flip else "yes")


@pytest.mark.parametrize("each", [6, 12, 25])
def test_forecasters_with_few_cases_each_show_together_that_the_label_is_wrong(each):
    panel = tournament(flip=True, each=each, reversed_agents=4)
    doubt = doubt_labels(panel)
    assert (doubt.positive, doubt.other, doubt.agents) == ("no", "yes", 120)
    assert doubt_labels(tournament(flip=False, each=each, reversed_agents=4)) is None


def test_where_the_mean_of_forecasters_is_reversed_none_of_them_is_to_blame():
    result = audit(tournament(flip=True, agents=60, reversed_agents=2), resamples=20)
    assert result.outcome.code == "reversed-labels"
    assert ill(result) == {}
    assert [step.action for step in result.plan.steps] == ["name-positive"]


def test_one_of_many_forecasters_is_no_error_unless_it_costs_the_pool_something():
    many = tournament(False, cases=300, agents=55, each=120, reversed_agents=1)
    result = audit(many, resamples=20)
    found = [f for f in result.findings if f.code == "reversed"]
    assert found
    for finding in found:
        assert finding.saving.low <= 0
        assert finding.severity != "error"
    few = tournament(flip=False, agents=10, each=300, reversed_agents=1)
    result = audit(few, resamples=20)  # one of ten is not to be trusted at any price
    (finding,) = [f for f in result.findings if f.code == "reversed"]
    assert finding.severity == "error"


def test_forecasters_of_whom_half_are_reversed_are_no_reason_to_doubt_the_label():
    panel = tournament(flip=False, each=25, reversed_agents=75)
    assert doubt_labels(panel) is None


def sparse_copy(panel):
    given = SparseReports.from_dense(panel.reports)
    labels = np.array(["fraud", "legit"])[panel.outcomes]
    return Panel(given, labels, positive="legit")


# The wrong outcome column


def unrelated(cases=1500):
    """An outcome that has nothing to do with the reports."""
    panel = sound(cases=cases)
    coin = np.random.default_rng(5).random(cases) < 0.5
    return Panel(panel.reports, np.where(coin, "M", "F"), positive="M")


def test_where_no_agent_knows_the_outcome_the_audit_asks_for_the_right_column():
    panel = unrelated()
    result = audit(panel, **QUICK)
    found = result.outcome.finding
    assert (found.code, found.severity) == ("unrelated-outcome", "error")
    decision, cost = best_constant(panel, Loss("cost", COSTS))
    assert found.facts == {
        "positive": "M",
        "negative": "F",
        "decision": decision,
        "cost": 1000 * cost,
    }
    assert ill(result) == {}
    assert [step.action for step in result.plan.steps] == ["name-outcome"]
    assert (result.plan.in_doubt, result.plan.pool) == (True, None)


@pytest.mark.parametrize(
    "panel", [sound(cases=300), upside_down(), sound(cases=60), unrelated(60)]
)
def test_agents_that_know_something_or_few_cases_raise_no_doubt_of_the_outcome(panel):
    assert not is_unrelated(panel)


def test_the_best_constant_decision_costs_what_the_errors_of_one_label_cost():
    panel = unrelated()
    label, cost = best_constant(panel, Loss("cost", Costs(fn=10, fp=1)))
    assert label == "M"
    assert cost == np.mean(panel.outcomes == 0)
