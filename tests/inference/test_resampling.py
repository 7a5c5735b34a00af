import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import bootstrap, ttest_1samp

from truepool.errors import SettingError
from truepool.inference import holm, middle, paired_p_values, resampled_means


@given(st.integers(0, 1000))
def test_paired_tests_are_scipys(seed):
    gaps = np.random.default_rng(seed).normal(0.1, 1, (20, 3))
    assert_allclose(paired_p_values(gaps), ttest_1samp(gaps, 0).pvalue, rtol=1e-9)


def test_no_difference_is_no_evidence_and_a_constant_one_is():
    assert paired_p_values(np.array([[0.0, 1.0], [0.0, 1.0]])).tolist() == [1.0, 0.0]


def test_trying_many_pools_rarely_finds_a_difference_that_is_not_there():
    rng = np.random.default_rng(0)
    false = [
        (holm(paired_p_values(rng.normal(size=(100, 20)))) < 0.05).any()
        for _ in range(400)
    ]
    # 400 trials at 0.05: a standard error of 0.011.
    assert np.mean(false) < 0.05 + 4 * 0.011


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_adjusting_keeps_the_order_and_never_makes_surer(p):
    p = np.array(p)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()
    assert_allclose(adjusted.min(), min(1.0, p.min() * len(p)))


def test_the_middle_of_resampled_means_is_scipys_percentile_interval():
    values = np.random.default_rng(0).exponential(size=200)
    low, high = middle(resampled_means(values[:, None], 4000, seed=1), 0.9)
    theirs = bootstrap(
        (values,),
        np.mean,
        n_resamples=4000,
        confidence_level=0.9,
        method="percentile",
        rng=1,
    ).confidence_interval
    assert_allclose([low[0], high[0]], theirs, atol=0.01)


def test_settings_outside_their_range_are_refused():
    with pytest.raises(SettingError, match="at least 2 resamples"):
        resampled_means(np.ones((3, 1)), 1, 0)
    with pytest.raises(SettingError, match="between 0 and 1"):
        middle(np.ones((3, 1)), 0.0)
