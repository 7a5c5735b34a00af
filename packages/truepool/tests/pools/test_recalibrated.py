"""Recalibration: the mean of calibrated agents is not calibrated, and can be mended."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from truepool import scores
from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.panel import Panel
from truepool.pools.beta import Beta
from truepool.pools.extremized import Extremized, neyman_roughgarden
from truepool.pools.isotonic import Isotonic
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt
from truepool.pools.vcg import VCG

RECALIBRATED = [Platt, Extremized, Beta, Isotonic]


def calibrated_agents(cases=20_000, agents=4, seed=0):
    """Each agent reports the exact probability given its own independent signal."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, cases)
    # y = +-1 shifts a unit normal: the log-likelihood ratio of signal s is 2 s.
    signals = rng.normal(size=(cases, agents)) + (2 * outcomes - 1)[:, None] * 0.8
    return Panel(expit(2 * 0.8 * signals), outcomes)


def test_the_mean_of_distinct_calibrated_agents_is_underconfident():
    # Ranjan & Gneiting (2010), Theorem 1: what is true behind the paper's title.
    panel = calibrated_agents()
    for i in range(4):
        assert scores.ece(panel.reports[:, i], panel.outcomes) < 0.02
    mean = panel.reports.mean(axis=1)
    assert scores.ece(mean, panel.outcomes) > 0.1
    confident = mean > 0.7
    assert panel.outcomes[confident].mean() > mean[confident].mean() + 0.05


@pytest.mark.parametrize("cls", RECALIBRATED)
def test_recalibration_mends_it(cls):
    train, test = calibrated_agents(seed=1), calibrated_agents(seed=2)
    pool = cls().fit(train.reports, train.outcomes)
    recalibrated = pool.predict_proba(test.reports)
    assert scores.ece(recalibrated, test.outcomes) < 0.025
    before = scores.loss(test.reports.mean(axis=1), test.outcomes, "log")
    assert scores.loss(recalibrated, test.outcomes, "log") < before - 0.02


@pytest.mark.parametrize("cls", RECALIBRATED)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_calibrated_pool_hardly_changes(cls, classes):
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(classes, 2.0), 20_000)
    outcomes = (rng.random((20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    reports = np.stack([p, p], axis=1)
    pool = cls().fit(reports, outcomes)
    assert np.abs(pool.predict_proba(reports) - p).mean() < 0.02


def test_platt_is_logistic_regression_on_the_logit():
    panel = random_panel(1, cases=2000, skill=1.0)
    z = logit(panel.reports.mean(axis=1))[:, None]
    theirs = LogisticRegression(C=1e9, max_iter=1000).fit(z, panel.outcomes)
    ours = Platt().fit(panel.reports, panel.outcomes)
    assert_allclose(ours.factor_, theirs.coef_[0, 0], rtol=1e-3)
    assert_allclose(ours.shift_, theirs.intercept_, atol=1e-3)


def test_extremizing_finds_the_factor_of_least_log_loss():
    panel = random_panel(1, cases=2000, skill=1.0)
    z = logit(panel.reports.mean(axis=1))

    def price(a):
        return scores.loss(expit(a[0] * z), panel.outcomes, "log")

    best = minimize(price, [1.0], method="Nelder-Mead").x[0]
    assert_allclose(
        Extremized().fit(panel.reports, panel.outcomes).factor_, best, rtol=1e-3
    )


def test_beta_finds_the_shape_that_bent_the_probabilities():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.01, 0.99, 50_000)
    outcomes = (rng.random(50_000) < beta.cdf(p, 2.0, 3.0)).astype(int)
    pool = Beta().fit(np.stack([p, p], axis=1), outcomes)
    assert_allclose(pool.shape_, [[2.0, 3.0]], rtol=0.05)


def test_isotonic_is_scikit_learns_within_its_doubt():
    panel = random_panel(1, cases=500)
    mean = panel.reports.mean(axis=1)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(mean, panel.outcomes)
    ours = Isotonic().fit(panel.reports, panel.outcomes).predict_proba(panel.reports)
    expected = np.clip(theirs.predict(mean), 1 / 502, 501 / 502)
    assert_allclose(ours[:, 1], expected, atol=1e-12)


def test_the_factor_that_needs_no_outcome():
    n = np.array([1, 2, 5, 10**6])
    expected = n * (np.sqrt(3.0 * n**2 - 3 * n + 1) - 2) / (n**2 - n - 1)
    assert_allclose(neyman_roughgarden(n), expected)
    assert_allclose(neyman_roughgarden(n)[[0, -1]], [1, np.sqrt(3)], rtol=1e-5)


def test_the_neyman_roughgarden_factor_counts_the_reports():
    pool = Extremized(factor="neyman-roughgarden")
    pool.fit(random_panel(1).reports, random_panel(1).outcomes)
    nan = float("nan")
    pooled = pool.predict_proba([[0.7] * 4, [0.7, 0.7, nan, nan], [0.7, nan, nan, nan]])
    factor = neyman_roughgarden(np.array([4, 2, 1]))
    assert_allclose(pooled[:, 1], expit(factor * logit(0.7)))


def test_the_unseen_factor_helps_calibrated_agents():
    panel = calibrated_agents()
    pool = Extremized(factor="neyman-roughgarden").fit(panel.reports, panel.outcomes)
    before = scores.loss(panel.reports.mean(axis=1), panel.outcomes, "log")
    after = scores.loss(pool.predict_proba(panel.reports), panel.outcomes, "log")
    assert after < before


@pytest.mark.parametrize("inner", ["vcg", VCG(), Platt(base="vcg")])
def test_any_pool_can_be_wrapped(inner):
    panel = random_panel(1, cases=200)
    pool = Platt(base=inner).fit(panel.reports, panel.outcomes)
    assert pool.pool_.n_features_in_ == 4
    assert np.isfinite(pool.predict_proba(panel.reports)).all()


def test_the_correction_does_not_learn_from_its_pools_own_lesson():
    # The inner pool memorises who was lucky; only cross-fitting shows that it was luck.
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 60)
    reports = rng.uniform(0.05, 0.95, (60, 40))
    honest = Platt(base=VCG()).fit(reports, outcomes).factor_
    inner = VCG().fit(reports, outcomes).predict_proba(reports)[:, 1]
    fooled = Platt(base=Mean()).fit(np.stack([inner, inner], axis=1), outcomes).factor_
    assert honest < 0.5 * fooled


@pytest.mark.parametrize(
    ("pool", "kind"),
    [
        (Platt(base="meen"), UnknownNameError),
        (Extremized(factor=0.0), SettingError),
        (Extremized(factor="none"), SettingError),
    ],
)
def test_settings_outside_their_range_are_refused(pool, kind):
    with pytest.raises(kind):
        pool.fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])


def test_a_calibrated_mean_is_not_transformed():
    pool = Beta().fit([[0.5, 0.5]] * 10, [0, 1] * 5)
    assert_allclose(pool.shape_, 1.0)
