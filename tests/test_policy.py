"""Every limit, level and cut-off but the audit's; changing one is a decision."""

from inspect import signature

import numpy as np
import pytest
from constants import numeric_constants
from numpy.testing import assert_allclose

from truepool.agents import fitted_agent
from truepool.agents.llm import Endpoint, Retry, ask
from truepool.pools import ridge

POLICY = {
    "agents.calibration": {"HELD_OUT": 0.2},
    "agents.llm.answer": {"TOP_LOGPROBS": 20},
    "agents.llm.batch": {"MAX_CONCURRENCY": 256, "MAX_FAILURES": 10},
    "agents.llm.budget": {"MILLION": 1_000_000},
    "agents.llm.endpoint": {"CONNECT_TIMEOUT": 10.0, "MAX_SHOWN": 200},
    "agents.llm.quotation": {"MARK_LENGTH": 24},
    "agents.llm.reports": {"MAX_SAMPLES": 100, "MAX_SHOWN": 80},
    "agents.llm.retry": {"LONGEST_REQUESTED_WAIT": 600.0},
    "agents.llm.training_rows": {"EXAMPLES": 3, "FOCUS": 8, "MOST_ROWS": 5_000},
    "agents.training": {"FEW_CASES": 20},
    "agents.onnx_export": {"PROBES": 1_000, "TOLERANCE": 1e-06},
    "agents.report_cache": {"DIGEST": 32},
    "agents.zoo.conversion": {"OPSET": 15},
    "cli.demo": {"COST_FN": 10, "SHOWN": 5},
    "cli.demo_panels": {"DEGRADED_AFTER": 0.4, "FEATURES": 0.1, "HOSTILE_AFTER": 0.7},
    "cli.llm": {"INTERRUPTED": 130},
    "cli.llm_summary": {"STOPPED": 1},
    "cli.options": {"MAX_JOBS": 1_000},
    "cli.outputs": {"LONGEST_WORD": 200},
    "cli.screen": {"WIDTH": 120},
    "cli.serve": {"GRACE": 10},
    "core.arrays": {"BLOCK": 262_144, "SMALLEST": 1e-12, "LARGEST_WEIGHT": 1e15},
    "core.kernels.lanes_compiled": {"FEW": 4, "LANES": 8, "ROWS": 2},
    "core.kernels.mixture_compiled": {
        "LOG_ODDS_LIMIT": 7.0,
        "TERMS": 200,
        "TINY": 1e-300,
    },
    "core.kernels.online_compiled": {"AGENTS": 0, "MAX_CONCENTRATION": 0.999998},
    "core.kernels.reference": {"EDGE": 1e-12, "MIN_SHARE": 1e-12},
    "core.kernels.shading_compiled": {"FAR": 1e300, "LANES": 4},
    "core.seeds": {"LIMIT": 4_294_967_296},
    "data.features.encoding": {"MAX_SHOWN": 5, "MISSING_CODE": -1.0},
    "data.amounts": {"LARGEST_COST": 1e100},
    "data.labels": {"MAX_SHOWN": 6},
    "data.reports": {
        "CLIP_TOLERANCE": 1e-06,
        "MAX_SCORE": 10,
        "SUM_TOLERANCE": 0.001,
    },
    "data.tables.agent_columns": {"ID_CASES": 10, "SUM_TOLERANCE": 0.01},
    "data.tables.batches": {"BATCH_SIZE": 20_000},
    "data.tables.numbers": {"EDGE": 1e-06, "LIKELIER": 3.0, "UNIT_RATIO": 10.0},
    "data.tables.profile": {"SEGMENTS": 20},
    "data.weights": {"ROUNDING_ERROR": 1e-12, "SUM_TOLERANCE": 1e-09},
    "datasets.download": {"ROOM": 1_048_576, "TIMEOUT": 30.0},
    "datasets.files": {"CHUNK_SIZE": 1_048_576},
    "datasets.governors": {"YEARS": (2_018, 2_022)},
    "datasets.judgebench": {
        "REWARD_MODELS": 5,
        "STEEPNESS": 1.5,
        "VERDICT_LOW": 0.1,
        "VERDICT_RANGE": 0.8,
    },
    "datasets.intrusion": {"ATTACKS": 11},
    "datasets.nsl_kdd": {"FIFTH": 25_192},
    "datasets.synthetic": {"SKILLS": (2.0, 1.5, 1.5, 1.0, 0.5)},
    "games.beliefs": {
        "CLIPPED_SHARE": 0.05,
        "MAX_BELIEFS": 100_000_000,
    },
    "games.dynamics": {"MAX_AGENTS": 2_000},
    "games.equilibrium": {"ZERO_RATE": 1e-12},
    "games.marginals": {"MAX_SIGNAL": 8.5},
    "games.misreport_trial": {"SEARCH_CASES": 10_000},
    "games.misreports": {"LEVEL": 0.05, "MAX_CASES": 100_000},
    "games.parameter_sweep": {
        "MAX_GAMES": 100_000,
        "PROBE_GAMES": 4,
        "STARTUP_SECONDS": 4.0,
    },
    "games.payoffs": {"BLOCK": 2_000_000},
    "games.quadrature": {"MAX_SIGNAL": 7.0},
    "games.responses": {"TIE_TOLERANCE": 1e-12},
    "juries.column_pairs": {"MIN_ITEMS": 10},
    "juries.judges": {
        "COPY": 0.9,
        "DISTINCT": 0.8,
        "MIN_LABELS": 20,
        "SIGNIFICANCE": 0.01,
    },
    "juries.learned_pool": {"FOLDS": 5, "MIN_FITTED": 10},
    "juries.score_scale": {"PRIOR_LABELS": 4.0},
    "juries.values": {"NOT_RANDOM": 0.01},
    "juries.verdicts": {"MIN_JUDGES": 2},
    "learners.interface": {"FLOOR": 1e-30},
    "measures.automation": {
        "CLIP": 1e-09,
        "FIRST_SHARE": 0.5,
        "MAX_LABELS": 1_000_000,
        "STEP": 0.05,
    },
    "measures.calibration": {
        "BIN_WIDTH": 0.001,
        "CLIP": 1e-06,
        "LOG_ODDS_LIMIT": 7.0,
        "MAX_COEFFICIENT": 1000.0,
        "MAX_STEPS": 50,
        "MAX_UNBINNED": 20_000,
        "MIN_PRECISION": 1e-06,
        "RIDGE": 0.01,
    },
    "measures.capacity": {"ROUNDING": 1e-09},
    "measures.credit.shapley_values": {"EXACT_LIMIT": 14, "ORDERS": 40},
    "measures.decisions": {"EDGE": 1e-12},
    "measures.diversity": {"MIN_DEVIATION": 1e-14, "ROUNDING_ERROR": 1e-13},
    "measures.fixed_weights": {
        "MAX_DESCENT": 500,
        "MAX_GRAM": 1_000,
        "MIN_WEIGHT": 1e-06,
    },
    "measures.folds": {"SELECTION_CASES": 20_000, "GROUP_PARTS": 3},
    "measures.groups": {
        "FEWEST_CASES": 30,
        "FEWEST_OF_A_CLASS": 5,
        "MOST_GROUPS": 50,
    },
    "measures.inference.bootstrap": {"GROUPS": 4_000},
    "measures.inference.rates": {"MIN_LABELS": 2, "PSEUDO_LABELS": 2.0},
    "measures.label_plan": {"MIN_PER_STRATUM": 2, "MIN_SPREAD": 0.1, "STRATA": 10},
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
    "online.loop": {"FEW_AGENTS": 8, "MANY_CASES": 100_000},
    "online.experts": {"FIRST_REFIT": 10, "LONGEST_WAIT": 500},
    "online.recalibration": {
        "DISCOUNT": 0.998,
        "MAX_STEP": 0.25,
        "MIN_SLOPE": 0.1,
        "PRIOR_PRECISION": 5.0,
    },
    "pools.auto": {
        "FEWEST_CASES": 10,
        "PRIOR": 5.0,
        "SMALLEST_WEIGHT": 0.01,
        "BOOSTED_CASES": 100,
        "STEPS": 1000,
        "PRECISION": 1e-07,
    },
    "pools.certainty": {"LARGEST_CLIP": 0.02, "RARE_SHARE": 0.1},
    "pools.logistic": {
        "NEWTON_PARAMETERS": 200,
        "SPREAD": 0.1,
        "STEPS": 100,
        "SMALLEST_STEP": 1e-06,
        "PRECISION": 1e-10,
        "QUASI_PRECISION": 1e-08,
        "INTERCEPT_PENALTY": 1e-12,
        "LARGEST_LOSS": 1000.0,
    },
    "pools.beta": {
        "MAX_GROUPS": 2_000,
        "STEPS": 50,
        "MAX_STEP": 1.0,
        "MIN_CURVATURE": 1e-06,
        "PRECISION": 1e-14,
        "LIMIT": 7.0,
        "WIDTH": 1e-04,
    },
    "pools.boosted": {"MIN_LEAF_SIZE": 20},
    "pools.krum": {"FAR": 1000000000.0},
    "pools.networks.training": {
        "BETAS": (0.9, 0.999),
        "BLOCK": 32_768,
        "MIN_IMPROVEMENT": 0.001,
    },
    "pools.neural": {"MIN_HELD_OUT": 2, "MIN_SPREAD": 0.001},
    "pools.onnx.export": {
        "IR_VERSION": 8,
        "OPSET": 18,
        "PROBES": 1_000,
        "TOLERANCE": 1e-09,
    },
    "pools.onnx.graph": {"DOUBLE": 11, "INTEGER": 7},
    "pools.ridge": {"DEFAULT": 1.0, "ENOUGH": 1e-05},
    "pools.crowd": {"MAX_STEPS": 200, "PRECISION": 1e-08, "SUPPORT": 1.0},
    "pools.shrunk": {
        "SHIFTS": (0.0, 0.5, 1.5),
        "STRETCHES": (0.0, 0.3, 1.0),
        "TILTS": (0.0, 0.1, 0.3, 1.0),
        "ZERO_WIDTH": 0.001,
        "WIDE_PRIOR": 1.0,
        "MIN_SHARE": 0.01,
        "NO_EVIDENCE": -1e300,
        "PRECISION": 1e-07,
    },
    "pools.stacked_lr": {"PENALTY": 1.0},
    "render.config": {"WIDTH": 88},
    "render.figures.charts": {"MAX_MARKERS": 30, "SIDE": 3.1},
    "render.figures.correlation_matrix": {
        "HORIZONTAL": (4, 7),
        "MAX_NUMBERED": 12,
        "MAX_OPACITY": 0.55,
    },
    "render.figures.forest_plot": {"ROW": 0.23},
    "render.figures.game_paths": {"WIDE_SPREAD": 30.0},
    "render.figures.reliability_diagram": {"SIDE": 2.35},
    "render.figures.style": {"MAX_NAME": 22, "WIDTH": 4.7},
    "render.figures.probability_axis": {
        "RARE": 0.05,
        "SMALLEST": 1e-06,
        "FARTHEST": 100,
        "EVEN_TICKS": (0.0, 0.5, 1.0),
        "TICKS": (
            1e-06,
            1e-05,
            0.0001,
            0.001,
            0.01,
            0.1,
            0.5,
            0.9,
            0.99,
            0.999,
            0.9999,
        ),
        "MARGIN": 0.03,
    },
    "render.tables.evidence": {"PAIRS": 8},
    "render.figures.time_series": {
        "SMOOTH": 5,
        "NAMED_ALARMS": 6,
        "LETTERS": 36,
        "DATES": 4,
        "POINTS": 400,
    },
    "render.html.audit": {"DIAGRAMS": 24, "MAX_READ_ALOUD": 8, "MAX_ROWS": 30},
    "render.html.jury": {"MAX_DIAGRAMS": 12, "MAX_ITEMS": 12, "MAX_JUDGES": 30},
    "render.html.svg": {"PIXELS_PER_POINT": 1.4},
    "render.jury_advice": {"MAX_NAMED": 5},
    "render.tables.replay": {"SHOWN": 50},
    "server.agent_calls": {
        "CONNECTIONS": 100,
        "DEADLINE": 2.0,
        "FIRST_BACKOFF": 100,
        "LARGEST_ANSWER": 1_048_576,
        "LONGEST_BACKOFF": 1_000,
    },
    "server.configuration": {
        "LONGEST_DEADLINE": 60.0,
        "LONGEST_NAME": 200,
        "MOST_AGENTS": 10_000,
        "MOST_CLASSES": 100,
        "OPEN_CASES": 100_000,
        "MOST_OPEN": 100_000_000,
    },
    "server.deployment": {"MOST_RULES": 20},
    "server.endpoints": {
        "LONGEST_QUESTION": 10_000,
        "LONGEST_URL": 2_000,
        "MOST_FEATURES": 10_000,
    },
    "server.grpc_operations": {
        "CHUNK": 1_048_576,
        "LAST_AUDITED": 1_000,
        "LAST_CASES": 10_000,
    },
    "server.grpc_server": {"WINDOW": 16},
    "server.history": {"MOST_CASES": 1_000_000, "LEVEL": 0.95},
    "server.http": {"LARGEST_BODY": 67_108_864, "LONGEST_BATCH": 100_000},
    "server.inference.pool_models": {"MOST_CASES": 10_000},
    "server.inference.rest": {"ANY_WINDOW": 47, "COMPRESSED": 1_024},
    "server.inference.tensors": {
        "LENGTH": 4,
        "MOST_AXES": 8,
        "MOST_ELEMENTS": 10_000_000,
    },
    "server.ledger": {"FULL": 2, "BLOCK": 10_000},
    "server.operations": {"SNAPSHOT_EVERY": 10_000},
    "server.schema": {"VERSION": 1},
    "server.wire": {"SERVING": 1},
    "server.writer": {"GROUP": 1_000},
    "stress.draws": {
        "CHOICE": 5,
        "DIRECTIONS": 4,
        "JITTER": 6,
        "NOISE": 3,
        "OUTCOMES": 0,
        "OWN": 2,
        "SHARED": 1,
    },
}

PACKAGES = (
    "agents",
    "cli",
    "core",
    "data",
    "datasets",
    "games",
    "learners",
    "measures",
    "online",
    "pools",
    "render",
    "server",
    "stress",
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
        if module.startswith(f"{package}.")
    }
    assert found == stated


def test_how_a_model_is_asked_by_default():
    assert (Retry().retries, Retry().first_wait, Retry().longest_wait) == (5, 0.5, 30.0)
    defaults = {name: p.default for name, p in signature(ask).parameters.items()}
    assert (defaults["concurrency"], defaults["samples"]) == (8, 1)
    assert Endpoint("model", "key").timeout == 60.0


def test_the_grids():
    assert_allclose(ridge.STRENGTHS, np.logspace(-4, 2, 7))
    assert_allclose(fitted_agent.QUANTILES, np.arange(21) / 20)
