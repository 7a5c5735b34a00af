"""The compiled mixture answers what its members answer one by one."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from scipy.special import betainc

from truepool.panel.panel import Panel
from truepool.pools import load_pool, mixture
from truepool.pools.auto import CANDIDATES, TWO_CLASSES, Auto, title
from truepool.pools.beta import Beta
from truepool.pools.boosted import Boosted
from truepool.pools.extremized import Extremized
from truepool.pools.interface import configure
from truepool.pools.mixture import Mixture, loops_compiled
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


def test_of_more_classes_each_member_is_evaluated_by_itself():
    panel = random_panel(2, cases=120, classes=3, silent=0.2)
    pools = tuple(configure(pool).fit_panel(panel) for pool in ("mean", "vcg"))
    joined = Mixture(pools, np.array([0.25, 0.75]))
    assert [pool for _, pool in joined.others] == list(pools)
    parts = [pool.combine(panel.values) for pool in pools]
    expected = 0.25 * parts[0] + 0.75 * parts[1]
    assert_allclose(joined.combine(panel.values), expected, atol=1e-14)


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


def test_plain_numpy_has_no_compiled_form(monkeypatch):
    monkeypatch.setattr(mixture, "compiled", lambda: None)
    panel = random_panel(2, cases=90)
    pool = configure("mean").fit_panel(panel)
    joined = Mixture((pool,), np.ones(1))
    assert len(joined.others) == 1
    assert_array_equal(joined.combine(panel.values), pool.combine(panel.values))


def test_numbers_of_a_wrong_size_never_reach_the_compiled_loop():
    panel = random_panel(2, cases=60)
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
    found = loops_compiled.incomplete_beta(a, b, x)
    assert_allclose(found, betainc(a, b, x), atol=1e-11)
