"""Figures of the race: one row per competitor or panel, one mark per series."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np

from truepool.pages.figures.style import INK, MARKERS, SERIES, canvas, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.22
"""Height of a row in inches."""
WIDTH = 7.2


@house_style
def dots(
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    across: str,
    *,
    line: float | None = None,
    log: bool = False,
) -> "Figure":
    """Draw the values of each series, one row per name, from the top down."""
    figure, ax = canvas(1.0 + ROW * len(names), WIDTH)
    rows = np.arange(len(names))
    for place, (label, values) in enumerate(series.items()):
        ax.plot(
            values, rows, MARKERS[place], color=SERIES[place], markersize=4.5,
            linestyle="none", label=label, markerfacecolor="none",
        )  # fmt: skip
    if line is not None:
        ax.axvline(line, color=INK, linewidth=0.8, linestyle=":")
    ax.set_yticks(rows, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel=across, xscale="log" if log else "linear")
    ax.grid(axis="both")
    figure.legend(loc="outside upper left", ncols=len(series))
    return figure


def svg(figure: "Figure") -> str:
    """Return a figure as SVG, the same for the same numbers."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "race", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
    return text.getvalue()
