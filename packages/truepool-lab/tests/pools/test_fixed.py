"""Pools that learn nothing, against loops that spell the definition out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.core.errors import SettingError
from truepool_lab.pools.confidence import Confidence
from truepool_lab.pools.krum import Krum


@given(st.integers(0, 500), st.integers(3, 8), st.sampled_from([None, 0, 1, 2]))
def test_krum_takes_the_report_with_the_closest_neighbours(seed, agents, hostile):
    panel = random_panel(seed, cases=6, agents=agents, classes=3)
    f = (agents - 3) // 2 if hostile is None else min(hostile, (agents - 3) // 2)
    pool = Krum(hostile=hostile).fit(panel.reports, panel.outcomes)
    pooled = pool.predict_proba(panel.reports)
    for t, row in enumerate(panel.reports):
        scores = []
        for i in range(agents):
            gaps = sorted(
                ((row[i] - row[j]) ** 2).sum() for j in range(agents) if j != i
            )
            scores.append(sum(gaps[: max(agents - f - 2, 1)]))
        near = np.isclose(scores, min(scores), rtol=0, atol=1e-12)
        assert_allclose(pooled[t], row[near].mean(axis=0))


def test_krum_is_not_moved_by_hostile_agents():
    rng = np.random.default_rng(0)
    honest = rng.uniform(0.7, 0.8, (50, 5))
    reports = np.hstack([honest, np.zeros((50, 2))])
    pooled = Krum().fit(reports, [0, 1] * 25).predict_proba(reports)[:, 1]
    assert (pooled >= 0.7).all()


def test_confidence_weighs_by_distance_from_a_shrug():
    pool = Confidence().fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    pooled = pool.predict_proba([[0.9, 0.6], [0.5, 0.5]])[:, 1]
    assert_allclose(pooled, [(0.4 * 0.9 + 0.1 * 0.6) / 0.5, 0.5])


def test_confidence_of_classes_is_beyond_an_even_guess():
    third = [1 / 3] * 3
    pool = Confidence().fit(
        random_panel(1, classes=3).reports, random_panel(1, classes=3).outcomes
    )
    sure = [[0.8, 0.1, 0.1], third, third, third]
    assert_allclose(pool.predict_proba([sure, [third] * 4]), [sure[0], third])


def test_a_negative_number_of_hostile_agents_is_refused():
    with pytest.raises(SettingError, match="it is -1"):
        Krum(hostile=-1).fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
