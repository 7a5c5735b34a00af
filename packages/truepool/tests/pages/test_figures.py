"""Figures that are written to files, and the palette of all."""

import itertools

import matplotlib
import numpy as np
import pytest
from panels import random_panel

from truepool import replay
from truepool.core.arrays import thin
from truepool.pages import figures
from truepool.pages.chart import running_mean
from truepool.pages.figures.style import PALETTE

NAN = float("nan")


def named(odd):
    panel = random_panel(1, cases=200, agents=len(odd))
    return type(panel)(panel.reports, panel.outcomes, odd)


@pytest.mark.parametrize("path", [True, False])
def test_a_replay_is_drawn_thinned(path):
    figure = figures.replay(replay("gradient", random_panel(1, cases=3000), path=path))
    top, bottom = figure.axes
    assert len(top.collections) == (4 if path else 0)
    assert [len(line.get_xdata()) for line in bottom.lines] == [400, 400]


def test_running_means_pass_over_what_is_not_known():
    values = np.array([NAN, 1.0, NAN, 3.0, NAN, NAN])
    np.testing.assert_array_equal(
        running_mean(values, 2), [NAN, 1.0, 1.0, 3.0, 3.0, NAN]
    )


def test_thinning_keeps_the_ends():
    points = thin(123_457)
    assert (points[0], points[-1]) == (0, 123_456)
    assert (np.diff(points) > 0).all()


@pytest.mark.parametrize(("letters", "columns"), [(3, 3), (12, 3), (18, 2), (19, 1), (40, 1)])  # fmt: skip
def test_long_names_leave_room_for_the_weights(letters, columns):
    wide = tuple(f"{i}".ljust(letters, "W") for i in range(5))
    figure = figures.replay(replay("gradient", named(wide)))
    assert figure.axes[0].get_legend()._ncols == columns
    figure.draw_without_rendering()  # matplotlib warns where no room is left


def test_names_are_the_users_and_mean_nothing_to_the_renderer():
    odd = (r"$\bad^", "_hidden", "%s", "a" * 60, "$x$")
    figure = figures.replay(replay("gradient", named(odd)))
    figure.draw_without_rendering()
    words = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
    assert {r"$\bad^", "\u200b_hidden", "%s", "a" * 21 + "…", "$x$"} <= set(words)


def test_the_users_own_style_changes_nothing():
    trace = replay("gradient", random_panel(1))
    plain = figures.replay(trace)
    with matplotlib.rc_context(
        {"text.color": "white", "axes.facecolor": "black", "font.size": 30.0}
    ):
        other = figures.replay(trace)
        assert matplotlib.rcParams["font.size"] == 30
    for figure in (plain, other):
        assert figure.axes[0].get_facecolor()[3] == 0
        assert figure.axes[0].yaxis.get_ticklabels()[0].get_size() == 9


# What the palette promises, held to the formulas of WCAG 2.2 and of Machado et al. (2009).
SIGHT = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def linear(colour):
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    bright = sorted(
        linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other)
    )
    return (bright[1] + 0.05) / (bright[0] + 0.05)


def lab(rgb):
    xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    ) @ np.clip(rgb, 0, 1)
    f = np.cbrt(xyz / [0.9505, 1, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(
    ("ground", "which"),
    [("#ffffff", 0), ("#f4f6f8", 0), ("#14181f", 1), ("#1b2028", 1)],
)
def test_every_colour_stands_out_from_its_ground(ground, which):
    assert min(contrast(pair[which], ground) for pair in PALETTE.values()) >= 3


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("which", [0, 1])
def test_series_differ_for_every_kind_of_colour_vision(sight, which):
    seen = [
        lab(np.array(SIGHT[sight]) @ linear(pair[which]))
        for name, pair in PALETTE.items()
        if name != "grey"
    ]
    apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    # 20 is about nine times what can just be told apart (2.3, Mahy et al. 1994).
    assert min(apart) > 20
