"""Ink lies where the values are, and names can be told apart."""

import numpy as np
import pytest

from truepool_lab.paper.charts import MAX_MARKERS, Series, bars, heatmap, lines

TWO = {"ada": Series([1, 10], [0.2, 0.4], [0.1, 0.1]), "bob": Series([1, 10], [0.3, 0.1])}  # fmt: skip


def test_lines_lie_on_their_points_in_their_panels():
    page = lines({"left": TWO, "right": {"ada": TWO["ada"]}}, "n", "loss", log_x=True)
    left, right = page.axes
    assert [axes.get_title(loc="left") for axes in page.axes] == ["left", "right"]
    drawn = {tuple(line.get_ydata()) for line in left.lines}
    assert {(0.2, 0.4), (0.3, 0.1)} <= drawn
    assert (left.get_xscale(), left.get_ylabel(), right.get_ylabel()) == ("log", "loss", "")  # fmt: skip
    assert left.get_ylim()[0] == 0
    assert [text.get_text() for text in page.legends[0].get_texts()] == ["bob", "ada"]


def test_lines_differ_by_more_than_colour():
    (axes,) = lines({"": {n: Series([0, 1], [0, 1]) for n in "abcde"}}, "x").axes
    assert len({(line.get_linestyle(), line.get_marker()) for line in axes.lines}) == 5


def test_many_points_have_a_band_and_no_markers():
    at = np.arange(MAX_MARKERS + 1)
    (axes,) = lines(
        {"": {"": Series(at, at, np.ones(len(at)))}}, "case", vertical=5
    ).axes
    down, line = axes.lines
    assert list(down.get_xdata()) == [5, 5]
    assert line.get_marker() == "None"
    low, high = axes.collections[0].get_datalim(axes.transData).intervaly
    assert (low, high) == (-1, MAX_MARKERS + 1)
    (plain,) = lines({"": {"": Series(at, at)}}, "case").axes
    assert not plain.collections


def test_the_diagonal_and_the_frame_of_reliability():
    (axes,) = lines({"": {"": Series([0.5], [0.4])}}, "said", diagonal=True).axes
    assert axes.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert axes.get_xlim() == (-0.03, 1.03)


def test_a_name_that_is_empty_needs_no_legend():
    assert not lines({"": {"": Series([0], [1])}}, "x", from_zero=False).legends


def test_bars_have_their_heights_and_stay_in_their_groups():
    named = {name: [place, place + 1] for place, name in enumerate("abcdef")}
    (axes,) = bars(["one", "two"], named, "n", "price", level=1).axes
    assert [bar.get_height() for bar in axes.patches] == [v for pair in named.values() for v in pair]  # fmt: skip
    places = np.array([bar.get_x() + bar.get_width() / 2 for bar in axes.patches])
    np.testing.assert_allclose(places.reshape(6, 2).mean(axis=0), [0, 1], atol=1e-12)
    assert list(axes.lines[0].get_ydata()) == [1, 1]
    assert not bars(["one"], {"a": [1]}, "n", "price").axes[0].lines


def test_a_heat_map_tells_its_numbers():
    values = np.array([[0.0, 0.5], [1.0, 0.25]])
    page = heatmap({"a": values, "b": values.T}, ["x", "y"], ["0", "1"], "share")
    left, right = page.axes
    assert [text.get_text() for text in left.texts] == [".00", ".50", "1.00", ".25"]
    assert [text.get_text() for text in right.texts] == [".00", "1.00", ".50", ".25"]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["x", "y"]
    assert not right.get_yticklabels()
    assert left.images[0].get_clim() == (0, 1)


@pytest.mark.parametrize("draw", [lambda: lines({"": TWO}, "x"), lambda: bars(["a"], {"b": [1]}, "x", "y")])  # fmt: skip
def test_the_ground_is_transparent(draw):
    assert draw().get_facecolor()[3] == 0
