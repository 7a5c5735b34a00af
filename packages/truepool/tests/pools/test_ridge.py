"""Ridge logistic regression with its penalty by cross-validation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool.pools.ridge import STRENGTHS, Ridge
from truepool.pools.training import logistic


@pytest.mark.parametrize("scale", ["log-odds", "reports"])
def test_it_is_the_regression_of_scikit_learn_at_the_chosen_penalty(scale):
    panel = random_panel(1, cases=300)
    pool = Ridge(scale=scale).fit_panel(panel)
    features = logit(panel.reports) if scale == "log-odds" else panel.reports
    model = LogisticRegression(C=pool.strength_, solver="newton-cholesky", tol=1e-9)
    model.fit(features, panel.outcomes)
    expected = model.predict_proba(features)
    assert_allclose(pool.predict_proba(panel.reports), expected, atol=1e-6)


def test_noise_earns_a_strong_penalty_and_skill_a_weak_one():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 400)
    noise = rng.uniform(0.1, 0.9, (400, 4))
    skill = np.clip(
        0.5 + 0.3 * (2 * outcomes - 1)[:, None] + rng.normal(0, 0.2, (400, 4)),
        0.01,
        0.99,
    )
    strong = Ridge().fit(noise, outcomes).strength_
    weak = Ridge().fit(skill, outcomes).strength_
    assert strong < weak
    assert {strong, weak} <= set(STRENGTHS)


def test_a_class_that_never_happened_has_no_probability():
    panel = random_panel(3, cases=90, classes=3)
    for absent in (0, 1, 2):
        part = panel.take(np.flatnonzero(panel.outcomes != absent))
        pooled = Ridge().fit_panel(part).predict_proba(panel.reports)
        assert_allclose(pooled[:, absent], 0.0)
        assert_allclose(pooled.sum(axis=1), 1.0)


def test_an_unknown_scale_is_refused():
    with pytest.raises(SettingError, match="one of log-odds, reports; got 'probit'"):
        Ridge(scale="probit").fit_panel(Panel([[0.1, 0.2], [0.8, 0.9]] * 5, [0, 1] * 5))


def test_many_parameters_are_solved_to_the_same_answer(monkeypatch):
    panel = random_panel(1, cases=200, classes=3)
    by_newton = Ridge().fit_panel(panel)
    monkeypatch.setattr(logistic, "NEWTON_PARAMETERS", 5)
    by_gradients = Ridge().fit_panel(panel)
    assert by_newton.strength_ == by_gradients.strength_
    expected = by_newton.predict_proba(panel.reports)
    assert_allclose(by_gradients.predict_proba(panel.reports), expected, atol=1e-5)


@pytest.mark.parametrize("scale", ["log-odds", "reports"])
@pytest.mark.parametrize("classes", [2, 3])
def test_with_more_features_than_cases_the_smaller_problem_has_the_same_answer(
    scale, classes, monkeypatch
):
    panel = random_panel(2, cases=15, agents=20, classes=classes, silent=0.1)
    smaller = Ridge(scale=scale).fit_panel(panel)
    same = lambda features: (features, np.eye(features.shape[1]))  # noqa: E731
    monkeypatch.setattr(logistic, "row_space", same)
    whole = Ridge(scale=scale).fit_panel(panel)
    assert smaller.strength_ == whole.strength_
    slopes = slice(0, -1)  # one number added to all intercepts changes nothing
    assert_allclose(
        smaller.coefficients_[:, slopes], whole.coefficients_[:, slopes], atol=1e-10
    )
    assert_allclose(
        smaller.predict_proba(panel.reports),
        whole.predict_proba(panel.reports),
        atol=1e-10,
    )


def test_features_and_cases_beyond_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr("truepool.pools.ridge.MOST_FEATURES", 6)
    Ridge().fit_panel(random_panel(2, cases=6, agents=9))
    with pytest.raises(SettingError, match="at most 6 reports per case.*got 9 reports"):
        Ridge().fit_panel(random_panel(2, cases=7, agents=9))
