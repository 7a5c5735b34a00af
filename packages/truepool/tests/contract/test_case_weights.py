"""Weights, groups and propensities of the cases, in everything that learns or counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import pools
from truepool.audits import audit
from truepool.comparison import compare
from truepool.core.errors import SettingError
from truepool.measures.calibration import cox
from truepool.measures.credit import intervals, leave_one_out, shapley
from truepool.measures.folds import GROUP_PARTS, panel_splits
from truepool.measures.inference import independent_units, paired_p_values
from truepool.measures.losses import Loss, agent_losses
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COUNTS = np.random.default_rng(4).integers(1, 4, 60)
COSTS = Costs(fn=10, fp=1)


def weighted(panel, weights=COUNTS, **more):
    return Panel(panel.reports, panel.outcomes, weights=weights, **more)


def repeated(panel, counts=COUNTS):
    return panel.take(np.repeat(np.arange(len(panel)), counts))


PLAIN = random_panel(7, cases=60, silent=0.15)
FOLDED = {
    "auto", "simplest", "beta", "extremized", "isotonic", "platt", "shrunk", "boosted",
    "stacked-lr", "stacked-mlp", "ridge", "bayes",
}  # fmt: skip
"""Pools that cross-fit, or draw cases by chance: repeated cases fall into other folds."""


@pytest.mark.parametrize(
    "name", [n for n, p in pools.every().items() if p.by_default and n not in FOLDED]
)
def test_integer_weights_fit_as_repeated_cases_do(name):
    one = pools.make(name).fit_panel(weighted(PLAIN))
    two = pools.make(name).fit_panel(repeated(PLAIN))
    values = random_panel(8, cases=30, silent=0.15).values
    assert_allclose(one.probabilities(values), two.probabilities(values), atol=1e-9)


@pytest.mark.parametrize("name", [n for n, p in pools.every().items() if p.by_default])
def test_the_weights_of_a_panel_are_those_that_fit_takes(name):
    one = pools.make(name).fit_panel(weighted(PLAIN))
    two = pools.make(name).fit(PLAIN.reports, PLAIN.outcomes, COUNTS)
    assert_array_equal(one.probabilities(PLAIN.values), two.probabilities(PLAIN.values))
    other = pools.make(name).fit_panel(PLAIN, COUNTS.astype(float))
    assert_array_equal(
        one.probabilities(PLAIN.values), other.probabilities(PLAIN.values)
    )


@pytest.mark.parametrize("loss", ["brier", "log", "cost", "cost-brier"])
def test_credit_of_integer_weights_is_that_of_repeated_cases(loss):
    for credit in (leave_one_out, shapley):
        one = credit(weighted(PLAIN), loss=loss, costs=COSTS)
        assert_allclose(
            one, credit(repeated(PLAIN), loss=loss, costs=COSTS), atol=1e-12
        )
    priced = Loss(loss, COSTS)
    assert_allclose(
        agent_losses(weighted(PLAIN), priced), agent_losses(repeated(PLAIN), priced)
    )
    one, two = (
        intervals(panel, loss=loss, costs=COSTS, resamples=20)
        for panel in (weighted(PLAIN), repeated(PLAIN))
    )
    assert_allclose(one.credit, two.credit, atol=1e-12)
    assert_allclose(one.weights, two.weights, atol=1e-9)


def test_a_propensity_counts_a_case_for_those_like_it():
    chances = 1.0 / COUNTS
    one = Panel(PLAIN.reports, PLAIN.outcomes, propensity=chances)
    assert_allclose(one.case_weights(), COUNTS)
    both = Panel(PLAIN.reports, PLAIN.outcomes, weights=COUNTS, propensity=chances)
    assert_allclose(both.case_weights(), COUNTS**2)
    assert_allclose(one.base_rate(), repeated(PLAIN).base_rate())
    assert_array_equal(
        pools.make("vcg").fit_panel(one).weights_,
        pools.make("vcg").fit_panel(weighted(PLAIN, 1.0 / chances)).weights_,
    )


def test_a_comparison_scores_integer_weights_as_repeated_cases():
    """Pools that learn nothing, so that folds do not matter."""
    chosen = {"pools": ["median", "vote"], "costs": COSTS, "resamples": 20, "cv": 3}
    one, two = (
        compare(panel, **chosen) for panel in (weighted(PLAIN), repeated(PLAIN))
    )
    for name in ("median", "vote", "mean"):
        for what in ("cost", "brier", "log", "ece", "recall", "precision", "fp_rate"):
            assert_allclose(getattr(one[name], what), getattr(two[name], what))
        assert_allclose(one[name].loss.value, two[name].loss.value)
        assert_allclose(one[name].to_mean.value, two[name].to_mean.value, atol=1e-12)


def test_an_audit_counts_integer_weights_as_repeated_cases():
    panel = random_panel(3, cases=120)
    counts = np.random.default_rng(1).integers(1, 4, 120)
    one = audit(weighted(panel, counts), costs=COSTS, resamples=20)
    two = audit(repeated(panel, counts), costs=COSTS, resamples=20)
    costs = [found.operations[0].cost.value for found in (one, two)]
    assert_allclose(costs[0], costs[1], atol=1e-9)
    assert_allclose(one.curve.cost, two.curve.cost)
    assert_allclose(one.curve.always, two.curve.always)
    for a, b in zip(one.summaries, two.summaries, strict=True):
        assert_allclose(a.brier, b.brier)
        assert_allclose(a.leave_one_out.value, b.leave_one_out.value, atol=1e-9)
    for a, b in zip(one.calibration[:5], two.calibration[:5], strict=True):
        assert_allclose(a.smooth_ece, b.smooth_ece)
        assert_allclose(a.bias.value, b.bias.value, atol=1e-12)
        if a.slope is not None and b.slope is not None:  # pairs of rows count there
            assert_allclose(a.slope.value, b.slope.value, rtol=1e-6)
    assert any(a.slope is not None for a in one.calibration[:5])


def test_the_calibration_slope_of_integer_weights_is_that_of_repeated_cases():
    panel = random_panel(2, cases=60)
    p, y = panel.reports[:, 2], panel.outcomes
    one = cox(p, y, COUNTS.astype(float))
    two = cox(np.repeat(p, COUNTS), np.repeat(y, COUNTS))
    assert_allclose([one.slope, one.intercept], [two.slope, two.intercept], rtol=1e-6)
    same = cox(p, y, np.ones(60))
    assert_allclose(same.slope_error, cox(p, y).slope_error, rtol=1e-6)


GROUPS = np.random.default_rng(9).integers(0, 12, 60)


@pytest.mark.parametrize("times", [None, np.arange(60) % 20])
@pytest.mark.parametrize("cv", [2, 3, 5])
def test_no_group_is_both_learned_from_and_tested_on(times, cv):
    panel = Panel(PLAIN.reports, PLAIN.outcomes, groups=GROUPS, times=times)
    pairs = panel_splits(panel, cv)
    tested = np.concatenate([test for _, test in pairs])
    assert len(set(tested)) == len(tested)
    for learn, test in pairs:
        assert not set(GROUPS[learn]) & set(GROUPS[test])
        if times is not None:
            assert times[learn].max() < times[test].min()
    if times is None:
        assert len(tested) == 60
        assert len(pairs) == cv
    else:
        assert len(pairs) <= max(2, 2 * cv // GROUP_PARTS) * GROUP_PARTS


def test_groups_are_dealt_out_by_the_rarest_class_they_hold():
    outcomes = np.zeros(100, dtype=int)
    outcomes[::10] = 1
    groups = np.arange(100) // 2
    panel = Panel(np.full((100, 2), 0.5), outcomes, groups=groups)
    for _, test in panel_splits(panel, 5):
        assert outcomes[test].sum() == 2


def test_more_folds_than_groups_are_fewer_folds():
    panel = Panel(PLAIN.reports, PLAIN.outcomes, groups=np.arange(60) % 3)
    assert len(panel_splits(panel, 5)) == 3


def test_one_group_cannot_be_split():
    panel = Panel(PLAIN.reports, PLAIN.outcomes, groups=["all"] * 60)
    with pytest.raises(SettingError, match="at least 2 groups; all 60 cases are of"):
        panel_splits(panel, 5)


def test_parts_in_time_are_three():
    assert GROUP_PARTS == 3


def test_a_pool_that_cross_fits_keeps_groups_together():
    """Every case twice, in one group: folds that split the pairs would leak."""
    rng = np.random.default_rng(0)
    half = random_panel(1, cases=60)
    twice = half.take(np.repeat(np.arange(60), 2))
    pairs = np.repeat(np.arange(60), 2)
    panel = Panel(twice.reports, twice.outcomes, groups=pairs)
    for name in ("stacked-lr", "platt", "simplest"):
        pool = pools.make(name).fit_panel(panel)
        assert pool.probabilities(panel.values).shape == (120, 2)
    table = compare(panel, pools=["vcg"], cv=3, resamples=50, seed=int(rng.integers(9)))
    assert len(table.by_case["vcg"]) == 60


def test_repeating_every_case_in_its_group_changes_no_interval():
    """Copies add no evidence: what resamples whole groups must know that."""
    single = random_panel(1, cases=80)
    copies = single.take(np.repeat(np.arange(80), 3))
    panel = Panel(copies.reports, copies.outcomes, groups=np.repeat(np.arange(80), 3))
    alone = Panel(single.reports, single.outcomes, groups=np.arange(80))
    chosen = {"pools": ["median"], "cv": 3, "resamples": 200}
    one, three = (compare(p, **chosen)["median"] for p in (alone, panel))
    assert_allclose(one.p_mean, three.p_mean)
    assert_allclose(one.loss.value, three.loss.value)
    assert_allclose(
        one.loss.high - one.loss.low, three.loss.high - three.loss.low, rtol=0.2
    )


def test_units_have_the_weighted_mean_and_the_error_of_a_ratio():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(50, 2)), rng.uniform(0.5, 3, 50)
    groups = rng.integers(0, 12, 50)
    for g in (None, groups):
        units = independent_units(x, w, g)
        mean = (w @ x) / w.sum()
        assert_allclose(units.mean(axis=0), mean)
        summed = w[:, None] * (x - mean)
        if g is not None:
            summed = np.stack([summed[g == k].sum(axis=0) for k in np.unique(g)])
        n = len(summed)
        error = np.sqrt(n / (n - 1) * (summed**2).sum(axis=0)) / w.sum()
        assert_allclose(units.std(axis=0, ddof=1) / np.sqrt(n), error)
    assert independent_units(x) is x


def coverage(draw, truth, repetitions=400, z=1.96):
    """Share of normal intervals of the mean of units that cover the truth."""
    hits = 0
    for seed in range(repetitions):
        units = draw(np.random.default_rng(seed))
        reach = z * units.std(ddof=1) / np.sqrt(len(units))
        hits += abs(units.mean() - truth) <= reach
    return hits / repetitions


def selected(rng, cases=600):
    """Losses of reviewed cases, review likelier where the loss is high: mean 0.3."""
    loss = (rng.random(cases) < 0.3).astype(float)
    chance = np.where(loss == 1, 0.8, 0.2)
    reviewed = rng.random(cases) < chance
    return loss[reviewed][:, None], chance[reviewed]


def test_intervals_by_propensity_cover_the_truth():
    """Binomial noise of 400 intervals at 95 % is 1.1 %; three of it are allowed."""

    def weighed(rng):
        loss, chance = selected(rng)
        return independent_units(loss, 1 / chance)

    def naive(rng):
        return selected(rng)[0]

    assert abs(coverage(weighed, 0.3) - 0.95) < 0.033
    assert coverage(naive, 0.3) < 0.05


def test_intervals_by_group_cover_the_truth():
    def drawn(rng):
        effect = np.repeat(rng.normal(size=60), 10)
        return (effect + rng.normal(size=600))[:, None], np.repeat(np.arange(60), 10)

    def grouped(rng):
        x, groups = drawn(rng)
        return independent_units(x, None, groups)

    assert abs(coverage(grouped, 0.0) - 0.95) < 0.033
    assert coverage(lambda rng: drawn(rng)[0], 0.0) < 0.8
    p_values = [
        paired_p_values(grouped(np.random.default_rng(s)))[0] for s in range(400)
    ]
    assert abs(np.mean(np.array(p_values) < 0.05) - 0.05) < 0.033
