"""Every limit, level and cut-off of the lower layers; changing one is a decision."""

import numpy as np
import pytest
from constants import numeric_constants
from numpy.testing import assert_allclose

from truepool.agents import fitted_agent
from truepool.pools import ridge

POLICY = {
    "agents.calibration": {"HELD_OUT": 0.2},
    "agents.onnx_export": {"PROBES": 1_000, "TOLERANCE": 1e-06},
    "agents.report_cache": {"DIGEST": 32},
    "agents.zoo.conversion": {"OPSET": 15},
    "core.arrays": {"BLOCK": 262_144, "SMALLEST": 1e-12},
    "core.kernels.lanes_compiled": {"LANES": 8, "ROWS": 2},
    "core.kernels.online_compiled": {"CROWDED": 0.999998},
    "core.kernels.reference": {"EDGE": 1e-12, "NOTHING_LEFT": 1e-12},
    "core.kernels.shading_compiled": {"FAR": 1e300, "LANES": 4},
    "data.features.encoding": {"NOWHERE": -1.0, "SHOWN": 5},
    "data.labels": {"SHOWN": 6},
    "data.reports": {"ROUNDING": 0.001, "SLACK": 1e-06},
    "data.tables.batches": {"CASES": 20_000},
    "data.tables.reader": {"SUM_TOLERANCE": 0.01},
    "data.tables.summary": {"ID_CASES": 10},
    "data.weights": {"NOISE": 1e-12, "SLACK": 1e-09},
    "datasets.download": {"PATIENCE": 30.0},
    "datasets.files": {"CHUNK": 1_048_576},
    "datasets.governors": {"YEARS": (2_018, 2_022)},
    "datasets.intrusion": {"ATTACKS": 11},
    "datasets.nsl_kdd": {"FIFTH": 25_192},
    "datasets.synthetic": {"SKILLS": (2.0, 1.5, 1.5, 1.0, 0.5)},
    "learners.interface": {"FLOOR": 1e-30},
    "measures.calibration": {
        "CLIP": 1e-06,
        "CONDENSED_ABOVE": 20_000,
        "LARGEST": 1000.0,
        "LOG_ODDS_LIMIT": 7.0,
        "MIN_PRECISION": 1e-06,
        "RIDGE": 0.01,
        "STEPS": 50,
        "WIDTH": 0.001,
    },
    "measures.credit.shapley_values": {"EXACT_LIMIT": 14, "ORDERS": 40},
    "measures.decisions": {"EDGE": 1e-12},
    "measures.diversity": {"FAINT": 1e-14, "ROUNDING": 1e-13},
    "measures.fixed_weights": {"DUST": 1e-06},
    "measures.inference.bootstrap": {"GROUPS": 4_000},
    "measures.scores.decision": {"RARE": 0.05},
    "measures.scores.smooth_calibration": {"CELLS": 2_048, "HALVINGS": 40},
    "online.alarms.change_point": {"BLOCKS": 4_096, "MIN_LENGTH": 10},
    "online.alarms.conformal": {
        "BETS": 8,
        "MEMORY": 10_000,
        "MILD_SLOPE": 0.4,
        "RANK_CLIP": 1e-12,
        "STRONG_SLOPE": 0.9,
        "WARM_UP": 30,
    },
    "online.alarms.discrimination": {"WINDOW": 200},
    "online.alarms.distribution": {
        "LEVEL_CHANGE": 0.5,
        "LINK_FALL": 0.1,
        "LINK_LOSS": 0.5,
        "OWN_SHARE": 0.5,
        "RELATIVE_FALL": 0.25,
        "SCALE_CHANGE": 0.2,
    },
    "online.alarms.monitor": {"MIN_HISTORY": 100, "WARM_UP": 200},
    "online.alarms.repeats": {"DUPLICATE_SHARE": 0.99, "LAGS": 32, "MIN_WINDOW": 8},
    "online.alarms.river_detectors": {"MAX_LOG_LOSS": 4.605170185988092},
    "online.alarms.runs": {
        "HISTORY": 100_000,
        "LENGTH_RATIO": 3.0,
        "MIN_RUN": 20,
        "PRIOR_WEIGHT": 20.0,
        "USUAL_QUANTILE": 0.99,
    },
    "online.alarms.series": {
        "COST_RISE": 0.1,
        "DISCRIMINATION_FALL": 0.25,
        "LEVEL": 0.01,
        "TEST_INTERVAL": 10,
    },
    "online.recalibration": {
        "FADING": 0.998,
        "FIRMNESS": 5.0,
        "LEAST": 0.1,
        "STRIDE": 0.25,
    },
    "pools.beta": {"GROUPS": 10_000},
    "pools.boosted": {"LEAF": 20},
    "pools.networks.training": {"BLOCK": 32_768, "FADE": (0.9, 0.999), "SLIGHT": 0.001},
    "pools.neural": {"ENOUGH": 2, "LEAST_SPREAD": 0.001},
    "pools.persistence": {"VERSION": 1},
    "pools.ridge": {"PRECISION": 1e-08},
    "pools.shrunk": {
        "KEPT": 0.01,
        "LARGEST_CLIP": 0.02,
        "NEGLIGIBLE": 0.001,
        "PRECISION": 1e-10,
        "RARE_SHARE": 0.1,
        "SHIFTS": (0.0, 0.5, 1.5),
        "SMALLEST_STEP": 1e-06,
        "STEPS": 50,
        "STRETCHES": (0.0, 0.3, 1.0),
        "TILTS": (0.0, 0.1, 0.3, 1.0),
        "WIDE": 1.0,
    },
    "pools.stacked_lr": {"PRECISION": 1e-08},
}

PACKAGES = (
    "agents",
    "core",
    "data",
    "datasets",
    "learners",
    "measures",
    "online",
    "pools",
)
SERIES = "core.kernels.arithmetic"
"""Coefficients of power series: the accuracy of the functions is tested instead."""


@pytest.mark.parametrize("package", PACKAGES)
def test_every_number_of_the_policy_is_stated_here(package):
    found = numeric_constants(f"truepool.{package}")
    found.pop(SERIES, None)
    stated = {
        module: constants
        for module, constants in POLICY.items()
        if module.split(".")[0] == package
    }
    assert found == stated


def test_the_grids():
    assert_allclose(ridge.STRENGTHS, np.logspace(-4, 2, 13))
    assert_allclose(ridge.DEFAULT, [1.0])
    assert_allclose(fitted_agent.QUANTILES, np.arange(21) / 20)
