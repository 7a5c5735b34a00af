"""How close to 0 and 1 a report may count."""

import numpy as np

from truepool.data.panel import Panel
from truepool.pools.certainty import choose_clip
from truepool.pools.shrunk import Shrunk


def test_no_case_weight_makes_the_clip_so_small_that_a_report_is_certain():
    panel = Panel([[0.0, 0.5], [1.0, 0.5], [0.2, 0.3]] * 4, [0, 1, 0] * 4)
    weights = np.where(panel.outcomes == 1, 1e-15, 1e15)
    assert choose_clip(None, panel, weights) == 1e-12
    pooled = Shrunk().fit_panel(panel, weights).pool(panel.values).probabilities
    assert np.isfinite(pooled).all()
