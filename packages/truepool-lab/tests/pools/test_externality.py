"""Weights by agreement, against the formula written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import random_panel

from truepool_lab.pools.externality import Externality

SEEDS = st.integers(0, 200)


@given(SEEDS)
def test_externality_weights_are_inverse_to_the_gap_from_the_others(seed):
    reports = random_panel(seed).reports
    gaps = [
        ((reports[:, i] - np.delete(reports, i, axis=1).mean(axis=1)) ** 2).mean()
        for i in range(4)
    ]
    expected = (1 / np.array(gaps)) / (1 / np.array(gaps)).sum()
    pool = Externality().fit(reports, random_panel(seed).outcomes)
    assert_allclose(pool.weights_, expected)


def test_externality_uses_no_outcomes():
    panel = random_panel(1)
    there = Externality().fit(panel.reports, panel.outcomes).weights_
    back = Externality().fit(panel.reports, 1 - panel.outcomes).weights_
    assert_allclose(there, back)
