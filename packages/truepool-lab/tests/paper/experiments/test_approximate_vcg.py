import numpy as np
import pytest
from dataset_requirements import needs

from truepool import Panel
from truepool.core.engine import Cell
from truepool_lab.paper.experiments.approximate_vcg import (
    REMOVALS,
    ApproximateVCG,
    _rows_by_removals,
)

CELL = Cell("approximate-vcg", (("rows", 800),), 0)


@pytest.fixture(scope="module")
def rows():
    return ApproximateVCG.measure(CELL)


@needs("nsl-kdd")
def test_all_removals_are_exact_and_every_crew_is_tried(rows):
    errors = {tuple(r["key"]): r["value"] for r in rows if r["column"] == "FN error"}
    assert list(errors) == [(n, k) for n, tries in REMOVALS.items() for k in tries]
    assert all(errors[n, n] == 0 for n in REMOVALS)


@needs("nsl-kdd")
def test_the_figure_draws_both_columns_for_every_crew(rows):
    left, right = ApproximateVCG().figure("fig:kloo_tradeoff", rows).axes
    assert [list(line.get_xdata()) for line in left.lines] == [
        list(t) for t in REMOVALS.values()
    ]
    assert all((np.asarray(line.get_ydata()) > 0).all() for line in right.lines)


def test_a_relative_error_needs_misses_to_be_relative_to():
    outcomes = np.tile([0, 1], 20)
    reports = np.where(outcomes[:, None] == 1, [0.9, 0.8], [0.1, 0.3])
    panel = Panel(reports, outcomes)
    rows = _rows_by_removals(panel, panel, (1, 2), CELL)
    found = {(r["key"][1], r["column"]): r["value"] for r in rows}
    assert found[1, "FN error"] == 0
    assert found[1, "relative FN error (%)"] is None


@pytest.mark.parametrize(("size", "rows"), [("quick", 3000), ("full", 50_000)])
def test_full_size_is_the_papers(size, rows):
    assert {cell["rows"] for cell in ApproximateVCG().cells(size)} == {rows}
