"""Marginals and the copula that delivers a correlation, against scipy and sampling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import dblquad

from truepool.core.errors import BeliefError, UnknownNameError
from truepool_lab.games.marginals import (
    Beta,
    Probit,
    belief_correlation,
    copula_correlation,
    marginal,
    smooth,
    variance,
)

SHAPES = [(0.3, 4.0), (0.01, 4.0), (0.5, 1.0), (0.05, 20.0), (0.7, 200.0)]


@pytest.mark.parametrize(("mean", "concentration"), SHAPES)
def test_beta_beliefs_have_the_quantiles_of_scipy(mean, concentration):
    z = np.linspace(-4, 4, 801)
    scipy = stats.beta(mean * concentration, (1 - mean) * concentration)
    found = Beta(mean, concentration).quantile(z)
    assert_allclose(found, scipy.ppf(stats.norm.cdf(z)), atol=2e-6)


@pytest.mark.parametrize("kind", ["copula", "factor"])
@pytest.mark.parametrize(("mean", "concentration"), SHAPES)
def test_mean_and_variance_are_those_of_a_beta(kind, mean, concentration):
    z = np.linspace(-8, 8, 20_001)
    weights = stats.norm.pdf(z) * (z[1] - z[0])
    beliefs = marginal(kind, mean, concentration).quantile(z)
    assert_allclose(weights @ beliefs, mean, atol=1e-6)
    spread = weights @ (beliefs - mean) ** 2
    assert_allclose(spread, variance(mean, concentration), rtol=1e-4)


@pytest.mark.parametrize("copula", [-0.2, 0.3, 0.7])
def test_the_correlation_delivered_is_the_double_integral(copula):
    shape = Beta(0.3, 4.0)
    joint = stats.multivariate_normal(cov=[[1, copula], [copula, 1]])

    def product(x, y):
        one, two = shape.quantile(np.array([x, y]))
        return (one - 0.3) * (two - 0.3) * joint.pdf([x, y])

    total, _ = dblquad(product, -6, 6, -6, 6, epsabs=1e-6)
    assert_allclose(
        belief_correlation(shape, copula), total / variance(0.3, 4.0), atol=1e-4
    )


@pytest.mark.parametrize("kind", ["copula", "factor"])
@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize(("mean", "concentration"), SHAPES)
def test_the_copula_found_delivers_what_was_asked(
    kind, correlation, mean, concentration
):
    shape = marginal(kind, mean, concentration)
    copula = copula_correlation(shape, correlation, agents=5)
    assert_allclose(belief_correlation(shape, copula), correlation, atol=1e-9)


def test_disagreement_is_possible_as_far_as_the_number_of_agents_lets_it():
    shape = Beta(0.3, 4.0)
    least = belief_correlation(shape, -1 / 4)
    assert copula_correlation(shape, least, agents=5) == -1 / 4
    assert -1 / 4 < copula_correlation(shape, least + 0.01, agents=5) < 0
    with pytest.raises(BeliefError, match=r"must lie in \[-0\.2353, 1\]; got -0.24"):
        copula_correlation(shape, -0.24, agents=5)
    with pytest.raises(BeliefError, match=r"\[-0\.2353, 1\]; got 1.1"):
        copula_correlation(shape, 1.1, agents=5)
    with pytest.raises(BeliefError, match=r"\[0\.0000, 1\]"):
        copula_correlation(Probit(0.3, 4.0), -0.1, agents=5)


def test_a_smoothed_belief_is_an_expectation():
    shape, rng = Beta(0.3, 4.0), np.random.default_rng(0)
    noise = rng.standard_normal(200_000)
    centres = np.array([-1.0, 0.0, 2.0])
    sampled = [shape.quantile(c + 0.6 * noise).mean() for c in centres]
    assert_allclose(smooth(shape, centres, 0.6), sampled, atol=2e-3)
    assert_allclose(smooth(shape, centres, 0.0), shape.quantile(centres), atol=1e-6)


@pytest.mark.parametrize("mean", [0.0, 1.0, -1.0, float("nan")])
def test_a_mean_outside_is_refused(mean):
    with pytest.raises(BeliefError, match="mean of the beliefs must lie between 0 and"):
        marginal("copula", mean, 4.0)


def test_other_bad_marginals_are_refused():
    with pytest.raises(BeliefError, match="concentration must be a positive number"):
        marginal("copula", 0.3, 0.0)
    with pytest.raises(UnknownNameError, match="known: copula, factor"):
        marginal("gauss", 0.3, 4.0)
