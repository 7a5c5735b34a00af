import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from truepool.measures.scores import smooth_ece
from truepool.measures.scores.smooth_calibration import CELLS


def direct(p, y, points=4001):
    """The definition: every case at every point, mirrored at 0 and 1; then halving."""
    s = (np.arange(points) + 0.5) / points
    mirrors = np.concatenate(
        [2 * k + sign * p for k in range(-4, 5) for sign in (1, -1)]
    )
    residual = np.tile(y - p, 18) / len(p)

    def error(width):
        bell = np.exp(-(((mirrors[:, None] - s) / width) ** 2) / 2)
        return np.abs(residual @ bell / (width * np.sqrt(2 * np.pi))).mean()

    low, high = 0.0, 1.0
    for _ in range(30):
        width = (low + high) / 2
        low, high = (width, high) if error(width) > width else (low, width)
    return width


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_definition(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 0.8, 60)
    y = (rng.random(60) < p**1.5).astype(int)
    # A residual sits on a cell; between cells it is shared, so the error is of the
    # square of a cell against the width.
    assert_allclose(smooth_ece(p, y), direct(p, y), atol=2 / CELLS)


@given(st.floats(0.05, 0.95), st.integers(5, 40))
def test_one_constant_report_is_off_by_its_gap(p, ones):
    y = np.r_[np.ones(ones), np.zeros(45 - ones)].astype(int)
    assert_allclose(smooth_ece(np.full(45, p), y), abs(p - ones / 45), atol=2e-3)


def test_the_error_of_calibrated_reports_tends_to_0():
    rng = np.random.default_rng(0)
    errors = []
    for cases in (500, 50_000):
        p = rng.random(cases)
        errors.append(smooth_ece(p, (rng.random(cases) < p).astype(int)))
    assert errors[1] < errors[0] / 3
    assert errors[1] < 0.01


def test_cases_count_by_weight_and_classes_by_the_most_likely_one():
    p, y = np.array([0.2, 0.7, 0.9]), np.array([1, 0, 1])
    twice = smooth_ece(np.r_[p, p[0]], np.r_[y, y[0]])
    assert_allclose(smooth_ece(p, y, sample_weight=[2.0, 1.0, 1.0]), twice)
    three = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])
    assert_allclose(smooth_ece(three, [0, 2]), smooth_ece([0.6, 0.8], [1, 0]))
