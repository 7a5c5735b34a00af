"""Figures show the values they are given, and nothing else."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from example_audit import (
    AGENTS,
    agent_summaries,
    audit,
    calibration,
    curve,
    drift,
    estimate,
)
from panels import random_panel
from scipy.special import logit

from truepool import replay
from truepool.audits.values import Reliability
from truepool.comparison import Estimate
from truepool.render import figures
from truepool.render.figures.style import PALETTE, SERIES
from truepool.render.figures.time_series import _select_series, running_mean, thin

NAN = float("nan")


def words(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def names(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_a_reliability_diagram_fills_the_points_that_lie_off_the_band():
    one = calibration("tree", slope=0.4)
    figure = figures.reliability([one])
    points = figure.axes[0].collections[-2]  # the last are groups without an event
    np.testing.assert_allclose(points.get_offsets()[:, 1], one.reliability.frequency)
    diagram = one.reliability
    off = (diagram.frequency < diagram.low) | (diagram.frequency > diagram.high)
    assert 0 < off.sum() < off.size
    np.testing.assert_array_equal(
        [face[3] > 0 for face in points.get_facecolors()], off
    )


def test_diagrams_stand_side_by_side_and_those_without_points_are_left_out():
    shown = [
        calibration("a"),
        replace(calibration("b"), reliability=None),
        *map(calibration, "cde"),
    ]
    figure = figures.reliability(shown)
    assert [ax.get_title(loc="left") for ax in figure.axes if ax.axison] == [
        "a",
        "c",
        "d",
        "e",
    ]
    assert len(figure.axes) == 6
    assert not figures.reliability([]).axes[0].axison


def test_weights_are_bars_with_intervals_heaviest_first():
    shown = [
        replace(one, weight=estimate(w))
        for one, w in zip(agent_summaries(), (0.1, 0.4, 0.2, 0.2, 0.1), strict=True)
    ]
    figure = figures.weights(shown)
    ax = figure.axes[0]
    assert names(figure)[0] == "forest"
    assert [bar.get_width() for bar in ax.patches] == [0.4, 0.2, 0.2, 0.1, 0.1]
    np.testing.assert_allclose(ax.collections[0].get_segments()[0][:, 0], [0.39, 0.41])


def test_an_interval_that_cannot_be_told_is_not_drawn():
    shown = [replace(one, weight=Estimate(0.2, NAN, NAN)) for one in agent_summaries()]
    figure = figures.weights(shown)
    assert len(figure.axes[0].patches) == 5
    assert all(
        segment.size == 0 for segment in figure.axes[0].collections[0].get_segments()
    )
    figure.draw_without_rendering()


def test_credit_puts_those_who_harm_last():
    figure = figures.credit(agent_summaries())
    assert names(figure) == list(AGENTS)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["leave-one-out"].get_xdata()[-1] < 0
    assert lines["Shapley"].get_xdata()[0] == pytest.approx(0.042)


def test_worth_is_drawn_with_its_interval_and_who_is_worth_most_comes_first():
    one, two, *_ = agent_summaries()
    known = [replace(one, worth=estimate(1.5)), replace(two, worth=estimate(4.0))]
    figure = figures.worth([*known, agent_summaries()[2]])
    assert names(figure) == [two.agent, one.agent]
    (ends,) = figure.axes[0].collections[0].get_segments()[:1]
    assert ends[:, 0].tolist() == [estimate(4.0).low, estimate(4.0).high]


def test_credit_of_one_kind_needs_no_legend_and_what_is_not_known_comes_last():
    known, unknown = agent_summaries()[:2]
    known = replace(known, leave_one_out=None)
    unknown = replace(unknown, leave_one_out=None, shapley=None)
    figure = figures.credit([unknown, known])
    assert names(figure) == ["logistic", "forest"]
    assert figure.axes[0].get_legend() is None


def test_a_weight_that_is_not_known_is_left_out():
    one, *others = agent_summaries()
    assert names(figures.weights([replace(one, weight=None), *others])) == list(
        AGENTS[1:]
    )


def test_a_heat_map_is_deeper_where_agents_are_closer():
    matrix = np.array([[1.0, 0.8, -0.3], [0.8, 1.0, NAN], [-0.3, NAN, 1.0]])
    figure = figures.correlation(("a", "b", "c"), matrix)
    cells = {cell.get_xy(): cell for cell in figure.axes[0].patches}
    assert len(cells) == 7
    assert cells[(0.5, -0.5)].get_alpha() == pytest.approx(
        0.8 * cells[(-0.5, -0.5)].get_alpha()
    )
    blue, red = (matplotlib.colors.to_rgb(colour) for colour in SERIES[:2])
    assert cells[(0.5, -0.5)].get_facecolor()[:3] == blue
    assert cells[(1.5, -0.5)].get_facecolor()[:3] == red
    assert ".80" in words(figure)
    assert "-.30" in words(figure)


def test_a_large_heat_map_leaves_the_numbers_out():
    many = figures.correlation([f"a{i}" for i in range(25)], np.full((25, 25), 0.5))
    assert not [text for text in many.axes[0].texts if text.get_text()]


def test_the_threshold_in_use_is_drawn_only_where_it_is_another():
    curve = audit().curve
    both = figures.threshold(curve, 0.5, 0.09).axes[0]
    assert [line.get_xdata()[0] for line in both.lines[1:]] == [0.09, 0.5]
    one = figures.threshold(curve, 0.09, 0.09).axes[0]
    assert len(one.lines) == 2
    np.testing.assert_array_equal(one.lines[0].get_ydata(), curve.cost)


@pytest.mark.parametrize(("ratio", "lines"), [(10.0, 5), (None, 4)])
def test_a_decision_curve_stands_beside_deciding_always_the_same(ratio, lines):
    ax = figures.decision(audit().curve, ratio).axes[0]
    assert len(ax.lines) == lines
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "pool",
        "best agent",
        "always 1",
        "always 0",
    ]
    assert ax.get_ylim()[1] == pytest.approx(1.3 * audit().curve.best.max())


def test_losses_show_the_pool_and_those_with_alarms_first():
    many = tuple(f"a{i}" for i in range(9))
    figure = figures.losses(drift(many))
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown[:2] == ["pool", "a3"]
    assert len(shown) == 1 + len(SERIES)
    assert [line.get_xdata()[0] for line in figure.axes[0].lines[len(shown) :]] == [412]


def test_losses_do_without_a_pool():
    quiet = drift(alarms=False)
    losses = {who: lost for who, lost in quiet.losses.items() if who != "pool"}
    figure = figures.losses(replace(quiet, losses=losses))
    assert len(figure.axes[0].lines) == 5


def test_paths_add_up_to_one_and_the_lightest_share_a_colour():
    many = tuple(f"a{i}" for i in range(9))
    ax = figures.paths(drift(many), many).axes[0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "a0",
        "a1",
        "a2",
        "a3",
        "a4",
        "4 others",
    ]
    top = ax.collections[-1].get_paths()[0].vertices[:, 1]
    assert top.max() == pytest.approx(1)
    assert len(figures.paths(drift(), AGENTS).axes[0].collections) == 5


def test_the_mechanism_in_use_is_filled():
    comparison = audit().comparison
    ax = figures.comparison(comparison, "vcg").axes[0]
    assert [
        tuple(line.get_xydata()[0])
        for line in ax.lines
        if line.get_markersize() == 6 and line.get_marker() == "o"
    ] == [(0.17, 3)]
    assert len(figures.comparison(replace(comparison, loss="log")).axes[0].lines) == 2


def test_details_of_a_finding_are_drawn_by_their_names():
    shown = [
        ("logistic reports noise", estimate(0.3, 0.1)),
        ("all agree", estimate(0.0)),
    ]
    assert names(figures.intervals(shown, "rise in cost per case")) == [
        "logistic reports noise",
        "all agree",
    ]


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


def test_an_agent_called_pool_is_not_the_pool():
    odd = drift(("pool", *AGENTS[1:]))
    losses = {**odd.losses, "the pool": odd.losses["forest"]}
    ax = figures.losses(replace(odd, losses=losses)).axes[0]
    thick = [line.get_label() for line in ax.lines if line.get_linewidth() == 2.2]
    assert thick == ["the pool"]


@pytest.mark.parametrize(("letters", "columns"), [(3, 3), (12, 3), (18, 2), (19, 1), (40, 1)])  # fmt: skip
def test_long_names_leave_room_for_the_lines(letters, columns):
    wide = tuple(f"{i}".ljust(letters, "W") for i in range(5))
    for figure in (figures.losses(drift(wide)), figures.paths(drift(wide), wide)):
        assert figure.axes[0].get_legend()._ncols == columns
        figure.draw_without_rendering()  # matplotlib warns where no room is left


def test_many_alarms_are_drawn_without_names():
    many = tuple((AGENTS[i % 5], 50 * i, 0.1, 0.2) for i in range(8))
    assert not figures.losses(replace(drift(), alarms=many)).axes[0].texts
    assert [
        text.get_text().strip() for text in figures.losses(drift()).axes[0].texts
    ] == ["bayes"]


def test_thinning_keeps_the_ends():
    points = thin(123_457)
    assert (points[0], points[-1]) == (0, 123_456)
    assert (np.diff(points) > 0).all()


def test_names_are_the_users_and_mean_nothing_to_the_renderer():
    odd = (r"$\bad^", "_hidden", "%s", "a" * 60, "$x$")
    figure = figures.paths(drift(odd), odd)
    figure.draw_without_rendering()
    assert {r"$\bad^", "\u200b_hidden", "%s", "a" * 21 + "…", "$x$"} <= set(
        words(figure)
    )
    assert names(figures.weights(agent_summaries(odd)))[0] == r"$\bad^"


def test_the_users_own_style_changes_nothing():
    plain = figures.weights(agent_summaries())
    with matplotlib.rc_context(
        {"text.color": "white", "axes.facecolor": "black", "font.size": 30.0}
    ):
        other = figures.weights(agent_summaries())
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


@pytest.mark.parametrize(
    ("names", "turned"), [("abc", 0), (["a long name", "b"], 90), ("abcde", 90)]
)
def test_names_below_a_heat_map_do_not_cover_each_other(names, turned):
    drawn = figures.correlation(list(names), np.eye(len(names)))
    (ax,) = drawn.axes
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {turned}


def test_rare_events_are_drawn_in_log_odds_with_the_threshold():
    said = np.array([0.0005, 0.004, 0.03])
    seen = np.array([0.0, 0.005, 0.02])
    points = Reliability(said, seen, np.array([900.0, 90, 10]), said / 2, said * 2)
    one = replace(calibration("rules"), reliability=points)
    figure = figures.reliability([one], threshold=0.01)
    ax = figure.axes[0]
    drawn, lost = ax.collections[-2:]
    np.testing.assert_allclose(drawn.get_offsets()[:, 1], logit(seen[1:]))
    assert lost.get_offsets()[0, 1] == ax.lines[0].get_ydata()[0], "at the lower end"
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed[0].get_xdata(), logit(0.01))
    shown = [tick.get_text() for tick in ax.get_xticklabels()]
    assert "1" in shown
    assert 2 <= len(shown) <= 4


def test_diagrams_without_points_have_an_even_axis():
    assert not figures.reliability_axis([]).log_odds


def test_the_threshold_of_lowest_cost_is_drawn_where_it_is_told():
    figure = figures.threshold(curve(), 0.5, 0.091, lowest=0.3)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "implied by the costs", "in use", "lowest cost",
    ]  # fmt: skip


def test_dates_stand_on_the_axis_of_time():
    told = drift()
    days = tuple(f"2024-{1 + i // 10:02d}-{1 + i % 10:02d} 12:00" for i in range(120))
    for figure in (
        figures.losses(replace(told, dates=days)),
        figures.paths(replace(told, dates=days), AGENTS),
    ):
        shown = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
        assert len(shown) == 4
        assert all(day.startswith("2024-") and len(day) == 10 for day in shown)


def test_a_cost_curve_without_any_cost_is_drawn():
    curve, nothing = audit().curve, np.zeros(3)
    lines = {"pool": nothing, "best": nothing, "always": nothing, "never": nothing}
    free = replace(curve, ratios=np.array([0.1, 1.0, 10.0]), **lines)
    assert figures.decision(free).axes[0].get_ylim() == (0, 1)


def test_an_agent_that_never_reported_has_no_line():
    known = SimpleNamespace(
        alarms=(), losses={"a": np.full(3, np.nan), "b": np.ones(3)}
    )
    assert _select_series(known) == ["b"]
