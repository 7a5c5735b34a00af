"""Reliability: reported probabilities against observed frequencies."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from truepool.audits.values import Calibration
from truepool.render.figures.probability_axis import ProbabilityAxis, axis_for
from truepool.render.figures.style import GREY, INK, SERIES, house_style, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDE = 2.35
"""Width and height of a diagram in inches."""


@house_style
def reliability(
    calibrations: Sequence[Calibration],
    columns: int = 3,
    *,
    threshold: float | None = None,
    axis: ProbabilityAxis | None = None,
) -> "Figure":
    """Draw one reliability diagram each, with the band of calibrated reports.

    Points outside the band are filled: there the reports are not calibrated. A dashed
    line is the threshold. Where events are rare the axes are in log-odds, and a
    triangle at the edge is a group without any event.
    """
    from matplotlib.figure import Figure

    shown = [one for one in calibrations if one.reliability is not None]
    across = max(1, min(columns, len(shown)))
    down = max(1, ceil(len(shown) / across))
    figure = Figure(figsize=(SIDE * across, SIDE * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    scale = reliability_axis(shown, threshold) if axis is None else axis
    for place, ax in enumerate(axes):
        if place < len(shown):
            _diagram(ax, shown[place], scale, threshold)
        else:
            ax.set_axis_off()
    return figure


def reliability_axis(
    calibrations: Sequence[Calibration], threshold: float | None = None
) -> ProbabilityAxis:
    """Return the axis on which all these diagrams can be read."""
    points = [one.reliability for one in calibrations if one.reliability is not None]
    if not points:
        return ProbabilityAxis()
    cases = sum(one.cases.sum() for one in points)
    rate = sum(one.frequency @ one.cases for one in points) / cases
    marked = [] if threshold is None else [np.array([threshold])]
    reports = [one.mean_report for one in points]
    return axis_for(float(rate), [*reports, *(o.frequency for o in points), *marked])


def _diagram(
    ax: "Axes",
    calibration: Calibration,
    axis: ProbabilityAxis,
    threshold: float | None,
) -> None:
    points = calibration.reliability
    if points is None:
        raise AssertionError("only those with points are drawn")
    order = np.argsort(points.mean_report)
    reported, observed = points.mean_report[order], points.frequency[order]
    low, high = points.low[order], points.high[order]
    ends, x, y = (axis.place(p) for p in (np.array([0.0, 1.0]), reported, observed))
    ax.plot(ends, ends, color=INK, linewidth=0.8, linestyle=":")
    ax.fill_between(
        x, axis.place(low), axis.place(high), color=GREY, alpha=0.3, linewidth=0
    )
    if threshold is not None:
        ax.axvline(
            float(axis.place(threshold)), color=SERIES[2], linewidth=1.2, linestyle="--"
        )
    ax.plot(x, y, color=SERIES[0], linewidth=1.2)
    outside = (observed < low) | (observed > high)
    size = 12 + 60 * np.sqrt(points.cases[order] / points.cases.sum())
    beyond = axis.log_odds & (observed < axis.low)
    for marker, some in (("o", ~beyond), ("v", beyond)):
        ax.scatter(
            x[some], y[some], size[some], color=SERIES[0], marker=marker,
            facecolors=_fill_colours(outside[some]), zorder=3, clip_on=False,
        )  # fmt: skip
    ax.set(xlabel="reported, %", ylabel="observed, %")
    axis.mark(ax.xaxis)
    axis.mark(ax.yaxis)
    ax.set_aspect("equal")
    ax.set_title(shorten(calibration.who))


def _fill_colours(outside: np.ndarray) -> list[str]:
    return [SERIES[0] if filled else "none" for filled in outside]
