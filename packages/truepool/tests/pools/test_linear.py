"""Pools that learn weights, against the formulas written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import random_panel

from truepool import credit
from truepool.core.errors import SettingError
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.best_agent import BestAgent
from truepool.pools.brier import Brier
from truepool.pools.convex import Convex
from truepool.pools.greedy import Greedy
from truepool.pools.shapley import Shapley
from truepool.pools.vcg import VCG

SEEDS = st.integers(0, 200)


def brier_of(pooled, outcomes):
    return ((pooled - outcomes) ** 2).mean()


def plain_vcg(reports, outcomes, loss=brier_of):
    """READINGS 4, word by word."""
    base = loss(reports.mean(axis=1), outcomes)
    D = np.array([
        loss(np.delete(reports, i, axis=1).mean(axis=1), outcomes) - base
        for i in range(reports.shape[1])
    ])  # fmt: skip
    positive = np.maximum(D, 0)
    if positive.sum() == 0:
        return np.full(len(D), 1 / len(D))
    return positive / positive.sum()


@given(SEEDS)
def test_vcg_weights_are_the_clipped_contributions(seed):
    panel = random_panel(seed)
    pool = VCG().fit(panel.reports, panel.outcomes)
    assert_allclose(pool.weights_, plain_vcg(panel.reports, panel.outcomes), atol=1e-12)


@given(SEEDS)
def test_vcg_by_the_cost_of_decisions(seed):
    panel = random_panel(seed)
    costs = Costs(fn=10, fp=1)

    def cost_of(pooled, outcomes):
        wrong = (pooled > 0.3) != (outcomes == 1)
        return (wrong * np.where(outcomes == 1, 10, 1)).mean()

    pool = VCG(loss="cost", costs=costs, threshold=0.3)
    pool.fit(panel.reports, panel.outcomes)
    expected = plain_vcg(panel.reports, panel.outcomes, cost_of)
    assert_allclose(pool.weights_, expected, atol=1e-12)


def test_vcg_weights_are_equal_when_no_agent_contributes():
    # Copies: leaving one out changes nothing.
    reports = np.repeat(random_panel(1, agents=2).reports[:, :1], 3, axis=1)
    pool = VCG().fit(reports, random_panel(1, agents=2).outcomes)
    assert_allclose(pool.weights_, 1 / 3)


def test_vcg_leaves_out_an_agent_that_turns_the_truth_around():
    panel = random_panel(2, cases=500, agents=3)
    reports = np.hstack([panel.reports, 1 - panel.reports[:, :1]])
    assert VCG().fit(reports, panel.outcomes).weights_[3] == 0


def test_iterating_recomputes_credit_at_the_learned_weights():
    panel = random_panel(3)
    once = VCG().fit(panel.reports, panel.outcomes)
    twice = VCG(iterations=2).fit(panel.reports, panel.outcomes)
    at = credit.leave_one_out(panel, weights=once.weights_)
    expected = np.maximum(at, 0) / np.maximum(at, 0).sum()
    assert_allclose(twice.weights_, expected, atol=1e-12)
    assert_allclose(twice.credit_, at, atol=1e-15)


def test_iteration_stops_at_convergence():
    reports = np.repeat(random_panel(1).reports[:, :1], 2, axis=1)
    pool = VCG(iterations=10**9).fit(reports, random_panel(1).outcomes)
    assert_allclose(pool.weights_, 0.5)


@pytest.mark.parametrize("silent", [0.0, 0.4])  # with more gaps credit is shrunk
def test_all_removals_are_exact_and_few_are_near(silent):
    panel = random_panel(4, cases=2000, silent=silent)
    exact = VCG().fit(panel.reports, panel.outcomes)
    every = VCG(removals=4).fit(panel.reports, panel.outcomes)
    few = VCG(removals=1, seed=5).fit(panel.reports, panel.outcomes)
    assert_allclose(every.weights_, exact.weights_, atol=1e-12)
    assert np.abs(few.weights_ - exact.weights_).max() < 0.2


def test_an_agent_with_few_reports_is_weighted_by_these_reports():
    panel = random_panel(5, cases=4000, agents=3)
    seldom = panel.reports.copy()
    seldom[np.arange(4000) % 10 > 0, 0] = np.nan
    weights = VCG().fit(seldom, panel.outcomes).weights_
    total = np.maximum(credit.leave_one_out(Panel(seldom, panel.outcomes)), 0)
    assert weights[0] > 3 * total[0] / total.sum()


@given(SEEDS)
def test_brier_weights_are_inverse_to_the_loss(seed):
    panel = random_panel(seed, silent=0.2)
    lost = np.nanmean((panel.reports - panel.outcomes[:, None]) ** 2, axis=0)
    expected = (1 / lost) / (1 / lost).sum()
    assert_allclose(Brier().fit(panel.reports, panel.outcomes).weights_, expected)


def test_a_perfect_agent_gets_all_but_all_the_weight():
    outcomes = random_panel(1).outcomes
    reports = np.stack([outcomes * 1.0, np.full(80, 0.5)], axis=1)
    assert Brier().fit(reports, outcomes).weights_[0] > 1 - 1e-9


def test_without_a_report_of_the_best_agent_the_next_one_counts():
    panel = random_panel(1, cases=500)
    pool = BestAgent().fit(panel.reports, panel.outcomes)
    assert pool.weights_.tolist() == [1, 0, 0, 0]
    reports = panel.reports.copy()
    reports[:, 0] = np.nan
    assert_allclose(pool.predict_proba(reports)[:, 1], panel.reports[:, 1])


@pytest.mark.parametrize("loss", ["brier", "log", "cost"])
def test_best_is_by_the_loss_asked_for(loss):
    panel = random_panel(3)
    pool = BestAgent(loss=loss).fit(panel.reports, panel.outcomes)
    lost = [Loss(loss)(panel.reports[:, i], panel.outcomes).mean() for i in range(4)]
    assert_allclose(pool.losses_, lost)
    assert pool.weights_.argmax() == np.argmin(lost)


def test_shapley_weights_are_the_clipped_credit():
    panel = random_panel(3)
    merit = np.maximum(credit.shapley(panel), 0)
    pool = Shapley().fit(panel.reports, panel.outcomes)
    assert_allclose(pool.weights_, merit / merit.sum())


@given(SEEDS)
def test_greedy_adds_the_agent_that_helps_most(seed):
    panel = random_panel(seed, agents=3)
    bag, best, best_bag = [], np.inf, None
    for _ in range(10):
        tried = [
            brier_of(panel.reports[:, [*bag, i]].mean(axis=1), panel.outcomes)
            for i in range(3)
        ]
        bag.append(int(np.argmin(tried)))
        if min(tried) < best - 1e-12:
            best, best_bag = min(tried), list(bag)
    expected = np.bincount(best_bag, minlength=3) / len(best_bag)
    pool = Greedy(rounds=10).fit(panel.reports, panel.outcomes)
    assert_allclose(pool.weights_, expected, atol=1e-12)


@given(SEEDS)
def test_greedy_never_keeps_a_bag_worse_than_the_best_agent(seed):
    rng = np.random.default_rng(seed)
    reports = rng.integers(0, 11, (30, 3)) / 10  # ties everywhere
    panel = Panel(reports, np.append(rng.integers(0, 2, 28), [0, 1]))
    pool = Greedy(loss="cost").fit(panel.reports, panel.outcomes)
    past = FixedWeights(panel, Loss("cost"))
    assert past.losses(pool.weights_[None])[0] <= past.losses(np.eye(3)).min() + 1e-12


@given(SEEDS)
def test_no_weights_beat_convex_on_its_own_panel(seed):
    panel = random_panel(seed, agents=5, skill=0.7)
    pool = Convex().fit(panel.reports, panel.outcomes)
    least = brier_of(pool.predict_proba(panel.reports)[:, 1], panel.outcomes)
    others = np.random.default_rng(seed).dirichlet(np.full(5, 0.5), 200)
    pooled = panel.reports @ others.T
    assert least <= ((pooled - panel.outcomes[:, None]) ** 2).mean(axis=0).min() + 1e-9


@pytest.mark.parametrize(
    ("pool", "match"),
    [
        (VCG(iterations=0), "iterations is 0"),
        (VCG(removals=9), "between 1 and"),
        (VCG(loss="x"), "no loss is called 'x'"),
        (Greedy(rounds=0), "rounds=0"),
        (Convex(loss="cost"), "convex"),
    ],
)
def test_settings_outside_their_range_are_refused(pool, match):
    with pytest.raises((SettingError, LookupError), match=match):
        pool.fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])


def test_credit_is_in_units_of_the_loss():
    panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    pool = VCG().fit(panel.reports, panel.outcomes)
    assert_allclose(pool.credit_, credit.leave_one_out(panel))
