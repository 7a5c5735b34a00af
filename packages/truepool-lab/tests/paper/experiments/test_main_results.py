import numpy as np
import pytest
from dataset_requirements import needs

from truepool_lab.paper.experiments.main_results import (
    CURVE_METHODS,
    FEWER,
    MainResults,
    _task,
)
from truepool_lab.paper.interface import row

TABLE = "tab:significance"


def curves(label, key, height):
    return [
        found
        for b in (0, 9)
        for found in (
            row(label, [*key, b], "predicted", b / 10),
            row(label, [*key, b], "observed", height),
            row(label, [*key, b], "cases", b + 10),
        )
    ]


def test_the_spread_and_the_tests_are_over_the_seeds():
    rows = [
        found
        for seed, fn in enumerate((0.01, 0.02, 0.04))
        for found in (
            row(TABLE, ["VCG"], "FN", fn),
            row(TABLE, ["Brier"], "FN", fn + 0.01 + 0.001 * seed),
            row(TABLE, ["Conf-Weighted"], "FN", fn),
            row(TABLE, ["MLP aggregator"], "FN", fn - 0.01),
            row("tab:empirical_rho", ["NSL-KDD"], "mean rho", 0.97 + fn),
        )
    ]
    found = {
        (r["table"], *r["key"], r["column"]): r["value"]
        for r in MainResults().derive(rows)
    }
    assert found[TABLE, "Brier", "delta FN"] == pytest.approx(0.011)
    assert found[TABLE, "Conf-Weighted", "p-value"] == 1.0
    assert found[TABLE, "MLP aggregator", "delta FN"] == pytest.approx(-0.01)
    spread = np.std([0.01, 0.02, 0.04], ddof=1)
    assert found["tab:empirical_rho", "NSL-KDD", "std"] == pytest.approx(spread)
    assert ("tab:empirical_rho", "Credit Card", "std") not in found


def test_a_panel_a_data_set_and_a_curve_a_method():
    rows = [
        found
        for data in ("NSL-KDD", "Credit Card", "UNSW-NB15")
        for method in CURVE_METHODS
        for found in curves("fig:reliability", [data, method], 0.5)
    ]
    page = MainResults().figure("fig:reliability", rows)
    assert [axes.get_title(loc="left") for axes in page.axes] == [
        "NSL-KDD",
        "Credit Card",
        "UNSW-NB15",
    ]
    for axes in page.axes:
        assert [line.get_label() for line in axes.lines[1:]] == list(CURVE_METHODS)
        assert axes.lines[1].get_xydata().tolist() == [[0.0, 0.5], [0.9, 0.5]]


def test_nsl_kdd_is_drawn_with_how_often_each_bin_was_said():
    label = "fig:reliability_nslkdd"
    rows = [
        found
        for method in ("VCG", "Bayesian log-odds", "Simple average")
        for found in curves(label, [method], 0.2)
    ]
    left, right = MainResults().figure(label, rows).axes
    assert len(left.lines) == 4
    assert right.lines[0].get_xydata().tolist() == [[0, 10], [9, 19]]


@needs("nsl-kdd")
@pytest.mark.data
def test_the_second_draw_is_the_fifth_and_the_test_file():
    cells = [c for c in MainResults().cells("full") if c["data"] == FEWER]
    y = _task(cells[0]).y
    assert len(y) == 47_736
    assert y.mean() == pytest.approx(0.515, abs=0.001)
    # The reduced run leaves it out, to stay within its minute.
    assert FEWER not in {c["data"] for c in MainResults().cells("quick")}
