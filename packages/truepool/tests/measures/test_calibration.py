"""Recalibration of log-odds, against scikit-learn's regression and a plain search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.special import chdtrc, ndtr
from sklearn.linear_model import LogisticRegression

from truepool.core.arrays import from_log_scale
from truepool.measures import calibration
from truepool.measures.calibration import cox, fit_scaling, log_odds, newton_terms
from truepool.measures.losses import Loss


def drawn(seed, cases=400, slope=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, cases)
    chance = 1 / (1 + np.exp(-(slope * z + shift)))
    return 1 / (1 + np.exp(-z)), (rng.random(cases) < chance).astype(int)


@given(st.integers(0, 500), st.floats(0.3, 2.0), st.floats(-1, 1))
def test_it_is_scikit_learns_logistic_regression(seed, slope, shift):
    p, outcomes = drawn(seed, 200, slope, shift)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    theirs.fit(log_odds(p)[:, None], outcomes)
    fit = cox(p, outcomes)
    assert_allclose(fit.slope, theirs.coef_[0, 0], rtol=1e-4)
    assert_allclose(fit.intercept, theirs.intercept_[0], atol=1e-4)


def test_the_likelihood_ratio_is_its_definition():
    p, outcomes = drawn(1)
    fit = cox(p, outcomes)
    moved = 1 / (1 + np.exp(-(fit.intercept + fit.slope * log_odds(p))))

    def level(q):
        return np.log(np.where(outcomes == 1, q, 1 - q)).sum()

    assert_allclose(fit.likelihood_ratio, 2 * (level(moved) - level(p)), rtol=1e-9)


def test_the_standard_error_is_the_spread_of_slopes():
    slopes, errors = [], []
    for seed in range(300):
        fit = cox(*drawn(seed, 300, slope=0.5))
        slopes.append(fit.slope)
        errors.append(fit.slope_error)
    # 300 slopes know their spread to 4 %.
    assert_allclose(np.mean(errors), np.std(slopes), rtol=0.15)


def test_many_cases_are_put_together_without_harm(monkeypatch):
    p, outcomes = drawn(2, 30_000, slope=0.8)
    together = cox(p, outcomes)
    monkeypatch.setattr(calibration, "MAX_UNBINNED", 10**9)
    single = cox(p, outcomes)
    # Neighbours a thousandth apart shift a slope by far less than its error, .008.
    assert_allclose(together[:3], single[:3], atol=1e-4)
    assert_allclose(together.likelihood_ratio, single.likelihood_ratio, rtol=1e-3)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_one_report_for_all_has_no_slope_and_a_test_of_its_mean(rate):
    outcomes = (np.arange(100) < 30).astype(int)
    fit = cox(np.full(100, rate), outcomes)
    assert np.isnan(fit.slope)
    assert fit.degrees_of_freedom == 1
    gained = 2 * (30 * np.log(0.3 / rate) + 70 * np.log(0.7 / (1 - rate)))
    assert_allclose(fit.likelihood_ratio, gained)


def test_separated_outcomes_have_no_slope():
    p = np.r_[np.full(20, 0.2), np.full(20, 0.7)]
    fit = cox(p, np.repeat([0, 1], 20))
    assert np.isnan(fit.slope)
    level = 20 * (np.log(0.8) + np.log(0.7))
    assert_allclose(fit.likelihood_ratio, -2 * level, rtol=1e-4)


def test_certainties_do_not_break_it():
    p, outcomes = drawn(3)
    p[:40] = 0.0
    p[40:80] = 1.0
    fit = cox(p, outcomes)
    assert 0 < fit.slope < 0.5
    assert np.isfinite(fit.slope_error)
    assert fit.likelihood_ratio > 100


def scaled(classes, cases=300):
    """Log-odds, outcomes and weights of cases that a factor of 2 and shifts put right."""
    rng = np.random.default_rng(classes)
    z = rng.normal(size=(cases, classes - 1))
    full = np.c_[np.zeros(cases), 2 * z + np.arange(1, classes) / 3]
    chance = np.exp(full) / np.exp(full).sum(axis=1, keepdims=True)
    outcomes = (rng.random((cases, 1)) > chance.cumsum(axis=1)).sum(axis=1)
    return z, outcomes, rng.integers(0, 3, cases).astype(float)


def price(x, z, outcomes, cases):
    lost = Loss("log").evaluate(from_log_scale(x[0] * z + x[1:]), outcomes)
    return cases @ lost


@pytest.mark.parametrize("shift", [True, False])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_scaling_agrees_with_a_generic_optimiser(classes, shift):
    z, outcomes, cases = scaled(classes)
    start = np.append(1.0, np.zeros(classes - 1))
    free = slice(None) if shift else slice(0, 1)

    def pulled(some):
        x = start.copy()
        x[free] = some
        away = x - start
        return price(x, z, outcomes, cases) + calibration.RIDGE * away @ away

    best = minimize(pulled, start[free], method="BFGS", options={"gtol": 1e-6})
    factor, shifts = fit_scaling(z, outcomes, cases, shift=shift)
    # The search knows its slope by differences: to 1e-8 of a loss in the hundreds.
    assert_allclose(np.append(factor, shifts)[free], best.x, atol=1e-4)
    assert shift or not shifts.any()


@pytest.mark.parametrize("classes", [2, 4])
def test_the_terms_of_a_newton_step_are_the_derivatives_of_the_log_loss(classes):
    z, outcomes, cases = scaled(classes, 50)
    truth = (outcomes[:, None] == np.arange(1, classes)).astype(float)
    x = np.linspace(1.3, -0.2, classes)
    slope, curve = newton_terms(x, z, truth, cases)
    given = (z, outcomes, cases)
    assert_allclose(slope, approx_fprime(x, price, 1e-7, *given), atol=1e-4)

    def slopes(at):
        return newton_terms(at, z, truth, cases)[0]

    assert_allclose(curve, approx_fprime(x, slopes, 1e-7), atol=1e-4)


def test_separated_outcomes_have_bounded_coefficients():
    z = np.repeat([[-1.0], [1.0]], 20, axis=0)
    factor, _ = fit_scaling(z, np.repeat([0, 1], 20), np.ones(40), shift=True)
    assert 5 < factor < 10


def test_reports_of_0_and_1_count_as_a_thousand_to_one():
    assert calibration.LOG_ODDS_LIMIT == 7.0
    assert calibration.RIDGE == 0.01
    assert (calibration.CLIP, calibration.MIN_PRECISION) == (1e-6, 1e-6)
    assert (calibration.MAX_UNBINNED, calibration.BIN_WIDTH) == (20_000, 1e-3)


@pytest.mark.parametrize("groups", [1, 2])
def test_fewer_than_three_groups_leave_nothing_to_estimate_an_error_from(groups):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 200)
    y = (rng.random(200) < p).astype(int)
    found = cox(p, y, groups=np.arange(200) % groups)
    assert_allclose([found.intercept, found.slope], cox(p, y)[:2], rtol=1e-6)
    assert np.isnan([found.slope_error, found.likelihood_ratio]).all()
    assert np.isfinite(cox(p, y, groups=np.arange(200) % 3)).all()


def wald(seed, groups, cases=60, shared=0.1):
    """P-values of reports that are calibrated, with outcomes alike within groups."""
    rng = np.random.default_rng([seed, groups])
    group = np.repeat(np.arange(groups), cases)
    p = from_log_scale(rng.normal(-1, 1.3, (groups * cases, 1)))[:, 0]
    common, own = rng.normal(size=groups)[group], rng.normal(size=groups * cases)
    chance = ndtr(np.sqrt(shared) * common + np.sqrt(1 - shared) * own)
    found = cox(p, (chance < p).astype(int), groups=group)
    return found.p_value, chdtrc(2, found.likelihood_ratio)


@pytest.mark.parametrize("groups", [5, 8, 20])
def test_few_groups_keep_the_size_of_the_test(groups):
    """Of 400 panels 20 have p < 0.05, give or take 4.4; of chi-squared more."""
    p_values = np.array([wald(seed, groups) for seed in range(400)])
    found, chi_squared = (p_values < 0.05).sum(axis=0)
    assert 7 <= found <= 33
    assert chi_squared > 33


def test_of_many_groups_the_p_value_is_that_of_chi_squared():
    p, y = drawn(0, 4000, slope=0.95)
    found = cox(p, y, groups=np.arange(4000))
    assert_allclose(found.p_value, chdtrc(2, found.likelihood_ratio), rtol=0.02)
    plain = cox(p, y)
    assert plain.p_value == chdtrc(2, plain.likelihood_ratio)
