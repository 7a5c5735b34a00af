"""Outcomes that are missing mostly in cases of one decision."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checked import candidates, evidence_of, found_by, ill, of
from faults import COSTS, sound
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from truepool.audits import Note, audit
from truepool.audits.checks import selective_labels
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.tables import Declared, load_panel

QUICK = {"costs": COSTS, "resamples": 50}
PANEL = sound(0, cases=900)
ALARMS = PANEL.reports.mean(axis=1) > COSTS.threshold


MISCALIBRATED = {"biased", "over-confident", "under-confident", "needs-recalibration"}


def selected(chance_no, chance_yes=1.0, seed=0, **more):
    """The panel with an outcome only where a case was reviewed."""
    chance = np.where(ALARMS, chance_yes, chance_no)
    known = np.random.default_rng(seed).random(900) < chance
    panel = Panel(PANEL.reports[known], PANEL.outcomes[known], **more)
    return panel.with_pending(PANEL.reports[~known]), chance[known]


def finding_of(panel, **settings):
    found = found_by("selective labels", panel, **settings)
    return found[0] if found else None


TRUE_RECALL = (ALARMS & (PANEL.outcomes == 1)).sum() / (PANEL.outcomes == 1).sum()


def shares(panel):
    """Shares of missing outcomes where the mean decides negative, and positive."""
    pooled = np.concatenate([panel.reports, panel.pending.reports]).mean(axis=1)
    missing = np.arange(len(pooled)) >= len(panel)
    alarms = pooled > COSTS.threshold
    return [missing[~alarms].mean(), missing[alarms].mean()]


def test_outcomes_missing_where_the_pool_says_no_are_a_warning():
    panel, _ = selected(0.3)
    found = finding_of(panel)
    assert (found.severity, found.facts["form"]) == ("warning", "recall")
    assert_allclose([found.facts["no"], found.facts["yes"]], shares(panel))
    assert_allclose(found.number.value, found.facts["no"])
    assert found.facts["recall"] > TRUE_RECALL
    assert found.facts["recall_of_all"] == pytest.approx(TRUE_RECALL, abs=0.02)


def test_outcomes_known_more_often_where_the_pool_says_yes_are_a_warning():
    """Nine in ten and six in ten are missing: known four times as often."""
    finding = finding_of(selected(0.1, 0.4)[0])
    assert finding.severity == "warning"
    assert finding_of(selected(0.6, 0.85)[0]).severity == "warning"  # 40 % and 15 %
    assert finding_of(selected(0.42, 0.6)[0]).severity == "note"


def reviewed(seed=0, cases=4000, too_high=0.0):
    """Three calibrated agents; the cases that they find likely are mostly reviewed.

    Each sees its own independent part of the log-odds.
    """
    rng = np.random.default_rng(seed)
    seen = rng.normal(0, 1.2, (cases, 3))
    chance = 1 / (1 + np.exp(2.5 - seen.sum(axis=1)))
    outcomes = (rng.random(cases) < chance).astype(int)
    reports = np.column_stack(
        [calibrated(seen[:, i], seen, rng) for i in range(seen.shape[1])]
    )
    reports[:, 0] += too_high
    likely = reports.mean(axis=1) > COSTS.threshold
    propensity = np.where(likely, 0.9, 0.1)
    known = rng.random(cases) < propensity
    return reports, outcomes, propensity, known


def calibrated(own, seen, rng):
    """Chance of the event for one who sees its own part, by Monte Carlo."""
    rest = rng.normal(0, 1.2, (4000, seen.shape[1] - 1)).sum(axis=1)
    grid = np.linspace(own.min(), own.max(), 200)
    chance = (1 / (1 + np.exp(2.5 - grid[:, None] - rest))).mean(axis=1)
    return np.interp(own, grid, chance)


def test_calibrated_agents_are_not_blamed_for_which_cases_have_an_outcome():
    reports, outcomes, propensity, known = reviewed()
    panel = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    result = audit(panel, **QUICK)
    assert (result.outcome.code, result.outcome.severity) == (
        "selective-labels",
        "warning",
    )
    blamed = [f for f in result.findings if f.code in MISCALIBRATED]
    assert {f.severity for f in blamed} == {"note"}
    assert len(blamed) == 3
    assert ill(result) == {}
    assert result.plan.steps[0].action == "give-propensity"
    weighted = Panel(
        reports[known], outcomes[known], propensity=propensity[known]
    ).with_pending(reports[~known])
    assert not [f for f in audit(weighted, **QUICK).findings if f.code in MISCALIBRATED]


def test_an_agent_that_reports_too_high_is_not_excused_by_which_cases_have_an_outcome():
    """Those that are reviewed are likelier, so that sound reports seem too low."""
    reports, outcomes, _, known = reviewed(too_high=0.15)
    panel = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    result = audit(panel, **QUICK)
    assert result.outcome.code == "selective-labels"
    assert ill(result).keys() == {"agent0"}
    (high,) = of("biased", result.findings)
    assert (high.who, high.severity != "note") == (("agent0",), True)
    assert high.number.low > 0


def test_outcomes_missing_at_random_are_not_mentioned():
    assert finding_of(selected(0.5, 0.5)[0]) is None


def test_outcomes_missing_where_the_pool_says_yes_are_a_warning():
    """Those who are turned away never show what would have become of them."""
    panel, _ = selected(1.0, 0.3)
    found = finding_of(panel)
    assert found.severity == "warning"
    assert_allclose([found.facts["no"], found.facts["yes"]], shares(panel))
    assert found.facts["recall"] < TRUE_RECALL
    assert found.facts["recall_of_all"] == pytest.approx(TRUE_RECALL, abs=0.02)


def test_either_direction_is_found_by_chance_as_often_as_its_level_says():
    """Of 400 panels with outcomes missing at random, about 5 % have p < 0.05."""
    p_values = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        missing = rng.multivariate_hypergeometric([300, 80], 60)
        counts = np.stack([np.array([300, 80]) - missing, missing])
        p_values.append(selective_labels._p_value(counts))
    share = np.mean(np.array(p_values) < 0.05)
    assert 0.01 < share < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_agents_are_not_blamed_for_rejected_cases_without_an_outcome():
    reports, outcomes, propensity, known = reviewed()
    turned = np.where(propensity > 0.5, 0.1, 1.0)  # mostly the likely ones are missing
    known = np.random.default_rng(1).random(len(turned)) < turned
    panel = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    result = audit(panel, **QUICK)
    assert result.outcome.finding.number.value < 0
    blamed = [f for f in result.findings if f.code in MISCALIBRATED]
    assert {f.severity for f in blamed} == {"note"}
    low = np.clip(reports - 0.2 * (reports > 0.25), 0.001, 1)
    panel = Panel(low[known], outcomes[known]).with_pending(low[~known])
    low = [f for f in audit(panel, **QUICK).findings if f.code == "biased"]
    assert {f.number.value < 0 for f in low if f.severity != "note"} <= {True}


def test_the_newest_cases_wait_for_their_outcome_whatever_was_decided():
    """A wave of alarms at the end, none of which is settled, selects nothing."""
    times = np.arange(900)
    order = np.argsort(ALARMS, kind="stable")  # all alarms come last
    known = times < 500
    reports, outcomes = PANEL.reports[order], PANEL.outcomes[order]
    panel = Panel(reports[known], outcomes[known], times=times[known])
    panel = panel.with_pending(reports[~known], times=times[~known])
    assert finding_of(panel) is None
    untimed = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    assert finding_of(untimed).severity == "warning"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_classes_are_named_by_decision_in_whatever_order_they_stand(order):
    rng = np.random.default_rng(7)
    names = np.array(["low", "mid", "high"])
    reports = rng.dirichlet([1, 1, 1], (1500, 3))
    truth = reports.mean(axis=1)
    outcomes = names[[rng.choice(3, p=p) for p in truth]]
    decided = truth.argmax(axis=1)
    known = rng.random(1500) < np.array([0.2, 0.8, 0.8])[decided]
    place = list(order)
    columns = {
        f"{agent}:{names[k]}": reports[:, i, k]
        for i, agent in enumerate("abc")
        for k in place
    }
    table = pd.DataFrame(columns).assign(y=np.where(known, outcomes, None))
    panel, _ = load_panel(table, Declared())
    found = finding_of(panel, costs=Costs())
    assert (found.severity, found.facts["form"]) == ("warning", "many")
    missing = np.array([(~known)[decided == k].mean() for k in range(3)])
    least = names[missing.argmin()]
    assert (found.facts["most"], found.facts["least"]) == ("low", least)
    assert_allclose(
        [found.facts["high"], found.facts["low"]], [missing[0], missing.min()]
    )


def test_calibrated_agents_of_three_classes_are_not_blamed_for_the_selection():
    """Outcomes are missing where the pool says 0, so that agents seem to favour it."""
    rng = np.random.default_rng(2)
    cases, every = 5000, 60_000
    score = rng.normal([1.4, 0, -0.4], 1.3, (every, 3))
    chance = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    outcomes = (chance.cumsum(axis=1) < rng.random((every, 1))).sum(axis=1)
    agents = []
    for noise in (0.6, 0.9, 1.2, 1.0):
        own = score + rng.normal(0, noise, score.shape)
        model = LogisticRegression().fit(own[cases:], outcomes[cases:])
        agents.append(model.predict_proba(own[:cases]))
    reports, outcomes = np.stack(agents, axis=1), outcomes[:cases]
    known = rng.random(cases) < np.where(reports.mean(axis=1)[:, 0] > 0.5, 0.1, 0.85)
    panel = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    result = audit(panel, resamples=50)
    assert result.outcome.code == "selective-labels"
    blamed = of("biased", result.findings)
    assert {(f.severity, f.facts["name"]) for f in blamed} == {("note", "0")}
    assert ill(result) == {}


def test_a_panel_with_all_outcomes_is_not_asked():
    assert finding_of(PANEL) is None
    empty = PANEL.with_pending(np.full((3, len(PANEL.agents)), np.nan))
    assert finding_of(empty) is None


def test_propensities_account_for_the_review():
    panel, chance = selected(0.3)
    weighted = Panel(panel.reports, panel.outcomes, propensity=chance)
    weighted = weighted.with_pending(panel.pending.reports)
    assert finding_of(weighted) is None
    result = audit(weighted, **QUICK)
    assert Note("by-propensity") in result.notes
    whole, naive = (
        Loss("cost", COSTS).evaluate(p.reports.mean(axis=1)[:, None], p.outcomes).mean()
        for p in (PANEL, panel)
    )
    cost = result.operations[0].cost.value / 1000
    assert abs(cost - whole) < abs(naive - whole)


def amounts_panel(seed=1, cases=1200):
    """Cases with an amount each, 20 a day, of which the alarms are mostly reviewed."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 4.0, cases)
    reports = np.clip(p[:, None] + rng.normal(0, 0.05, (cases, 3)), 0.01, 0.99)
    outcomes = (rng.random(cases) < p).astype(int)
    amounts = rng.gamma(0.5, 40.0, cases)
    days = np.arange(cases) // 20
    alarms = reports.mean(axis=1) > 5 / (5 + amounts)
    known = rng.random(cases) < np.where(alarms, 0.9, 0.3)
    panel = Panel(
        reports[known],
        outcomes[known],
        times=days[known],
        columns={"amount": amounts[known]},
    ).with_pending(
        reports[~known],
        times=days[~known],
        position=np.cumsum(known)[~known],
        columns={"amount": amounts[~known]},
    )
    return panel, alarms, known, outcomes, days


def test_costs_per_case_decide_each_case_as_the_pool_does():
    """Counted by hand, in the days that are tested and case by case."""
    panel, alarms, known, outcomes, days = amounts_panel()
    costs = Costs(fn="amount", fp=5)
    (found,) = candidates("selective labels", panel, costs=costs)
    tested = days >= panel.times[evidence_of(panel, costs=costs).cases].min()
    assert tested.sum() < len(days)  # the first days are only learned from
    no, yes = ((~known)[tested & part].mean() for part in (~alarms, alarms))
    fraud = known & tested & (outcomes == 1)
    hits, misses = (fraud & alarms).sum(), (fraud & ~alarms).sum()
    caught, lost = hits / (1 - yes), misses / (1 - no)
    assert_allclose(
        [found.facts[name] for name in ("no", "yes", "recall", "recall_of_all")],
        [no, yes, hits / (hits + misses), caught / (caught + lost)],
    )


def test_its_recall_is_that_of_the_capacity_finding():
    """Cases with and without an outcome compete for 40 reviews."""
    panel, *_ = amounts_panel()
    result = audit(panel, costs=Costs(fn="amount", fp=5), capacity="40", resamples=50)
    assert result.capacity.decided < result.capacity.wanted
    found = result.outcome.finding
    assert found.code == "selective-labels"
    assert_allclose(found.facts["recall"], result.capacity.recall.value)


def test_without_the_costs_of_pending_cases_nothing_is_said():
    panel, _ = selected(0.3)
    amounts = np.random.default_rng(1).gamma(2.0, 5.0, len(panel))
    panel, costs = Costs(fn=amounts, fp=1).attach(panel)
    evidence = evidence_of(panel, costs=costs)
    assert list(selective_labels.check(evidence)) == []
    (note,) = evidence.sampling.notes
    assert (note.code, note.facts["column"]) == (
        "pending-without-cost",
        costs.columns[0],
    )


def test_where_hardly_anything_is_decided_positive_the_likeliest_cases_are_looked_at():
    """As with the default costs and rare events."""
    panel = selected(0.3)[0]
    found = finding_of(panel, threshold=1.0)
    assert (found.severity, found.facts["form"]) == ("warning", "likely")
    pooled = np.concatenate([panel.reports, panel.pending.reports]).mean(axis=1)
    gone = np.arange(len(pooled)) >= len(panel)
    top = pooled > np.quantile(pooled, 0.9)
    expected = [gone[~top].mean(), gone[top].mean()]
    assert_allclose([found.facts["no"], found.facts["yes"]], expected)
    assert finding_of(selected(0.5, 0.5)[0], threshold=1.0) is None


def test_thirty_positive_decisions_are_enough_to_look_at():
    panel = selected(0.3)[0]
    pooled = np.concatenate([panel.reports, panel.pending.reports]).mean(axis=1)
    for count, form in ((29, "likely"), (30, "recall")):
        line = float(np.sort(pooled)[-count - 1 : len(pooled) - count + 1].mean())
        assert (pooled > line).sum() == count
        assert finding_of(panel, threshold=line).facts["form"] == form


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parents[5] / "scripts" / "measure_propensity_coverage.py"
    spec = importlib.util.spec_from_file_location("measure_propensity_coverage", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_intervals_of_a_comparison_by_propensity_hold_the_true_cost(script):
    """40 runs: the noise of a share of 95 % is 3.4 %, three of it are allowed."""
    truth = script.true_cost(200_000)
    found = [script.estimates(seed, 1_500, resamples=100) for seed in range(40)]
    held = np.array([[e.low <= truth <= e.high for e in pair] for pair in found])
    weighted, plain = held.mean(axis=0)
    assert weighted > 0.95 - 0.1
    assert plain < weighted - 0.1
