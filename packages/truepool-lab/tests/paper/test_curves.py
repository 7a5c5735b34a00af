import numpy as np

from truepool.measures.scores import ece
from truepool_lab.paper.curves import bin_counts, curve, points


def test_gaps_of_a_curve_add_up_to_the_calibration_error():
    rng = np.random.default_rng(0)
    pooled, outcomes = rng.random((500, 1)), rng.integers(0, 2, 500)
    rows = curve("fig:x", ["VCG"], pooled, outcomes, 15)
    by = {
        column: np.array([row["value"] for row in rows if row["column"] == column])
        for column in ("predicted", "observed", "cases")
    }
    gap = np.abs(by["predicted"] - by["observed"])
    assert np.isclose(gap @ by["cases"] / 500, ece(pooled, outcomes, bins=15))


def test_a_certain_report_is_in_the_last_bin():
    rows = curve("fig:x", [], np.array([[1.0], [0.0]]), np.array([1, 0]), 10)
    assert [row["key"] for row in rows[::3]] == [[0], [9]]


def test_a_curve_is_made_of_its_own_rows():
    low, high = np.full((20, 1), 0.2), np.full((20, 1), 0.8)
    pooled, outcomes = np.concatenate([low, high]), np.repeat([0, 1], 20)
    rows = [
        *curve("fig:x", ["A", "VCG"], pooled, outcomes, 2),
        *curve("fig:x", ["B", "VCG"], 1 - pooled, outcomes, 2),
    ]
    line = points(rows, "fig:x", ["A", "VCG"])
    np.testing.assert_allclose([line.x, line.y], [[0.2, 0.8], [0, 1]])
    often = bin_counts(rows, "fig:x", ["B", "VCG"])
    assert (often.x, often.y) == ([0, 1], [20, 20])


def test_a_bin_of_fewer_than_ten_cases_is_left_out():
    pooled = np.repeat([0.2, 0.8], [10, 9])[:, None]
    rows = curve("fig:x", ["VCG"], pooled, np.zeros(len(pooled), dtype=int), 2)
    assert len(points(rows, "fig:x", ["VCG"]).x) == 1
    assert len(points(rows[3:], "fig:x", ["VCG"]).x) == 0
