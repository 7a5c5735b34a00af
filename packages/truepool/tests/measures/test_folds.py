import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from scipy.special import expit
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
)

from truepool.core.errors import SettingError
from truepool.measures.folds import (
    _capped,
    evaluation_cases,
    out_of_fold,
    splits,
    thin,
)
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
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


# A part to learn from


def rare(counts=(3940, 60), seed=0, silent=0.0, **more):
    """Agents that know something of classes with these numbers of cases."""
    rng = np.random.default_rng(seed)
    outcomes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    T, K = len(outcomes), len(counts)
    evidence = 2.0 * np.eye(K)[outcomes][:, None] + rng.normal(size=(T, 3, K))
    evidence += np.log(counts)
    if K == 2:
        reports = expit(evidence[:, :, 1] - evidence[:, :, 0])
        gone = rng.random(reports.shape) < silent
        gone[:, 0] = False
        reports[gone] = np.nan
    else:
        reports = np.exp(evidence) / np.exp(evidence).sum(axis=2, keepdims=True)
    return Panel(reports, outcomes, columns={"case": np.arange(T)}, **more)


def drawn(panel, seed, most, case_weights=None):
    """Cases that are kept, and their weights."""
    part, weights = thin(panel, case_weights, seed, most)
    return part.columns["case"].astype(int), weights


def sparse(panel):
    reports = SparseReports.from_dense(panel.reports)
    return Panel(reports, panel.outcomes, columns=panel.columns)


UNEVEN = {
    "rare": rare(),
    "missing reports": rare(silent=0.4),
    "sparse": sparse(rare(silent=0.4)),
    "three classes": rare((3000, 900, 100)),
    "weights": rare(weights=np.random.default_rng(1).uniform(0.2, 5, 4000)),
    "propensity": rare(propensity=np.random.default_rng(2).uniform(0.05, 1, 4000)),
}


@pytest.mark.parametrize("name", UNEVEN)
def test_every_case_of_a_rare_class_is_kept_and_counts_once(name):
    panel = UNEVEN[name]
    whole = panel.case_weights()
    whole = np.ones(len(panel)) if whole is None else whole
    few = int(np.bincount(panel.outcomes).argmin())
    for seed in range(5):
        cases, weights = drawn(panel, seed, 800)
        assert set(np.flatnonzero(panel.outcomes == few)) <= set(cases.tolist())
        kept = panel.outcomes[cases] == few
        assert_allclose(weights[kept], whole[cases][kept])
        assert (np.diff(cases) > 0).all()
        assert abs(len(cases) - 800) <= panel.classes


@pytest.mark.parametrize("name", UNEVEN)
def test_weighted_sums_over_the_part_are_those_over_all_cases(name):
    """The mean of many draws; of a constant, and of a loss that is large where a
    negative case looks like a positive one."""
    panel, draws = UNEVEN[name], 60
    whole = panel.case_weights()
    whole = np.ones(len(panel)) if whole is None else whole
    p = np.nanmean(panel.reports, axis=1)
    p = p if p.ndim == 1 else 1 - p[:, 0]
    wrong = np.where(panel.outcomes > 0, 1 - p, p)
    for loss in (np.ones(len(panel)), wrong**2, -np.log1p(-0.999 * wrong)):
        sums = []
        for seed in range(draws):
            cases, weights = drawn(panel, seed, 800)
            sums.append(weights @ loss[cases])
        error = np.std(sums) / np.sqrt(draws)
        full = whole @ loss
        assert abs(np.mean(sums) - full) <= 4 * error + 1e-9 * full


def test_where_decisions_are_made_the_draw_hardly_matters():
    """The cost of mistaking a negative case varies half as much as in an even draw."""
    panel = rare((19_900, 100))
    loss = np.where(panel.outcomes == 1, 0.0, panel.reports.mean(axis=1) ** 2)
    negative = np.flatnonzero(panel.outcomes == 0)
    by_part, even = [], []
    for seed in range(40):
        cases, weights = drawn(panel, seed, 1000)
        by_part.append(weights @ loss[cases])
        some = np.random.default_rng(seed).choice(negative, 900, replace=False)
        even.append(len(negative) / 900 * loss[some].sum())
    assert np.std(by_part) < np.std(even) / 2


def test_the_same_seed_draws_the_same_cases():
    panel = UNEVEN["rare"]
    (cases, weights), again, other = (drawn(panel, seed, 800) for seed in (3, 3, 4))
    assert_array_equal(cases, again[0])
    assert_array_equal(weights, again[1])
    assert set(cases) != set(other[0])


def test_given_weights_are_multiplied_and_take_the_place_of_the_panels_own():
    given = np.random.default_rng(5).uniform(0.1, 9, 4000)
    for name in ("rare", "weights"):
        cases, weights = drawn(UNEVEN[name], 0, 800, given)
        same, ones = drawn(UNEVEN[name], 0, 800, np.ones(4000))
        assert_array_equal(cases, same)
        assert_allclose(weights, ones * given[cases])


def test_frequent_classes_share_what_the_rare_ones_leave():
    panel = rare((3000, 900, 100))
    cases, weights = drawn(panel, 0, 900)
    counts = np.bincount(panel.outcomes[cases])
    assert_allclose(counts, [400, 400, 100], atol=1)
    totals = np.bincount(panel.outcomes[cases], weights)
    assert_allclose(totals, [3000, 900, 100], rtol=0.2)


@pytest.mark.parametrize("given", [None, np.arange(1.0, 4001)])
def test_a_panel_that_is_small_enough_is_kept_as_it_is(given):
    panel = UNEVEN["rare"]
    assert thin(panel, given, 0, 4000) == (panel, given)
    assert thin(panel, given) == (panel, given)
    assert len(thin(panel, given, 0, 3999)[0]) < 4000


def test_cases_of_one_class_alone_are_drawn_too():
    panel = rare((4000, 1))
    part, weights = thin(panel.take(panel.outcomes == 0), None, 0, 500)
    assert abs(len(part) - 500) <= 1
    assert_allclose(weights.sum(), 4000, rtol=0.1)


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=40),
    st.integers(1, 39),
)
def test_capped_chances_are_in_proportion_and_have_the_sum(shares, total):
    shares = np.array(shares)
    total = min(total, len(shares) - 1)
    chance = _capped(shares, float(total))
    assert (chance <= 1.0).all()
    assert_allclose(chance.sum(), total)
    below = chance < 1.0
    if below.any():
        scale = chance[below] / shares[below]
        assert_allclose(scale, scale[0])
        assert (shares[~below] * scale[0] >= 1 - 1e-9).all()
