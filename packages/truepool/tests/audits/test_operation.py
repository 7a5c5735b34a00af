"""What deciding by a pool means in operation, against counts made by hand."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from scipy.special import expit

from truepool.audits import audit
from truepool.audits.evidence import Evidence, cases_per_month
from truepool.audits.operation import operations
from truepool.audits.plan import Treated
from truepool.audits.values import Plan
from truepool.measures.folds import evaluation_cases, out_of_fold, panel_splits
from truepool.measures.inference import share_interval
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt

SHARES = ("alerts", "precision", "recall", "recall_of_money", "false_alarms")
NO_COSTS = Costs()
SETTINGS = {
    "equal costs": Costs(fn=8, fp=1),
    "amounts": Costs(fn="amount", fp=20),
    "amounts less what is saved": Costs(fn="amount", fp=20, tp="saved", tn=1),
}


def payments(seed=0, cases=700, days=40, rate=0.2, **more):
    """Cases on some of the days, with amounts; on most weekends there are none."""
    rng = np.random.default_rng(seed)
    outcomes = (rng.random(cases) < rate).astype(int)
    odds = np.log(rate / (1 - rate)) + rng.normal(0, 1.2, (cases, 4))
    reports = expit(odds + 1.6 * outcomes[:, None] - 0.5)
    day = rng.choice(np.flatnonzero(np.arange(days) % 7 < 5), cases)
    seconds = rng.integers(0, 86_400, cases).astype("timedelta64[s]")
    times = np.datetime64("2026-03-02") + day.astype("timedelta64[D]") + seconds
    amount = rng.lognormal(4, 1, cases).round(2)
    columns = {"amount": amount, "saved": 0.1 * amount}
    return Panel(reports, outcomes, times=times, columns=columns, **more)


def by_hand(panel, costs, pool="mean"):
    """Cases that a pool is tested on, and which of them it decides positive."""
    pairs, p = panel_splits(panel, 5, 0), panel.reports.mean(axis=1)
    cases = evaluation_cases(pairs)
    if pool == "platt":
        p = out_of_fold(Platt(costs=costs), panel, pairs)[:, 0]
    line = np.broadcast_to(costs.resolve(panel.columns).threshold, len(panel))
    return cases, (p > line)[cases]


def money(panel, costs, cases):
    """Cost of a miss, a false alarm, a hit and a right negative in each case."""
    return (
        np.array([panel.columns[value][t] if isinstance(value, str) else value for t in cases])
        for value in (costs.fn, costs.fp, costs.tp, costs.tn)
    )  # fmt: skip


def evidence_of(panel, costs=NO_COSTS, threshold=None, pool=None, resamples=30):
    """What an audit of the mean, or of another pool in use, would start from."""
    pool = Mean(costs=costs, threshold=threshold) if pool is None else pool
    return Evidence(panel, pool, costs, threshold, 0.95, resamples, 0)


def operate(evidence, pools):
    """The operations of these pools, the one in use among them or not."""
    other = next((pool for pool in pools if pool != evidence.in_use), None)
    plan = Plan("yes", (), evidence.in_use, other)
    found = operations(evidence, Treated((), evidence), plan)
    return [one for one in found if one.pool in pools]


@pytest.fixture(scope="module", params=SETTINGS)
def case(request):
    panel, costs = payments(), SETTINGS[request.param]
    return panel, costs, evidence_of(panel, costs, resamples=200)


@pytest.mark.parametrize("pool", ["mean", "platt"])
def test_every_number_is_the_count_of_the_tested_cases(case, pool):
    panel, costs, evidence = case
    (found,) = operate(evidence, [pool])
    cases, alert = by_hand(panel, costs, pool)
    positive = panel.outcomes[cases] == 1
    fn, fp, tp, tn = money(panel, costs, cases)
    hit, miss, false = positive & alert, positive & ~alert, ~positive & alert
    assert (found.pool, found.cases) == (pool, len(cases))
    assert_allclose(found.alerts.value, alert.mean())
    assert_allclose(found.precision.value, hit.sum() / alert.sum())
    assert_allclose(found.recall.value, hit.sum() / positive.sum())
    assert_allclose(found.false_alarms.value, false.sum() / (~positive).sum())
    cost = miss @ fn + false @ fp + hit @ tp + (~positive & ~alert) @ tn
    assert_allclose(found.cost.value, 1000 * cost / len(cases))
    if costs.constant:
        assert found.recall_of_money is None
    else:
        stakes = np.abs(fn - tp)
        assert_allclose(found.recall_of_money.value, hit @ stakes / (positive @ stakes))


@pytest.mark.parametrize("pool", ["mean", "platt"])
def test_alerts_per_day_count_days_without_any(case, pool):
    panel, costs, evidence = case
    (found,) = operate(evidence, [pool])
    cases, alert = by_hand(panel, costs, pool)
    days = panel.times[cases].astype("datetime64[D]")
    counts = Counter(days[alert].tolist())
    every = np.arange(days.min(), days.max() + 1)
    assert len(every) > len(set(days.tolist()))  # days without a case
    mean = sum(counts[day] for day in every.tolist()) / len(every)
    assert_allclose(found.alerts_per_day.value, mean)


def test_cost_per_month_is_that_of_all_cases_of_a_month(case):
    panel, _, evidence = case
    seconds = (panel.times.max() - panel.times.min()).astype(int)
    per_month = len(panel) / seconds * 86_400 * 365.25 / 12
    assert_allclose(cases_per_month(evidence), per_month)
    (found,) = operate(evidence, ["mean"])
    for end in ("value", "low", "high"):
        expected = per_month / 1000 * getattr(found.cost, end)
        assert_allclose(getattr(found.cost_per_month, end), expected)


def test_cases_without_an_outcome_are_cases_of_the_month():
    panel = payments()
    later = panel.times.max() + np.arange(1, 301) * np.timedelta64(1, "h")
    waiting = panel.with_pending(
        panel.reports[:300], times=later, columns={"amount": np.ones(300), "saved": np.ones(300)}
    )  # fmt: skip
    evidence = evidence_of(waiting)
    seconds = (later.max() - panel.times.min()).astype(int)
    expected = 1000 / seconds * 86_400 * 365.25 / 12
    assert_allclose(cases_per_month(evidence), expected)


def test_intervals_hold_what_they_are_about(case):
    _, _, evidence = case
    for found in operate(evidence, ["mean", "platt"]):
        for name in (*SHARES, "alerts_per_day", "cost", "cost_per_month"):
            one = getattr(found, name)
            if one is not None:
                assert one.low <= one.value <= one.high
                assert one.low < one.high
            if one is not None and name in SHARES:
                assert 0 <= one.low <= one.high <= 1


def test_weights_count_like_repeated_cases():
    counts = np.random.default_rng(3).integers(1, 4, 700)
    panel, costs = payments(weights=counts.astype(float)), Costs(fn=8)
    evidence = evidence_of(panel, costs)
    (found,) = operate(evidence, ["mean"])
    cases, alert = by_hand(panel, costs)
    w, positive = counts[cases], panel.outcomes[cases] == 1
    assert_allclose(found.alerts.value, w @ alert / w.sum())
    assert_allclose(found.recall.value, w @ (alert & positive) / (w @ positive))
    days = np.ptp(panel.times[cases].astype("datetime64[D]").astype(int)) + 1
    assert_allclose(found.alerts_per_day.value, w @ alert / days)


def test_a_pool_that_finds_every_positive_may_miss_the_next_one():
    panel = payments(cases=300)
    reports = np.where(panel.outcomes[:, None] == 1, 0.9, panel.reports * 0.1)
    all_found = Panel(reports, panel.outcomes, times=panel.times, columns=panel.columns)
    evidence = evidence_of(all_found, SETTINGS["amounts"], 0.5)
    (found,) = operate(evidence, ["mean"])
    for one in (found.recall, found.recall_of_money):
        assert one.value == one.high == 1.0
        assert 0.8 < one.low < 0.99
    assert (found.false_alarms.value, found.false_alarms.low) == (0.0, 0.0)
    assert found.false_alarms.high > 0


def test_without_an_alert_there_is_no_precision():
    panel = payments(cases=300)
    evidence = evidence_of(panel, threshold=0.999999)
    (found,) = operate(evidence, ["mean"])
    assert found.precision is None
    assert (found.alerts.value, found.recall.value) == (0.0, 0.0)
    assert found.alerts_per_day.value == 0.0


def test_without_dates_nothing_is_said_of_days_and_months():
    panel = payments(cases=300)
    for times in (None, np.arange(300)):
        plain = Panel(panel.reports, panel.outcomes, times=times)
        evidence = evidence_of(plain)
        (found,) = operate(evidence, ["mean"])
        assert found.alerts_per_day is None
        assert found.cost_per_month is None
        assert cases_per_month(evidence) is None


@pytest.mark.parametrize(("days", "known"), [(5, True), (4, False)])
def test_of_four_days_nothing_is_said_of_a_day(days, known):
    panel = payments(days=5)
    start = panel.times.min().astype("datetime64[D]")
    part = panel.take(panel.times < start + np.timedelta64(days, "D"))
    (found,) = operate(evidence_of(part), ["mean"])
    assert (found.alerts_per_day is not None) == known


@pytest.mark.parametrize("pool", ["mean", "platt"])
def test_an_audit_measures_the_pool_in_use_and_the_one_that_it_recommends(pool):
    panel = payments()
    result = audit(panel, costs=SETTINGS["amounts"], pool=pool, resamples=50)
    plan = result.plan
    names = [name for name in (plan.in_use, plan.pool, plan.alternative) if name]
    assert [one.pool for one in result.operations] == list(dict.fromkeys(names))
    assert {one.cases for one in result.operations} == {result.comparison.tested}
    used, found = result.operations[0], result.comparison[pool]
    assert_allclose(used.cost.value, 1000 * found.loss.value)
    assert_allclose(used.recall.value, found.recall)
    if plan.saving is not None:  # the rows differ by what the plan saves
        then = result.operations[1].cost.value
        assert_allclose(used.cost.value - then, plan.saving.value)


def test_a_pool_to_change_to_is_measured_at_the_threshold_that_is_left_then():
    """The threshold in use costs more than that of the costs, which comes first."""
    panel, costs = payments(cases=2000), Costs(fn=20, fp=1)
    evidence = evidence_of(panel, costs, threshold=0.7)
    used, other = operate(evidence, ["mean", "platt"])
    cases, alert = by_hand(panel, costs, "platt")
    assert_allclose(used.alerts.value, (panel.reports.mean(axis=1) > 0.7)[cases].mean())
    assert_allclose(other.alerts.value, alert.mean())
    assert other.cases == len(cases)


def test_nothing_is_said_of_too_few_cases():
    assert audit(random_panel(2, cases=25), resamples=30).operations == ()


def test_of_more_than_two_classes_only_the_cost_is_said():
    panel = random_panel(2, cases=200, classes=3)
    used, *_ = audit(panel, resamples=30).operations
    pairs = panel_splits(panel, 5, 0)
    cases = evaluation_cases(pairs)
    decided = Mean().fit(panel.reports, panel.outcomes).predict(panel.reports[cases])
    wrong = np.asarray(decided) != panel.outcomes[cases]
    assert_allclose(used.cost.value, 1000 * wrong.mean())
    assert used.recall is used.alerts is None


def reviewed(rng, cases=6000, rate=0.03, share=0.02):
    """Alerts are all reviewed, others at random: which are known, and their weights."""
    positive = rng.random(cases) < rate
    alert = rng.random(cases) < np.where(positive, 0.64, 0.02)
    known = alert | (rng.random(cases) < share)
    weights = np.where(alert, 1.0, 1 / share)
    return alert[known], positive[known], weights[known]


def test_recall_by_propensities_covers_the_truth():
    """Where few of the other cases were reviewed, none of them may have been a miss."""
    rng = np.random.default_rng(0)
    covered, sure = [], []
    for _ in range(200):
        alert, positive, weights = reviewed(rng)
        low, high = share_interval(alert, positive, 0.95, weights)
        covered.append(low <= 0.64 <= high)
        sure.append(alert[positive].all())
    assert np.mean(covered) >= 0.93
    assert 0.05 < np.mean(sure) < 0.95  # in many draws no miss was seen at all


def test_an_audit_by_propensities_does_not_say_that_every_positive_was_found():
    panel = payments(cases=3000, days=60, rate=0.05)
    rng = np.random.default_rng(1)
    alert = panel.reports.mean(axis=1) > 0.1
    wrong = (panel.outcomes == 1) & ~alert
    chance = np.where(alert, 1.0, 0.1)
    known = (rng.random(3000) < chance) & ~wrong  # no miss was among the reviewed
    part = panel.take(known)
    given = Panel(
        part.reports, part.outcomes, times=part.times, propensity=chance[known]
    )
    evidence = evidence_of(given, threshold=0.1)
    (found,) = operate(evidence, ["mean"])
    assert found.recall.value == found.recall.high == 1.0
    # Three misses among the others would be seen with a chance of .95 (rule of three).
    hits = part.outcomes.sum()
    assert found.recall.low < hits / (hits + 3 * 10)


def test_where_every_alert_is_reviewed_precision_has_nothing_unseen():
    """One more false alarm would be one case, and not the twenty of a miss."""
    outcomes = np.arange(400) % 5 == 0
    reports = np.where(outcomes, 0.9, 0.01)[:, None] * [1.0, 0.9]
    chance = np.where(outcomes, 1.0, 0.05)
    panel = Panel(reports, outcomes, propensity=chance)
    (found,) = operate(evidence_of(panel), ["mean"])
    assert found.precision.value == found.recall.value == 1.0
    assert found.precision.low > 0.93
    assert found.recall.low < 80 / (80 + 3 * 20) + 0.01
