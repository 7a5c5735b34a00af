"""Every number that the reproduction fixes; changing one changes published tables."""

import pytest
from constants import numeric_constants

POLICY = {
    "archive": {"DIGITS": 6},
    "canonical_game": {"ABOVE": 0.36, "CALIBRATED": 0.0, "BELOW": -0.055},
    "curves": {"MIN_CASES": 10},
    "edge.echo": {"LONGEST": 2.0},
    "edge.link": {"LARGEST_PACKET": 65_536, "IPV4": 4, "PATIENCE": 20.0},
    "edge.link_end": {"SET_DEVICE": 0x400454CA, "PLAIN_PACKETS": 0x1001},
    "edge.open_inference": {"PATIENCE": 60.0, "PAUSE": 0.05},
    "edge.process_calls": {"PATIENCE": 20.0, "PAUSE": 0.05},
    "edge.processes": {"LAST_WORDS": 5.0},
    "edge.team": {"TRAIN_ROWS": 1000, "KNOWN": 500, "CASES": 500},
    "expected": {"SEEDS": 10},
    "experiments.adversarial": {"SHARES": (0, 10, 20, 30, 40, 50, 60)},
    "experiments.beliefs_given_outcomes": {
        "CAP": 100.0,
        "LEAST_FN": 1e-4,
        "SETTINGS": 96,
    },
    "experiments.convergence": {
        "AGENTS": (2, 3, 5, 10, 20, 50, 100, 200),
        "OFFSET": -0.05,
    },
    "experiments.correlated_beliefs": {"RHOS": (0, 0.2, 0.5, 0.8, 0.95)},
    "experiments.data_efficiency": {
        "TRAIN_SIZES": (25, 50, 100, 200, 500, 1000),
        "TEST_ROWS": 2000,
    },
    "experiments.drift": {
        "CASES": 1000,
        "TRAIN_ROWS": 1000,
        "VALIDATION_ROWS": 200,
        "MAGNITUDES": (0.1, 0.25, 0.5, 1.0, 2.0),
        "WINDOWS": (10, 25, 50, 100, 200),
        "DECAYS": (0.01, 0.05, 0.1, 0.2, 0.5),
    },
    "experiments.drift_regret": {"SKILL": 1.5},
    "experiments.edge_inference": {"RUNS": 5},
    "experiments.edge_summary": {
        "LEVELS": (10, 50, 100, 200),
        "KEPT": 99.0,
        "BLOCK": 20,
        "REAPED": 0.5,
    },
    "experiments.llm_ensemble": {"TRIMMED": 0.2},
    "experiments.many_agents": {
        "FORMULA": (2, 3, 5, 10, 20, 50),
        "AGENTS": (2, 5, 10, 20),
        "RHOS": (0, 0.2, 0.5, 0.8, 0.95),
    },
    "experiments.mixed_beliefs": {
        "CENTRE": 0.25,
        "BASE_RATE": 0.3,
        "TAU": 0.3,
        "SEPARATION": 0.1,
        "CONCENTRATION": 5.0,
    },
    "experiments.misreports": {"ROWS": 4000},
    "experiments.neural_pools": {"CASES": 4000},
    "experiments.noisy_agents": {
        "HORIZONS": (100, 500, 1000),
        "LOW": 0.3,
        "HIGH": 0.7,
        "EDGES": (0.01, 0.99),
    },
    "experiments.observability": {"AGENTS": (5, 10), "RHOS": (0.2, 0.5)},
    "experiments.overview": {
        "OFFSETS": (0.36, 0.0),
        "TRAIN_SIZES": (100, 200, 500),
        "TEST_ROWS": 2000,
    },
    "experiments.rare_attacks": {"QUICK": 3000},
    "experiments.regret": {"AGENTS": 5},
    "experiments.robustness": {
        "AGENTS": 10,
        "ADVERSARIES": (0, 1, 2, 3, 5),
        "SHARES": (0, 20, 40, 60, 80),
        "TEMPERATURES": (0.5, 1.5),
        "ROWS": 3000,
    },
    "experiments.sample_size": {"ALL": (50, 100, 200, 500, 1000, 2000), "LEAST": 10},
    "experiments.scaling": {"AGENTS": (3, 5, 10, 20)},
    "experiments.scoring_rules": {"AGENTS": (3, 5, 10), "RHOS": (0.0, 0.2, 0.5)},
    "experiments.speed": {
        "SAMPLES": 2000,
        "TRAIN_ROWS": 2000,
        "BATCHES": (100, 500, 1000, 5000),
    },
    "experiments.threshold": {
        "TAUS": (0.1, 0.3, 0.5, 0.7, 0.9),
        "PREVALENCES": (0.01, 0.05, 0.1, 0.5),
    },
    "experiments.trained_task": {
        "ROWS": 2000,
        "INFORMATIVE": 15,
        "REDUNDANT": 5,
        "CLASS_SEP": 1.5,
        "FLIPPED": 0.01,
        "DEPTH": 5,
    },
    "experiments.truthfulness": {"TRIALS": 100},
    "experiments.two_agents": {
        "OFFSET": 0.12,
        "MEANS": (0.3, 0.5, 0.7),
        "RHOS": (0, 0.3, 0.6, 0.9),
    },
    "experiments.weight_trajectory": {
        "CASES": 1000,
        "EVERY": 10,
        "WINDOW": 50,
        "BEFORE": (1.5, 1.5, 2.0, 1.0, 1.0),
        "AFTER": (1.5, 1.5, 0.0, 1.0, 1.0),
    },
    "experiments.when_vcg": {"CORRELATION": 0.5},
    "misreport_gains": {"STEP": 0.2, "EDGE": 1e-6, "ROUNDS": 3},
    "real_task": {"FIFTH": 25_192},
    "render.cells": {"MAX_DECIMALS": 6, "ROUND_OFF": 1e-12},
    "settings": {
        "THRESHOLD": 0.5,
        "TEST_SHARE": 0.3,
        "VALIDATION_SHARE": 0.2,
        "SILO_SHARE": 0.6,
        "SKILLS": (2.0, 1.5, 1.5, 1.0, 0.5),
        "UNCLIPPED": 1e-12,
    },
    "significance": {"RESAMPLES": 10_000},
    "verdicts": {"NEAR": 0.2},
    "synthetic_task": {"FEATURES": 20, "POPULATION": 20_000, "FIXED": 42},
}


def test_every_number_of_the_reproduction_is_stated_here():
    found = numeric_constants("truepool_paper")
    assert found["truepool_paper.significance"].pop("LEVEL") == pytest.approx(0.05 / 3)
    assert found == {f"truepool_paper.{name}": POLICY[name] for name in POLICY}
