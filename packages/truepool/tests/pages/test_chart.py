"""Charts of pages: marks lie where the values are, and everything is named."""

import re

import numpy as np
import pytest
from example_audit import AGENTS, audit, calibration, change, drift, reliability

from truepool.pages.audit_figures import losses, reliability_axis
from truepool.pages.chart import (
    Axis,
    Band,
    Bands,
    Interval,
    Line,
    Mark,
    band_rows,
    bar_chart,
    heat_map,
    interval_rows,
    line_chart,
    reliability_chart,
)
from truepool.pages.wording import Speaker

NAN = float("nan")


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


def shares(drawing, kind, attribute):
    """Where marks stand, in percent of the width."""
    found = re.findall(rf'class="{kind}[^"]*"[^>]*? {attribute}="([-\d.]+)%"', drawing)
    return [float(share) for share in found]


def test_an_interval_lies_on_one_axis_with_zero():
    rows = [
        Interval("a", 10.0, 5.0, 15.0, "10"),
        Interval("b", -5.0, -10.0, 0.0, "-5"),
        Interval("c", 3.0, NAN, NAN, "3"),
    ]
    drawing = interval_rows(rows, "worth")
    (zero,) = set(shares(drawing, "zero", "x1"))
    dots = shares(drawing, "dot", "cx")
    scale = (dots[0] - zero) / 10.0
    np.testing.assert_allclose(
        dots, [zero + scale * row.value for row in rows], atol=0.02
    )
    ends = np.array([shares(drawing, "whisker", f"x{k}") for k in (1, 2)]).T
    assert len(ends) == 2  # what has no interval has none
    np.testing.assert_allclose(ends[0], zero + scale * np.array([5, 15]), atol=0.02)
    assert all(0 <= share <= 100 for share in (*dots, *ends.ravel()))


def test_bars_begin_at_zero():
    rows = [Interval("a", 8.0, 6.0, 9.0, "8"), Interval("b", 2.0, NAN, NAN, "2")]
    drawing = interval_rows(rows, "cost", bars=True)
    starts, widths = shares(drawing, "bar", "x"), shares(drawing, "bar", "width")
    assert starts == [0.0, 0.0]
    assert widths[0] == pytest.approx(4 * widths[1], abs=0.05)


def test_bands_fill_the_time_that_they_are_of():
    row = Bands("a", (Band(0.0, 0.4, "sound"), Band(0.4, 1.0, "error")), "broken")
    drawing = band_rows([row], "health", [(0.0, "May"), (1.0, "June")])
    assert shares(drawing, "health", "x") == [0.0, 40.0]
    assert shares(drawing, "health", "width") == [40.0, 60.0]
    assert "May" in drawing
    assert "June" in drawing


def test_points_off_the_band_are_filled():
    points = reliability(0.4)
    drawing = reliability_chart(points, "of tree")
    hollow = drawing.count('class="dot hollow"')
    assert hollow == int((~points.outside).sum())
    assert drawing.count('class="dot"') == int(points.outside.sum()) > 0


def test_rare_events_are_drawn_in_log_odds_with_the_threshold():
    rare = [calibration("rf", low=0.0002, high=0.02)]
    axis = reliability_axis(change(audit(), calibration=tuple(rare), threshold=0.001))
    assert axis.log_odds
    even = np.diff(axis.share(np.array([0.0001, 0.001, 0.01])))
    assert even[0] == pytest.approx(even[1], rel=0.02)
    drawing = reliability_chart(rare[0].reliability, "rare", axis=axis, threshold=0.001)
    assert "0.01%" in drawing
    assert 'class="mark' in drawing


def test_where_events_are_not_rare_the_axis_is_even():
    assert reliability_axis(audit()) == Axis()
    assert reliability_axis(change(audit(), calibration=())) == Axis()


def test_a_heat_map_is_deeper_where_agents_are_closer_and_empty_where_nothing_is_known():
    drawing = heat_map(
        "abc", np.array([[1, 0.9, -0.2], [0.9, 1, NAN], [-0.2, NAN, 1]]), "alike"
    )
    depth = [float(x) for x in re.findall(r'fill-opacity="([.\d]+)"', drawing)]
    assert depth == [0.45, 0.41, 0.09, 0.41, 0.45, 0.09, 0.45]
    assert drawing.count('class="cell minus"') == 2
    assert ">.90<" in drawing
    assert ">.90<" not in heat_map("abcdefghijklm", np.full((13, 13), 0.9), "many")


def test_a_mark_stands_at_its_share_and_its_words_inside():
    line = Line("cost", np.array([1.0, 2.0]))
    for place, side in ((0.1, "start"), (0.9, "end")):
        drawing = line_chart([line], "cost", ("a", "b"), marks=[Mark(place, "here")])
        x = float(re.search(r'class="mark [^"]*" x1="([\d.]+)"', drawing)[1])
        assert x == pytest.approx(46 + place * (420 - 56), abs=0.1)
        assert re.search(rf'text-anchor="{side}">here<', drawing)


def test_a_line_is_interrupted_where_nothing_is_known_and_stays_inside():
    drawing = line_chart(
        [Line("a", np.array([1.0, NAN, 5.0, 2.0]))], "a", ("x", "y"), bounds=(0.0, 3.0)
    )
    path = re.search(r'class="line c0" d="([^"]+)"', drawing)[1]
    assert path.count("M") == 2
    assert min(float(y) for y in re.findall(r",([\d.]+)", path)) >= 10


def test_an_agent_called_pool_is_not_the_pool():
    odd = drift(("pool", *AGENTS[1:]))
    lost = {**odd.losses, "the pool": odd.losses["forest"]}
    figure = losses(Speaker.of(audit()), change(odd, losses=lost))
    assert figure.legend[0] == "the pool"
    assert "bayes" in figure.legend[:2]  # who has an alarm


def test_an_agent_that_never_reported_has_no_line():
    empty = drift()
    lost = {**empty.losses, "tree": np.full(120, NAN)}
    assert "tree" not in losses(Speaker.of(audit()), change(empty, losses=lost)).legend
