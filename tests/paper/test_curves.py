import numpy as np
from matplotlib.figure import Figure

from truepool.paper.curves import curve, draw, framed
from truepool.scores import ece


def test_gaps_of_a_curve_add_up_to_the_calibration_error():
    rng = np.random.default_rng(0)
    said, came = rng.random((500, 1)), rng.integers(0, 2, 500)
    rows = curve("fig:x", ["VCG"], said, came, 15)
    by = {
        column: np.array([row["value"] for row in rows if row["column"] == column])
        for column in ("predicted", "observed", "cases")
    }
    gap = np.abs(by["predicted"] - by["observed"])
    assert np.isclose(gap @ by["cases"] / 500, ece(said, came, bins=15))


def test_a_certain_report_is_in_the_last_bin():
    rows = curve("fig:x", [], np.array([[1.0], [0.0]]), np.array([1, 0]), 10)
    assert [row["key"] for row in rows[::3]] == [[0], [9]]


def test_a_curve_is_drawn_from_its_own_rows():
    rows = [
        *curve("fig:x", ["A", "VCG"], np.array([[0.2], [0.8]]), np.array([0, 1]), 2),
        *curve("fig:x", ["B", "VCG"], np.array([[0.5], [0.6]]), np.array([0, 1]), 2),
    ]
    axes = Figure().subplots()
    framed(axes, "A")
    draw(axes, rows, "fig:x", ["A", "VCG"])
    assert axes.lines[-1].get_xydata().tolist() == [[0.2, 0.0], [0.8, 1.0]]
    assert axes.lines[-1].get_label() == "VCG"
