"""Silos: drawn as the paper draws them, disjoint where rows are shared out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from truepool.agents import case_silos, feature_silos, overlap
from truepool.core.errors import SettingError


def test_silos_are_the_first_draws_of_one_legacy_generator():
    rng = np.random.RandomState(42)
    expected = [np.sort(rng.permutation(41)[:25]) for _ in range(5)]  # ceil(.6 x 41)
    for silo, drawn in zip(feature_silos(41, 5, 0.6), expected, strict=True):
        assert_array_equal(silo, drawn)


def test_one_more_agent_does_not_change_the_other_silos():
    five, six = feature_silos(41, 5, 0.6), feature_silos(41, 6, 0.6)
    for a, b in zip(five, six, strict=False):
        assert_array_equal(a, b)


def test_the_papers_silos_on_nsl_kdd_overlap_by_042_not_043():
    # The paper prints 0.43: s / (2 - s) = 0.4286 for s = 0.6, what silos of many
    # features overlap by on average. The five silos its protocol draws overlap less.
    assert round(0.6 / (2 - 0.6), 2) == 0.43
    assert round(overlap(feature_silos(41, 5, 0.6)), 4) == 0.4181


def test_silos_of_many_features_overlap_as_the_paper_prints():
    assert overlap(feature_silos(100_000, 5, 0.6)) == pytest.approx(0.6 / 1.4, abs=2e-3)


def test_overlap_is_one_for_equal_silos_and_zero_for_disjoint_ones():
    assert overlap([[1, 2], [2, 1]]) == 1
    assert overlap([[1, 2], [3], [4]]) == 0
    with pytest.raises(SettingError, match="at least 2 silos; got 1"):
        overlap([[1, 2]])


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_a_share_is_a_share(share):
    with pytest.raises(SettingError, match=r"must lie in \(0, 1\]"):
        feature_silos(10, 2, share)


@given(
    st.lists(st.integers(0, 2), min_size=12, max_size=60),
    st.integers(1, 4),
    st.integers(0, 9),
)
def test_sample_silos_are_disjoint_whole_and_stratified(labels, agents, seed):
    labels = np.array([0] * 4 + [1] * 4 + labels)
    silos = case_silos(labels, agents, seed)
    for a, b in combinations(silos, 2):
        assert not set(a) & set(b)
    assert_array_equal(np.sort(np.concatenate(silos)), np.arange(len(labels)))
    for label in np.unique(labels):
        counts = [int((labels[silo] == label).sum()) for silo in silos]
        assert max(counts) - min(counts) <= 1


def test_sample_silos_follow_the_seed():
    labels = np.arange(40) % 2
    assert_array_equal(case_silos(labels, 2, 1)[0], case_silos(labels, 2, 1)[0])
    assert (case_silos(labels, 2, 1)[0] != case_silos(labels, 2, 2)[0]).any()


def test_too_few_cases_of_a_class_are_refused():
    with pytest.raises(SettingError, match="9 x 0, 2 x 1 into 3 silos leaves silo"):
        case_silos([0] * 9 + [1] * 2, 3)
    with pytest.raises(SettingError, match="at least 1 silo"):
        case_silos([0, 1], 0)
