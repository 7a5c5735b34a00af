"""Cox's regression of outcomes on log-odds, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from truepool import calibration
from truepool.calibration import cox, log_odds


def drawn(seed, cases=400, slope=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, cases)
    chance = 1 / (1 + np.exp(-(slope * z + shift)))
    return 1 / (1 + np.exp(-z)), (rng.random(cases) < chance).astype(int)


@given(st.integers(0, 500), st.floats(0.3, 2.0), st.floats(-1, 1))
def test_it_is_scikit_learns_logistic_regression(seed, slope, shift):
    p, came = drawn(seed, 200, slope, shift)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    theirs.fit(log_odds(p)[:, None], came)
    fit = cox(p, came)
    assert_allclose(fit.slope, theirs.coef_[0, 0], rtol=1e-4)
    assert_allclose(fit.intercept, theirs.intercept_[0], atol=1e-4)


def test_the_likelihood_ratio_is_its_definition():
    p, came = drawn(1)
    fit = cox(p, came)
    moved = 1 / (1 + np.exp(-(fit.intercept + fit.slope * log_odds(p))))

    def level(q):
        return np.log(np.where(came == 1, q, 1 - q)).sum()

    assert_allclose(fit.gained, 2 * (level(moved) - level(p)), rtol=1e-9)


def test_the_standard_error_is_the_spread_of_slopes():
    slopes, errors = [], []
    for seed in range(300):
        fit = cox(*drawn(seed, 300, slope=0.5))
        slopes.append(fit.slope)
        errors.append(fit.slope_error)
    # 300 slopes know their spread to 4 %.
    assert_allclose(np.mean(errors), np.std(slopes), rtol=0.15)


def test_many_cases_are_put_together_without_harm(monkeypatch):
    p, came = drawn(2, 30_000, slope=0.8)
    together = cox(p, came)
    monkeypatch.setattr(calibration, "CONDENSED_ABOVE", 10**9)
    single = cox(p, came)
    # Neighbours a thousandth apart shift a slope by far less than its error, .008.
    assert_allclose(together[:3], single[:3], atol=1e-4)
    assert_allclose(together.gained, single.gained, rtol=1e-3)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_one_report_for_all_has_no_slope_and_a_test_of_its_mean(rate):
    came = (np.arange(100) < 30).astype(int)
    fit = cox(np.full(100, rate), came)
    assert np.isnan(fit.slope)
    assert fit.free == 1
    gained = 2 * (30 * np.log(0.3 / rate) + 70 * np.log(0.7 / (1 - rate)))
    assert_allclose(fit.gained, gained)


def test_outcomes_told_apart_have_no_slope():
    p = np.r_[np.full(20, 0.2), np.full(20, 0.7)]
    fit = cox(p, np.repeat([0, 1], 20))
    assert np.isnan(fit.slope)
    level = 20 * (np.log(0.8) + np.log(0.7))
    assert_allclose(fit.gained, -2 * level, rtol=1e-4)


def test_certainties_do_not_break_it():
    p, came = drawn(3)
    p[:40] = 0.0
    p[40:80] = 1.0
    fit = cox(p, came)
    assert 0 < fit.slope < 0.5
    assert np.isfinite(fit.slope_error)
    assert fit.gained > 100
