"""What each shift would earn: reference, compiled and brute force agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from truepool.measures.decisions import EDGE
from truepool_lab.kernels import shading_compiled, shading_reference

BOTH = pytest.mark.parametrize(
    "shading", [shading_reference, shading_compiled], ids=["reference", "compiled"]
)
GRID = (np.arange(-50, 51) * 0.01).round(12)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
# Hundredths lie on the grid's own points: the cases that rounding would decide.
CHANCES = st.one_of(st.integers(0, 100).map(lambda k: k / 100), st.floats(0, 1))


def brute_decision_gains(beliefs, rest, weight, cutoff, gains, shifts):
    reports = np.clip(beliefs[:, None] + shifts, 0, 1)
    w = weight[:, None] if weight.size > 1 else weight
    return ((rest[:, None] + w * reports > cutoff) * gains[:, None]).sum(axis=0)


@BOTH
@given(st.data(), st.integers(1, 30), st.sampled_from([0.3, 0.5, 1 / 11, 0.0, 0.999]))
def test_decision_gains_equal_the_brute_force(shading, data, cases, threshold):
    beliefs = data.draw(arrays(np.float64, cases, elements=CHANCES))
    others = data.draw(arrays(np.float64, (cases, 4), elements=CHANCES))
    gains = data.draw(arrays(np.float64, cases, elements=st.floats(-10, 10)))
    weights = np.full(5, 0.2)
    arguments = (
        beliefs, others @ weights[1:], weights[:1], threshold + EDGE, gains, GRID,
    )  # fmt: skip
    assert_allclose(
        shading.decision_gains(*arguments), brute_decision_gains(*arguments), **CLOSE
    )


@BOTH
def test_decision_gains_of_a_hundred_thousand_cases_equal_the_brute_force(shading):
    rng = np.random.default_rng(0)
    T = 100_000
    gains = rng.choice([-1.0, 10.0], T)
    beliefs, rest = rng.beta(1.2, 2.8, T), 0.8 * rng.beta(2, 4, T)
    arguments = (beliefs, rest, np.array([0.2]), 0.3 + EDGE, gains, GRID)
    assert_allclose(
        shading.decision_gains(*arguments), brute_decision_gains(*arguments), **CLOSE
    )


@BOTH
def test_each_case_may_have_a_weight_of_its_own_and_none_at_all(shading):
    beliefs = np.array([0.5, 0.5, 0.5, 0.2])
    rest = np.array([0.1, 0.4, 0.2, 0.3])
    weight = np.array([0.5, 0.0, 0.0, 1.0])
    gains = np.array([1.0, 10.0, 100.0, 1000.0])
    shifts = np.array([-0.5, 0.0, 0.5])
    # The second is decided 1 whatever is said, the third never.
    found = shading.decision_gains(beliefs, rest, weight, 0.3, gains, shifts)
    assert found.tolist() == [10.0, 1011.0, 1011.0]


@BOTH
@given(st.data(), st.integers(1, 30))
def test_squares_equal_the_brute_force(shading, data, cases):
    beliefs = data.draw(arrays(np.float64, cases, elements=CHANCES))
    targets = data.draw(arrays(np.float64, cases, elements=st.floats(-3, 3)))
    reports = np.clip(beliefs[:, None] + GRID, 0, 1)
    expected = ((reports - targets[:, None]) ** 2).sum(axis=0)
    found = shading.squared_distances(beliefs, targets, GRID)
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@BOTH
@given(
    arrays(
        np.float64,
        st.integers(0, 30),
        elements=st.floats(-1, 1) | st.sampled_from([np.inf, -np.inf, 0.0, 0.1]),
    )
)
def test_a_point_is_crossed_by_the_shifts_above_it(shading, points):
    gains = np.arange(1.0, len(points) + 1)
    expected = ((points[:, None] < GRID) * gains[:, None]).sum(axis=0)
    assert_allclose(shading.sums_below(points, gains, GRID), expected, **CLOSE)


@BOTH
def test_one_shift_is_a_grid_too(shading):
    points, gains = np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 4.0])
    assert shading.sums_below(points, gains, np.array([0.5])).tolist() == [3.0]
