"""Axes of the small charts on the dashboard."""

import re

import numpy as np
import pytest

from truepool.render.html.chart import Line, bar_chart, line_chart


def labels(drawing):
    """The labels of the vertical axis, from below."""
    return re.findall(r'text-anchor="end"[^>]*>([^<]*)<', drawing)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9, 10, 11, 63, 1200])
def test_counts_have_whole_numbers_on_their_axis_and_none_twice(count):
    shown = labels(bar_chart(np.array([0.0, count]), "cases", ("then", "now")))
    numbers = [int(label.replace(",", "")) for label in shown if label != "now"]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 0
    assert numbers[-1] >= count


@pytest.mark.parametrize("value", [-2.4, 0.0, 0.2, 1e-12, 1e-7, 1e6])
def test_a_single_value_is_shown_against_zero(value):
    line = Line("cost", np.array([np.nan, value]))
    shown = labels(line_chart([line], "cost", ("then", "now"), form=str))
    numbers = [float(label) for label in shown if label != "now"]
    assert len(numbers) == len(set(numbers))
    assert min(numbers) <= min(value, 0) + 1e-9
    assert max(numbers) >= max(value, 0) - 1e-9
    assert 0.0 in numbers
