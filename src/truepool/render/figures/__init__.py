"""Figures as functions of values: nothing is computed here but where the ink goes.

Each returns a matplotlib ``Figure`` on a transparent ground; `truepool.render.html.svg`
puts it into a page, ``Figure.savefig`` into a file.
"""

from truepool.render.figures.correlation_matrix import correlation
from truepool.render.figures.cost_curves import decision, threshold
from truepool.render.figures.forest_plot import compared, credit, robustness, weights
from truepool.render.figures.game_paths import shifts, swept
from truepool.render.figures.reliability_diagram import reliability
from truepool.render.figures.time_series import losses, paths, replayed

__all__ = [
    "compared",
    "correlation",
    "credit",
    "decision",
    "losses",
    "paths",
    "reliability",
    "replayed",
    "robustness",
    "shifts",
    "swept",
    "threshold",
    "weights",
]
