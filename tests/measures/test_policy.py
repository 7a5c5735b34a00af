"""Limits and cut-offs of the measures, each named once; changing one is a decision."""

from truepool.core import arrays
from truepool.measures import calibration, decisions, diversity, fixed_weights, scores
from truepool.measures.inference import bootstrap
from truepool.measures.scores import smooth_calibration


def test_the_limits_are_these():
    assert scores.RARE == 0.05
    assert decisions.EDGE == 1e-12
    assert arrays.SMALLEST == 1e-12
    assert fixed_weights.DUST == 1e-6
    assert bootstrap.GROUPS == 4_000
    assert (calibration.STEPS, calibration.LARGEST) == (50, 1e3)
    assert (diversity.ROUNDING, diversity.FAINT) == (1e-13, 1e-14)
    assert (smooth_calibration.CELLS, smooth_calibration.HALVINGS) == (2_048, 40)
