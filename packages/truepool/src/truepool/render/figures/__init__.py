"""Figures of results that were computed elsewhere.

Each function returns a matplotlib ``Figure`` with a transparent background;
`truepool.render.html.svg` puts it into a page, ``Figure.savefig`` into a file.
"""

from truepool.render.figures.correlation_matrix import correlation
from truepool.render.figures.cost_curves import decision, threshold
from truepool.render.figures.files import check_path, save
from truepool.render.figures.forest_plot import (
    comparison,
    credit,
    intervals,
    weights,
    worth,
)
from truepool.render.figures.reliability_diagram import (
    reliability,
    reliability_axis,
)
from truepool.render.figures.time_series import losses, paths, replay, replay_path

__all__ = [
    "check_path",
    "comparison",
    "correlation",
    "credit",
    "decision",
    "intervals",
    "losses",
    "paths",
    "reliability",
    "reliability_axis",
    "replay",
    "replay_path",
    "save",
    "threshold",
    "weights",
    "worth",
]
