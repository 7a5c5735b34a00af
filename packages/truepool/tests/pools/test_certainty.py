"""How close to 0 and 1 a report may count."""

import numpy as np

from truepool.panel.panel import Panel
from truepool.pools.shrunk import Shrunk
from truepool.pools.training.certainty import choose_clip


def test_no_case_weight_makes_the_clip_so_small_that_a_report_is_certain():
    panel = Panel([[0.0, 0.5], [1.0, 0.5], [0.2, 0.3]] * 4, [0, 1, 0] * 4)
    weights = np.where(panel.outcomes == 1, 1e-15, 1e15)
    assert choose_clip(None, panel, weights) == 1e-12
    pooled = Shrunk().fit_panel(panel, weights).pool(panel.values).probabilities
    assert np.isfinite(pooled).all()


def test_case_weights_that_make_a_hessian_singular_are_survived():
    nan = np.nan
    reports = [[1, nan, nan], [0, nan, nan], [0, 1, 0], [nan, 0, nan], [nan, 1, 0]]
    panel = Panel(np.array(reports, dtype=float), [0, 1, 1, 0, 1])
    for seed in range(20):
        weights = np.random.default_rng(seed).choice([1e-15, 1.0, 1e15], 5)
        pool = Shrunk().fit_panel(panel, weights)
        assert np.isfinite(pool.pool(panel.values).probabilities).all()
