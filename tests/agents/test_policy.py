"""Limits of agents and exports, each named once; changing one is a decision."""

import numpy as np

from truepool.agents import calibration, fitted_agent, onnx_export


def test_the_limits_are_these():
    assert calibration.HELD_OUT == 0.2
    assert (onnx_export.PROBES, onnx_export.TOLERANCE) == (1_000, 1e-6)
    np.testing.assert_allclose(fitted_agent.QUANTILES, np.arange(21) / 20)
