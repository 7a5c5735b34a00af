"""Scores, held against scikit-learn, brute force and their own identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import metrics

from truepool import scores
from truepool.core.errors import ReportError, SettingError
from truepool.measures.decisions import decide
from truepool.panel.costs import Costs

SEEDS = st.integers(0, 10_000)


def series(seed, classes=2, cases=60):
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, classes, cases)
    outcomes[:classes] = np.arange(classes)
    return rng.dirichlet(np.ones(classes), cases), outcomes, rng.uniform(0, 2, cases)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@given(seed=SEEDS)
def test_decisions_score_as_scikit_learn_scores_them(classes, weighted, seed):
    pooled, outcomes, weights = series(seed, classes)
    w = weights if weighted else None
    counts = scores.confusion(pooled, outcomes, sample_weight=w)
    decided = decide(pooled)
    how = {
        "average": "binary" if classes == 2 else "macro",
        "sample_weight": w,
        "zero_division": 0,
    }
    assert_allclose(counts.recall, metrics.recall_score(outcomes, decided, **how))
    assert_allclose(counts.precision, metrics.precision_score(outcomes, decided, **how))
    assert_allclose(counts.f1, metrics.f1_score(outcomes, decided, **how))
    how["average"] = "macro"
    assert_allclose(counts.f1_macro, metrics.f1_score(outcomes, decided, **how))
    accuracy = metrics.accuracy_score(outcomes, decided, sample_weight=w)
    assert_allclose(counts.accuracy, accuracy)


@given(SEEDS)
def test_error_rates_are_relative_to_the_outcomes(seed):
    pooled, outcomes, _ = series(seed)
    counts = scores.confusion(pooled, outcomes)
    decided = decide(pooled)
    assert_allclose(counts.fn_rate, (decided[outcomes == 1] == 0).mean())
    assert_allclose(counts.fp_rate, (decided[outcomes == 0] == 1).mean())
    assert_allclose(counts.fn_rate, 1 - counts.recall)


@given(SEEDS, st.floats(0.5, 20))
def test_cost_is_the_mean_cost_of_the_decisions(seed, fn):
    pooled, outcomes, weights = series(seed, 3)
    costs = Costs(fn=fn, fp=1)
    counts = scores.confusion(pooled, outcomes, costs=costs, sample_weight=weights)
    spent = costs.table(3)[outcomes, decide(pooled, costs)]
    assert_allclose(counts.cost(costs), np.average(spent, weights=weights))


def test_rare_classes_have_few_cases():
    outcomes = np.array([0] * 96 + [1] * 2 + [2] * 2)
    pooled = np.eye(3)[np.where(np.arange(100) == 96, 0, outcomes)]
    counts = scores.confusion(pooled, outcomes)
    assert_allclose(counts.rare_recall(), (0.5 + 1.0) / 2)
    assert np.isnan(counts.rare_recall(below=0.01))


def test_a_class_that_never_came_has_no_recall():
    counts = scores.confusion([0.2, 0.3], [0, 0])
    assert np.isnan(counts.recall)
    assert np.isnan(counts.fn_rate)


@pytest.mark.parametrize("classes", [2, 4])
@given(seed=SEEDS)
def test_auc_is_scikit_learns(classes, seed):
    pooled, outcomes, weights = series(seed, classes)
    probabilities = pooled[:, 1] if classes == 2 else pooled
    theirs = metrics.roc_auc_score(
        outcomes, probabilities, multi_class="ovr", sample_weight=weights
    )
    assert_allclose(scores.auc(pooled, outcomes, sample_weight=weights), theirs)


def test_auc_of_one_class_is_not_a_number():
    assert np.isnan(scores.auc([0.2, 0.3], [0, 0]))


@pytest.mark.parametrize("bins", [10, 15])
@given(seed=SEEDS)
def test_ece_is_the_mean_gap_over_bins(bins, seed):
    pooled, outcomes, _ = series(seed)
    p = pooled[:, 1]
    total = 0.0
    for b in range(bins):
        inside = (p >= b / bins) & ((p < (b + 1) / bins) | (b == bins - 1))
        if inside.any():
            total += inside.mean() * abs(p[inside].mean() - outcomes[inside].mean())
    assert_allclose(scores.ece(pooled, outcomes, bins=bins), total, atol=1e-12)


def test_ece_of_k_classes_is_of_the_most_likely_class():
    pooled = np.array([[0.8, 0.1, 0.1]] * 10)
    outcomes = [0] * 6 + [1] * 2 + [2] * 2
    assert_allclose(scores.ece(pooled, outcomes), 0.2)


def test_debiased_ece_of_a_calibrated_pool_is_closer_to_0():
    plain, debiased = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = rng.uniform(0, 1, 300)
        y = (rng.random(300) < p).astype(int)
        plain.append(scores.ece(p, y))
        debiased.append(scores.ece(p, y, debias=True))
    assert np.mean(plain) > 0.04
    assert abs(np.mean(debiased)) < 0.6 * np.mean(plain)


def test_debiased_ece_of_a_crooked_pool_is_the_gap_itself():
    rng = np.random.default_rng(0)
    y = (rng.random(200_000) < 0.5).astype(int)
    assert_allclose(scores.ece(np.full(200_000, 0.3), y, debias=True), 0.2, atol=5e-3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bins", [None, 10])
@given(seed=SEEDS)
def test_murphys_parts_sum_to_the_brier_loss(classes, bins, seed):
    pooled, outcomes, weights = series(seed, classes)
    parts = scores.murphy(pooled, outcomes, bins=bins, sample_weight=weights)
    whole = scores.loss(pooled, outcomes, sample_weight=weights)
    assert_allclose(parts.brier, whole)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within
    assert_allclose(total, whole, atol=1e-12)
    assert bins or abs(parts.within) < 1e-12


def test_a_forecast_of_the_base_rate_is_all_uncertainty():
    parts = scores.murphy([0.25] * 4, [1, 0, 0, 0], bins=None)
    assert_allclose([parts.reliability, parts.resolution], 0, atol=1e-15)
    assert_allclose(parts.uncertainty, 0.1875)


def test_the_summary_holds_every_score():
    pooled, outcomes, _ = series(0)
    summary = scores.summary(pooled, outcomes, costs=Costs(fn=10, fp=1))
    assert_allclose(summary["fn_rate"], 1 - summary["recall"])
    assert set(summary) >= {"recall", "precision", "f1", "f1_macro", "rare_recall",
                            "fn_rate", "fp_rate", "cost", "brier", "log", "auc", "ece",
                            "ece10", "ece_debiased"}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([0.5], [1, 0]), "got 1 and 2 outcomes"),
        (([], []), "at least one"),
        (([0.5, 0.5], [1, 0], [1.0]), "sample_weight must hold"),
        (([0.5, 0.5], [1, 0], [-1.0, 2.0]), "not negative"),
        (([0.5, 0.5], [1, 0], [0.0, 0.0]), "not all zero"),
    ],
)
def test_series_that_do_not_fit_are_refused(arguments, match):
    pooled, outcomes, *weights = arguments
    with pytest.raises(SettingError, match=match):
        scores.loss(pooled, outcomes, sample_weight=weights[0] if weights else None)


def test_rows_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ReportError, match="must sum to 1; case 0"):
        scores.loss([[0.9, 0.9, 0.9]], [1])


def test_no_bins_is_refused():
    with pytest.raises(SettingError, match="at least one bin"):
        scores.murphy([0.5], [1], bins=0)
    with pytest.raises(SettingError, match="at least one bin"):
        scores.ece([0.5], [1], bins=0)


@pytest.mark.parametrize("seed", range(40))
def test_the_auc_of_separated_classes_is_exactly_one(seed):
    """A sum of areas gave .9999999999999999, and a perfect leak was no question."""
    rng = np.random.default_rng(seed)
    y = (rng.random(25_236) < 0.005).astype(int)
    assert scores.auc(np.where(y == 1, 0.6, 0.0) + 0.3 * rng.random(len(y)), y) == 1
    assert scores.auc(1 - y, y) == 0
