"""Rare cases that matter much: what the cases at hand did not show counts too."""

import numpy as np
import pytest

from truepool import Costs, Panel, audit, compare
from truepool.comparison import estimate_cost
from truepool.measures.inference import (
    Resamples,
    independent_units,
    unseen_differences,
    unseen_errors,
    with_unseen,
)
from truepool.pages.comparison import grid

FN = 100.0
CASES, POSITIVES, LOST, SPARED = 3_000, 0.01, 0.02, 0.06
"""One rule loses 2 % of the positives and spares 6 % of the false alarms."""
RUNS = 100


def draw(seed):
    """Outcomes, and how much more the rule costs in each case."""
    rng = np.random.default_rng([3, seed])
    outcomes = (rng.random(CASES) < POSITIVES).astype(int)
    chance = rng.random(CASES)
    lost, spared = FN * (chance < LOST), -1.0 * (chance < SPARED)
    return outcomes, np.where(outcomes == 1, lost, spared)


def covers(units, seed):
    true = POSITIVES * LOST * FN - (1 - POSITIVES) * SPARED
    low, high = Resamples(len(units), 300, seed).interval(units, 0.95)
    return low <= true <= high


def test_intervals_of_rare_costly_cases_hold_the_truth_only_with_unseen_ones():
    seen = both = 0
    for seed in range(RUNS):
        outcomes, gaps = draw(seed)
        unseen = unseen_differences(np.where(outcomes == 1, FN, 1.0), outcomes)
        seen += covers(gaps, seed)
        both += covers(with_unseen(gaps[:, None], unseen)[:, 0], seed)
    error = np.sqrt(0.95 * 0.05 / RUNS)
    assert both / RUNS > 0.95 - 3 * error
    assert seen / RUNS < 0.7


def test_they_vary_as_one_case_of_each_class_that_is_decided_otherwise():
    outcomes = np.array([0, 0, 0, 1, 2])
    stakes = np.array([1.0, 1.0, 1.0, 10.0, 5.0])
    unseen = unseen_differences(stakes, outcomes)
    assert unseen.sum() == pytest.approx(0)
    pairs = np.square(unseen).reshape(3, 2).sum(axis=1)
    np.testing.assert_allclose(pairs, [1.0, 100.0, 25.0])


def test_a_class_that_does_not_occur_has_none():
    assert len(unseen_differences(np.ones(4), np.array([0, 0, 2, 2]))) == 4


def test_the_mean_stays_and_equal_rules_stay_equal():
    gaps = np.array([[1.0, 0.0], [-3.0, 0.0], [5.0, 0.0]])
    longer = with_unseen(gaps, np.array([7.0, -7.0]))
    np.testing.assert_allclose(longer.mean(axis=0), gaps.mean(axis=0))
    assert not longer[:, 1].any()


def test_what_one_rule_saves_the_other_costs():
    gaps = np.array([[0.0], [-3.0], [5.0]])
    unseen = np.array([7.0, -7.0])
    np.testing.assert_array_equal(
        with_unseen(-gaps, unseen), -with_unseen(gaps, unseen)
    )


def test_weighted_and_grouped_cases_have_them_in_the_size_of_their_units():
    """One lost case of a group of two moves the mean of the units as it would there."""
    outcomes, groups = np.array([1, 1, 0, 0]), np.array(["a", "a", "b", "b"])
    weights = np.array([3.0, 3.0, 1.0, 1.0])
    lost = np.array([[0.0], [10.0], [0.0], [0.0]])
    units = independent_units(lost, weights, groups)
    unseen = unseen_differences(np.full(4, 10.0), outcomes, weights, len(units))
    moved = unseen.max() * np.sqrt(2) / len(units)
    assert moved == pytest.approx(float(units.mean()))


def test_a_comparison_by_cost_has_them_and_one_by_brier_has_not():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 80)
    reports = np.clip(outcomes[:, None] * 0.4 + 0.6 * rng.random((80, 3)), 0, 1)
    panel, costs = Panel(reports, outcomes), Costs(fn=10)
    by_cost = compare(panel, costs=costs, pools=["median"], resamples=50)
    by_brier = compare(panel, costs=costs, pools=["median"], resamples=50, loss="brier")
    assert (len(by_cost.unseen), len(by_brier.unseen)) == (4, 0)
    assert "unseen" not in by_cost.to_dict()


MISSED, ALARMS = 0.05, 0.06
"""Of one pool: shares of positives missed and of negatives decided positive."""


def draw_cost(seed, cases):
    """Outcomes, and what a pool costs in each case."""
    rng = np.random.default_rng([4, seed])
    outcomes = (rng.random(cases) < POSITIVES).astype(int)
    chance = rng.random(cases)
    wrong = np.where(outcomes == 1, FN * (chance < MISSED), 1.0 * (chance < ALARMS))
    return outcomes, wrong


@pytest.mark.parametrize("cases", [600, 2_000])
def test_the_cost_of_one_pool_allows_for_the_misses_that_no_case_has_shown(cases):
    true = POSITIVES * MISSED * FN + (1 - POSITIVES) * ALARMS
    seen = both = 0
    for seed in range(RUNS):
        outcomes, cost = draw_cost(seed, cases)
        stakes = np.where(outcomes == 1, FN, 1.0)
        drawn = Resamples(cases, 300, seed)
        low, high = drawn.interval(cost, 0.95)
        seen += low <= true <= high
        unseen = unseen_errors(cost, stakes, outcomes)
        found = estimate_cost(cost, unseen, drawn, 0.95)
        both += found.low <= true <= found.high
    error = np.sqrt(0.95 * 0.05 / RUNS)
    assert both / RUNS > 0.95 - 3 * error
    assert seen / RUNS < 0.75


def test_an_error_is_unseen_where_a_class_has_none():
    outcomes, stakes = np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 10.0, 10.0])
    assert unseen_errors(np.array([1.0, 0, 10, 0]), stakes, outcomes) == (0.0, 0.0)
    assert unseen_errors(np.array([1.0, 0, 0, 0]), stakes, outcomes) == (10.0, 0.0)
    assert unseen_errors(np.array([0.0, 0, 10, 0]), stakes, outcomes) == (1.0, 0.0)
    assert unseen_errors(stakes, stakes, outcomes) == (0.0, 10.0)


def test_the_cases_of_a_group_may_be_wrong_together():
    """Copies of cases add no evidence: an error of a case is one of all its copies."""
    outcomes, stakes = np.array([0, 0, 1]), np.array([1.0, 1.0, 10.0])
    excess, weights = np.array([1.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0])
    for w in (None, weights):
        thrice = None if w is None else np.repeat(w, 3)
        many = [np.repeat(values, 3) for values in (excess, stakes, outcomes)]
        found = unseen_errors(*many, thrice, groups=np.repeat(np.arange(3), 3))
        assert found == pytest.approx(unseen_errors(excess, stakes, outcomes, w))


def test_what_rounding_leaves_is_no_error():
    outcomes, stakes = np.array([0, 1]), np.array([1.0, 10.0])
    assert unseen_errors(np.array([0.0, 1e-15]), stakes, outcomes) == (10.0, 0.0)


def test_the_upper_end_without_errors_is_that_of_one_error():
    drawn = Resamples(60, 400)
    one = np.append(np.zeros(60), 100.0)
    found = estimate_cost(np.zeros(60), (100.0, 0.0), drawn, 0.95)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == Resamples(61, 400).interval(one, 0.95)[1] > 100 / 60


def test_the_lower_end_without_right_decisions_is_that_of_one():
    found = estimate_cost(np.ones(60), (0.0, 1.0), Resamples(60, 400), 0.95)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.9 < found.low < 1.0


def perfect(cases=150):
    """Positives that every agent ranks first, and decides so."""
    rng = np.random.default_rng(1)
    outcomes = (np.arange(cases) % 5 == 0).astype(int)
    reports = 0.005 * rng.random((cases, 3)) + 0.9 * outcomes[:, None]
    return Panel(reports, outcomes).with_columns({"half": np.arange(cases) % 2})


def test_no_pool_costs_nothing_for_certain():
    found = compare(perfect(), costs=Costs(fn=FN), pools=["median"], by="half")
    assert [row.loss.value for row in found.rows] == [0.0] * 3
    rows = [*found.rows, *(row for group in found.groups for row in group.rows)]
    assert all(row.loss.high > FN / 150 for row in rows)
    assert "the upper end of its cost allows for one error" in grid(found).notes[0]
    by_brier = compare(perfect(), pools=["median"], loss="brier")
    assert "one error" not in grid(by_brier).notes[0]


def test_an_audit_is_certain_of_no_cost_and_no_recall_either():
    found = audit(perfect(), costs=Costs(fn=FN), capacity="50%", by="half")
    assert found.comparison["mean"].loss.high > 0
    for part in (*found.segments, found.capacity):
        assert (part.cost.value, part.recall.value) == (0.0, 1.0)
        assert part.cost.high > FN / 150
        assert 0.7 < part.recall.low < 1.0 == part.recall.high


def reviewed_cases(seed):
    """Outcomes, weights and costs of the cases of one draw of who was reviewed.

    A pool misses 15 % of the positives; of what it lets pass, 5 % is reviewed.
    """
    rng = np.random.default_rng([5, seed])
    outcomes = (rng.random(4_000) < 0.04).astype(int)
    flagged = rng.random(4_000) < np.where(outcomes == 1, 0.85, 0.05)
    chance = np.where(flagged, 1.0, 0.05)
    cost = np.where(outcomes == 1, 20.0 * ~flagged, 1.0 * flagged)
    seen = rng.random(4_000) < chance
    return outcomes[seen], 1 / chance[seen], cost[seen]


def test_a_miss_among_the_few_that_were_reviewed_may_not_have_been_seen():
    """In three of ten draws none of them is a miss, and none of them is positive."""
    true = 0.04 * 0.15 * 20 + 0.96 * 0.05
    held = alone = 0
    for seed in range(RUNS):
        outcomes, weights, cost = reviewed_cases(seed)
        stakes = np.where(outcomes == 1, 20.0, 1.0)
        units = independent_units(cost[:, None], weights)[:, 0]
        drawn = Resamples(len(units), 300, seed)
        unseen = unseen_errors(cost, stakes, outcomes, weights)
        for found, counts in ((unseen, True), ((0.0, 0.0), False)):
            interval = estimate_cost(units, found, drawn, 0.95)
            covered = interval.low <= true <= interval.high
            held += covered and counts
            alone += covered and not counts
    assert held / RUNS > 0.95 - 3 * np.sqrt(0.95 * 0.05 / RUNS)
    assert alone < held


def test_a_class_is_shown_to_err_only_where_its_large_weights_are():
    outcomes, stakes = np.array([1, 1, 1, 0, 0]), np.array([10.0, 10, 10, 1, 1])
    weights = np.array([1.0, 1, 20, 1, 1])
    light, heavy = np.array([10.0, 0, 0, 1, 0]), np.array([10.0, 0, 10, 1, 0])
    size = 20 / np.append(weights, 20).mean() * 10
    assert unseen_errors(light, stakes, outcomes, weights)[0] == pytest.approx(size)
    # a negative of large weight has not been seen, and counts too
    assert len(unseen_differences(stakes, outcomes, weights)) == 8
    for groups in (None, np.array(["a", "b", "c", "d", "e"])):
        found = unseen_errors(heavy, stakes, outcomes, weights, groups)[0]
        assert found == pytest.approx(20 / np.append(weights, 20).mean())
