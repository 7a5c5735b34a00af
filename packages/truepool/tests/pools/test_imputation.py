"""Missing reports are filled in by what the others suggest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from scipy.special import expit

from truepool.core import kernels, registry
from truepool.core.arrays import log_scale
from truepool.measures.calibration import clipped_log_scale
from truepool.pools.ridge import Ridge
from truepool.pools.training import imputation

LOADINGS = np.array([0.9, 0.7, -0.8, 0.3])
MEANS, SPREADS = np.array([-3.0, -1.0, 2.0, 0.5]), np.array([1.0, 2.0, 0.5, 1.0])


def one_factor(seed: int, cases: int) -> np.ndarray:
    """Reports (T, 4, 1) that share one factor."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(cases, 4)) * np.sqrt(1 - LOADINGS**2)
    z = rng.normal(size=(cases, 1)) * LOADINGS + noise
    return (MEANS + SPREADS * z)[:, :, None]


def drop(x: np.ndarray, seed: int, share: float) -> np.ndarray:
    """Reports without a share of them; every case keeps the first."""
    gone = np.random.default_rng(seed).random(x.shape) < share
    gone[:, 0] = False
    return np.where(gone, np.nan, x)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_what_is_filled_in_is_as_near_as_with_the_true_loadings(share):
    learned = imputation.learn(drop(one_factor(0, 10_000), 1, share), np.ones(10_000))
    noise = SPREADS * (1 - LOADINGS**2)
    true = np.stack([MEANS, LOADINGS / noise, LOADINGS * SPREADS])[:, :, None]
    x = one_factor(2, 100_000)
    gaps = drop(x, 3, 0.4)
    errors = [
        np.mean((imputation.fill(gaps, found) - x) ** 2) for found in (learned, true)
    ]
    assert errors[0] < 1.01 * errors[1]


def test_an_absent_agent_says_what_a_normal_distribution_expects():
    learned = imputation.learn(one_factor(2, 2_000), np.ones(2_000))
    mean, pull, loading = learned[:, :, 0]
    x = one_factor(3, 1)
    x[0, [1, 2]] = np.nan
    # pull = loading / noise: the covariance that the numbers stand for
    covariance = np.outer(loading, loading) + np.diag(loading / pull)
    known, absent = [0, 3], [1, 2]
    apart = x[0, known, 0] - mean[known]
    solved = np.linalg.solve(covariance[np.ix_(known, known)], apart)
    expected = mean[absent] + covariance[np.ix_(absent, known)] @ solved
    assert_allclose(imputation.fill(x, learned)[0, absent, 0], expected)


def test_a_case_that_counts_twice_is_two_cases():
    x = drop(one_factor(4, 60), 5, 0.3)
    counts = np.random.default_rng(6).integers(0, 3, 60)
    twice = imputation.learn(np.repeat(x, counts, axis=0), np.ones(counts.sum()))
    weighted = imputation.learn(x, counts.astype(float))
    assert_allclose(imputation.fill(x, weighted), imputation.fill(x, twice), atol=1e-9)


def test_a_constant_agent_is_filled_with_its_constant():
    x = one_factor(7, 100_000)
    x[:, 1] = 0.1
    learned = imputation.learn(x, np.ones(100_000))
    gaps = x[:500].copy()
    gaps[:, 1] = np.nan
    assert np.abs(imputation.fill(gaps, learned)[:, 1] - 0.1).max() < 0.01


def test_constant_reports_of_all_agents_are_filled_with_it():
    x = np.full((20, 3, 1), 0.4)
    gap = x[:1].copy()
    gap[0, 1] = np.nan
    assert_allclose(imputation.fill(gap, imputation.learn(x, np.ones(20))), 0.4)


def test_who_was_never_heard_is_taken_to_be_like_the_others():
    rng = np.random.default_rng(12)
    x = (rng.normal(size=(400, 1)) + 0.2 * rng.normal(size=(400, 5)))[:, :, None]
    gaps = x.copy()
    gaps[:, 4] = np.nan
    filled = imputation.fill(gaps, imputation.learn(gaps, np.ones(400)))
    assert np.corrcoef(filled[:, 4, 0], x[:, 4, 0])[0, 1] > 0.95


def test_two_reports_say_little_about_an_agent():
    """Of 60 voters with two votes each none is taken to vote against the others."""
    rng = np.random.default_rng(13)
    x = (rng.normal(size=(200, 1)) + rng.normal(size=(200, 60)))[:, :, None]
    x[rng.permuted(np.arange(200)[:, None].repeat(60, 1), axis=0) >= 2] = np.nan
    loading = imputation.learn(x, np.ones(200))[2, :, 0]
    assert (loading > 0).all() or (loading < 0).all()


def test_a_copy_is_filled_by_its_original():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(300, 1, 1)).repeat(2, axis=1)
    learned = imputation.learn(x, np.ones(300))
    gap = x.copy()
    gap[:, 1] = np.nan
    assert np.abs(imputation.fill(gap, learned) - x).max() < 0.1


def test_more_agents_than_cases_are_filled_in():
    rng = np.random.default_rng(9)
    x = (rng.normal(size=(20, 1)) + 0.3 * rng.normal(size=(20, 60)))[:, :, None]
    gap = x.copy()
    gap[3, 5] = np.nan
    learned = imputation.learn(x, np.ones(20))
    assert abs(imputation.fill(gap, learned)[3, 5, 0] - x[3, 5, 0]) < 1.0


@pytest.mark.parametrize("share", [0.005, 0.1])
@pytest.mark.parametrize("name", ["ridge", "stacked-lr"])
def test_a_gap_beside_an_agent_that_reports_the_opposite_does_not_raise_the_answers(
    name, share
):
    """Filled with the mean of the others they were twice what happened."""

    def cases(seed: int, count: int, gaps: float) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        truth = rng.normal(-3.6, 1.3, count)
        outcomes = (rng.random(count) < expit(truth)).astype(int)
        reports = expit(truth[:, None] + rng.normal(0, 0.8, (count, 5)))
        reports[:, 2] = 1 - reports[:, 2]
        gone = rng.random(reports.shape) < gaps
        gone[:, 0] = False
        return np.where(gone, np.nan, reports), outcomes

    pool = registry.make("pool", name).fit(*cases(0, 6_000, share))
    reports, outcomes = cases(1, 100_000, 0.3)
    pooled = pool.predict_proba(reports)[:, 1]
    for part in (np.isnan(reports[:, 2]), np.isnan(reports[:, 1])):
        ratio = pooled[part].mean() / outcomes[part].mean()
        assert 0.85 < ratio < 1.15


def test_a_pool_fills_in_what_it_learned_without_any_gap():
    x = one_factor(10, 400)
    reports = expit(x[:, :, 0])
    outcomes = (np.random.default_rng(11).random(400) < reports[:, 0]).astype(int)
    pool = Ridge().fit(reports, outcomes)
    gap = reports[:1].copy()
    gap[0, 2] = np.nan
    whole = expit(
        imputation.fill(np.log(gap / (1 - gap))[:, :, None], pool.imputation_)
    )
    assert_allclose(pool.predict_proba(gap), pool.predict_proba(whole[:, :, 0]))


@pytest.mark.parametrize("classes", [2, 4])
def test_four_draws_have_the_mean_and_variance_of_a_normal_distribution(
    classes, monkeypatch
):
    panel = random_panel(14, cases=90, agents=5, classes=classes, silent=0.3)
    values = panel.values.copy()
    values[3] = np.nan  # nobody reported
    scale = clipped_log_scale(values)
    learned = imputation.learn(scale, np.ones(90))
    expected = imputation.fill(scale, learned)
    compiled = imputation.draw_reports(values, learned)
    monkeypatch.setattr(kernels, "fast", False)
    given, there = ~np.isnan(values), np.delete(np.arange(90), 3)
    for drawn in (compiled, imputation.draw_reports(values, learned)):
        for one in drawn:
            assert_array_equal(one[given], values[given])
            assert np.isnan(one[3]).all()
        odds = log_scale(drawn)[:, there]
        gaps = np.isnan(scale[there])
        assert_allclose(odds.mean(axis=0)[gaps], expected[there][gaps], atol=1e-9)
        for t, i, j in np.argwhere(gaps)[:40]:
            _, pull, loading = learned[:, :, j]
            known = ~np.isnan(scale[there[t], :, j])
            covariance = np.outer(loading, loading) + np.diag(loading / pull)
            link = covariance[i, known]
            rest = covariance[np.ix_(known, known)]
            variance = covariance[i, i] - link @ np.linalg.solve(rest, link)
            assert_allclose(odds[:, t, i, j].var(), variance, rtol=1e-6)


def test_three_absent_agents_are_drawn_independently():
    learned = imputation.learn(one_factor(2, 500), np.ones(500))
    values = np.array([[[0.2], [np.nan], [np.nan], [np.nan]]])
    odds = log_scale(imputation.draw_reports(values, learned))[:, 0, 1:, 0]
    assert_allclose(np.corrcoef(odds.T), np.eye(3), atol=1e-9)
