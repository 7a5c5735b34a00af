import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import random_panel
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
)

from truepool.core.errors import SettingError
from truepool.data.panel import Panel
from truepool.measures.folds import evaluation_cases, out_of_fold, splits
from truepool.pools.best_agent import BestAgent
from truepool.pools.vcg import VCG


@given(st.integers(0, 100), st.integers(2, 6), st.integers(2, 4))
def test_every_case_is_tested_once_and_never_on_its_own_lesson(seed, folds, classes):
    outcomes = random_panel(seed, classes=classes).outcomes
    pairs = splits(outcomes, folds, seed)
    every = np.concatenate([test for _, test in pairs])
    assert sorted(every.tolist()) == list(range(len(outcomes)))
    for learn, test in pairs:
        assert not set(learn.tolist()) & set(test.tolist())
        assert len(learn) + len(test) == len(outcomes)


@given(st.integers(0, 100), st.integers(2, 6))
def test_every_fold_has_its_share_of_every_class(seed, folds):
    outcomes = random_panel(seed, classes=3).outcomes
    counts = np.array(
        [np.bincount(outcomes[t], minlength=3) for _, t in splits(outcomes, folds)]
    )
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()


def test_folds_do_not_depend_on_what_the_classes_are_called():
    outcomes = random_panel().outcomes
    for (_, a), (_, b) in zip(splits(outcomes), splits(1 - outcomes), strict=True):
        assert a.tolist() == b.tolist()


def test_with_times_only_the_past_teaches():
    outcomes = random_panel(cases=60).outcomes
    times = np.random.default_rng(0).permutation(60)
    for learn, test in splits(outcomes, 4, times=times):
        assert times[learn].max() < times[test].min()


def test_any_splitter_will_do():
    panel = random_panel(cases=60)
    pairs = splits(panel.outcomes, TimeSeriesSplit(3))
    pooled = out_of_fold(BestAgent(), panel, pairs)
    assert np.isnan(pooled[:15]).all()
    assert not np.isnan(pooled[15:]).any()


def test_no_pool_learns_from_its_own_test_cases():
    # The first agent is right in the tested case only; out of fold it is not chosen.
    reports = np.array([[0.0, 0.9], [1.0, 0.1]] * 10)
    reports[0] = [1.0, 0.0]
    panel = Panel(reports, [1, 0] * 10)
    pooled = out_of_fold(BestAgent(), panel, splits(panel.outcomes, 10))
    assert pooled[0, 0] == 0.0


@pytest.mark.parametrize("cv", [0, 1, -3])
def test_there_must_be_two_folds(cv):
    with pytest.raises(SettingError, match=f"got cv={cv}"):
        splits(random_panel().outcomes, cv)


@given(st.integers(0, 100), st.integers(4, 12), st.integers(2, 9))
def test_few_cases_make_fewer_folds_and_none_is_empty(seed, cases, folds):
    outcomes = np.append(
        np.random.default_rng(seed).integers(0, 2, cases - 4), [0, 1, 0, 1]
    )
    pairs = splits(outcomes, folds)
    assert len(pairs) == min(folds, cases)
    assert all(len(test) for _, test in pairs)


def test_a_case_that_several_folds_test_counts_once():
    panel = random_panel(cases=60)
    pairs = splits(panel.outcomes, RepeatedStratifiedKFold(n_splits=5, n_repeats=4))
    assert evaluation_cases(pairs).tolist() == list(range(60))
    each = [out_of_fold(VCG(), panel, pairs[5 * r : 5 * r + 5]) for r in range(4)]
    assert_allclose(out_of_fold(VCG(), panel, pairs), np.mean(each, axis=0))


def test_groups_are_kept_together():
    panel = random_panel(cases=60)
    groups = np.arange(60) // 6
    for learn, test in splits(panel.outcomes, GroupKFold(5), groups=groups):
        assert not set(groups[learn]) & set(groups[test])


@given(st.integers(0, 50))
def test_a_moment_is_never_cut_in_two(seed):
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, 120)
    outcomes[:2] = 0, 1
    times = np.sort(rng.integers(0, 8, 120))
    for learn, test in splits(outcomes, 5, times=times):
        assert times[learn].max() < times[test].min()


@given(st.integers(0, 50))
def test_forward_folds_start_once_both_classes_occurred(seed):
    outcomes = (np.random.default_rng(seed).random(400) < 0.02).astype(int)
    outcomes[[150, 300]] = 1
    pairs = splits(outcomes, 5, times=np.arange(400))
    assert all(outcomes[learn].min() != outcomes[learn].max() for learn, _ in pairs)
    assert pairs[-1][1][-1] == 399


def test_equal_times_leave_nothing_to_test():
    with pytest.raises(SettingError, match="too few cases to test on"):
        splits(np.array([0, 1, 0, 1]), 2, times=np.zeros(4))


def test_a_fold_that_learns_from_one_class_is_refused():
    with pytest.raises(SettingError, match="one class only"):
        splits(np.array([0, 0, 0, 1]), 4)


def test_folds_of_one_class_are_refused_by_its_number():
    with pytest.raises(SettingError, match="folds need .*; every outcome is class 1"):
        splits(np.ones(6, dtype=int), 2)
