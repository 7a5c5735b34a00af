import numpy as np
from panels import random_panel

from truepool.pages.panel import grid as laid_out
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports


def test_a_panel_is_told_agent_by_agent():
    panel = Panel([[0.9, 0.5], [0.1, float("nan")]], [1, 0], agents=("ada", "bob"))
    grid = laid_out(panel)
    assert grid.rows == (
        ("ada", "100.0 %", "0.500", "0.0100"),
        ("bob", "50.0 %", "0.500", "0.250"),
    )
    assert grid.title == "2 cases, 2 agents; 50.0 % positive"


def test_an_agent_that_is_silent_in_a_part_has_nothing_to_tell():
    panel = Panel([[0.9, 0.5], [0.1, float("nan")]], [1, 0], agents=("ada", "bob"))
    assert laid_out(panel.take(np.array([1]))).rows[1] == ("bob", "0.0 %", "-", "-")


def test_classes_have_no_mean_report():
    grid = laid_out(random_panel(1, classes=3))
    assert grid.headers == ("agent", "reported", "Brier")
    assert len(grid.rows[0]) == 3
    assert "3 classes" in grid.title


def test_of_thousands_of_agents_those_who_reported_most_are_shown(monkeypatch):
    table = np.full((6, 4), np.nan)
    table[:, 1], table[:3, 3], table[:2, 0] = 0.25, 0.5, 0.75
    outcomes = [0, 1] * 3
    monkeypatch.setattr("truepool.pages.panel.SHOWN", 2)
    whole = laid_out(Panel(table, outcomes))
    cells = laid_out(Panel(SparseReports.from_dense(table), outcomes))
    assert cells == whole
    assert [row[:3] for row in cells.rows] == [
        ("agent1", "100.0 %", "0.250"),
        ("agent3", "50.0 %", "0.500"),
    ]
    assert cells.notes == ("The 2 agents of 4 who reported most.",)
