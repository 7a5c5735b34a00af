"""Charts of named series: lines, bars and heat maps, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.pages.figures.style import (
    GREY,
    INK,
    SERIES,
    house_style,
    line_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDE = 3.1
"""Width of a panel in inches; two or three fit side by side on a page."""
MAX_MARKERS = 30
"""Largest number of points that a line marks."""


@dataclass(frozen=True, eq=False)
class Series:
    """Points of one name, with the error of each."""

    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None


Panels = Mapping[str, Mapping[str, Series]]
"""Series by name, in panels by title."""


@house_style
def lines(
    panels: Panels,
    x: str,
    y: str = "",
    *,
    log_x: bool = False,
    from_zero: bool = True,
    diagonal: bool = False,
    vertical: float | None = None,
) -> "Figure":
    """Draw lines, one panel per title; ``error`` is a band where points are many.

    ``diagonal`` draws the line of calibration, ``vertical`` a vertical line at this x.
    """
    alone = len(panels) == 1
    figure, axes = side_by_side(len(panels), width=2 * SIDE if alone else SIDE)
    for ax, (title, named) in zip(axes, panels.items(), strict=True):
        if diagonal:
            draw_diagonal(ax)
        if vertical is not None:
            ax.axvline(vertical, color=INK, linewidth=0.9, linestyle=":")
        draw_lines(ax, named)
        ax.set(title=title, xlabel=x, xscale="log" if log_x else "linear")
        if not log_x:
            ax.locator_params(axis="x", nbins=4, steps=[1, 2, 5, 10])
        if from_zero and not diagonal:
            ax.set_ylim(0, 1.05 * ax.get_ylim()[1])
    axes[0].set_ylabel(y)
    _add_legend(figure, axes)
    return figure


@house_style
def bars(
    groups: Sequence[str],
    named: Mapping[str, Sequence[float]],
    x: str,
    y: str,
    *,
    level: float | None = None,
) -> "Figure":
    """Draw one group of bars per setting; ``level`` is a horizontal line."""
    figure, axes = side_by_side(1, width=2.2 * SIDE)
    draw_bars(axes[0], groups, named)
    if level is not None:
        axes[0].axhline(level, color=INK, linewidth=0.9, linestyle=":")
    axes[0].set(xlabel=x, ylabel=y)
    _add_legend(figure, axes)
    return figure


@house_style
def heatmap(
    panels: Mapping[str, FloatArray],
    down: Sequence[str],
    across: Sequence[str],
    x: str,
) -> "Figure":
    """Draw shares between 0 and 1 as shades of one colour, with their numbers."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("house", ["#ffffff00", SERIES[1] + "90"])
    figure, axes = side_by_side(len(panels), height=0.5 * len(down) + 1.0)
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        ax.imshow(values, vmin=0, vmax=1, cmap=shades, aspect="auto")
        ax.set(title=title, xlabel=x)
        ax.set_xticks(range(len(across)), across)
        ax.set_yticks(range(len(down)), down)
        ax.tick_params(length=0)
        for (i, j), value in np.ndenumerate(values):
            text = f"{value:.2f}".replace("0.", ".")
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=INK)
    for ax in axes[1:]:
        ax.set_yticks([])
    return figure


def side_by_side(
    count: int, width: float = SIDE, height: float = SIDE
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with ``count`` axes in a row."""
    from matplotlib.figure import Figure

    size = (width * count, height)
    figure = Figure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def draw_diagonal(ax: "Axes") -> None:
    """Draw the diagonal that calibrated reports follow."""
    ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))


def draw_lines(ax: "Axes", named: Mapping[str, Series]) -> None:
    """Draw lines that can be distinguished without colour."""
    for place, (name, series) in enumerate(named.items()):
        style = line_style(place)
        many = len(series.x) > MAX_MARKERS
        if many:
            del style["marker"]
        if series.error is None or many:
            ax.plot(series.x, series.y, label=name, **style)
        else:
            ax.errorbar(
                series.x, series.y, series.error, label=name, capsize=2, **style
            )
        if many and series.error is not None:
            mean, error = np.asarray(series.y), np.asarray(series.error)
            ax.fill_between(
                series.x, mean - error, mean + error,
                color=style["color"], alpha=0.15, linewidth=0,
            )  # fmt: skip
    ax.grid(axis="y")


def draw_bars(
    ax: "Axes", groups: Sequence[str], named: Mapping[str, Sequence[float]]
) -> None:
    """Draw the bars of each name side by side, one group per setting."""
    width = 0.8 / len(named)
    for place, (name, values) in enumerate(named.items()):
        at = np.arange(len(groups)) + (place - (len(named) - 1) / 2) * width
        colour = SERIES[place] if place < len(SERIES) else GREY
        ax.bar(at, values, width, label=name, color=colour)
    ax.set_xticks(range(len(groups)), groups)
    ax.grid(axis="y")


def _add_legend(figure: "Figure", axes: "Sequence[Axes]") -> None:
    """Add one legend above all panels, unless the only name is empty."""
    handles, labels = axes[0].get_legend_handles_labels()
    if any(labels):
        figure.legend(
            handles, labels, loc="outside upper left", ncols=min(len(labels), 5),
            columnspacing=1.0, handlelength=2.4,
        )  # fmt: skip
