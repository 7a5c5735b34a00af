"""Agents made to order, against the binormal model's closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from truepool.core.arrays import logit
from truepool.core.errors import AgentError, SettingError
from truepool.datasets.synthetic import synthetic

CASES = 40_000


def noise(panel, skill, bias=0.0, base_rate=0.3):
    """The noise that the reports were made of, worked out backwards."""
    scores = (logit(panel.reports) - logit(np.array(base_rate)) - bias) / skill
    return scores - skill * (panel.outcomes[:, None] - 0.5)


def test_skill_is_the_area_under_the_curve():
    skill = np.array([2.0, 1.0, 0.25])
    panel = synthetic(CASES, skill=skill)
    found = [roc_auc_score(panel.outcomes, column) for column in panel.reports.T]
    # The standard error of an area is below that of a share of the rarer outcomes.
    assert_allclose(
        found, norm.cdf(skill / np.sqrt(2)), atol=4 * 0.5 / np.sqrt(0.3 * CASES)
    )


def test_without_bias_agents_are_calibrated_and_bias_is_in_log_odds():
    panel = synthetic(CASES, skill=[2.0, 1.0], bias=[0.0, 1.5], base_rate=0.2)
    for i, (slope, shift) in enumerate([(1.0, 0.0), (1.0, -1.5)]):
        model = LogisticRegression(C=np.inf).fit(
            logit(panel.reports[:, [i]]), panel.outcomes
        )
        assert model.coef_[0, 0] == pytest.approx(slope, abs=0.08)
        assert model.intercept_[0] == pytest.approx(shift, abs=0.12)


def test_noise_is_as_correlated_as_asked():
    skill = np.array([2.0, 1.0, 1.0])
    for correlation in (0.0, 0.6, 1.0):
        panel = synthetic(CASES, skill=skill, correlation=correlation)
        found = np.corrcoef(noise(panel, skill), rowvar=False)[np.triu_indices(3, 1)]
        assert_allclose(found, correlation, atol=4 / np.sqrt(CASES))


def test_the_base_rate_is_the_share_of_ones():
    panel = synthetic(CASES, base_rate=0.1)
    assert abs(panel.outcomes.mean() - 0.1) < 4 * np.sqrt(0.09 / CASES)


def test_bias_and_further_agents_do_not_change_the_rest():
    plain = synthetic(100, skill=[1, 2])
    more = synthetic(100, skill=[1, 2, 3], bias=[0, 0.7, 0])
    assert_array_equal(more.outcomes, plain.outcomes)
    assert_array_equal(more.reports[:, 0], plain.reports[:, 0])
    assert_allclose(logit(more.reports[:, 1]) - logit(plain.reports[:, 1]), 0.7)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"cases": 1}, "cases must be at least 2"),
        ({"base_rate": 1.0}, "a base rate must lie in"),
        ({"correlation": -0.1}, "a correlation must lie in"),
        ({"skill": [1.0, np.nan]}, "skill must be a finite number for each agent"),
        ({"skill": 2.0}, "skill must be a finite number for each agent; got 2.0"),
        ({"bias": "much"}, "bias must be a finite number for each agent; got 'much'"),
        ({"seed": -1}, "must not be negative"),
    ],
)
def test_impossible_settings_are_refused(settings, fault):
    with pytest.raises(SettingError, match=fault):
        synthetic(**settings)


def test_every_agent_needs_its_bias():
    with pytest.raises(AgentError, match="they hold 5 and 2"):
        synthetic(bias=[0.1, 0.2])
