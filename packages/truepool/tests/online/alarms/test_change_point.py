"""A change in the mean is found where it is, and seldom where there is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from truepool.online.alarms.change_point import (
    BLOCKS,
    MIN_LENGTH,
    change,
    contrast_change,
)


def test_a_change_is_found_where_it_is():
    rng = np.random.default_rng(0)
    series = np.r_[rng.normal(0, 1, 300), rng.normal(1, 1, 200)]
    found = change(series)
    assert abs(found.place - 300) < 30
    assert found.p_value < 1e-6
    assert_allclose(found.before, series[: found.place].mean())
    assert_allclose(found.after, series[found.place :].mean())


def test_stationary_series_rarely_seem_to_change():
    rng = np.random.default_rng(1)
    share = np.mean(
        [change(rng.exponential(size=400)).p_value < 0.05 for _ in range(400)]
    )
    # 400 trials at 0.05: a standard error of 0.011.
    assert share < 0.05 + 4 * 0.011


@pytest.mark.parametrize("series", [np.zeros(30), np.full(31, 0.2)])
def test_a_constant_series_has_no_change(series):
    assert change(series).p_value == 1.0


def test_a_step_without_noise_has_a_tiny_p_value():
    assert change(np.repeat([0.0, 1.0], 50)).p_value < 1e-15


def test_autocorrelation_is_not_taken_for_a_change():
    rng = np.random.default_rng(2)
    p = []
    for _ in range(300):
        noise = rng.normal(size=700)
        series = np.empty(700)
        series[0] = noise[0]
        for t in range(1, 700):
            series[t] = 0.5 * series[t - 1] + noise[t]
        p.append(change(series).p_value)
    assert np.mean(np.array(p) < 0.05) < 0.05 + 4 * 0.0126


def test_a_handful_of_rare_events_is_no_change():
    series = np.zeros(2000)
    series[[1900, 1950, 1999]] = 10.0
    assert change(series).p_value > 0.001


def test_long_series_are_tested_by_block_means():
    rng = np.random.default_rng(3)
    series = rng.normal(size=10 * BLOCKS)
    series[6 * BLOCKS :] += 0.2
    found = change(series)
    assert abs(found.place - 6 * BLOCKS) < 1000
    assert found.p_value < 1e-9


def test_short_series_are_not_tested():
    assert change(np.arange(MIN_LENGTH - 1.0)).p_value == 1.0
    found, known = contrast_change(np.full(50, np.nan), np.ones(50))
    assert (found.p_value, len(known)) == (1.0, 0)
