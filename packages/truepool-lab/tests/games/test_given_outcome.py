"""Beliefs given the outcome: classifiers that are calibrated one by one."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, multivariate_normal, norm

from truepool.core.errors import BeliefError, SettingError, UnknownNameError
from truepool_lab.games import Game, draw_beliefs


@cache
def drawn(agents=4, correlation=0.5, cases=50_000, **settings):
    return draw_beliefs(
        agents, correlation, model="outcome", cases=cases, seed=2, **settings
    )


def test_by_default_every_agent_is_calibrated_by_itself():
    beliefs = drawn(cases=2000)
    for i in range(4):
        assert_allclose(beliefs.posterior([i]), beliefs.values[:, i], atol=1e-9)


def test_each_belief_alone_is_the_beta_of_the_copula_model():
    mine = drawn().values[:, 0]
    for q in (0.1, 0.5, 0.9):
        share = (mine <= beta(1.2, 2.8).ppf(q)).mean()
        assert_allclose(share, q, atol=4 * np.sqrt(q * (1 - q) / len(mine)))


@pytest.mark.parametrize("correlation", [-0.2, 0.0, 0.5, 0.9])
def test_the_correlation_is_that_given_the_outcome(correlation):
    beliefs = drawn(correlation=correlation)
    for outcome in (0, 1):
        table = np.corrcoef(beliefs.values[beliefs.outcomes == outcome], rowvar=False)
        assert_allclose(table[np.triu_indices(4, 1)].mean(), correlation, atol=0.015)


def test_offset_and_separation_arrive_without_clipping():
    beliefs = drawn(offset=0.29, separation=0.3, concentration=0.7)
    given = [beliefs.values[beliefs.outcomes == y].mean() for y in (0, 1)]
    assert_allclose(given, [0.5, 0.8], atol=0.005)
    assert_allclose(beliefs.offset, 0.29, atol=0.005)
    assert beliefs.clipped_share == 0


@pytest.mark.parametrize("known", [[0], [1, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("settings", [{}, {"offset": 0.29, "separation": 0.3}])
def test_the_posterior_is_calibrated_given_what_is_known(known, settings):
    beliefs = drawn(**settings)
    left = beliefs.outcomes - beliefs.posterior(known)
    own = beliefs.values[:, known[0]]
    for test in (np.ones(len(left)), own, own**2, beliefs.values[:, known].sum(axis=1)):
        score = left * test
        assert abs(score.mean()) < 4 * score.std() / np.sqrt(len(left))


def test_the_posterior_is_bayes_rule_with_the_density_of_the_copula():
    beliefs = drawn(agents=3, cases=50, offset=0.1, separation=0.25)
    r = beliefs.signals.copulas

    def density(x, y):
        m = (0.4 - 0.3 * 0.25) + y * 0.25
        law = beta(5 * m, 5 * (1 - m))
        z = norm.ppf(law.cdf(x))
        cov = np.full((3, 3), r[y]) + (1 - r[y]) * np.eye(3)
        joint = multivariate_normal(cov=cov).pdf(z) / norm.pdf(z).prod()
        return joint * law.pdf(x).prod()

    expected = [
        0.3 * density(x, 1) / (0.3 * density(x, 1) + 0.7 * density(x, 0))
        for x in beliefs.values
    ]
    assert_allclose(beliefs.posterior([0, 1, 2]), expected, atol=1e-6)
    assert_allclose(beliefs.chance, expected, atol=1e-6)


def test_agents_that_agree_fully_know_what_one_of_them_knows():
    beliefs = drawn(correlation=1.0, cases=100)
    assert_allclose(beliefs.values, beliefs.values[:, :1] * np.ones(4), atol=1e-12)
    assert_allclose(
        beliefs.posterior([0, 1, 2, 3]), beliefs.posterior([0]), atol=1e-9
    )  # fmt: skip


@pytest.mark.parametrize("payment", ["brier", "log", "spherical"])
def test_proper_scores_leave_calibrated_classifiers_where_they_are(payment):
    end = Game(model="outcome", cases=5000).solve(payment, response="exact")
    assert_allclose(end.reports, Game(model="outcome", cases=5000).draw(0).values, atol=1e-6)  # fmt: skip


def test_their_mean_is_under_confident_without_any_strategy():
    beliefs = drawn(correlation=0.0, cases=50_000)
    pooled = beliefs.values.mean(axis=1)
    high, low = pooled > 0.45, pooled < 0.15
    assert beliefs.outcomes[high].mean() > pooled[high].mean() + 0.1
    assert beliefs.outcomes[low].mean() < pooled[low].mean() - 0.05


def test_brier_agents_take_out_the_offset_and_vcg_agents_do_not():
    game = Game(model="outcome", offset=0.2, separation=0.3, threshold=0.3)
    assert_allclose(game.solve("brier").shift, -0.2, atol=0.02)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(BeliefError, match=r"got 1\.11 given 1"):
        draw_beliefs(model="outcome", offset=0.6, separation=0.3)
    with pytest.raises(BeliefError, match=r"must lie between 0 and 1; got -0\."):
        draw_beliefs(model="outcome", offset=-0.29)
    with pytest.raises(SettingError, match="on nothing else; got the truth 'latent'"):
        draw_beliefs(model="outcome", truth="latent")
    with pytest.raises(UnknownNameError, match="known: latent, mean"):
        draw_beliefs(model="outcome", truth="mode")
    with pytest.raises(SettingError, match="got one for the model 'copula'"):
        Game(separation=0.3)
    with pytest.raises(UnknownNameError, match="copula, factor, outcome"):
        draw_beliefs(model="oracle")


def test_drawn_outcomes_need_no_posterior():
    settings = {"model": "outcome", "cases": 500}
    quick, whole = (Game(outcomes=o, **settings).draw(1) for o in ("drawn", "expected"))
    assert (quick.values == whole.values).all()
    assert (quick.outcomes == whole.outcomes).all()
    assert (quick.chance == quick.outcomes).all()
    assert (whole.chance != whole.outcomes).any()
