"""Reliability: reported probabilities against observed frequencies."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from truepool.audits.values import Calibration
from truepool.render.figures.style import GREY, INK, SERIES, house_style, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDE = 2.35
"""Width and height of a diagram in inches."""


@house_style
def reliability(calibrations: Sequence[Calibration], columns: int = 3) -> "Figure":
    """Draw one reliability diagram each, with the band of calibrated reports.

    Points outside the band are filled: there the reports are not calibrated.
    """
    from matplotlib.figure import Figure

    shown = [one for one in calibrations if one.reliability is not None]
    across = max(1, min(columns, len(shown)))
    down = max(1, ceil(len(shown) / across))
    figure = Figure(figsize=(SIDE * across, SIDE * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for place, ax in enumerate(axes):
        if place < len(shown):
            _diagram(ax, shown[place])
        else:
            ax.set_axis_off()
    return figure


def _diagram(ax: "Axes", calibration: Calibration) -> None:
    points = calibration.reliability
    if points is None:
        raise AssertionError("only those with points are drawn")
    order = np.argsort(points.mean_report)
    reported, observed = points.mean_report[order], points.frequency[order]
    low, high = points.low[order], points.high[order]
    ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    ax.fill_between(reported, low, high, color=GREY, alpha=0.3, linewidth=0)
    ax.plot(reported, observed, color=SERIES[0], linewidth=1.2)
    outside = (observed < low) | (observed > high)
    size = 12 + 60 * np.sqrt(points.cases[order] / points.cases.sum())
    ax.scatter(
        reported,
        observed,
        size,
        color=SERIES[0],
        facecolors=_fill_colours(outside),
        zorder=3,
    )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="reported", ylabel="observed")
    ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    ax.set_aspect("equal")
    ax.set_title(shorten(calibration.who))


def _fill_colours(outside: np.ndarray) -> list[str]:
    return [SERIES[0] if filled else "none" for filled in outside]
