"""A heat map of the correlation between agents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.render.figures.style import (
    INK,
    SERIES,
    WIDTH,
    canvas,
    house_style,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_NUMBERED = 12
"""Largest number of agents for which numbers fit into the cells."""
MAX_OPACITY = 0.55
"""Opacity of a correlation of 1: the number on it stays readable."""


HORIZONTAL = 4, 7
"""Largest number of agents, and of letters in a name, for horizontal labels."""


@house_style
def correlation(agents: Sequence[str], matrix: FloatArray) -> "Figure":
    """Draw a heat map: blue is positive, red negative, darker is stronger."""
    from matplotlib.patches import Rectangle

    N = len(agents)
    side = min(WIDTH, max(2.6, 1.4 + 0.42 * N))
    figure, ax = canvas(side, side)
    for i, j in np.ndindex(N, N):
        value = float(matrix[i, j])
        if np.isnan(value):
            continue
        colour = SERIES[0] if value >= 0 else SERIES[1]
        cell = Rectangle((j - 0.5, i - 0.5), 1, 1, linewidth=0)
        cell.set(facecolor=colour, alpha=MAX_OPACITY * min(1.0, abs(value)))
        ax.add_patch(cell)
        if N <= MAX_NUMBERED and i != j:
            text = f"{value:.2f}".replace("0.", ".")
            size = 8.5 if N <= 8 else 6.5
            ax.text(j, i, text, ha="center", va="center", fontsize=size, color=INK)
    names = [shorten(agent) for agent in agents]
    ax.set(xlim=(-0.5, N - 0.5), ylim=(N - 0.5, -0.5))
    ax.set_xticks(range(N), names, rotation=0 if _fit(names) else 90)
    ax.set_yticks(range(N), names)
    ax.tick_params(length=0, labelsize=8.5 if N <= 20 else 6)
    ax.spines[:].set_visible(False)
    ax.set_aspect("equal")
    return figure


def _fit(names: Sequence[str]) -> bool:
    return len(names) <= HORIZONTAL[0] and max(map(len, names)) <= HORIZONTAL[1]
