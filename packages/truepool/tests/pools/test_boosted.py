"""Gradient boosting on reports: the trees are those that scikit-learn grows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel, rounded_panel
from sklearn.ensemble import HistGradientBoostingClassifier

from truepool.core import kernels
from truepool.core.arrays import to_classes
from truepool.core.engine import one_thread
from truepool.core.errors import SettingError
from truepool.core.kernels import reference
from truepool.pools import boosted
from truepool.pools.boosted import Boosted
from truepool.pools.interface.agent_reports import content_order


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("cases", [70, 400])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_agrees_with_scikit_learn(classes, cases, weighted, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernels, "boost", reference.boost)
    panel = random_panel(1, cases=cases, classes=classes, silent=0.2)
    weights = np.random.default_rng(0).uniform(0.1, 5.0, cases) if weighted else None
    pool = Boosted().fit_panel(panel, weights)
    order = content_order(panel.values)
    features = boosted._features(
        panel.values[:, order], pool.always_[order], pool.never_[order]
    )
    model = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, learning_rate=0.1, min_samples_leaf=20,
        early_stopping=False, random_state=0,
    )  # fmt: skip
    with one_thread():
        model.fit(features, panel.outcomes, weights)
    pooled = to_classes(pool.combine(panel.values))
    assert_allclose(pooled, model.predict_proba(features), atol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_last_bit_of_a_rounded_report_decides_nothing(classes):
    panel = rounded_panel(classes)
    pool = Boosted().fit_panel(panel)
    for bit in (1 - 2**-52, 1 + 2**-52):
        moved = np.minimum(panel.values * bit, 1.0)
        assert_allclose(pool.combine(moved), pool.combine(panel.values), atol=1e-12)


def test_it_learns_what_no_weighted_sum_can():
    # The second agent is right only where the first is unsure.
    rng = np.random.default_rng(0)
    unsure = rng.random(4000) < 0.5
    outcomes = rng.integers(0, 2, 4000)
    first = np.where(unsure, 0.5, 0.1 + 0.8 * outcomes)
    second = np.where(unsure, 0.1 + 0.8 * outcomes, rng.choice([0.1, 0.9], 4000))
    reports = np.column_stack([first, second])
    pooled = (
        Boosted().fit(reports[:2000], outcomes[:2000]).predict_proba(reports[2000:])
    )
    assert np.mean((pooled[:, 1] > 0.5) == outcomes[2000:]) > 0.99


def test_a_class_that_never_happened_has_no_probability():
    panel = random_panel(3, cases=150, classes=3)
    for absent in (0, 1, 2):
        part = panel.take(np.flatnonzero(panel.outcomes != absent))
        pooled = Boosted().fit_panel(part).predict_proba(panel.reports)
        assert_allclose(pooled[:, absent], 0.0)
        assert_allclose(pooled.sum(axis=1), 1.0)


def test_with_few_cases_it_answers_the_base_rate():
    panel = random_panel(2, cases=20)
    pooled = Boosted().fit_panel(panel).predict_proba(panel.reports)[:, 1]
    assert_allclose(pooled, panel.outcomes.mean())


@pytest.mark.parametrize("wrong", [{"trees": 0}, {"leaves": 1}, {"rate": 0.0}])
def test_boosting_needs_trees_leaves_and_a_rate(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(SettingError, match=f"{name}={value}"):
        Boosted(**wrong).fit_panel(random_panel(1))


@pytest.mark.parametrize("column", [-1, 3])
def test_a_tree_for_a_class_that_is_not_there_is_refused(column):
    pool = Boosted(trees=2).fit_panel(random_panel(1, cases=100, classes=3))
    pool.check_learned()
    pool.columns_ = np.array([0, 1, column])
    with pytest.raises(ValueError, match="a tree leads nowhere"):
        pool.check_learned()
