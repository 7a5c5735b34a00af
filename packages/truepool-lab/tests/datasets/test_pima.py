"""Pima, on a few lines of its kind."""

import numpy as np
from numpy.testing import assert_array_equal

from truepool_lab.datasets.pima import NAMES, Pima, pima

LINES = (
    ",".join([*NAMES, "Outcome"]),
    "6,148,72,35,0,33.6,0.627,50,1",
    "0,0,66,0,94,0,0.351,31,0",
    "1,85,0,29,0,26.6,0.2,21,0",
)


def test_an_impossible_zero_is_a_missing_value(given):
    given(Pima, *LINES)
    rows = pima(seed=None)
    assert_array_equal(np.isnan(rows.values).sum(axis=0), [0, 1, 1, 1, 2, 1, 0, 0])
    assert rows.values[1, 0] == 0.0  # no pregnancy is a number like any other
    assert rows.outcomes.tolist() == [1, 0, 0]


def test_zeros_stay_where_they_are_asked_to(given):
    given(Pima, *LINES)
    assert pima(seed=None, zeros=True).values[1].tolist() == [
        0, 0, 66, 0, 94, 0, 0.351, 31,
    ]  # fmt: skip
