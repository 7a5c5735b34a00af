"""Credit against brute force: drop the column, pool again, subtract."""

import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import panels, random_panel

from truepool import credit
from truepool.core.errors import SettingError
from truepool.core.kernels import reference
from truepool.measures.credit import shapley_values
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.inference import (
    Resamples,
    bca_interval,
    bootstrap_means,
    independent_units,
    percentile_interval,
)
from truepool.measures.losses import NAMES, Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.weights import by_credit
from truepool.pools.shapley import Shapley
from truepool.pools.vcg import VCG

# A threshold no mean of the drawn reports sits on: at a tie the last bit decides.
COSTS = Costs(fn=10.123, fp=1.0)
LOSSES = [Loss(name, COSTS) for name in NAMES]
ANY = st.one_of(panels(), panels(classes=3))
EACH = pytest.mark.parametrize("loss", LOSSES, ids=NAMES)


def value(panel, members, loss):
    """Mean loss of the equal pool of some agents; the prior where none speaks."""
    values = panel.values[:, members]
    if not len(members):
        values = np.full((len(panel), 1, panel.values.shape[2]), np.nan)
    pooled = reference.linear(values, np.full(values.shape[1], 1.0))
    pooled = np.where(np.isnan(pooled), panel.base_rate(), pooled)
    return loss.evaluate(np.clip(pooled, 0, 1), panel.outcomes).mean()


SMOOTH = [loss for loss in LOSSES if loss.name != "cost"]


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
@given(panel=ANY)
def test_leave_one_out_is_the_loss_without_less_the_loss_with(loss, panel):
    assert_leave_one_out(panel, loss)


@pytest.mark.parametrize("classes", [2, 3])
@given(seed=st.integers(0, 1000))
def test_leave_one_out_of_decisions_is_the_cost_without_less_the_cost_with(
    classes, seed
):
    # No ties: where two decisions cost the same, the last bit of a sum decides.
    panel = random_panel(seed, cases=20, agents=3, classes=classes, silent=0.2)
    assert_leave_one_out(panel, Loss("cost", COSTS))


def assert_leave_one_out(panel, loss):
    everyone = list(range(len(panel.agents)))
    brute = [
        value(panel, [j for j in everyone if j != i], loss)
        - value(panel, everyone, loss)
        for i in everyone
    ]
    assert_allclose(credit.leave_one_out(panel, loss=loss), brute, atol=1e-10)


@EACH
def test_leave_one_out_holds_for_any_weights(loss):
    panel = random_panel(3, silent=0.2)
    weights = np.array([0.5, 0.3, 0.2, 0.0])
    full = reference.linear(panel.values, weights)
    brute = []
    for i in range(4):
        rest = [j for j in range(4) if j != i]
        values, share = panel.values[:, rest], weights[rest]
        pooled = reference.linear(values, share / share.sum())
        pooled = np.where(np.isnan(pooled), panel.base_rate(), pooled)
        rise = loss.evaluate(pooled, panel.outcomes) - loss.evaluate(
            full, panel.outcomes
        )
        brute.append(rise.mean())
    found = credit.leave_one_out(panel, loss=loss, weights=weights)
    assert_allclose(found, brute, atol=1e-12)


def test_without_the_agent_of_all_weight_the_others_count_equally():
    panel = random_panel(1, agents=3)
    alone = credit.leave_one_out(panel, weights=[1.0, 0.0, 0.0])
    others = panel.reports[:, 1:].mean(axis=1)
    rise = (others - panel.outcomes) ** 2 - (panel.reports[:, 0] - panel.outcomes) ** 2
    assert_allclose(alone, [rise.mean(), 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
@given(panel=st.one_of(panels(agents=(2, 4)), panels(classes=3, agents=(2, 4))))
def test_shapley_is_the_mean_over_all_orders(loss, panel):
    N = len(panel.agents)
    brute = np.zeros(N)
    orders = list(permutations(range(N)))
    for order in orders:
        for place, i in enumerate(order):
            before, after = list(order[:place]), list(order[: place + 1])
            brute[i] += value(panel, before, loss) - value(panel, after, loss)
    found = credit.shapley(panel, loss=loss)
    assert_allclose(found, brute / len(orders), atol=1e-10)


@EACH
@pytest.mark.parametrize("silent", [0.0, 0.3])
@pytest.mark.parametrize("classes", [2, 3])
def test_shapley_credit_sums_to_the_gain_of_the_pool_over_the_prior(
    loss, silent, classes
):
    panel = random_panel(5, agents=6, silent=silent, classes=classes)
    gain = value(panel, [], loss) - value(panel, list(range(6)), loss)
    assert_allclose(credit.shapley(panel, loss=loss).sum(), gain, atol=1e-12)


@EACH
@pytest.mark.parametrize("method", ["leave-one-out", "shapley"])
@pytest.mark.parametrize("classes", [2, 3])
def test_credit_is_the_mean_of_its_cases(loss, method, classes):
    panel = random_panel(2, silent=0.1, classes=classes)
    by_case = credit.contributions(panel, method=method, loss=loss)
    whole = {"leave-one-out": credit.leave_one_out, "shapley": credit.shapley}[method]
    assert_allclose(by_case.mean(axis=0), whole(panel, loss=loss), atol=1e-12)


@EACH
@pytest.mark.parametrize("whole", [credit.leave_one_out, credit.shapley])
@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_a_case_of_weight_two_counts_as_two_cases(loss, whole, silent):
    panel = random_panel(4, cases=30, silent=silent)
    counts = np.arange(30) % 3
    double = panel.take(np.repeat(np.arange(30), counts))
    weighted = whole(panel, loss=loss, sample_weight=counts.astype(float))
    assert_allclose(weighted, whole(double, loss=loss), atol=1e-12)


def test_identical_agents_share_shapley_credit_equally():
    panel = random_panel(0, agents=3)
    twins = Panel(panel.reports[:, [0, 0, 1]], panel.outcomes)
    found = credit.shapley(twins)
    assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("loss", ["brier", "log"])
@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_sampled_shapley_agrees_with_exact_within_its_errors(loss, silent):
    panel = random_panel(7, agents=7, silent=silent)
    exact = credit.shapley(panel, loss=loss)
    found = credit.sample_shapley(
        panel, loss=loss, tolerance=0.02, orders=(20, 20_000), seed=1
    )
    assert found.converged
    assert (np.abs(found.credit - exact) <= 4 * found.standard_errors + 1e-12).all()


def test_sampling_stops_at_the_given_limits():
    panel = random_panel(7, agents=7)
    few = credit.sample_shapley(panel, tolerance=0.0, orders=(4, 10))
    assert (few.orders, few.converged) == (10, False)
    loose = credit.sample_shapley(panel, tolerance=10.0, orders=(6, 100))
    assert (loose.orders, loose.converged) == (6, True)


@pytest.mark.parametrize(("agents", "cases"), [(16, 40), (40, 9)])
def test_an_order_is_the_same_by_products_of_errors_and_case_by_case(agents, cases):
    panel = random_panel(3, cases=cases, agents=agents)
    past = FixedWeights(panel, Loss("brier"))
    order = np.random.default_rng(0).permutation(agents)
    rows = np.zeros((agents, agents))
    rows[:, order] = np.tri(agents)
    path = past.losses(rows / rows.sum(axis=1, keepdims=True))
    expected = -np.diff(path, prepend=0.25)[np.argsort(order)]
    found = shapley_values._decreases(past, order, 0.25)
    assert_allclose(found, expected, atol=1e-13)


def test_thousands_of_agents_get_fewer_orders():
    few, many = random_panel(3, agents=20), random_panel(3, cases=900, agents=900)
    assert shapley_values._most_orders(few) == 20_000
    assert shapley_values._most_orders(many) == 400


def test_many_agents_get_sampled_credit():
    panel = random_panel(7, agents=15)
    sampled = credit.sample_shapley(panel, seed=3)
    assert_allclose(credit.shapley(panel, seed=3), sampled.credit)


@EACH
def test_trying_every_removal_is_leave_one_out(loss):
    panel = random_panel(6)
    every = credit.leave_one_out(panel, loss=loss, removals=4)
    assert_allclose(every, credit.leave_one_out(panel, loss=loss), atol=1e-12)


def test_trying_few_removals_is_right_on_average():
    panel = random_panel(6, cases=200)
    draws = [credit.leave_one_out(panel, removals=1, seed=s) for s in range(300)]
    exact = credit.leave_one_out(panel)
    error = np.std(draws, axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(draws, axis=0) - exact) <= 4 * error).all()


def test_sampled_removals_count_weighted_cases():
    panel = random_panel(6, cases=60)
    weights = np.linspace(0.0, 2.0, 60)
    every = credit.leave_one_out(panel, removals=4, sample_weight=weights)
    exact = credit.leave_one_out(panel, sample_weight=weights)
    assert_allclose(every, exact, atol=1e-12)


def test_intervals_hold_the_credit_and_narrow_with_cases():
    small = credit.intervals(random_panel(0, cases=100), resamples=300)
    large = credit.intervals(random_panel(0, cases=6400), resamples=300)
    for found in (small, large):
        assert ((found.low <= found.credit) & (found.credit <= found.high)).all()
        assert_allclose(found.weights.sum(), 1.0)
    shrunk = (large.high - large.low) / (small.high - small.low)
    assert_allclose(shrunk, 1 / 8, rtol=0.5)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    truth = credit.leave_one_out(random_panel(10**6, cases=200_000))
    covered = [
        (found.low <= truth) & (truth <= found.high)
        for found in (
            credit.intervals(random_panel(s, cases=200), resamples=200)
            for s in range(150)
        )
    ]
    # 150 trials of 0.95: a binomial standard error of 0.018 for each agent.
    assert (np.mean(covered, axis=0) > 0.95 - 4 * 0.018).all()


def test_intervals_of_shapley_credit():
    found = credit.intervals(random_panel(0), method="shapley", resamples=50)
    assert_allclose(found.credit, credit.shapley(random_panel(0)), atol=1e-12)


def test_intervals_of_credit_are_bias_corrected_and_accelerated():
    panel = random_panel(0, cases=80)
    found = credit.intervals(panel, level=0.9, resamples=300, seed=5)
    by_case = credit.contributions(panel)
    draws = bootstrap_means(by_case, 300, seed=5)
    for i, column in enumerate(by_case.T):
        ends = bca_interval(column, draws[:, i], 0.9)
        assert_allclose((found.low[i], found.high[i]), ends, rtol=1e-9)


@pytest.mark.parametrize(("cases", "agents"), [(300, 3), (5_000, 3), (90_000, 8)])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_made_block_by_block_are_those_of_all_cases_at_once(
    cases, agents, weighted
):
    panel = random_panel(2, cases=cases, agents=agents, silent=0.2)
    if weighted:
        weights = np.random.default_rng(0).random(cases) + 0.1
        panel = Panel(
            panel.reports, panel.outcomes, weights=weights, groups=np.arange(cases) // 3
        )
    found = credit.intervals(panel, resamples=100, seed=4)
    present = ~np.isnan(panel.reports)
    both = np.hstack([credit.contributions(panel), present])
    units = independent_units(both, panel.case_weights(), panel.groups)
    draws = Resamples(len(units), 100, seed=4)
    means = draws.means(units)
    earned = [by_credit(row[:agents] / row[agents:]) for row in means]
    ends = [draws.interval(column, 0.95) for column in units[:, :agents].T]
    # By weights and groups, means are taken of sums over blocks: only they are rounded.
    rounding = 1e-13 if weighted else 0.0
    for ours, theirs in (
        (found.credit, units[:, :agents].mean(axis=0)),
        (np.stack([found.low, found.high], axis=1), ends),
        ((found.weights_low, found.weights_high), percentile_interval(earned, 0.95)),
    ):
        assert_allclose(ours, theirs, rtol=0, atol=rounding)


def test_intervals_take_less_memory_than_the_panel():
    panel = random_panel(1, cases=200_000, agents=20)
    Resamples(200_000, 20).means(np.ones((200_000, 1)))
    tracemalloc.start()
    credit.intervals(panel, resamples=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < panel.values.nbytes


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p: credit.leave_one_out(p, removals=0), "between 1 and .* 4"),
        (lambda p: credit.leave_one_out(p, removals=5), "between 1 and .* 4"),
        (lambda p: credit.leave_one_out(p, weights=[1, 1, 1, 1]), "sum to 1"),
        (lambda p: credit.intervals(p, resamples=1), "at least 2 resamples"),
        (lambda p: credit.intervals(p, level=1.5, resamples=9), "between 0 and 1"),
        (lambda p: credit.contributions(p, method="x"), "got 'x'"),
        (lambda p: credit.sample_shapley(p, orders=(2, 1)), "4 <= fewest"),
    ],
)
def test_settings_outside_their_range_are_refused(call, match):
    with pytest.raises(SettingError, match=match):
        call(random_panel())


@pytest.mark.parametrize("silent", [0.0, 0.3])
@pytest.mark.parametrize("loss", ["brier", "log", "cost"])
def test_shapley_by_case_of_many_agents_is_the_mean_over_the_same_orders(loss, silent):
    panel = random_panel(2, cases=60, agents=15, silent=silent)
    by_case = credit.contributions(panel, method="shapley", loss=loss, seed=3)
    orders = (credit.ORDERS, credit.ORDERS)
    sampled = credit.sample_shapley(
        panel, loss=loss, tolerance=0.0, orders=orders, seed=3
    )
    assert_allclose(by_case.mean(axis=0), sampled.credit, atol=1e-12)


@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_random_orders_approximate_exact_shapley_credit(silent, monkeypatch):
    panel = random_panel(2, cases=300, agents=5, silent=silent)
    exact = credit.contributions(panel, method="shapley").mean(axis=0)
    monkeypatch.setattr(shapley_values, "EXACT_LIMIT", 4)
    monkeypatch.setattr(shapley_values, "ORDERS", 400)
    drawn = credit.contributions(panel, method="shapley").mean(axis=0)
    # Shares of one pool: whatever the orders, they add up to the same.
    assert_allclose(drawn.sum(), exact.sum())
    assert_allclose(drawn, exact, atol=0.05 * np.abs(exact).max())


def test_credit_is_exact_up_to_14_agents_and_else_from_40_orders():
    assert (credit.EXACT_LIMIT, credit.ORDERS) == (14, 40)


def test_intervals_of_weights_are_those_of_the_pool_itself():
    # Brute force: resample the cases, fit VCG again. One agent speaks seldom.
    panel = random_panel(5, cases=300, agents=3)
    reports = panel.reports.copy()
    reports[np.arange(300) % 12 > 0, 0] = np.nan
    seldom = Panel(reports, panel.outcomes)
    found = credit.intervals(seldom, resamples=400, seed=0)
    rng = np.random.default_rng(1)
    again = [
        VCG().fit_panel(seldom.take(rng.integers(0, 300, 300))).weights_
        for _ in range(400)
    ]
    assert_allclose(found.weights_low, np.quantile(again, 0.025, axis=0), atol=0.05)
    assert_allclose(found.weights_high, np.quantile(again, 0.975, axis=0), atol=0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_rare_agents_are_those_that_vcg_shrinks(weighted):
    # Of two reports or more on each case no resample depends on the base rate.
    panel, rng = random_panel(5, cases=80, agents=12), np.random.default_rng(2)
    reports = np.where(rng.random((80, 12)) < np.arange(12) / 20, panel.reports, np.nan)
    reports[:, 10:] = panel.reports[:, 10:]
    weights = rng.uniform(0.5, 2.0, 80) if weighted else None
    rare = Panel(reports, panel.outcomes, weights=weights)
    found = credit.intervals(rare, resamples=50, seed=4)
    assert_allclose(found.weights, VCG().fit_panel(rare).weights_, atol=1e-12)
    if not weighted:  # weighted means are resampled to first order
        counts = Resamples(80, 50, seed=4).means(np.eye(80)) * 80
        drawn = [np.repeat(np.arange(80), row.round().astype(int)) for row in counts]
        again = [VCG().fit_panel(rare.take(cases)).weights_ for cases in drawn]
        ends = percentile_interval(again, 0.95)
        assert_allclose((found.weights_low, found.weights_high), ends, atol=1e-9)


def test_intervals_count_cases_by_weight():
    panel = random_panel(5, cases=100)
    weights = np.linspace(0.5, 2.0, 100)
    found = credit.intervals(panel, resamples=20, sample_weight=weights)
    assert_allclose(found.credit, credit.leave_one_out(panel, sample_weight=weights))


def test_a_loss_keeps_its_own_costs():
    with pytest.raises(SettingError, match="costs and threshold of its own"):
        credit.leave_one_out(random_panel(), loss=Loss("cost"), costs=COSTS)


def test_sampled_weights_have_standard_errors():
    panel = random_panel(7, agents=16)
    pool = Shapley().fit(panel.reports, panel.outcomes)
    assert (pool.standard_errors_ > 0).all()
