import numpy as np
from panels import random_panel

from truepool.data.panel import Panel
from truepool.render.tables.panel import grid as laid_out


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
