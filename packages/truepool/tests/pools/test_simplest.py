from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from sklearn.model_selection import TimeSeriesSplit

from truepool import pools
from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.best_agent import BestAgent
from truepool.pools.platt import Platt
from truepool.pools.simplest import CANDIDATES, Simplest
from truepool.pools.vcg import VCG


def test_simplest_keeps_the_mean_where_nothing_beats_it():
    # Exchangeable agents with one shared error each: equal weights are right.
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 400)
    noise = rng.normal(size=(400, 4)) * 0.15
    reports = np.clip(0.2 + 0.6 * outcomes[:, None] + noise, 0, 1)
    pool = Simplest(loss="brier", candidates=("mean", "vcg", "convex", "best-agent"))
    pool.fit(reports, outcomes)
    assert pool.choice_ == "mean"
    assert_allclose(list(pool.explain().weights.values()), 0.25)


def test_simplest_leaves_the_mean_where_one_agent_is_all_that_counts():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 400)
    good = np.clip(0.1 + 0.8 * outcomes + rng.normal(size=400) * 0.05, 0, 1)
    reports = np.column_stack([good, rng.uniform(0, 1, (400, 5))])
    pool = Simplest(loss="brier", candidates=("mean", "best-agent")).fit(
        reports, outcomes
    )
    assert pool.choice_ == "best-agent"
    assert "no simpler pool" in pool.why_
    assert not hasattr(pool.pool_, "choice_")


def test_simplest_says_what_it_tried_and_why():
    panel = random_panel(2, cases=200)
    pool = Simplest(costs=Costs(fn=10, fp=1)).fit(panel.reports, panel.outcomes)
    assert {trial.name for trial in pool.table_} == set(CANDIDATES)
    best, choice = (
        pool.table_[0],
        next(t for t in pool.table_ if t.name == pool.choice_),
    )
    assert best.behind == 0
    assert choice.eligible
    assert choice.behind <= choice.behind_error
    simpler = [t for t in pool.table_ if t.complexity < choice.complexity]
    assert not any(t.eligible for t in simpler)
    assert pool.choice_ in pool.why_
    losses = [trial.loss for trial in pool.table_]
    assert losses == sorted(losses)


def test_simplest_is_the_pool_it_chose():
    panel = random_panel(2, cases=200)
    pool = Simplest(costs=Costs(fn=10, fp=1)).fit(panel.reports, panel.outcomes)
    direct = pools.make(pool.choice_, costs=Costs(fn=10, fp=1))
    direct.fit(panel.reports, panel.outcomes)
    assert_allclose(
        pool.predict_proba(panel.reports), direct.predict_proba(panel.reports)
    )


def test_simplest_judges_by_the_users_costs():
    # One agent never misses but alarms often, the other never alarms but misses.
    rng = np.random.default_rng(1)
    outcomes = rng.integers(0, 2, 600)
    timid = np.where((outcomes == 1) | (rng.random(600) < 0.3), 0.99, 0.01)
    bold = np.where((outcomes == 1) & (rng.random(600) < 0.7), 0.99, 0.01)
    reports = np.stack([timid, bold, bold], axis=1)
    choose = {"candidates": ("median", BestAgent(loss="cost")), "cv": 4}
    costly = Simplest(costs=Costs(fn=20, fp=1), **choose).fit(reports, outcomes)
    cheap = Simplest(costs=Costs(fn=1, fp=20), **choose).fit(reports, outcomes)
    assert (costly.choice_, cheap.choice_) == ("best-agent", "median")


def test_a_second_fit_forgets_the_first():
    panel = random_panel(2)
    pool = Simplest(candidates=("mean",)).fit(panel.reports, panel.outcomes)
    assert_allclose(list(pool.explain().weights.values()), 0.25)
    pool.set_params(candidates=("median",)).fit(panel.reports, panel.outcomes)
    assert pool.explain().name == "median"
    assert pool.explain().weights is None


def test_simplest_explains_the_pool_it_chose_and_why():
    panel = random_panel(2)
    pool = Simplest(candidates=(VCG(loss="log"),)).fit(panel.reports, panel.outcomes)
    alone = VCG(loss="log").fit(panel.reports, panel.outcomes).explain()
    assert alone.why is None
    found = {"why": pool.why_, "scores": {"vcg": pool.table_[0].loss}}
    assert pool.explain() == replace(alone, **found, scored_by="cost")
    assert (alone.name, alone.loss) == ("vcg", "log")


@pytest.mark.parametrize("cases", [2, 3, 4, 6, 8])
def test_simplest_does_what_it_can_with_a_handful_of_cases(cases):
    panel = random_panel(3, cases=cases)
    pool = Simplest().fit(panel.reports, panel.outcomes)
    assert pool.choice_
    assert pool.why_


def test_a_candidate_that_cannot_be_tried_is_left_out():
    panel = random_panel(3, cases=300)
    outcomes = np.zeros(300, int)
    outcomes[[5, 100]] = 1
    pool = Simplest(candidates=("mean", Platt(base="vcg", cv=5))).fit(
        panel.reports, outcomes
    )
    assert pool.choice_ == "mean"
    only = Simplest(candidates=(Platt(base="vcg", cv=2),)).fit(
        random_panel(3, cases=6).reports, [0, 0, 0, 0, 1, 1]
    )
    assert "too few" in only.why_
    assert only.table_ == []


def test_candidates_may_be_pools_and_folds_may_be_any_splitter():
    panel = random_panel(3, cases=100)
    pool = Simplest(candidates=[VCG(loss="log"), "mean"], cv=TimeSeriesSplit(3))
    pool.fit(panel.reports, panel.outcomes, sample_weight=np.linspace(0.5, 1.5, 100))
    assert pool.choice_ in ("vcg", "mean")


def test_time_ordered_panels_are_judged_forward():
    base = random_panel(3, cases=100)
    panel = Panel(base.reports, base.outcomes, times=np.arange(100))
    forward = Simplest(candidates=("mean", "best-agent"), cv=4).fit_panel(panel)
    blind = Simplest(candidates=("mean", "best-agent"), cv=4).fit_panel(base)
    assert forward.table_[0].loss != blind.table_[0].loss


def test_an_unknown_candidate_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'vcg'"):
        Simplest(candidates=("vgc",)).fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    with pytest.raises(SettingError, match="list of pools"):
        Simplest(candidates="mean").fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])


def test_costs_reach_candidates_that_have_none_of_their_own():
    panel = random_panel(2)
    costs = Costs(fn=10, fp=1)
    pool = Simplest(candidates=[VCG(loss="cost")], costs=costs).fit(
        panel.reports, panel.outcomes
    )
    assert pool.pool_.costs == costs
