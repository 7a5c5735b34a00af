"""Dawid and Skene's model of a crowd."""

import numpy as np
import pytest

from truepool.pools.crowd import Crowd
from truepool.pools.mean import Mean


def simulated(cases=3000, voters=60, each=5, seed=0):
    """Voters of known skill, a few of whom vote on each case."""
    rng = np.random.default_rng(seed)
    y = (rng.random(cases) < 0.3).astype(int)
    right = rng.uniform(0.55, 0.95, (voters, 2))
    votes = np.full((cases, voters), np.nan)
    for t in range(cases):
        who = rng.choice(voters, each, replace=False)
        correct = rng.random(each) < right[who, y[t]]
        votes[t, who] = np.where(correct, y[t], 1 - y[t])
    return votes, y, right


def test_it_learns_how_often_each_voter_is_right_without_the_outcomes():
    votes, y, right = simulated()
    pool = Crowd().fit(votes, np.arange(len(y)) % 2)  # outcomes that say nothing
    found = np.stack([pool.votes_[:, 0, 0], pool.votes_[:, 1, 1]], axis=1)
    assert np.abs(found - right).mean() < 0.05
    assert pool.rates_[1] == pytest.approx(0.3, abs=0.03)
    assert brier(pool, votes, y) < 0.7 * brier(Mean().fit(votes, y), votes, y)


def test_with_known_errors_it_is_the_rule_of_bayes():
    votes, y, _ = simulated(300)
    pool = Crowd().fit(votes, y)
    p = pool.rates_.copy()
    for i, vote in enumerate(votes[0]):
        if vote == vote:
            p = p * pool.votes_[i, :, int(vote)]
    np.testing.assert_allclose(pool.predict_proba(votes[:1])[0], p / p.sum())


def test_a_tie_is_no_vote_and_a_probability_a_vote_for_its_likelier_class():
    votes, y, _ = simulated(300)
    pool = Crowd().fit(votes, y)
    sure, unsure = np.full((2, 60), np.nan)
    sure[0], unsure[0] = 1.0, 0.6
    tied = unsure.copy()
    tied[1] = 0.5
    given = pool.predict_proba(np.stack([sure, unsure, tied]))
    np.testing.assert_array_equal(given[0], given[1])
    np.testing.assert_array_equal(given[1], given[2])


def test_errors_that_all_share_are_taken_for_skill():
    """Why it is for sparse crowds: on dense panels of like agents it is too sure."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    misled = np.where(rng.random(2000) < 0.3, 1 - y, y)  # the same cases for everyone
    agents = np.where(rng.random((2000, 7)) < 0.1, 1 - misled[:, None], misled[:, None])
    reports = 0.2 + 0.6 * agents
    assert brier(Crowd().fit(reports, y), reports, y) > 0.25
    assert brier(Mean().fit(reports, y), reports, y) < 0.24


def brier(pool, reports, outcomes):
    return np.mean((pool.predict_proba(reports)[:, 1] - outcomes) ** 2)
