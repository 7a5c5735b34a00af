"""What decisions cost, by threshold and by ratio of costs."""

from typing import TYPE_CHECKING

import numpy as np

from truepool.audits.values import CostCurve
from truepool.core.formatting import in_unit
from truepool.render.figures.probability_axis import ProbabilityAxis
from truepool.render.figures.style import (
    DASHES,
    GREY,
    INK,
    SERIES,
    canvas,
    house_style,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@house_style
def threshold(
    curve: CostCurve,
    used: float,
    implied: float,
    *,
    lowest: float | None = None,
    axis: ProbabilityAxis | None = None,
    currency: str = "",
) -> "Figure":
    """Draw the cost at each threshold; mark those in use and implied by the costs.

    ``lowest`` is a threshold that costs significantly less.
    """
    figure, ax = canvas(2.7)
    axis = axis or ProbabilityAxis()
    shown = (curve.thresholds >= axis.low) & (curve.thresholds <= axis.high)
    ax.plot(axis.place(curve.thresholds[shown]), curve.cost[shown], color=SERIES[0])
    lines = {"implied by the costs": implied}
    if abs(used - implied) > 1e-9:
        lines["in use"] = used
    if lowest is not None:
        lines["lowest cost"] = lowest
    for place, (label, line) in enumerate(lines.items()):
        colour, dashes = (SERIES[2], SERIES[1], INK)[place], ("--", "-.", ":")[place]
        ax.axvline(float(axis.place(line)), color=colour, linestyle=dashes, label=label)
    ax.set(xlabel="decide positive above, %", ylabel=in_unit("cost per case", currency))
    axis.mark(ax.xaxis, most=6)
    ax.set_ylim(bottom=0)
    ax.grid(axis="y")
    _legend_above(ax)
    return figure


@house_style
def decision(
    curve: CostCurve,
    ratio: float | None = None,
    labels: tuple[object, object] = (0, 1),
) -> "Figure":
    """Draw the cost by ratio of costs, with that of always deciding one label."""
    figure, ax = canvas(2.8)
    lines = {
        "pool": curve.pool,
        "best agent": curve.best,
        f"always {shorten(str(labels[1]))}": curve.always,
        f"always {shorten(str(labels[0]))}": curve.never,
    }
    for place, (name, line) in enumerate(lines.items()):
        ax.plot(
            curve.ratios, line, color=(*SERIES[:3], GREY)[place],
            linestyle=DASHES[place], label=name, linewidth=2.2 if place == 0 else 1.4,
        )  # fmt: skip
    most = 1.3 * np.nanmax([curve.pool, curve.best])
    ax.set_ylim(0, min(most, np.nanmax(list(lines.values()))) or 1.0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    if ratio is not None:
        ax.axvline(ratio, color=GREY, linewidth=0.9, linestyle=":")
    ax.set_xlabel("cost of a missed case, in false alarms (dotted: yours)")
    ax.set_ylabel("cost per case\n(share of the more expensive error)")
    ax.grid(axis="y")
    _legend_above(ax)
    return figure


def _legend_above(ax: "Axes") -> None:
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderaxespad=0.2,
        columnspacing=1.2, handlelength=2.6,
    )  # fmt: skip
