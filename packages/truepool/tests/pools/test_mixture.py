"""The compiled mixture answers what its members answer one by one."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from scipy.special import betainc

from truepool.core import kernels
from truepool.core.kernels import mixture_compiled
from truepool.measures.calibration import LOG_ODDS_LIMIT
from truepool.panel.panel import Panel
from truepool.pools import load_pool
from truepool.pools.auto import CANDIDATES, TWO_CLASSES, Auto, title
from truepool.pools.beta import Beta
from truepool.pools.boosted import Boosted
from truepool.pools.extremized import Extremized
from truepool.pools.interface import configure
from truepool.pools.mixture import ENCODERS, Mixture
from truepool.pools.platt import Platt
from truepool.pools.trimmed import Trimmed

EVERY = [configure(pool) for pool in (*CANDIDATES, *TWO_CLASSES, Trimmed(alpha=0.3))]


@pytest.fixture(scope="module", params=["complete", "sparse", "absent"])
def cases(request):
    panel = random_panel(1, cases=200, agents=4)
    reports = panel.reports.copy()
    rng = np.random.default_rng(0)
    reports[:8] = [0.0, 1.0, 1.0, 0.0]
    if request.param != "complete":
        reports[rng.random(reports.shape) < 0.4] = np.nan
        reports[np.isnan(reports).all(axis=1), 0] = 0.3
    if request.param == "absent":
        reports[:, 2] = np.nan
        reports[np.isnan(reports).all(axis=1), 0] = 0.3
    learned = Panel(reports, panel.outcomes)
    new = np.where(rng.random((60, 4)) < 0.3, np.nan, rng.random((60, 4)))
    new[np.isnan(new).all(axis=1), 1] = 0.7
    return learned, np.vstack([reports, new])[:, :, None]


@pytest.mark.parametrize("pool", EVERY, ids=title)
def test_every_candidate_has_a_compiled_form_that_answers_the_same(pool, cases):
    panel, values = cases
    fitted = pool.fit_panel(panel)
    joined = Mixture((fitted,), np.ones(1))
    assert joined.others == []
    assert_allclose(joined.combine(values), fitted.combine(values), atol=1e-12)


@pytest.fixture(scope="module", params=[(3, "complete"), (4, "sparse"), (3, "absent")])
def classes(request):
    """Cases of several classes: learned ones, and those and new ones to be pooled."""
    K, how = request.param
    panel = random_panel(1, cases=200, agents=4, classes=K)
    new = random_panel(2, cases=60, agents=4, classes=K, silent=0.4)
    reports = panel.reports.copy()
    reports[:8] = np.eye(K)[[0, 1, 1, 2]]
    if how != "complete":
        silent = random_panel(3, cases=200, agents=4, classes=K, silent=0.4)
        reports[np.isnan(silent.reports)] = np.nan
    if how == "absent":
        reports[:, 2] = np.nan
    reports[np.isnan(reports[:, :, 0]).all(axis=1), 0] = 1 / K
    return Panel(reports, panel.outcomes), np.concatenate([reports, new.reports])


@pytest.mark.parametrize("pool", EVERY, ids=title)
def test_so_has_every_candidate_for_more_classes(pool, classes):
    panel, values = classes
    fitted = pool.fit_panel(panel)
    joined = Mixture((fitted,), np.ones(1))
    assert joined.others == []
    assert_allclose(joined.combine(values), fitted.combine(values), atol=1e-12)


@pytest.mark.parametrize("seen", [(0, 2), (1, 2, 3)])
@pytest.mark.parametrize("pool", EVERY, ids=title)
def test_a_class_that_was_never_seen_is_pooled_the_same(pool, seen):
    whole = random_panel(1, cases=300, agents=4, classes=4)
    panel = whole.take(np.flatnonzero(np.isin(whole.outcomes, seen)))
    fitted = pool.fit_panel(panel)
    joined = Mixture((fitted,), np.ones(1))
    assert joined.others == []
    pooled = joined.combine(whole.values)
    assert_allclose(pooled, fitted.combine(whole.values), atol=1e-12)


def test_a_mixture_of_all_candidates_for_three_classes_is_their_weighted_mean():
    panel = random_panel(2, cases=120, classes=3, silent=0.2)
    pools = [configure(pool).fit_panel(panel) for pool in CANDIDATES]
    alone = [*pools, Boosted(trees=3).fit_panel(panel)]
    shares = np.random.default_rng(0).dirichlet(np.ones(len(alone)))
    joined = Mixture(tuple(alone), shares)
    assert [pool for _, pool in joined.others] == alone[-1:]
    expected = sum(
        w * p.combine(panel.values) for w, p in zip(shares, alone, strict=True)
    )
    assert_allclose(joined.combine(panel.values), expected, atol=1e-12)


def test_a_case_without_reports_has_no_answer():
    for classes in (2, 3):
        panel = random_panel(2, cases=60, classes=classes)
        joined = Mixture((configure("mean").fit_panel(panel),), np.ones(1))
        assert np.isnan(joined.combine(np.full_like(panel.values[:1], np.nan))).all()


def test_members_without_a_compiled_form_are_evaluated_by_themselves():
    panel = random_panel(2, cases=120)
    alone = [
        Boosted().fit_panel(panel),
        Boosted(trees=3).fit_panel(panel),
        Platt(base="log-odds").fit_panel(panel),
        Beta(base="log-odds").fit_panel(panel),
        Extremized(factor="neyman-roughgarden").fit_panel(panel),
        configure("bayes").fit_panel(panel),
    ]
    shares = np.array([0.1, 0.2, 0.2, 0.1, 0.25, 0.15])
    joined = Mixture(tuple(alone), shares)
    assert [pool for _, pool in joined.others] == alone[1:]
    expected = sum(
        w * p.combine(panel.values) for w, p in zip(shares, alone, strict=True)
    )
    assert_allclose(joined.combine(panel.values), expected, atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
def test_plain_numpy_has_no_compiled_form(monkeypatch, classes):
    monkeypatch.setattr(kernels, "mixture", None)
    monkeypatch.setattr(kernels, "class_mixture", None)
    panel = random_panel(2, cases=90, classes=classes)
    pool = configure("mean").fit_panel(panel)
    joined = Mixture((pool,), np.ones(1))
    assert len(joined.others) == 1
    assert_array_equal(joined.combine(panel.values), pool.combine(panel.values))


@pytest.mark.parametrize("classes", [2, 3])
def test_numbers_of_a_wrong_size_never_reach_the_compiled_loop(classes):
    panel = random_panel(2, cases=60, classes=classes)
    pool = configure("ridge").fit_panel(panel)
    pool.coefficients_ = pool.coefficients_[:, :2]
    assert len(Mixture((pool,), np.ones(1)).others) == 1


def test_auto_answers_the_same_after_pickling_saving_and_a_second_fit(tmp_path):
    panel = random_panel(1, cases=60)
    auto = Auto(candidates=("mean", "platt", "shrunk")).fit_panel(panel)
    before = auto.combine(panel.values)
    auto.save(tmp_path / "a.pool")
    for copy in (pickle.loads(pickle.dumps(auto)), load_pool(tmp_path / "a.pool")):
        assert_array_equal(copy.combine(panel.values), before)
    other = random_panel(5, cases=60)
    again = auto.fit_panel(other).combine(panel.values)
    fresh = Auto(candidates=("mean", "platt", "shrunk")).fit_panel(other)
    assert_array_equal(again, fresh.combine(panel.values))


@settings(max_examples=200)
@given(st.floats(-7, 7), st.floats(-7, 7), st.floats(1e-9, 1 - 1e-9))
def test_theincomplete_beta_function_is_that_of_scipy(log_a, log_b, x):
    a, b = np.exp([log_a, log_b])
    found = mixture_compiled.incomplete_beta(a, b, x)
    assert_allclose(found, betainc(a, b, x), atol=1e-11)


def test_the_limit_of_log_odds_is_the_one_that_pools_learn_with():
    assert mixture_compiled.LOG_ODDS_LIMIT == LOG_ODDS_LIMIT


def test_the_registered_forms_are_of_pools_that_auto_may_combine():
    assert {type(pool) for pool in EVERY} == set(ENCODERS)
