"""Figures as functions of values: nothing is computed here but where the ink goes.

Each returns a matplotlib ``Figure`` on a transparent ground; `truepool.render.svg` puts
it into a page, ``Figure.savefig`` into a file.
"""

from truepool.render.figures.calibrated import reliability
from truepool.render.figures.correlated import correlation
from truepool.render.figures.over_time import losses, paths, replayed
from truepool.render.figures.played import shifts, swept
from truepool.render.figures.ranked import compared, credit, robustness, weights
from truepool.render.figures.thresholds import decision, threshold

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
