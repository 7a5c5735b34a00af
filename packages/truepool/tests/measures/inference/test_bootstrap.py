import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import bootstrap

from truepool.core.errors import SettingError
from truepool.measures.inference import (
    Resamples,
    bca_interval,
    bootstrap_means,
    percentile_interval,
)
from truepool.measures.inference import bootstrap as inference_bootstrap
from truepool.measures.inference.bootstrap import GROUPS


def test_the_middle_of_resampled_means_is_scipys_percentile_interval():
    values = np.random.default_rng(0).exponential(size=200)
    low, high = percentile_interval(bootstrap_means(values[:, None], 4000, seed=1), 0.9)
    theirs = bootstrap(
        (values,),
        np.mean,
        n_resamples=4000,
        confidence_level=0.9,
        method="percentile",
        rng=1,
    ).confidence_interval
    assert_allclose([low[0], high[0]], theirs, atol=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_the_accelerated_interval_of_given_draws_is_scipys(seed):
    values = np.random.default_rng(seed).exponential(size=40) ** 2
    result = bootstrap(
        (values,), np.mean, n_resamples=2000, confidence_level=0.9, method="BCa", rng=1
    )
    ours = bca_interval(values, result.bootstrap_distribution, 0.9)
    # scipy interpolates the quantile of B draws as numpy does, to rounding.
    assert_allclose(ours, result.confidence_interval, rtol=1e-9)


def test_skewed_means_get_skewed_intervals():
    values = np.random.default_rng(0).exponential(size=60) ** 2
    resamples = Resamples(60, 4000)
    low, high = resamples.interval(values, 0.95)
    plain = percentile_interval(resamples.means(values[:, None]), 0.95)
    assert high - values.mean() > values.mean() - low
    assert high > plain[1][0]


def test_no_variance_leaves_no_interval():
    assert Resamples(50, 20).interval(np.full(50, 0.25), 0.9) == (0.25, 0.25)
    assert Resamples(50, 20).interval(np.zeros(50), 0.9) == (0.0, 0.0)


def test_draws_all_on_one_side_are_taken_as_they_are():
    low, high = bca_interval(np.array([0.0, 1.0]), np.array([0.6, 0.7, 0.8]), 0.5)
    assert (low, high) == tuple(np.quantile([0.6, 0.7, 0.8], [0.25, 0.75]))


def test_few_cases_are_drawn_one_by_one_and_many_in_groups():
    values = np.random.default_rng(1).random((30, 2))
    assert Resamples(30).groups == 30
    assert_allclose(Resamples(30).sums(values), values)
    many = Resamples(3 * GROUPS + 1, 5)
    sums = many.sums(np.ones((3 * GROUPS + 1, 1)))
    assert sums.shape == (GROUPS, 1)
    assert set(sums[:, 0]) == {3.0, 4.0}
    assert_allclose(many.means(np.ones((3 * GROUPS + 1, 1))), 1.0)


def test_groups_vary_as_cases_do():
    rng = np.random.default_rng(2)
    values = rng.exponential(size=10 * GROUPS)
    low, high = Resamples(len(values), 2000).interval(values, 0.95)
    reach = 1.96 * values.std() / np.sqrt(len(values))
    # 2,000 resamples know a 2.5 % quantile to about 3 % of the reach.
    assert_allclose(high - low, 2 * reach, rtol=0.1)
    assert_allclose(values.mean(), (low + high) / 2, atol=0.1 * reach)


def test_the_interval_has_its_nominal_coverage():
    rng = np.random.default_rng(3)
    coverage = []
    for seed in range(300):
        values = rng.exponential(size=80)
        low, high = Resamples(80, 400, seed).interval(values, 0.9)
        coverage.append(low <= 1.0 <= high)
    # 300 trials at 0.9: a standard error of 0.017; 80 skewed cases cost a little.
    assert abs(np.mean(coverage) - 0.9) < 0.05


def test_the_same_seed_draws_the_same_and_another_does_not():
    values = np.random.default_rng(4).random((50, 1))
    first, again, other = (Resamples(50, 10, seed).means(values) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_settings_outside_their_range_are_refused():
    with pytest.raises(SettingError, match="at least 2 resamples"):
        bootstrap_means(np.ones((3, 1)), 1, 0)
    with pytest.raises(SettingError, match="at least 2 resamples"):
        Resamples(10, 1)
    for interval in (
        percentile_interval,
        lambda draws, level: bca_interval(draws[:, 0], draws, level),
    ):
        with pytest.raises(SettingError, match="between 0 and 1"):
            interval(np.ones((3, 1)), 0.0)


@pytest.mark.parametrize("scale", [1e-150, 1e100])
def test_an_interval_does_not_depend_on_the_unit(scale):
    units = np.random.default_rng(0).exponential(size=30)
    draws = bootstrap_means(units[:, None], 200, 0)[:, 0]
    plain = bca_interval(units, draws, 0.95)
    scaled = bca_interval(scale * units, scale * draws, 0.95)
    np.testing.assert_allclose(scaled, scale * np.array(plain), rtol=1e-12)


@pytest.mark.parametrize("level", [0.999, 1 - 1e-9, 1 - 1e-16, 5e-324])
@pytest.mark.parametrize("skew", [0.3, 3.0])
def test_the_ends_of_an_interval_are_in_order_at_any_level(level, skew):
    # The correction has a pole at z = 1 / a, and a level next to 1 rounds to 1.
    rng = np.random.default_rng(0)
    units = rng.lognormal(0, skew, 12)
    draws = rng.choice(units, (500, 12)).mean(axis=1)
    low, high = bca_interval(units, draws, level)
    assert draws.min() <= low <= high <= draws.max()
    if level == 1 - 1e-16:
        assert high == draws.max()


def test_many_resamples_are_drawn_some_at_a_time(monkeypatch):
    by_case = np.random.default_rng(0).random((500, 3))
    whole = Resamples(500, 700, seed=2)
    means, ends = whole.means(by_case), whole.interval(by_case[:, 0], 0.9)
    monkeypatch.setattr(inference_bootstrap, "DRAWN_TOGETHER", 300)
    parts = Resamples(500, 700, seed=2)
    # A product of matrices may add in another order if it has fewer rows.
    assert_allclose(parts.means(by_case), means, rtol=1e-14)
    assert_allclose(parts.interval(by_case[:, 0], 0.9), ends, rtol=1e-13)
    assert "_counts" not in vars(parts)


def test_resamples_travel_as_numbers_and_are_drawn_once_where_they_arrive():
    here, values = Resamples(9_000, 200, 3), np.random.default_rng(0).random(9_000)
    expected = here.interval(values, 0.9)
    sent = pickle.dumps(here)
    assert len(sent) < 200
    there = pickle.loads(sent)
    assert there is not here
    assert there.interval(values, 0.9) == expected
    assert pickle.loads(sent) is there
