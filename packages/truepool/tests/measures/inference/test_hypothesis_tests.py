import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import t, ttest_1samp, wilcoxon

from truepool.measures.inference import (
    bonferroni,
    diebold_mariano,
    holm,
    paired_p_values,
    signed_rank_p_value,
)
from truepool.measures.inference.hypothesis_tests import long_run_variance


@given(st.integers(0, 1000))
def test_paired_tests_are_scipys(seed):
    gaps = np.random.default_rng(seed).normal(0.1, 1, (20, 3))
    assert_allclose(paired_p_values(gaps), ttest_1samp(gaps, 0).pvalue, rtol=1e-9)


def test_no_difference_is_no_evidence_and_a_constant_one_is():
    assert paired_p_values(np.array([[0.0, 1.0], [0.0, 1.0]])).tolist() == [1.0, 0.0]


@given(st.integers(0, 1000), st.booleans())
def test_signed_ranks_are_scipys(seed, ties):
    gaps = np.random.default_rng(seed).normal(0.2, 1, 30)
    gaps = np.round(gaps) if ties else gaps
    gaps[:2] = 1.0
    theirs = wilcoxon(gaps, method="approx", correction=False).pvalue
    assert_allclose(signed_rank_p_value(gaps), theirs, rtol=1e-9)


def test_signed_ranks_without_differences_give_1():
    assert signed_rank_p_value(np.zeros(5)) == 1.0


def test_a_stream_without_memory_is_a_paired_t_test_nearly():
    gaps = np.random.default_rng(0).normal(0.05, 1, 5000)
    assert_allclose(diebold_mariano(gaps), paired_p_values(gaps[:, None])[0], atol=0.02)


def test_diebold_mariano_is_its_formula():
    gaps = np.random.default_rng(1).normal(0.1, 1, 50)
    T, h, apart = 50, 2, gaps - gaps.mean()
    gamma = [apart[k:] @ apart[: T - k] / T for k in range(4)]
    variance = gamma[0] + 2 * sum((1 - k / 4) * gamma[k] for k in (1, 2, 3))
    statistic = gaps.mean() / np.sqrt(variance / T)
    statistic *= np.sqrt((T + 1 - 2 * h + h * (h - 1) / T) / T)
    assert int(np.cbrt(T)) == 3
    assert_allclose(diebold_mariano(gaps, horizon=2), 2 * t.sf(abs(statistic), T - 1))


def test_memory_makes_a_stream_less_sure():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(300, 1000))
    streams = [np.convolve(row, np.ones(5), mode="valid") for row in noise]
    blind = np.mean([paired_p_values(row[:, None])[0] < 0.05 for row in streams])
    seeing = np.mean([diebold_mariano(row) < 0.05 for row in streams])
    # 300 streams at 0.05: a standard error of 0.013; the window sees 10 of its lags.
    assert blind > 0.3
    assert seeing < 0.05 + 4 * 0.013
    assert_allclose(long_run_variance(streams[0], 0), streams[0].var())


@pytest.mark.parametrize(("gap", "p"), [(0.0, 1.0), (0.5, 0.0)])
def test_a_stream_that_never_varies(gap, p):
    assert diebold_mariano(np.full(10, gap)) == p


def test_trying_many_pools_rarely_finds_a_difference_that_is_not_there():
    rng = np.random.default_rng(0)
    false = [
        (holm(paired_p_values(rng.normal(size=(100, 20)))) < 0.05).any()
        for _ in range(400)
    ]
    # 400 trials at 0.05: a standard error of 0.011.
    assert np.mean(false) < 0.05 + 4 * 0.011


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_adjustment_keeps_the_order_and_never_lowers_a_p_value(p):
    p = np.array(p)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()
    assert_allclose(adjusted.min(), min(1.0, p.min() * len(p)))
    assert (bonferroni(p) >= adjusted - 1e-15).all()
