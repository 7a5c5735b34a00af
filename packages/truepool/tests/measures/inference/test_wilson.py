"""Shares of rare cases: none seen does not mean that there are none."""

import numpy as np
import pytest
from scipy.stats import binomtest

from truepool.measures.inference import share_interval


@pytest.mark.parametrize(("hits", "cases"), [(0, 12), (5, 12), (12, 12), (33, 33)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_interval_of_a_share_is_that_of_wilson(hits, cases, level):
    found = share_interval(np.arange(cases) < hits, np.ones(cases, bool), level)
    expected = binomtest(hits, cases).proportion_ci(level, "wilson")
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_only_the_members_count():
    members = np.array([True, False] * 20)
    hits = np.arange(40) % 4 == 0
    assert share_interval(hits, members, 0.95) == share_interval(
        hits[members], np.ones(20, bool), 0.95
    )


def test_there_is_no_share_of_nothing():
    assert np.isnan(share_interval(np.ones(5, bool), np.zeros(5, bool), 0.95)).all()


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_case_in_two_rows_counts_once(share):
    hits, members = np.arange(10) < 10 * share, np.ones(10, bool)
    twice = (np.repeat(hits, 2), np.repeat(members, 2))
    groups = np.repeat(np.arange(10), 2)
    np.testing.assert_allclose(
        share_interval(*twice, 0.95, groups=groups), share_interval(hits, members, 0.95)
    )


@pytest.mark.parametrize("hits", [np.ones(40, bool), np.arange(40) % 2 == 0])
def test_unequal_weights_widen_the_interval(hits):
    members = np.ones(40, bool)
    weights = np.where(np.arange(40) < 4, 10.0, 1.0)
    low, high = share_interval(hits, members, 0.95, weights)
    equal_low, equal_high = share_interval(hits, members, 0.95)
    assert high - low > 1.2 * (equal_high - equal_low)


def test_the_interval_of_a_rare_miss_holds_the_truth():
    """Of 30 positives 3 % are missed: in 4 of 10 tables none is."""
    runs, recall, positives = 1_000, 0.97, 30
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(runs):
        low, high = share_interval(
            rng.random(positives) < recall, np.ones(positives, bool), 0.95
        )
        held += low <= recall <= high
    assert held / runs > 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("reviewed", [0.02, 0.05])
def test_recall_where_few_cases_that_were_let_pass_were_reviewed(reviewed):
    """By effective numbers alone it held the truth in 40 % and 73 % of the draws."""
    runs, rng, held = 400, np.random.default_rng(6), 0
    positive = np.arange(2_000) < 200
    for _ in range(runs):
        flagged = rng.random(2_000) < np.where(positive, 0.85, 0.1)
        chance = np.where(flagged, 1.0, reviewed)
        seen = rng.random(2_000) < chance
        low, high = share_interval(
            flagged[seen], positive[seen], 0.95, 1 / chance[seen]
        )
        held += low <= flagged[positive].mean() <= high
    assert held / runs > 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)


def test_one_miss_of_large_weight_is_enough_for_the_effective_number():
    members, weights = np.ones(40, bool), np.r_[np.ones(38), 20.0, 20.0]
    hits = members.copy()
    hits[-1] = False
    low, high = share_interval(hits, members, 0.95, weights)
    again = share_interval(hits, members, 0.95, 3 * weights)
    assert (low, high) == pytest.approx(again)
    unseen, _ = share_interval(members, members, 0.95, weights)
    assert unseen < 58 / 78  # the share with one more, that is missed
