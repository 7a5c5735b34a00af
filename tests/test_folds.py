import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import random_panel
from sklearn.model_selection import TimeSeriesSplit

from truepool.errors import SettingError
from truepool.folds import out_of_fold, splits
from truepool.panel import Panel
from truepool.pools.best import Best


@given(st.integers(0, 100), st.integers(2, 6), st.integers(2, 4))
def test_every_case_is_tested_once_and_never_on_its_own_lesson(seed, folds, classes):
    outcomes = random_panel(seed, classes=classes).outcomes
    pairs = splits(outcomes, folds, seed)
    tested = np.concatenate([test for _, test in pairs])
    assert sorted(tested.tolist()) == list(range(len(outcomes)))
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
    pooled = out_of_fold(Best(), panel, pairs)
    assert np.isnan(pooled[:15]).all()
    assert not np.isnan(pooled[15:]).any()


def test_a_held_out_case_cannot_teach_the_pool_about_itself():
    # The first agent is right in the tested case only; out of fold it is not chosen.
    reports = np.array([[0.0, 0.9], [1.0, 0.1]] * 10)
    reports[0] = [1.0, 0.0]
    panel = Panel(reports, [1, 0] * 10)
    pooled = out_of_fold(Best(), panel, splits(panel.outcomes, 10))
    assert pooled[0, 0] == 0.0


@pytest.mark.parametrize("cv", [0, 1, 81])
def test_a_number_of_folds_must_fit_the_cases(cv):
    with pytest.raises(SettingError, match=f"cv is {cv}"):
        splits(random_panel().outcomes, cv)


def test_a_fold_that_learns_from_one_class_is_refused():
    with pytest.raises(SettingError, match="one class only"):
        splits(np.array([0, 0, 0, 1]), 4)
