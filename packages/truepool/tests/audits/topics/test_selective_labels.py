"""Outcomes that are missing mostly in cases of one decision."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from faults import COSTS, sound
from sklearn.linear_model import LogisticRegression

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.findings import select_findings
from truepool.audits.topics import selective_labels
from truepool.core.formatting import percent
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.tables import Declared, load_panel

QUICK = {"costs": COSTS, "resamples": 50}
PANEL = sound(0, cases=900)
ALARMS = PANEL.reports.mean(axis=1) > COSTS.threshold


def selected(chance_no, chance_yes=1.0, seed=0, **more):
    """The panel with an outcome only where a case was reviewed."""
    chance = np.where(ALARMS, chance_yes, chance_no)
    known = np.random.default_rng(seed).random(900) < chance
    panel = Panel(PANEL.reports[known], PANEL.outcomes[known], **more)
    return panel.with_pending(PANEL.reports[~known]), chance[known]


def finding_of(panel, costs=COSTS, threshold=None):
    panel, costs = costs.attach(panel)
    pool = Mean(costs=costs, threshold=threshold)
    evidence = Evidence(panel, pool, costs, threshold, 0.95, 50, 0)
    found = select_findings(list(selective_labels.check(evidence)))
    return found[0] if found else None


def recalls(finding):
    """The true recall, that of the cases with an outcome, and that said of all."""
    known = PANEL.outcomes == 1
    truth = (known & ALARMS).sum() / known.sum()
    said = [float(w) for w in finding.sentence.split() if w.replace(".", "").isdigit()]
    return truth, *said[2:4]


def test_outcomes_missing_where_the_pool_says_no_are_a_warning():
    finding = finding_of(selected(0.3)[0])
    assert finding.severity == "warning"
    assert "and in 0.0 % of those it decides positive" in finding.sentence
    assert "--explore" in finding.advice
    assert "--set propensity=" in finding.advice
    truth, there, everywhere = recalls(finding)
    assert there / 100 > truth
    assert everywhere / 100 == pytest.approx(truth, abs=0.02)


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
    codes = {"biased", "over-confident", "under-confident", "needs-recalibration"}
    panel = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    result = audit(panel, **QUICK)
    (cause,) = [f for f in result.findings if f.code == "selective-labels"]
    assert cause.severity == "warning"
    assert "`--set propensity=COLUMN`" in cause.advice
    blamed = [f for f in result.findings if f.code in codes]
    assert len(blamed) == 3
    for finding in blamed:
        assert (finding.severity, finding.cause) == ("note", cause.key)
        assert "This is doubtful" in finding.sentence
        assert finding.advice == cause.advice
    under = dict(result.groups)[cause]
    assert set(blamed) <= set(under)
    assert "`--set propensity=COLUMN`" in result.advice
    assert "recalibrate" not in result.advice
    weighted = Panel(
        reports[known], outcomes[known], propensity=propensity[known]
    ).with_pending(reports[~known])
    assert not [f for f in audit(weighted, **QUICK).findings if f.code in codes]


def test_an_agent_that_reports_too_high_is_not_excused_by_which_cases_have_an_outcome():
    reports, outcomes, _, known = reviewed(too_high=0.15)
    panel = Panel(reports[known], outcomes[known]).with_pending(reports[~known])
    found = audit(panel, **QUICK).findings
    assert "selective-labels" in {f.code for f in found}
    (high,) = [f for f in found if f.key == ("biased", "agent0")]
    assert high.cause == ()
    assert "doubtful" not in high.sentence


def test_outcomes_missing_at_random_are_not_mentioned():
    assert finding_of(selected(0.5, 0.5)[0]) is None


def test_outcomes_missing_where_the_pool_says_yes_are_a_warning():
    """Those who are turned away never show what would have become of them."""
    finding = finding_of(selected(1.0, 0.3)[0])
    assert finding.severity == "warning"
    assert "missing in 0.0 % of the cases that the pool decides neg" in finding.sentence
    assert "let some of them through at random" in finding.advice
    truth, there, everywhere = recalls(finding)
    assert there / 100 < truth
    assert everywhere / 100 == pytest.approx(truth, abs=0.02)


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
    (cause,) = [f for f in result.findings if f.code == "selective-labels"]
    assert cause.number.value < 0
    codes = {"biased", "over-confident", "under-confident", "needs-recalibration"}
    blamed = [f for f in result.findings if f.code in codes]
    assert blamed
    for finding in blamed:
        assert (finding.severity, finding.cause) == ("note", cause.key)
        assert "This is doubtful" in finding.sentence
    low = np.clip(reports - 0.2 * (reports > 0.25), 0.001, 1)
    panel = Panel(low[known], outcomes[known]).with_pending(low[~known])
    for finding in audit(panel, **QUICK).findings:
        if finding.code == "biased" and finding.number.value < 0:
            assert finding.cause != cause.key


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
    finding = finding_of(panel, costs=Costs())
    assert finding.severity == "warning"
    missing = [percent(float((~known)[decided == k].mean())) for k in range(3)]
    least = names[1:][np.argmin([(~known)[decided == k].mean() for k in (1, 2)])]
    assert f"missing in {missing[0]} of the cases that the pool decides low" in (
        finding.sentence
    )
    assert f"of those it decides {least}." in finding.sentence
    assert "recall" not in finding.sentence


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
    (cause,) = [f for f in result.findings if f.code == "selective-labels"]
    blamed = [f for f in result.findings if f.code == "biased"]
    assert blamed
    for finding in blamed:
        assert "is biased towards 0" in finding.sentence
        assert finding.number.value > 0
        assert (finding.severity, finding.cause) == ("note", cause.key)
    assert "recalibrate" not in result.verdict + result.advice


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
    assert any("over its propensity" in note for note in result.sampled)
    whole, naive = (
        Loss("cost", COSTS).evaluate(p.reports.mean(axis=1)[:, None], p.outcomes).mean()
        for p in (PANEL, panel)
    )
    assert abs(result.recommendation.cost_in_use - whole) < abs(naive - whole)


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
    evidence = Evidence(panel, Mean(costs=costs), costs, None, 0.95, 50, 0)
    (candidate,) = selective_labels.check(evidence)
    tested = days >= panel.times[evidence.cases].min()
    assert tested.sum() < len(days)  # the first days are only learned from
    no, yes = ((~known)[tested & part].mean() for part in (~alarms, alarms))
    fraud = known & tested & (outcomes == 1)
    hits, misses = (fraud & alarms).sum(), (fraud & ~alarms).sum()
    found, lost = hits / (1 - yes), misses / (1 - no)
    assert f"missing in {percent(no)} of" in candidate.sentence
    assert f"and in {percent(yes)} of" in candidate.sentence
    assert f"recall there is {percent(hits / (hits + misses))}" in candidate.sentence
    assert f"would be {percent(found / (found + lost))}" in candidate.sentence


def test_its_recall_is_that_of_the_capacity_finding():
    """Cases with and without an outcome compete for 40 reviews."""
    panel, *_ = amounts_panel()
    result = audit(panel, costs=Costs(fn="amount", fp=5), capacity="40", resamples=50)
    assert result.capacity.decided < result.capacity.wanted
    (finding,) = [f for f in result.findings if f.code == "selective-labels"]
    assert f"recall there is {percent(result.capacity.recall.value)}" in (
        finding.sentence
    )


def test_without_the_costs_of_pending_cases_nothing_is_said():
    panel, _ = selected(0.3)
    amounts = np.random.default_rng(1).gamma(2.0, 5.0, len(panel))
    assert finding_of(panel, costs=Costs(fn=amounts, fp=1)) is None
    result = audit(panel, costs=Costs(fn=amounts, fp=1), resamples=50)
    assert "selective labels" in [what for what, _ in result.withheld]


def test_where_hardly_anything_is_decided_positive_the_likeliest_cases_are_looked_at():
    """As with the default costs and rare events."""
    panel = selected(0.3)[0]
    finding = finding_of(panel, threshold=1.0)
    assert finding.severity == "warning"
    pooled = np.concatenate([panel.reports, panel.pending.reports]).mean(axis=1)
    gone = np.arange(len(pooled)) >= len(panel)
    top = pooled > np.quantile(pooled, 0.9)
    assert finding.sentence == (
        f"Outcomes are missing in {percent(gone[~top].mean())} of the cases that the "
        "pool finds less likely to be positive and in "
        f"{percent(gone[top].mean())} of the tenth that it finds most likely to be. "
        "Costs, calibration and comparisons are those of cases with an outcome."
    )
    assert finding_of(selected(0.5, 0.5)[0], threshold=1.0) is None


def test_thirty_positive_decisions_are_enough_to_look_at():
    panel = selected(0.3)[0]
    pooled = np.concatenate([panel.reports, panel.pending.reports]).mean(axis=1)
    for count, words in ((29, "tenth"), (30, "it decides positive")):
        line = float(np.sort(pooled)[-count - 1 : len(pooled) - count + 1].mean())
        assert (pooled > line).sum() == count
        assert words in finding_of(panel, threshold=line).sentence


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


def test_deciding_the_same_in_every_case_is_doubtful_where_yes_was_never_settled():
    panel, _ = selected(1.0, 0.1)
    result = audit(panel, costs=Costs(fn=1, fp=9), resamples=50)
    assert result.recommendation.constant_saving.low <= 0
    (step,) = [s for s in result.steps if "in every case would cost" in s]
    assert "This is doubtful: it may come from which cases have an outcome" in step
    assert "Check whether these costs are yours" not in step
