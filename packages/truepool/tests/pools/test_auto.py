import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import TimeSeriesSplit

from truepool import load_pool, pools
from truepool.core.arrays import logit
from truepool.core.errors import SettingError, UnknownNameError
from truepool.measures import folds
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import out_of_fold, splits
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools.auto import CANDIDATES, TWO_CLASSES, Auto, title
from truepool.pools.candidates.weights import (
    CERTAIN,
    average_weights,
    decision_losses,
    mixture_weights,
    prior_cases,
)
from truepool.pools.log_odds import LogOdds
from truepool.pools.platt import Platt
from truepool.pools.ridge import Ridge
from truepool.pools.shrunk import Shrunk
from truepool.pools.training import imputation
from truepool.pools.vcg import VCG

FEW = ("mean", "median", "best-agent", "convex")


def by_brute_force(given, prior, cases):
    """Weights of greatest penalised likelihood, by a general optimiser."""
    M = given.shape[1]

    def objective(x):
        weights = softmax(x)
        return -(cases @ np.log(given @ weights) + prior / M * np.log(weights).sum())

    found = minimize(objective, np.zeros(M), method="BFGS", options={"gtol": 1e-9})
    return softmax(found.x)


@pytest.mark.parametrize("seed", range(3))
def test_the_weights_have_the_greatest_likelihood_under_the_prior(seed):
    rng = np.random.default_rng(seed)
    given = rng.uniform(0.05, 1, (80, 4)) * [1.0, 0.8, 0.9, 0.3]
    cases = rng.uniform(0.2, 2, 80)
    for counted in (None, cases):
        expected = by_brute_force(given, 5.0, np.ones(80) if counted is None else cases)
        assert_allclose(mixture_weights(given, counted), expected, atol=1e-4)


def test_with_few_cases_the_prior_counts_for_more_on_the_mean_and_on_shrunk():
    names = ["vcg", "mean", "shrunk (clip=0.1)", "shrunk"]
    for cases, more in ((10, 5.0), (25, 2.5), (39, 1 / 6), (40, 0.0), (9999, 0.0)):
        expected = [1.25, 1.25 + more, 1.25, 1.25 + more]
        assert_allclose(prior_cases(names, cases), expected, rtol=1e-12)
    assert_allclose(prior_cases(["vcg", "shrunk"], 10), [2.5, 12.5])
    assert_allclose(prior_cases(["vcg", "platt"], 10), [2.5, 2.5])


def test_a_prior_of_each_candidate_is_counted_as_cases():
    given = np.random.default_rng(0).uniform(0.05, 1, (12, 3))
    prior = np.array([6.0, 1.0, 3.0])
    weights = mixture_weights(given, None, prior)
    # At the maximum the derivatives by all weights are equal, to T and the prior.
    slopes = (given / (given @ weights)[:, None]).sum(axis=0) + prior / weights
    assert_allclose(slopes, 12 + 10, rtol=1e-5)


def test_one_candidate_has_all_the_weight_and_a_hopeless_one_what_the_prior_gives():
    assert_array_equal(mixture_weights(np.full((9, 1), 0.3)), [1.0])
    given = np.array([[0.9, 1e-9]] * 95)
    assert_allclose(mixture_weights(given)[1], 2.5 / 100, rtol=1e-4)


def test_auto_is_the_weighted_mean_of_pools_that_learned_from_all_cases():
    panel = random_panel(2, cases=200)
    auto = Auto(candidates=FEW).fit_panel(panel)
    alone = [clone(pool).fit_panel(panel) for pool in auto.pools_]
    parts = [pool.combine(panel.values) for pool in alone]
    expected = sum(w * p for w, p in zip(auto.shares_, parts, strict=True))
    assert_allclose(auto.combine(panel.values), expected, rtol=1e-12)
    assert_allclose(auto.shares_.sum(), 1.0)


def test_the_weights_come_from_cases_that_the_candidates_did_not_learn_from():
    panel = random_panel(2, cases=120)
    auto = Auto(candidates=FEW, cv=4, seed=3).fit_panel(panel)
    pairs = splits(panel.outcomes, 4, 3)
    pooled = [out_of_fold(pools.make(n), panel, pairs)[:, 0] for n in FEW]
    given = np.where(
        panel.outcomes[:, None] == 1, np.transpose(pooled), 1 - np.transpose(pooled)
    )
    expected = dict(zip(FEW, mixture_weights(given), strict=True))
    assert all(w >= 0.01 for w in expected.values())
    assert_allclose(
        [row.weight for row in auto.table_], sorted(expected.values())[::-1]
    )
    scores = {row.name: row.log_loss for row in auto.table_}
    assert_allclose([scores[n] for n in FEW], -np.log(given).mean(axis=0))


def test_a_candidate_below_one_percent_is_dropped_and_the_rest_renormalised():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 2000)
    good = np.clip(0.1 + 0.8 * outcomes + rng.normal(size=2000) * 0.05, 0, 1)
    reports = np.column_stack([good, rng.uniform(0, 1, (2000, 5))])
    auto = Auto(candidates=("best-agent", "mean", "median")).fit(reports, outcomes)
    assert [pool.name for pool in auto.pools_] == ["best-agent"]
    assert_array_equal(auto.shares_, [1.0])
    assert {row.name: row.weight for row in auto.table_} == {
        "best-agent": 1.0, "mean": 0.0, "median": 0.0,
    }  # fmt: skip


def test_auto_says_what_it_kept_and_what_each_candidate_scored():
    panel = random_panel(2, cases=200)
    auto = Auto(costs=Costs(fn=10, fp=1)).fit_panel(panel)
    assert {row.name for row in auto.table_} == {
        *CANDIDATES,
        "ridge",
        title(TWO_CLASSES[1]),
    }
    explanation = auto.explain()
    assert explanation.members == {
        r.name: r.weight for r in auto.table_ if r.weight > 0
    }
    assert "candidates are combined" in explanation.why
    assert (
        "predicted 200 cases best, none of which they had learned from"
        in explanation.why
    )
    best = min(auto.table_, key=lambda row: row.log_loss)
    assert best.name == next(iter(explanation.members))
    assert f"{best.name} has the largest weight" in explanation.why
    assert "and the least log loss" in explanation.why


def test_with_few_cases_auto_says_that_the_cautious_start_ahead():
    panel = random_panel(2, cases=40)
    few = Auto().fit_panel(panel.take(np.arange(20)))
    assert "with fewer than 40 cases mean and shrunk start ahead" in few.why_
    by_name = {row.name: row.weight for row in few.table_}
    assert min(by_name["mean"], by_name["shrunk"]) >= (20 / 3 / 2) / (20 + 5 + 20 / 3)
    assert "start ahead" not in Auto().fit_panel(panel).why_
    others = Auto(candidates=("vcg", "platt")).fit_panel(panel.take(np.arange(20)))
    assert "start ahead" not in others.why_


def test_costs_change_the_decisions_and_not_the_weights():
    panel = random_panel(2, cases=200)
    cheap, dear = (
        Auto(candidates=FEW, costs=costs).fit_panel(panel)
        for costs in (Costs(), Costs(fn=10, fp=1))
    )
    assert_array_equal(cheap.shares_, dear.shares_)
    assert dear.predict(panel.reports).mean() > cheap.predict(panel.reports).mean()
    assert all(pool.costs == Costs(fn=10, fp=1) for pool in dear.pools_)


@pytest.mark.parametrize("cases", [2, 3, 9])
def test_with_fewer_than_ten_cases_auto_is_the_mean_log_odds_and_says_so(cases):
    panel = random_panel(3, cases=cases)
    auto = Auto().fit_panel(panel)
    alone = LogOdds().fit_panel(panel)
    assert_array_equal(auto.combine(panel.values), alone.combine(panel.values))
    assert "fewer than 10 cases" in auto.why_
    assert auto.table_ == []
    assert Auto().fit_panel(random_panel(3, cases=10)).table_


def test_where_the_labels_are_of_one_class_auto_is_the_shrunk_pool():
    panel = random_panel(3, cases=60)
    panel = panel.take(np.flatnonzero(panel.outcomes == 0))
    auto = Auto().fit_panel(panel)
    alone = Shrunk().fit_panel(panel)
    assert_allclose(auto.combine(panel.values), alone.combine(panel.values), rtol=1e-12)
    assert "every outcome is class 0" in auto.why_


def test_a_candidate_that_cannot_be_tried_is_left_out():
    panel = random_panel(3, cases=300)
    outcomes = np.zeros(300, int)
    outcomes[[5, 100]] = 1
    impossible = Platt(base="vcg", cv=5)
    auto = Auto(candidates=("mean", impossible), cv=2).fit(panel.reports, outcomes)
    assert [row.name for row in auto.table_] == ["mean"]
    only = Auto(candidates=(impossible,), cv=2).fit(panel.reports, outcomes)
    assert [pool.name for pool in only.pools_] == ["shrunk"]
    assert "too few" in only.why_


def test_above_twenty_thousand_cases_the_weights_are_learned_from_a_part(monkeypatch):
    panel = random_panel(3, cases=200)
    monkeypatch.setattr(folds, "LEARNING_CASES", 70)
    auto = Auto(candidates=FEW).fit_panel(panel)
    assert "predicted 70 cases best, none of which they had" in auto.why_
    assert auto.pools_[0].training_.cases == 200


def test_candidates_may_be_pools_and_folds_may_be_any_splitter():
    panel = random_panel(3, cases=100)
    auto = Auto(candidates=[VCG(loss="log"), "mean"], cv=TimeSeriesSplit(3))
    auto.fit(panel.reports, panel.outcomes, sample_weight=np.linspace(0.5, 1.5, 100))
    assert {row.name for row in auto.table_} == {"vcg (loss=log)", "mean"}


def test_time_ordered_panels_are_judged_forward():
    base = random_panel(3, cases=100)
    panel = Panel(base.reports, base.outcomes, times=np.arange(100))
    forward = Auto(candidates=FEW, cv=4).fit_panel(panel)
    blind = Auto(candidates=FEW, cv=4).fit_panel(base)
    assert "80 cases" in forward.why_
    assert "100 cases" in blind.why_


def test_an_unknown_candidate_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'vcg'"):
        Auto(candidates=("vgc",)).fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    with pytest.raises(SettingError, match="list of pools"):
        Auto(candidates="mean").fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])


def few_label_panels():
    """Reports and outcomes of the panels of the study of few labels."""
    folder = Path(os.environ.get("TRUEPOOL_DATA", "")) / "jury"
    for path in sorted(folder.glob("tabular_*.npz")):
        with np.load(path) as file:
            yield path.stem, file["R_0"].astype(float), file["y_0"].astype(int)


def test_from_ten_cases_on_auto_beats_the_mean_and_never_loses_much():
    panels = list(few_label_panels())
    if not panels:
        pytest.skip("needs the folder jury of $TRUEPOOL_DATA")
    for cases in (10, 20):
        gaps = []
        for _, reports, outcomes in panels:
            gap = []
            for seed in range(2):
                order = np.random.default_rng(seed).permutation(len(outcomes))
                learn, test = order[:cases], order[cases : cases + 1000]
                auto = Auto().fit(reports[learn], outcomes[learn])
                pooled = auto.predict_proba(reports[test])[:, 1]
                mean = np.nanmean(reports[test], axis=1)
                y = outcomes[test]
                gap.append(((pooled - y) ** 2).mean() - ((mean - y) ** 2).mean())
            gaps.append(np.mean(gap))
        assert np.mean(gaps) < 0
        assert max(gaps) <= 0.010


def test_an_agent_that_never_reported_is_allowed_at_any_number_of_cases():
    panel = random_panel(4, cases=60)
    reports = panel.reports.copy()
    reports[:, 1] = np.nan
    for cases in (5, 12, 60):
        auto = Auto().fit(reports[:cases], panel.outcomes[:cases])
        assert np.isfinite(auto.predict_proba(panel.reports)).all()


def test_where_shrunk_refuses_the_size_it_is_the_log_odds(monkeypatch):
    panel = random_panel(0, cases=30, agents=8)
    monkeypatch.setattr("truepool.pools.shrunk.MOST_TILTS", 6)
    pool = Auto().fit(panel.reports, np.zeros(30, int))
    assert [own.name for own in pool.pools_] == ["log-odds"]
    assert "shrunk takes at most 6 agents" in pool.why_
    combined = Auto().fit_panel(panel)
    assert "shrunk" not in [candidate.name for candidate in combined.table_]


def test_each_candidate_says_what_it_scored():
    pool = Auto().fit_panel(random_panel(0))
    scores = pool.explain().scores
    assert scores == {c.name: c.log_loss for c in pool.table_}
    assert min(scores, key=scores.get) == next(iter(scores))
    few = Auto().fit_panel(random_panel(0, cases=8)).explain()
    assert (few.scores, few.scored_by) == (None, None)


def claims(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Two vendors' scores, far above the probabilities, beside a calibrated model."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(-4.5, 1.6, count)
    outcomes = (rng.random(count) < expit(truth)).astype(int)
    scores = expit(0.8 * (truth[:, None] + rng.normal(0, 1.5, (count, 2))) + 2.0)
    model = expit(truth + rng.normal(0, 0.9, count))
    return np.column_stack([scores, model]), outcomes


@pytest.mark.parametrize("gaps", [0.0, 0.05])
def test_where_a_calibrated_agent_is_silent_auto_does_not_fall_back_on_raw_scores(gaps):
    """Without filling in the answers were two to four times what happened.

    The yardstick is a regression that learned from the other agents alone.
    """
    reports, outcomes = claims(0, 4_000)
    gone = np.random.default_rng(1).random(reports.shape) < gaps
    gone[:, 0] = False
    auto = Auto().fit(np.where(gone, np.nan, reports), outcomes)
    new, happened = claims(2, 40_000)
    new[:, 2] = np.nan
    pooled = auto.predict_proba(new)
    assert 0.8 < pooled[:, 1].mean() / happened.mean() < 1.25
    others = Ridge().fit(reports[:, :2], outcomes).predict_proba(new[:, :2])
    assert log_loss(happened, pooled) < 1.005 * log_loss(happened, others)


def test_auto_learns_from_what_is_filled_in_and_answers_the_mean_of_four_draws():
    reports, outcomes = claims(3, 300)
    reports[::7, 2] = np.nan
    auto = Auto(candidates=FEW).fit(reports, outcomes)
    filled = imputation.fill_reports(reports[:, :, None], auto.imputation_)
    whole = Auto(candidates=FEW).fit(filled[:, :, 0], outcomes)
    assert_array_equal(auto.shares_, whole.shares_)
    drawn = imputation.draw_reports(reports[:20, :, None], auto.imputation_)
    expected = np.mean([whole.predict_proba(part[:, :, 0]) for part in drawn], axis=0)
    assert_allclose(auto.predict_proba(reports[:20]), expected, rtol=1e-12)


@pytest.mark.parametrize(("gaps", "is_filled"), [(240, True), (241, False)])
def test_in_a_crowd_auto_sees_the_reports_that_were_given(gaps, is_filled):
    panel = random_panel(4, cases=120, agents=4)
    reports = panel.reports.copy()
    reports[:, 1:].flat[:gaps] = np.nan  # of 480
    auto = Auto(candidates=FEW).fit(reports, panel.outcomes)
    assert (auto.imputation_ is not None) == is_filled
    first = auto.predict_proba(reports[:1])
    members = [pool.predict_proba(reports[:1]) for pool in auto.pools_]
    assert np.allclose(first, np.average(members, 0, auto.shares_)) != is_filled


def test_three_classes_are_filled_in_as_probabilities():
    panel = random_panel(5, cases=200, agents=4, classes=3, silent=0.2)
    auto = Auto(candidates=FEW).fit_panel(panel)
    filled = imputation.fill_reports(panel.values, auto.imputation_)
    given = ~np.isnan(panel.values)
    assert_array_equal(filled[given], panel.values[given])
    assert_allclose(filled.sum(axis=2), 1.0)


# Where one class is rare


def rare(positives=40, cases=1200, seed=0, silent=0.0, agents=4, **more):
    """Agents that know much the same of a rare event, each in its own unit."""
    rng = np.random.default_rng(seed)
    outcomes = rng.permutation((np.arange(cases) < positives).astype(int))
    base = np.log(positives / (cases - positives)) if positives else -3.0
    noise = rng.normal(size=(cases, 1)) + 0.4 * rng.normal(size=(cases, agents))
    seen = noise + 2.0 * outcomes[:, None]
    reports = expit(base + np.linspace(1.2, 2.0, agents) * seen - 1.5)
    gone = rng.random(reports.shape) < silent
    gone[np.arange(cases), rng.integers(0, agents, cases)] = False
    return Panel(np.where(gone, np.nan, reports), outcomes, **more)


def log_odds_by_hand(auto, values):
    """Mean of the members' log-odds, by their shares."""
    p = np.stack([pool.combine(values)[:, 0] for pool in auto.pools_], axis=1)
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return expit(np.log(p / (1 - p)) @ auto.shares_)[:, None]


def mean_by_hand(auto, values):
    p = np.stack([pool.combine(values)[:, 0] for pool in auto.pools_], axis=1)
    return (p @ auto.shares_)[:, None]


def spread(auto, values):
    """How far the two means are apart, where it shows."""
    return np.abs(log_odds_by_hand(auto, values) - mean_by_hand(auto, values)).max()


SEVERAL = ("mean", "log-odds", "platt", "vcg", "stacked-lr", "boosted")


@pytest.mark.parametrize("turned", [False, True])
def test_where_a_class_is_rare_log_odds_are_averaged(turned):
    panel = rare()
    if turned:
        panel = Panel(1 - panel.reports, 1 - panel.outcomes)
    auto = Auto(candidates=SEVERAL).fit_panel(panel)
    assert len(auto.pools_) > 2
    assert spread(auto, panel.values) > 0.01
    expected = log_odds_by_hand(auto, panel.values)
    assert_allclose(auto.combine(panel.values), expected, rtol=1e-9)


@pytest.mark.parametrize("positives", [19, 60, 600])
def test_at_ordinary_rates_and_of_fewer_than_twenty_probabilities_are(positives):
    panel = rare(positives)
    auto = Auto(candidates=SEVERAL).fit_panel(panel)
    assert len(auto.pools_) > 1
    assert spread(auto, panel.values) > 0.001
    expected = mean_by_hand(auto, panel.values)
    assert_allclose(auto.combine(panel.values), expected, rtol=1e-9)
    assert auto.log_odds_ is False


def test_twenty_of_a_rare_class_are_enough_and_three_classes_are_none():
    assert Auto(candidates=FEW).fit_panel(rare(20)).log_odds_
    panel = random_panel(5, cases=800, classes=3)
    some = panel.take((panel.outcomes > 0) | (np.arange(800) < 55))
    assert np.bincount(some.outcomes).min() / len(some) < 0.05
    assert not Auto(candidates=FEW).fit_panel(some).log_odds_


def test_a_class_is_rare_by_the_weights_of_the_cases():
    panel = rare(200, 800)
    assert not Auto(candidates=FEW).fit_panel(panel).log_odds_
    few = np.where(panel.outcomes == 1, 1.0, 10.0)
    assert Auto(candidates=FEW).fit_panel(panel, few).log_odds_
    reviewed = Panel(panel.reports, panel.outcomes, propensity=1 / few)
    assert Auto(candidates=FEW).fit_panel(reviewed).log_odds_


def test_a_class_is_rare_in_all_cases_and_not_in_the_part_that_is_drawn(monkeypatch):
    monkeypatch.setattr(folds, "LEARNING_CASES", 300)
    auto = Auto(candidates=FEW).fit_panel(rare(60, 2400))  # a fifth of the part
    assert auto.log_odds_
    assert "300 cases" in auto.why_


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, None),
        ({"costs": Costs(fn=1, fp=1)}, None),
        ({"costs": Costs(fn=19, fp=1)}, 0.05),
        ({"threshold": 0.1}, 0.1),
        ({"costs": Costs(fn=19, fp=1), "threshold": 0.1}, 0.1),
        ({"costs": Costs(fn="amount", fp=5)}, "amount"),
    ],
    ids=["none", "equal", "costs", "threshold", "both", "amounts"],
)
def test_candidates_are_weighed_by_the_loss_of_the_decisions_at_these_costs(
    settings, line
):
    amount = np.random.default_rng(1).uniform(5, 400, 1200)
    panel = rare(columns={"amount": amount})
    if line == "amount":
        line = 5 / (5 + amount)
    auto = Auto(candidates=FEW, **settings).fit_panel(panel)
    pairs = splits(panel.outcomes, 5, 0)
    pools_ = [pools.make(n, **settings) for n in FEW]
    pooled = [out_of_fold(pool, panel, pairs) for pool in pools_]
    odds = logit(np.concatenate(pooled, axis=1), CERTAIN)
    weights = average_weights(decision_losses(odds, panel.outcomes, line))
    weights[weights < 0.01] = 0.0
    shares = dict(zip(FEW, weights / weights.sum(), strict=True))
    assert {row.name: row.weight for row in auto.table_} == pytest.approx(shares)


def test_the_same_mean_of_log_odds_is_saved(tmp_path):
    panel = rare(silent=0.1)
    auto = Auto(candidates=SEVERAL).fit_panel(panel)
    auto.save(tmp_path / "a.pool")
    back = load_pool(tmp_path / "a.pool")
    assert back.log_odds_
    assert_array_equal(back.combine(panel.values), auto.combine(panel.values))
    back.log_odds_ = False
    back.save(tmp_path / "b.pool")
    assert not load_pool(tmp_path / "b.pool").log_odds_


@pytest.mark.parametrize("positives", [40, 600])
def test_sparse_reports_are_pooled_alike(positives):
    """In a crowd nothing is filled in, and no cell is written out."""
    panel = rare(positives, agents=60, silent=0.97)
    auto = Auto(candidates=("mean", "vcg", "brier", "best-agent")).fit_panel(panel)
    assert auto.imputation_ is None
    assert auto.log_odds_ == (positives == 40)
    assert len(auto.pools_) > 1
    given = SparseReports.from_dense(panel.reports)
    assert_allclose(auto.combine_sparse(given), auto.combine(panel.values), rtol=1e-9)


@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_the_mean_of_log_odds_is_exported(tmp_path, silent):
    panel = rare(silent=silent)
    auto = Auto(candidates=SEVERAL).fit_panel(panel)
    assert auto.log_odds_
    pools.export(auto, tmp_path / "a.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "a.onnx")
    new = rare(seed=1, silent=silent).reports.copy()
    new[0], new[1] = [0.0, 1.0, np.nan, 0.5], 0.0
    (pooled,) = session.run(None, {"reports": new})
    assert_allclose(pooled, auto.predict_proba(new), rtol=0, atol=1e-12)
    assert_allclose(np.log(pooled), np.log(auto.predict_proba(new)), atol=1e-6)


# Fitted again


@pytest.mark.parametrize("silent", [0.0, 0.2])
@pytest.mark.parametrize("positives", [40, 500])
def test_a_refit_keeps_the_candidates_and_their_shares(positives, silent):
    first = rare(positives, silent=silent)
    new = rare(positives, seed=9, silent=silent)
    auto = Auto(candidates=SEVERAL, costs=Costs(fn=9)).fit_panel(first)
    before = auto.combine(first.values)
    again = auto.refit(new)
    assert_array_equal(again.shares_, auto.shares_)
    assert (again.table_, again.why_) == (auto.table_, auto.why_)
    assert again.log_odds_ == auto.log_odds_
    assert repr(again) == repr(auto)
    assert [repr(pool) for pool in again.pools_] == [repr(p) for p in auto.pools_]
    assert again.training_.counts == new.counts
    assert_array_equal(auto.combine(first.values), before)


@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_a_refit_learns_from_the_new_cases_only(silent):
    new, cases = rare(seed=9, silent=silent), np.linspace(0.5, 2.0, 1200)
    auto = Auto(candidates=SEVERAL).fit_panel(rare(silent=silent))
    again = auto.refit(new, cases)
    learned = imputation.learn_from(new, cases, clipped_log_scale, 0)
    assert_array_equal(again.imputation_, learned)
    filled = new.with_reports(imputation.fill_reports(new.values, learned))
    for pool, kept in zip(again.pools_, auto.pools_, strict=True):
        alone = clone(kept).fit_panel(filled, cases)
        assert_array_equal(pool.combine(filled.values), alone.combine(filled.values))


def test_a_refit_to_some_of_the_agents_knows_these_only():
    panel = rare()
    auto = Auto(candidates=SEVERAL).fit_panel(panel)
    part = panel.select_agents(panel.agents[1:])
    again = auto.refit(part)
    assert again.agents_ == panel.agents[1:]
    assert_array_equal(again.shares_, auto.shares_)
    expected = log_odds_by_hand(again, part.values)
    assert_allclose(again.combine(part.values), expected, rtol=1e-9)


def test_a_refit_can_be_saved_and_fitted_again(tmp_path):
    again = Auto(candidates=FEW).fit_panel(rare()).refit(rare(seed=9))
    again.save(tmp_path / "a.pool")
    values = rare(seed=2).values
    back = load_pool(tmp_path / "a.pool")
    assert_array_equal(back.combine(values), again.combine(values))
    whole = Auto(candidates=FEW).fit_panel(rare(seed=9))
    assert_array_equal(
        again.fit_panel(rare(seed=9)).combine(values), whole.combine(values)
    )
