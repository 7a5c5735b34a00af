"""Pools that learn nothing, against loops that spell the definition out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import panels, random_panel
from scipy.special import expit, logit
from scipy.stats import trim_mean

from truepool import pools
from truepool.core.errors import SettingError
from truepool.panel.costs import Costs
from truepool.pools.bayes import Bayes
from truepool.pools.log_odds import LogOdds
from truepool.pools.median import Median
from truepool.pools.trimmed import Trimmed
from truepool.pools.vote import Vote


def fitted(pool, panel):
    return pool.fit(panel.reports, panel.outcomes).predict_proba(panel.reports)


@given(panels())
def test_median_is_numpys_over_the_reports(panel):
    expected = np.nanmedian(panel.reports, axis=1)
    assert_allclose(fitted(Median(), panel)[:, 1], expected)


@given(panels(silence=False), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4]))
def test_trimmed_mean_is_scipys(panel, alpha):
    expected = trim_mean(panel.reports, alpha, axis=1)
    assert_allclose(fitted(Trimmed(alpha=alpha), panel)[:, 1], expected, atol=1e-12)


def test_class_medians_are_scaled_to_sum_to_one():
    panel = random_panel(1, classes=3)
    median = np.median(panel.reports, axis=1)
    expected = median / median.sum(axis=1, keepdims=True)
    assert_allclose(fitted(Median(), panel), expected)


@given(panels(silence=False))
def test_log_odds_is_the_mean_logit(panel):
    clipped = np.clip(panel.reports, 1e-12, 1 - 1e-12)
    expected = expit(logit(clipped).mean(axis=1))
    assert_allclose(fitted(LogOdds(clip=1e-12), panel)[:, 1], expected, atol=1e-9)


def test_log_odds_of_classes_is_the_normalised_geometric_mean():
    panel = random_panel(2, classes=4)
    geometric = np.exp(np.log(panel.reports).mean(axis=1))
    expected = geometric / geometric.sum(axis=1, keepdims=True)
    assert_allclose(fitted(LogOdds(clip=1e-12), panel), expected)


@pytest.mark.parametrize("name", ["log-odds", "bayes", "platt", "extremized", "shrunk"])
def test_certain_reports_are_clipped_at_two_percent_or_a_tenth_of_the_rare_class(name):
    panel = random_panel(0, cases=200)
    assert pools.make(name).fit_panel(panel).clip_ == 0.02
    few = np.r_[
        np.flatnonzero(panel.outcomes == 1)[:4], np.flatnonzero(panel.outcomes == 0)
    ]
    rare = panel.take(few)
    share = 4 / len(few)
    assert pools.make(name).fit_panel(rare).clip_ == pytest.approx(share / 10)
    assert pools.make(name, clip=1e-6).fit_panel(rare).clip_ == 1e-6
    for wrong in (0, 0.5, -1):
        with pytest.raises(SettingError, match="clip must lie between 0 and 0.5; got"):
            pools.make(name, clip=wrong).fit_panel(panel)


def test_one_certain_and_wrong_agent_does_not_outweigh_nine_others():
    reports = [[0.0, *[0.9] * 9]]
    pool = LogOdds().fit([[0.1] * 10, [0.9] * 10] * 10, [0, 1] * 10)
    assert pool.predict_proba(reports)[0, 1] > 0.8
    assert (
        LogOdds(clip=1e-12)
        .fit([[0.1] * 10, [0.9] * 10] * 10, [0, 1] * 10)
        .predict_proba(reports)[0, 1]
        < 0.4
    )


def test_bayes_is_right_when_signals_are_independent():
    # Two agents, each with one conditionally independent binary signal.
    prior, hit, alarm = 0.3, 0.8, 0.2
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < prior).astype(int)
    signals = rng.random((4000, 2)) < np.where(y[:, None] == 1, hit, alarm)
    up, down = prior * hit, (1 - prior) * alarm
    yes, no = (
        up / (up + down),
        prior * (1 - hit) / (prior * (1 - hit) + (1 - prior) * (1 - alarm)),
    )
    reports = np.where(signals, yes, no)
    both = prior * hit**2 / (prior * hit**2 + (1 - prior) * alarm**2)
    pool = Bayes(prior=prior).fit(reports, y)
    assert_allclose(pool.predict_proba([[yes, yes]])[0, 1], both)


def test_bayes_learns_the_prior_from_the_outcomes():
    panel = random_panel(1, cases=400)
    pool = Bayes().fit(panel.reports, panel.outcomes)
    assert_allclose(pool.prior_, [(panel.outcomes.sum() + 1) / 402])
    both = Bayes(prior=[0.2, 0.3, 0.5]).fit(
        random_panel(1, classes=3).reports, random_panel(1, classes=3).outcomes
    )
    assert_allclose(both.prior_, [0.2, 0.3, 0.5])


@given(st.integers(0, 200), st.sampled_from([2, 3]))
def test_the_decision_of_the_vote_is_the_majority_of_decisions(seed, classes):
    panel = random_panel(seed, agents=5, classes=classes, silent=0.2)
    costs = Costs(fn=3, fp=1)
    pool = Vote(costs=costs).fit(panel.reports, panel.outcomes)
    decided = pool.predict(panel.reports)
    for t, row in enumerate(panel.reports):
        spoke = row[~np.isnan(row if classes == 2 else row[:, 0])]
        expected = spoke @ costs.table(3) if classes == 3 else None
        votes = (spoke > costs.threshold) if classes == 2 else expected.argmin(axis=1)
        tally = np.bincount(votes.astype(int), minlength=classes)
        if (tally == tally.max()).sum() == 1:
            assert decided[t] == tally.argmax()


@pytest.mark.parametrize(
    ("pool", "match"),
    [
        (Trimmed(alpha=0.6), "alpha is 0.6"),
        (Bayes(prior=[0.2, 0.3, 0.5]), "2 classes"),
    ],
)
def test_settings_outside_their_range_are_refused(pool, match):
    with pytest.raises(SettingError, match=match):
        pool.fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
