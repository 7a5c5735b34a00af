import numpy as np
from matplotlib.figure import Figure

from truepool.paper.curves import FEWEST, curve, draw, framed
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


def drawn(rows, *key):
    axes = Figure().subplots()
    framed(axes, "A")
    draw(axes, rows, "fig:x", key)
    return axes.lines[-1]


def test_a_curve_is_drawn_from_its_own_rows():
    low, high = np.full((20, 1), 0.2), np.full((20, 1), 0.8)
    said, came = np.concatenate([low, high]), np.repeat([0, 1], 20)
    rows = [
        *curve("fig:x", ["A", "VCG"], said, came, 2),
        *curve("fig:x", ["B", "VCG"], 1 - said, came, 2),
    ]
    line = drawn(rows, "A", "VCG")
    np.testing.assert_allclose(line.get_xydata(), [[0.2, 0.0], [0.8, 1.0]])
    assert line.get_label() == "VCG"


def test_a_bin_of_few_cases_is_not_drawn():
    said = np.repeat([0.2, 0.8], [FEWEST, FEWEST - 1])[:, None]
    rows = curve("fig:x", ["VCG"], said, np.zeros(len(said), dtype=int), 2)
    assert len(drawn(rows, "VCG").get_xydata()) == 1
    assert len(drawn(rows[3:], "VCG").get_xydata()) == 0
