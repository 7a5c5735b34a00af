"""Sparse reports: only those that were given, and the same answers as the table."""

import numpy as np
import pyarrow as pa
import pytest
from corpus import refusal
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels

from truepool.core.errors import AgentError, ReportError, SettingError
from truepool.core.kernels import reference
from truepool.panel import sparse
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports, prefers_sparse
from truepool.pools.trimmed import trimmed_mean
from truepool.tables import read_panel, read_reports

ROUNDING = 1e-13


def mostly_empty(cases=40, agents=30, filled=1, seed=0):
    """A table with so many reports on each case."""
    rng = np.random.default_rng(seed)
    table = np.full((cases, agents), np.nan)
    for row in table:
        row[rng.choice(agents, filled, replace=False)] = rng.random(filled)
    return table, np.arange(cases) % 2


def test_less_than_a_tenth_of_a_million_cells_or_more_is_kept_sparse():
    assert prefers_sparse(1_000_000, 99_999)
    assert not prefers_sparse(1_000_000, 100_000)
    assert not prefers_sparse(999_999, 1)


@pytest.mark.parametrize(
    ("cells", "filled", "kept"), [(1_200, 2, True), (1_201, 2, False), (1, 3, False)]
)
def test_a_mostly_empty_table_is_kept_sparse_by_itself(
    monkeypatch, cells, filled, kept
):
    monkeypatch.setattr(sparse, "SPARSE_CELLS", cells)
    table, outcomes = mostly_empty(filled=filled)
    panel = Panel(table, outcomes)
    assert (panel.sparse is not None) == kept
    assert panel.silent == np.isnan(table).sum()
    assert_array_equal(panel.reports, table)
    assert_array_equal(panel.values[:, :, 0], table)


def test_reports_on_three_classes_stay_a_table(monkeypatch):
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 1)
    table = np.full((20, 15, 3), np.nan)
    table[:, 0] = 1 / 3
    assert Panel(table, np.arange(20) % 3).sparse is None


def long_table(**more):
    rng = np.random.default_rng(1)
    cells = [(q, f) for q in range(30) for f in rng.choice(40, 2, replace=False)]
    question, forecaster = np.array(cells).T
    report = rng.random(len(cells)).round(3)
    columns = {
        "q": [f"q{q}" for q in question],
        "f": [f"f{f:02}" for f in forecaster],
        "p": report,
        "y": question % 2,
    }
    return pa.table(columns | more)


LONG = ("q", "f", "p")


def test_a_long_table_becomes_sparse_without_ever_being_written_out(monkeypatch):
    whole = read_panel(long_table(), long=LONG)
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 800)
    monkeypatch.setattr(SparseReports, "dense", None)
    panel = read_panel(long_table(), long=LONG)
    assert panel.sparse is not None
    assert len(panel.sparse.values) == 60
    monkeypatch.undo()
    assert panel.agents == whole.agents
    assert_array_equal(panel.reports, whole.reports)
    assert_array_equal(panel.outcomes, whole.outcomes)
    assert_array_equal(panel.ids, whole.ids)


def test_of_a_sparse_long_table_agents_can_be_chosen(monkeypatch):
    whole = read_panel(long_table(), long=LONG, agents=("f0*", "f1*"))
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 300)
    panel = read_panel(long_table(), long=LONG, agents=("f0*", "f1*"))
    assert panel.sparse is not None
    assert panel.agents == whole.agents
    assert_array_equal(panel.reports, whole.reports)


def test_questions_without_an_outcome_wait_in_the_same_layout(monkeypatch):
    open_ = [None if q in ("q3", "q4") else int(q[1:]) % 2
             for q in long_table()["q"].to_pylist()]  # fmt: skip
    table = long_table(y=open_)
    whole = read_panel(table, long=LONG)
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 800)
    panel = read_panel(table, long=LONG)
    assert isinstance(panel.pending.given, SparseReports)
    assert len(panel.pending) == 2
    assert_array_equal(panel.pending.reports, whole.pending.reports)
    assert_array_equal(panel.pending.values, whole.pending.values)


def test_new_reports_of_a_long_table_are_sparse_too(monkeypatch):
    agents = read_panel(long_table(), long=LONG).agents[::-1]
    whole = read_reports(long_table(), agents, long=LONG)
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 800)
    reports = read_reports(long_table(), agents, long=LONG)
    assert isinstance(reports.layout, SparseReports)
    assert len(reports) == 30
    assert_array_equal(reports.values, whole.values)


def test_percentages_in_a_sparse_table_are_checked_like_others(monkeypatch):
    mixed = long_table()["p"].to_numpy() * 100
    table = long_table(p=mixed)
    whole = read_panel(table, long=LONG, percent=True)
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 800)
    panel = read_panel(table, long=LONG, percent=True)
    assert_array_equal(panel.reports, whole.reports)


def test_time_weighted_updates_of_very_many_agents_are_refused(monkeypatch):
    monkeypatch.setattr("truepool.tables.long.DENSE_CELLS", 100)
    table = long_table(t=np.arange(60), end=np.full(60, 99))
    keys = {"time": "t", "decision_time": "end", "updates": "time-weighted"}
    assert refusal(table, long=LONG, **keys).codes == ("many-intervals",)


def test_what_needs_every_cell_is_refused_above_fifty_million_of_them(monkeypatch):
    table, outcomes = mostly_empty()
    panel = Panel(SparseReports.from_dense(table), outcomes)
    monkeypatch.setattr(sparse, "DENSE_CELLS", 1_199)
    with pytest.raises(SettingError, match=r"at most 1,199; got 40 cases of 30 agents"):
        _ = panel.values


def test_cases_are_taken_and_sorted_as_from_a_table():
    table, outcomes = mostly_empty(filled=3)
    times = np.random.default_rng(2).permutation(len(table))
    whole = Panel(table, outcomes, times=times)
    cells = Panel(SparseReports.from_dense(table), outcomes, times=times)
    for part in (np.array([5, 1, 7]), times > 20):
        assert_array_equal(cells.take(part).reports, whole.take(part).reports)
        assert cells.take(part).silent == whole.take(part).silent
    later = cells.sort_by_time()
    assert later.sparse is not None
    assert_array_equal(later.reports, whole.sort_by_time().reports)
    assert repr(cells) == repr(whole)
    assert_array_equal(cells.report_counts, whole.report_counts)
    assert cells.shape == whole.shape == (40, 30, 1)


def test_of_two_reports_in_one_cell_the_last_stays():
    cells = SparseReports.from_cells([1, 0, 1], [0, 1, 0], [0.1, 0.2, 0.3], 2, 2)
    assert_array_equal(cells.dense()[:, :, 0], [[np.nan, 0.2], [0.3, np.nan]])


def test_agents_move_to_other_places_or_are_left_out():
    table, _ = mostly_empty(agents=3, filled=2)
    moved = SparseReports.from_dense(table).match_agents(np.array([1, -1, 0]), 2)
    assert_array_equal(moved.dense()[:, :, 0], table[:, [2, 0]])


def test_blocks_of_cases_put_together_are_the_table(monkeypatch):
    monkeypatch.setattr("truepool.core.arrays.BLOCK", 100)
    table, _ = mostly_empty(filled=4)
    parts = [part for _, part in SparseReports.from_dense(table).blocks()]
    assert len(parts) > 10
    assert_array_equal(np.concatenate(parts)[:, :, 0], table)


def test_cells_are_put_in_the_order_in_which_agents_join():
    table, _ = mostly_empty(filled=4)
    cells = SparseReports.from_dense(table)
    order = np.random.default_rng(0).permutation(30)
    expected = table[:, order]
    assert_array_equal(
        cells.values[cells.in_order(order)], expected[~np.isnan(expected)]
    )


@given(panels(), st.integers(0, 9))
def test_primitives_agree_with_the_kernels_of_a_table(panel, seed):
    cells = SparseReports.from_dense(panel.reports)
    weights = np.random.default_rng(seed).choice([0.0, 0.3, 1.0], len(panel.agents))
    linear = reference.linear(panel.values, weights)[:, 0]
    assert_allclose(cells.linear(weights), linear, atol=ROUNDING)
    others = reference.without(panel.values, weights, np.array([0.4]))[:, :, 0]
    reported = ~np.isnan(panel.reports)
    assert_allclose(cells.without(weights, 0.4), others[reported], atol=ROUNDING)
    for share in (0.0, 0.2, 0.5):
        trimmed = trimmed_mean(panel.values, share)[:, 0]
        assert_allclose(cells.trimmed_mean(share), trimmed, atol=ROUNDING)


def test_a_sparse_report_outside_the_unit_interval_is_refused():
    table, outcomes = mostly_empty()
    table[3, 4] = 87.0
    cells = SparseReports.from_dense(table)
    with pytest.raises(ReportError, match=r"'agent4' has 87 in case 3\."):
        Panel(cells, outcomes)


def test_single_precision_may_carry_a_sparse_report_just_outside():
    table, outcomes = mostly_empty()
    table[3, 4] = 1 + 1e-7
    assert Panel(SparseReports.from_dense(table), outcomes).reports[3, 4] == 1.0


def test_sparse_reports_owe_two_agents_and_a_report_on_every_case():
    empty = SparseReports.from_cells([0, 1], [0, 1], [0.5, 0.5], 3, 2)
    with pytest.raises(ReportError, match="none in case 2"):
        Panel(empty, [0, 1, 0])
    assert len(Panel(empty, [0, 1, 0], allow_empty_cases=True)) == 3
    alone = SparseReports.from_cells([0, 1], [0, 0], [0.5, 0.5], 2, 1)
    with pytest.raises(AgentError, match="at least 2 agents; got 1, 'ada'"):
        Panel(alone, [0, 1], ["ada"])
    assert repr(alone) == "SparseReports(2 cases, 1 agents, 2 reports)"
