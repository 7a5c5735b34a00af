"""What each agent is worth: the pool fitted again without it, on cases it has not seen."""

from itertools import combinations

import numpy as np
import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose
from panels import random_panel

from truepool import pools
from truepool.audits import audit, comparison
from truepool.audits.evidence import Evidence
from truepool.audits.refits import cost_of, estimate_rise
from truepool.audits.worth import agent_worth, best_set
from truepool.core.errors import AgentError, SettingError
from truepool.measures import folds
from truepool.measures.folds import evaluation_cases, out_of_fold, panel_splits
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def evidence_of(panel, costs=COSTS, pool="mean", resamples=200):
    """What an audit starts from; beside the mean, `platt` is what it recommends."""
    rule = pools.make(pool, costs=costs)
    return Evidence(panel, rule, costs, None, 0.95, resamples, 0)


def cost_by_hand(panel, pool, costs):
    """Cost of each tested case by a pool that is fitted to the other folds."""
    pairs = panel_splits(panel, 5, 0)
    p = out_of_fold(pools.make(pool, costs=costs), panel, pairs)[:, 0]
    resolved = costs.resolve(panel.columns)
    decided = (p > resolved.threshold).astype(int)
    cost = resolved.cost_per_case(panel.outcomes, decided, 2)
    return cost[evaluation_cases(pairs)]


def worth_by_hand(panel, pool, costs=COSTS):
    """Rise in cost (N, T') without each agent."""
    whole = cost_by_hand(panel, pool, costs)
    parts = [
        panel.select_agents([a for a in panel.agents if a != left]) for left in panel.agents
    ]  # fmt: skip
    return np.array([cost_by_hand(part, pool, costs) - whole for part in parts])


def dated(panel, days=60):
    minutes = np.sort(np.random.default_rng(0).integers(0, days * 1440, len(panel)))
    times = np.datetime64("2026-01-01T00:00") + minutes
    return Panel(panel.reports, panel.outcomes, times=times)


def amounts(panel):
    column = np.random.default_rng(1).lognormal(2, 1, len(panel))
    return Panel(panel.reports, panel.outcomes, columns={"amount": column})


PANELS = {
    "as it is": (sound(cases=800), COSTS),
    "dates": (dated(sound(cases=800)), COSTS),
    "amounts": (amounts(sound(cases=800)), Costs(fn="amount", fp=3)),
    "missing reports": (random_panel(3, cases=600, silent=0.1), COSTS),
}


@pytest.mark.parametrize("pool", ["mean", "platt"])
@pytest.mark.parametrize("name", ["as it is", "dates", "amounts"])
def test_it_is_the_rise_in_cost_when_the_pool_is_fitted_without_the_agent(name, pool):
    panel, costs = PANELS[name]
    found = agent_worth(evidence_of(panel, costs), pool)
    expected = worth_by_hand(panel, pool, costs).mean(axis=1)
    assert_allclose([one.value for one in found], expected, atol=1e-12)
    assert all(one.low < one.value < one.high for one in found)


def test_of_a_pool_in_use_that_learns_it_is_the_same():
    panel, costs = PANELS["as it is"]
    found = agent_worth(evidence_of(panel, costs, "platt"), "platt")
    expected = worth_by_hand(panel, "platt", costs).mean(axis=1)
    assert_allclose([one.value for one in found], expected, atol=1e-12)


def test_cases_count_by_their_weights():
    panel, costs = PANELS["as it is"]
    weights = np.random.default_rng(2).uniform(0.2, 3, len(panel))
    counted = Panel(panel.reports, panel.outcomes, weights=weights)
    found = agent_worth(evidence_of(counted, costs), "mean")
    expected = worth_by_hand(counted, "mean", costs) @ weights / weights.sum()
    assert_allclose([one.value for one in found], expected, atol=1e-12)


@pytest.mark.parametrize("pool", ["mean", "platt"])
def test_where_nobody_else_reported_the_base_rate_decides(pool):
    panel = sound(cases=600)
    reports = panel.reports.copy()
    alone = np.arange(600) % 10 == 0
    reports[alone, 1:] = np.nan
    part = Panel(reports, panel.outcomes)
    evidence = evidence_of(part)
    without = cost_of(evidence, pool, part.agents[1:])
    rate = part.outcomes.mean()
    decided = np.full(600, int(rate > COSTS.threshold))
    expected = COSTS.cost_per_case(part.outcomes, decided, 2)
    assert_allclose(without[alone], expected[alone])
    rest = Panel(reports[~alone, 1:], panel.outcomes[~alone])
    if pool == "mean":
        assert_allclose(without[~alone], cost_by_hand(rest, "mean", COSTS))


def test_a_pool_that_cannot_be_fitted_without_an_agent_has_no_worth_to_tell():
    """In the first fold in time only the first agent reported."""
    panel = dated(sound(cases=600))
    reports = panel.reports.copy()
    reports[:300, 1:] = np.nan
    part = Panel(reports, panel.outcomes, times=panel.times)
    evidence = evidence_of(part)
    assert cost_of(evidence, "platt", part.agents[1:]) is None
    assert agent_worth(evidence, "platt") is None
    assert all(one.worth is None for one in audit(part, **QUICK).summaries)


def test_who_is_left_out_is_worth_what_it_would_save_to_ask():
    panel, costs = PANELS["as it is"]
    evidence, names = evidence_of(panel, costs), panel.agents
    found = agent_worth(evidence, "platt", names[:1])
    kept = cost_by_hand(panel.select_agents(names[1:]), "platt", costs)
    every = cost_by_hand(panel, "platt", costs)
    less = cost_by_hand(panel.select_agents(names[2:]), "platt", costs)
    assert_allclose(found[0].value, (kept - every).mean(), atol=1e-12)
    assert_allclose(found[1].value, (less - kept).mean(), atol=1e-12)


def test_of_very_many_agents_it_is_not_computed():
    panel = random_panel(1, cases=120, agents=51)
    assert agent_worth(evidence_of(panel), "mean") is None


@pytest.mark.parametrize("seed", range(4))
def test_a_useless_agent_may_be_worth_nothing(seed):
    panel = sound(seed, cases=1500)
    rng = np.random.default_rng(seed)
    noise = rng.permutation(panel.reports[:, :1])
    part = Panel(np.c_[panel.reports, noise], panel.outcomes)
    found = agent_worth(evidence_of(part, pool="stacked-lr"), "stacked-lr")
    assert found[-1].low <= 0 <= found[-1].high
    assert found[-1].value < max(one.value for one in found) / 4


def test_a_copy_and_its_original_are_each_worth_nothing():
    """Their weights go to the other one: what is lost is lost with both only."""
    panel = sound(1, cases=2000, skills=[2.2, 1.0, 0.8])
    alone = agent_worth(evidence_of(panel, pool="stacked-lr"), "stacked-lr")
    both = Panel(np.c_[panel.reports, panel.reports[:, :1]], panel.outcomes)
    evidence = evidence_of(both, pool="stacked-lr")
    original, *_, copy = agent_worth(evidence, "stacked-lr")
    assert alone[0].low > 0
    for one in (original, copy):
        assert abs(one.value) < 0.05 * alone[0].value
    others = cost_of(evidence, "stacked-lr", both.agents[1:3])
    whole = cost_of(evidence, "stacked-lr", both.agents)
    lost = estimate_rise(evidence, others - whole)
    assert_allclose(lost.value, alone[0].value, rtol=0.05)


def test_the_order_of_the_agents_does_not_matter_to_what_is_left():
    panel, costs = PANELS["missing reports"]
    evidence = evidence_of(panel, costs)
    for pool in ("mean", "platt"):
        whole = cost_of(evidence, pool, panel.agents)
        assert_allclose(cost_of(evidence, pool, panel.agents[::-1]), whole)


def test_agents_are_compared_on_the_same_part_of_a_large_table(monkeypatch):
    monkeypatch.setattr(folds, "LEARNING_CASES", 300)
    panel, costs = PANELS["as it is"]
    evidence = evidence_of(panel, costs)
    whole = cost_of(evidence, "platt", panel.agents)
    assert_allclose(cost_of(evidence, "platt", panel.agents[::-1]), whole)


def test_its_interval_covers_what_the_agent_is_worth_in_all_cases(monkeypatch):
    monkeypatch.setattr(comparison, "POOLS", ("mean", "best-agent"))
    monkeypatch.setattr(comparison, "RECOMMENDED", "mean")
    truth = worth_by_hand(sound(50, cases=200_000), "mean").mean(axis=1)
    covered = []
    for seed in range(100, 150):
        found = agent_worth(evidence_of(sound(seed, cases=700)), "mean")
        covered += [o.low <= t <= o.high for o, t in zip(found, truth, strict=True)]
    assert np.mean(covered) > 0.9


@pytest.mark.parametrize("pool", ["mean", "platt"])
def test_an_audit_counts_it_by_1000_cases_and_by_month(pool):
    panel = dated(sound(cases=800), days=60)
    result = audit(panel, **QUICK, pool=pool)
    plan = result.plan.pool
    expected = 1000 * worth_by_hand(panel, plan).mean(axis=1)
    found = [one.worth.value for one in result.summaries]
    assert_allclose(found, expected, atol=1e-9)
    minutes = (panel.times.max() - panel.times.min()).astype(int)
    monthly = 800 / (minutes / 1440) * 365.25 / 12
    assert_allclose(result.cases_per_month, monthly)
    for one in result.summaries:
        for end in ("value", "low", "high"):
            expected = getattr(one.worth, end) * monthly / 1000
            assert_allclose(getattr(one.worth_per_month, end), expected)


def test_without_dates_an_audit_knows_it_by_case_only():
    for one in audit(sound(cases=400), **QUICK).summaries:
        assert one.worth is not None
        assert one.worth_per_month is None


def test_it_is_not_the_credit_in_a_pool_that_stays_as_it_is():
    """Leave-one-out credit of a noisy agent in the mean; `platt` makes up for it."""
    panel = sound(2, cases=2000)
    result = audit(panel, **QUICK)
    credits = [one.leave_one_out.value for one in result.summaries]
    expected = 1000 * worth_by_hand(panel, result.plan.pool).mean(axis=1)
    assert_allclose([one.worth.value for one in result.summaries], expected)
    if result.plan.pool != "mean":
        assert not np.allclose(credits, expected, rtol=0.01)


def test_where_no_pool_is_recommended_nobody_is_worth_anything():
    few = random_panel(2, cases=25)
    assert all(one.worth is None for one in audit(few, **QUICK).summaries)


def test_of_a_saved_pool_it_is_that_of_one_fitted_again():
    panel = sound(3, cases=1600)
    halves = [panel.take(half) for half in np.array_split(np.arange(1600), 2)]
    saved = pools.make("platt", costs=COSTS).fit_panel(halves[0])
    result = audit(halves[1], pool=saved, resamples=50, prices={"agent0": 50.0})
    expected = 1000 * worth_by_hand(halves[1], "platt").mean(axis=1)
    assert result.plan.in_use == "platt as saved"
    assert_allclose([one.worth.value for one in result.summaries], expected, atol=1e-9)
    everybody = 1000 * cost_by_hand(halves[1], "platt", COSTS).mean() + 50_000
    assert_allclose(result.best_set.cost_of_all.value, everybody)


# What their reports cost


def test_net_of_its_price_an_agent_is_worth_less_by_what_its_reports_cost():
    panel = random_panel(3, cases=600, silent=0.2)
    prices = {"agent1": 0.02, "agent3": 0.5}
    result = audit(panel, **QUICK, prices=prices)
    for one in result.summaries:
        price = prices.get(one.agent)
        assert one.price == price
        if price is None:
            assert one.net is None
            continue
        reported = 1 - np.isnan(panel.reports[:, panel.agents.index(one.agent)]).mean()
        for end in ("value", "low", "high"):
            expected = getattr(one.worth, end) - 1000 * price * reported
            assert_allclose(getattr(one.net, end), expected)


def paid_by_hand(panel, pool, prices, agents):
    """Cost of each tested case by a pool of some agents, with what they are paid."""
    part = panel.select_agents(agents)
    tested = evaluation_cases(panel_splits(panel, 5, 0))
    asked = ~np.isnan(part.reports[tested])
    each = np.array([prices[name] for name in agents])
    return cost_by_hand(part, pool, COSTS) + asked @ each


def subsets(agents):
    return [
        [*some]
        for size in range(1, len(agents) + 1)
        for some in combinations(agents, size)
    ]


@pytest.mark.parametrize("pool", ["platt", "stacked-lr"])
@pytest.mark.parametrize("seed", range(5))
def test_no_set_of_four_agents_costs_less_than_the_one_that_is_found(seed, pool):
    panel = sound(seed, cases=800, skills=[1.8, 1.2, 0.8, 0.4])
    rng = np.random.default_rng(seed)
    prices = dict(zip(panel.agents, rng.uniform(0.02, 0.3, 4), strict=True))
    found = best_set(evidence_of(panel, pool=pool), pool, prices)
    costs = {
        (*some,): 1000 * paid_by_hand(panel, pool, prices, some).mean()
        for some in subsets(panel.agents)
    }
    assert {*found.agents, *found.dropped} == {*panel.agents}
    assert_allclose(costs[found.agents], min(costs.values()))
    assert_allclose(found.cost_of_all.value, costs[panel.agents])


def test_its_saving_is_of_cases_that_the_set_was_not_chosen_on():
    """The oracle: the best set of the other folds, on the cases of each fold."""
    panel, pool = sound(7, cases=600, skills=[1.4, 1.2, 1.0, 0.9]), "platt"
    prices = dict.fromkeys(panel.agents, 0.05)
    found = best_set(evidence_of(panel, pool=pool), pool, prices)
    every = {
        (*some,): paid_by_hand(panel, pool, prices, some)
        for some in subsets(panel.agents)
    }
    pairs = panel_splits(panel, 5, 0)
    tested, honest = evaluation_cases(pairs), np.zeros(len(panel))
    for _, test in pairs:
        own = np.isin(tested, test)
        best = min(every, key=lambda some, own=own: every[some][~own].mean())
        honest[own] = every[best][own]
    if found.dropped:
        assert_allclose(found.cost.value, 1000 * honest.mean())
        expected = 1000 * (every[panel.agents] - honest).mean()
        assert_allclose(found.saving.value, expected)


@pytest.mark.parametrize("seed", range(8))
def test_without_prices_to_save_nobody_is_dropped_by_luck(seed):
    """Of these tables every third one has a set that happens to cost less."""
    panel = sound(seed, cases=600)
    free = dict.fromkeys(panel.agents, 0.0)
    found = best_set(evidence_of(panel, pool="platt"), "platt", free)
    assert (found.agents, found.dropped) == (panel.agents, ())
    assert_allclose([found.saving.value, found.saving.low, found.saving.high], 0)


def test_at_a_huge_price_one_agent_is_left_and_it_is_the_best():
    panel = sound(1, cases=600, skills=[0.8, 2.0, 1.0, 0.5])
    found = best_set(
        evidence_of(panel, pool="platt"), "platt", dict.fromkeys(panel.agents, 9.0)
    )
    assert found.agents == ("agent1",)
    one_less = dict.fromkeys(panel.agents, 0.0) | {"agent1": 9.0}
    found = best_set(evidence_of(panel, pool="platt"), "platt", one_less)
    assert found.dropped == ("agent1",)


def test_the_interval_of_the_saving_covers_what_the_set_saves_in_new_cases(monkeypatch):
    """Twenty draws of 400 cases; the truth is of 40,000 others."""
    monkeypatch.setattr(comparison, "POOLS", ("mean", "best-agent"))
    skills, pool = [1.8, 1.2, 0.8, 0.4], "platt"
    other = sound(999, cases=40_000, skills=skills)
    prices = dict.fromkeys(other.agents, 0.12)
    covered = []
    for seed in range(20):
        panel = sound(300 + seed, cases=400, skills=skills)
        found = best_set(evidence_of(panel, pool=pool), pool, prices)
        costs = []
        for agents in (other.agents, found.agents):
            own = pools.make(pool, costs=COSTS).fit_panel(panel.select_agents(agents))
            decided = own.pool(other.select_agents(agents).values).decisions
            errors = COSTS.cost_per_case(other.outcomes, decided, 2).mean()
            costs.append(1000 * (errors + sum(prices[name] for name in agents)))
        saved = costs[0] - costs[1]
        covered.append(found.saving.low <= saved <= found.saving.high)
    assert sum(covered) >= 17  # of 20 at 0.95: fewer in one run of three hundred


@pytest.mark.parametrize(
    ("prices", "kind"),
    [
        ({"agent9": 0.1}, AgentError),
        ({"agent0": -0.1}, SettingError),
        ({"agent0": float("nan")}, SettingError),
        ({"agent0": float("inf")}, SettingError),
    ],
)
def test_prices_that_make_no_sense_are_refused_before_anything_is_computed(
    prices, kind, monkeypatch
):
    monkeypatch.setattr("truepool.audits.auditor.find_suspects", None)
    with pytest.raises(kind) as refused:
        audit(sound(cases=60), prices=prices)
    assert isinstance(refused.value, ValueError)


def test_nobody_has_a_price_unless_one_is_given():
    result = audit(sound(cases=300), **QUICK)
    assert result.best_set is None
    assert {(one.price, one.net) for one in result.summaries} == {(None, None)}
