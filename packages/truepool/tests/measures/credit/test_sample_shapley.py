"""Sampled Shapley credit of thousands of agents, with a stated error."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from scipy.stats import t

import truepool as tp
from truepool.measures.credit import sample_shapley
from truepool.panel.sparse import SparseReports

AGENTS, QUESTIONS, ANSWERS = 5_000, 4_000, 5


@pytest.fixture(scope="module")
def tournament():
    rng = np.random.default_rng(0)
    who = np.argsort(rng.random((QUESTIONS, AGENTS)), axis=1)[:, :ANSWERS]
    outcomes = rng.integers(0, 2, QUESTIONS)
    noise = rng.normal(0, 0.3, (QUESTIONS, ANSWERS))
    reports = np.clip(0.3 + 0.4 * outcomes[:, None] + noise, 0, 1)
    question = np.repeat(np.arange(QUESTIONS), ANSWERS)
    cells = SparseReports.from_cells(
        question, who.ravel(), reports.ravel(), QUESTIONS, AGENTS
    )
    return tp.Panel(cells, outcomes), who, reports


def exact(panel, who, reports):
    """Shapley value of the game of all agents: the mean of those of the questions.

    Values of games add up, and who did not answer a question is a dummy in its game.
    """
    y, n = panel.outcomes, ANSWERS

    def loss(members):
        said = reports[:, members].mean(axis=1) if members else y.mean()
        return (said - y) ** 2

    shares = np.zeros(reports.shape)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for members in combinations(others, size):
                gain = loss(list(members)) - loss([*members, i])
                shares[:, i] += weight * gain
    return np.bincount(who.ravel(), shares.ravel(), AGENTS) / QUESTIONS


def test_the_stated_error_holds_for_five_thousand_agents(tournament):
    panel, who, reports = tournament
    assert panel.sparse is not None
    sampled = sample_shapley(panel, orders=(40, 40), tolerance=0.0)
    answered = np.bincount(who.ravel(), minlength=AGENTS) > 0
    apart = (sampled.credit - exact(panel, who, reports))[answered]
    errors = sampled.standard_errors[answered]
    freedom = sampled.orders // 2 - 1  # forwards and backwards are one draw
    z = apart / errors
    assert abs(z.mean()) < 0.1
    assert np.mean(z**2) == pytest.approx(freedom / (freedom - 2), rel=0.1)
    within = np.mean(np.abs(z) <= t.ppf(0.975, freedom))
    assert within == pytest.approx(0.95, abs=0.015)


def test_shares_of_five_thousand_agents_add_up_to_what_the_pool_gains(tournament):
    panel, who, reports = tournament
    sampled = sample_shapley(panel, orders=(4, 4), tolerance=0.0)
    total = exact(panel, who, reports).sum()
    assert sampled.credit.sum() == pytest.approx(total, abs=1e-12)
