"""Costs of each case: every decision and every cost is that of a loop over the cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import pools
from truepool.comparison import compare
from truepool.core.errors import CostError, PanelError
from truepool.measures.credit import contributions, leave_one_out, shapley
from truepool.measures.decisions import decide
from truepool.measures.diversity import disagreement
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import Loss, agent_losses
from truepool.measures.scores import summary
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.persistence import load

COSTS = Costs(fn="amount", fp=5, tp="review", tn=-0.5, currency="EUR")


def panel_with_amounts(classes=2, silent=0.0, cases=30):
    rng = np.random.default_rng(5)
    amounts = np.round(rng.gamma(1.0, 20.0, cases), 2)
    review = np.round(rng.uniform(-2, 4, cases), 2)
    return random_panel(3, cases, 3, classes, silent).with_columns(
        {"amount": amounts, "review": review}
    )


def tables(panel):
    """Cost of deciding k when y happens, [y, k], of each case, one by one."""
    for t in range(len(panel)):
        amount, review = panel.columns["amount"][t], panel.columns["review"][t]
        table = np.full((panel.classes, panel.classes), 5.0)
        table[1:, 0] = amount
        np.fill_diagonal(table, review)
        table[0, 0] = -0.5
        yield table


def best_decision(p, table):
    expected = np.array([p @ table[:, k] for k in range(len(table))])
    return int(np.argmax(expected <= expected.min() + 1e-12))


def spell_out(p):
    return np.stack([1 - p[:, 0], p[:, 0]], axis=1) if p.shape[1] == 1 else p


def brute_costs(p, panel):
    pairs = zip(spell_out(p), panel.outcomes, tables(panel), strict=True)
    return np.array([table[y, best_decision(q, table)] for q, y, table in pairs])


@pytest.mark.parametrize("classes", [2, 4])
def test_every_decision_has_the_least_expected_cost_of_its_case(classes):
    panel = panel_with_amounts(classes)
    p = spell_out(panel.values[:, 0])
    costs = COSTS.resolve(panel.columns)
    wanted = [best_decision(q, t) for q, t in zip(p, tables(panel), strict=True)]
    assert decide(p, costs).tolist() == wanted


@pytest.mark.parametrize("classes", [2, 4])
def test_every_loss_is_that_of_its_case(classes):
    panel = panel_with_amounts(classes)
    p, y = panel.values[:, 0], panel.outcomes
    own = Loss("cost", COSTS).on(panel)
    assert_allclose(own.evaluate(p, y), brute_costs(p, panel))
    assert_allclose(
        own.take(np.arange(5)).evaluate(p[:5], y[:5]), own.evaluate(p, y)[:5]
    )
    shares = Loss("cost-brier", COSTS).on(panel)
    for t in range(len(panel)):
        alone = Costs(
            fn=panel.columns["amount"][t],
            fp=5,
            tp=min(panel.columns["review"][t], panel.columns["amount"][t] - 1e-9),
            tn=-0.5,
        )
        one = Loss("cost-brier", alone).evaluate(p[t : t + 1], y[t : t + 1])
        assert_allclose(shares.evaluate(p, y)[t], one[0], atol=1e-7)


def test_a_threshold_overrides_those_of_the_cases():
    panel = panel_with_amounts()
    p, y = panel.values[:, 0], panel.outcomes
    paid = Loss("cost", COSTS, 0.4).on(panel).evaluate(p, y)
    wanted = [
        t[o, int(q > 0.4)] for t, o, q in zip(tables(panel), y, p[:, 0], strict=True)
    ]
    assert_allclose(paid, wanted)


def test_the_threshold_of_a_case_follows_from_its_costs():
    costs = COSTS.resolve({"amount": [100.0, 2.0], "review": [0.0, 3.0]})
    assert_allclose(costs.threshold, [5.5 / 105.5, 1.0])
    assert isinstance(Costs(fn=10, fp=1, tp=-2, tn=0.5).threshold, float)
    assert_allclose(Costs(fn=10, fp=1, tp=-2, tn=0.5).threshold, 0.5 / 12.5)


@pytest.mark.parametrize("name", ["cost", "cost-brier", "brier", "log"])
@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_credit_is_the_loss_without_each_agent_case_by_case(name, silent):
    panel = panel_with_amounts(silent=silent)
    loss = Loss(name, COSTS).on(panel)
    credit = leave_one_out(panel, loss=name, costs=COSTS)
    assert_allclose(credit, contributions(panel, loss=name, costs=COSTS).mean(axis=0))
    whole = np.nanmean(panel.reports, axis=1)[:, None]
    for i in range(3):
        others = np.delete(panel.reports, i, axis=1)
        alone = np.isnan(others).all(axis=1)
        others[alone] = panel.outcomes.mean()
        without = np.nanmean(others, axis=1)[:, None]
        rise = loss.evaluate(without, panel.outcomes) - loss.evaluate(
            whole, panel.outcomes
        )
        assert_allclose(credit[i], rise.mean(), atol=1e-12)


@pytest.mark.parametrize("name", ["cost", "cost-brier"])
def test_shapley_credit_divides_the_improvement_over_the_prior(name):
    panel = panel_with_amounts()
    loss = Loss(name, COSTS).on(panel)
    prior = np.full((len(panel), 1), panel.outcomes.mean())
    whole = panel.reports.mean(axis=1)[:, None]
    gained = loss.evaluate(prior, panel.outcomes) - loss.evaluate(whole, panel.outcomes)
    credit = shapley(panel, loss=name, costs=COSTS)
    assert_allclose(credit.sum(), gained.mean())
    by_case = contributions(panel, method="shapley", loss=name, costs=COSTS)
    assert_allclose(by_case.sum(axis=1), gained, atol=1e-12)


def test_fixed_weights_lose_what_their_cases_cost():
    panel = panel_with_amounts()
    rows = np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    for name in ("cost", "cost-brier"):
        loss = Loss(name, COSTS).on(panel)
        wanted = [
            loss.evaluate(panel.reports @ row[:, None], panel.outcomes).mean()
            for row in rows
        ]
        past = FixedWeights(panel, Loss(name, COSTS))
        assert_allclose(past.losses(rows), wanted)
    assert_allclose(past.best().sum(), 1.0)
    alone = agent_losses(panel, Loss("cost", COSTS))
    assert_allclose(alone[1], brute_costs(panel.values[:, 1], panel).mean())


def test_scores_and_disagreement_decide_by_the_costs_of_each_case():
    panel = panel_with_amounts()
    p = panel.reports[:, 0]
    costs = COSTS.resolve(panel.columns)
    assert_allclose(
        summary(p, panel.outcomes, costs=costs)["cost"],
        brute_costs(p[:, None], panel).mean(),
    )
    decisions = np.stack([decide(column, costs) for column in panel.reports.T])
    apart = (decisions[0] != decisions[1]).mean()
    assert_allclose(disagreement(panel, costs=COSTS)[0, 1], apart)


@pytest.mark.parametrize("name", [n for n, p in pools.every().items() if p.by_default])
def test_a_pool_decides_new_cases_by_their_own_costs(name, tmp_path):
    panel = panel_with_amounts(cases=40)
    pool = pools.configure(name, costs=COSTS).fit_panel(panel)
    p = pool.probabilities(panel.values)
    wanted = [best_decision(q, t) for q, t in zip(p, tables(panel), strict=True)]
    assert pool.pool(panel.values, panel.columns).decisions.tolist() == wanted
    pool.save(tmp_path / "a.pool")
    again = load(tmp_path / "a.pool")
    assert again.costs == COSTS
    assert again.pool(panel.values, panel.columns).decisions.tolist() == wanted
    with pytest.raises(PanelError, match="needs the column 'amount'"):
        again.pool(panel.values)


@pytest.mark.parametrize("name", ["vcg", "shapley", "best-agent", "greedy"])
def test_a_pool_that_learns_by_cost_learns_by_the_cost_of_each_case(name):
    """Amounts of 0 or 1000: only the expensive cases matter, where agent 1 is right."""
    outcomes = np.array([1, 0] * 20)
    expensive = np.arange(40) < 20
    right, wrong = np.where(outcomes, 0.9, 0.1), np.where(outcomes, 0.1, 0.9)
    reports = np.stack(
        [np.where(expensive, wrong, right), np.where(expensive, right, wrong)], axis=1
    )
    amounts = np.where(expensive, 1000.0, 0.001)
    panel = Panel(reports, outcomes, columns={"amount": amounts})
    costs = Costs(fn="amount", fp="amount")
    pool = pools.make(name, loss="cost", costs=costs).fit_panel(panel)
    assert_allclose(pool.weights_, [0.0, 1.0], atol=1e-9)


def test_the_simplest_pool_is_chosen_by_the_cost_of_each_case():
    panel = panel_with_amounts(cases=60)
    pool = pools.make("simplest", candidates=("mean", "median"), costs=COSTS, cv=3)
    pool.fit_panel(panel)
    losses = {trial.name: trial.loss for trial in pool.table_}
    median = np.median(panel.reports, axis=1)[:, None]
    assert_allclose(losses["median"], brute_costs(median, panel).mean())


def test_a_comparison_costs_what_its_cases_cost():
    panel = panel_with_amounts(cases=60)
    table = compare(panel, costs=COSTS, pools=["median"], cv=3, resamples=50)
    p = np.median(panel.reports, axis=1)[:, None]
    assert_allclose(table["median"].loss.value, brute_costs(p, panel).mean())
    assert_allclose(table["median"].cost, table["median"].loss.value)
    assert table.to_dict()["costs"]["fn"] == "amount"
    by_array = Costs(
        fn=panel.columns["amount"],
        fp=5,
        tp=panel.columns["review"],
        tn=-0.5,
    )
    same = compare(panel, costs=by_array, pools=["median"], cv=3, resamples=50)
    assert same["median"] == table["median"]
    brier = compare(panel, costs=COSTS, pools=["median"], cv=3, loss="brier")
    assert_allclose(brier["median"].cost, table["median"].cost)


def test_one_case_is_decided_by_its_own_costs():
    panel = panel_with_amounts()
    pool = pools.make("mean", costs=Costs(fn="amount", fp=5)).fit_panel(panel)
    reports = dict.fromkeys(panel.agents, 0.1)
    assert pool.decide_one(reports, {"amount": 1000}) == 1
    assert pool.decide_one(reports, {"amount": 1}) == 0
    assert pool.predict([[0.1] * 3] * 2, {"amount": [1000, 1]}).tolist() == [1, 0]
    cure = r"needs the column 'amount'.*decide_one\(reports, \{'amount': 100\}\)"
    with pytest.raises(PanelError, match=cure):
        pool.decide_one(reports)
    assert pool.decide_one(reports, {"amount": 100}) == 1


def test_a_pool_with_a_threshold_needs_no_columns_to_decide():
    panel = panel_with_amounts()
    pool = pools.make("mean", costs=COSTS, threshold=0.5).fit_panel(panel)
    assert_array_equal(
        pool.pool(panel.values).decisions, panel.reports.mean(axis=1) > 0.5
    )


def test_a_fit_takes_the_columns_beside_the_reports():
    panel = panel_with_amounts()
    costs = Costs(fn="amount", fp=5)
    pool = pools.make("vcg", loss="cost", costs=costs)
    pool.fit(panel.reports, panel.outcomes, columns=dict(panel.columns))
    assert_allclose(
        pool.weights_,
        pools.make("vcg", loss="cost", costs=costs).fit_panel(panel).weights_,
    )
    with pytest.raises(PanelError, match="needs the column 'amount'"):
        pool.fit(panel.reports, panel.outcomes)


def test_a_pool_refuses_numbers_that_new_cases_would_not_have():
    panel = panel_with_amounts()
    with pytest.raises(CostError, match="name columns of the cases; got 30 numbers"):
        pools.make("mean", costs=Costs(fn=panel.columns["amount"])).fit_panel(panel)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"fn": [1, -2]}, "the cost fn must not be negative; case 1 has -2"),
        ({"fn": [1, np.nan]}, "the cost fn must be a number; case 1 has none"),
        ({"fn": [1, 2], "fp": [1, 2, 3]}, "one cost for each case; got 2 for fn, 3"),
        ({"fn": 2, "tp": 5}, "must cost more than the right decision; got fn=2 and"),
        ({"fp": 1, "tn": 5}, "must cost more than the right decision; got fp=1 and"),
        ({"fp": [3.0, 1.0], "tn": 2}, "must not cost less than leaving .* case 1"),
        ({"tp": float("nan")}, "a cost must be a number; got nan for tp"),
        ({"fn": ""}, "got '' for fn"),
        ({"tp": 1, "matrix": [[0, 1], [1, 0]]}, "not both"),
        ({"fn": [1, 2], "matrix": [[0, 1], [1, 0]]}, "not both"),
    ],
)
def test_costs_that_cannot_be_are_refused(settings, words):
    with pytest.raises(CostError, match=words):
        Costs(**settings)


@pytest.mark.parametrize(
    ("amounts", "words"),
    [
        (
            [5.0, -2.0],
            r"column 'amount', the cost fn .* must not be negative; case 1",
        ),
        (
            [5.0, np.nan],
            r"column 'amount', the cost fn .* must be a number; case 1",
        ),
        (["5", "n/a"], r"must be a number; case 1 has 'n/a'. Correct it"),
    ],
)
def test_amounts_that_cannot_be_costs_are_refused(amounts, words):
    with pytest.raises(CostError, match=words):
        Costs(fn="amount").resolve({"amount": amounts})


def test_costs_by_column_say_what_they_need():
    with pytest.raises(CostError, match="a threshold needs the costs of each case"):
        _ = Costs(fn="amount").threshold
    with pytest.raises(CostError, match="costs that all cases share"):
        Costs(fn=[1, 2]).table(2)
    with pytest.raises(CostError, match="2 costs for 3 cases"):
        decide([0.1, 0.2, 0.3], Costs(fn=[1, 2]))
    with pytest.raises(CostError, match="2 costs for 3 cases"):
        Loss("cost", Costs(fn=[1, 2]))([0.1, 0.2, 0.3], [0, 1, 1])


def test_costs_per_case_are_values():
    one, two = Costs(fn=[1, 2]), Costs(fn=[1, 2])
    assert one == two
    assert len({one, two, Costs(fn=[1, 3]), Costs(fn="amount")}) == 3
    assert (
        repr(COSTS)
        == "Costs(fn='amount', fp=5.0, tp='review', tn=-0.5, currency='EUR')"
    )
    assert COSTS.swap().swap() == COSTS
    assert Costs(fn=7, fp=2, tp=-3, tn=1).errors == Costs(fn=10, fp=1)
