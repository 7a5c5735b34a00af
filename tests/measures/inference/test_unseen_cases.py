"""Rare cases that matter much: what the cases at hand did not show counts too."""

import numpy as np
import pytest

from truepool import Costs, Panel, compare
from truepool.measures.inference import (
    Resamples,
    independent_units,
    unseen_differences,
    with_unseen,
)

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
