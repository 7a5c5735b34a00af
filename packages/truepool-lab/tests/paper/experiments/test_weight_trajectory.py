import numpy as np
import pytest

from truepool_lab.paper.experiments.weight_trajectory import WeightTrajectory


@pytest.fixture(scope="module")
def rows():
    return [
        row
        for cell in WeightTrajectory().cells("quick")
        for row in WeightTrajectory.measure(cell)
    ]


def mean(rows, agent, times):
    return np.mean(
        [r["value"] for r in rows if r["key"][1] == agent and r["key"][0] in times]
    )


def test_weights_sum_to_one_at_every_time(rows):
    for t in range(0, 1001, 10):
        total = sum(r["value"] for r in rows if r["key"][0] == t)
        assert total == pytest.approx(10)  # repeats


def test_the_weight_leaves_the_agent_that_got_worse_within_the_window(rows):
    before, after = range(300, 500, 10), range(550, 1001, 10)
    assert mean(rows, 3, before) > 0.3
    assert mean(rows, 3, after) < 0.1
    assert mean(rows, 1, after) > mean(rows, 1, before)
    assert mean(rows, 2, after) > mean(rows, 2, before)


def test_the_figure_draws_five_means_with_bands(rows):
    (axes,) = WeightTrajectory().figure("fig:weight_trajectory", rows).axes
    shift, *lines = axes.lines
    assert set(shift.get_xdata()) == {500}
    assert [line.get_label() for line in lines] == [f"Agent {i}" for i in range(1, 6)]
    assert len(axes.collections) == 5
    assert lines[2].get_ydata()[50] == pytest.approx(mean(rows, 3, [500]))
