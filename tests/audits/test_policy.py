"""Every level, cut-off and limit of the audit, as the docs state it."""

import re
from pathlib import Path

import numpy as np
import pytest
from constants import numeric_constants
from faults import COSTS, sound
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.topics import comparison, threshold
from truepool.measures.losses import Loss
from truepool.stress.noise import RandomNoise

POLICY = {
    "attribution": {
        "CRITICAL": 7.35,
        "FITTING": 0.25,
        "MOSTLY": 0.5,
        "NEAR": 0.02,
    },
    "cross_validation": {"FOLDS": 5},
    "evidence": {"SAMPLE_CASES": 50_000},
    "feed_runs": {"MOST_QUOTED": 4},
    "progress": {"TRIFLE": 0.01},
    "recommendation": {"FEW_CASES": 500, "RARE": 0.01, "SCARCE": 0.05, "STRONG": 0.1},
    "reliability": {"GROUPS": 10},
    "sampling": {"TRAINING_CASES": 50_000},
    "severity": {"LIKELY": 0.05, "SURE": 0.01, "MINOR": 0.02},
    "skill_by_segment": {"BETTER": 1, "LITTLE": 0.5, "WORSE": -1},
    "miscalibration": {
        "BIAS": 0.02,
        "SEPARATED": 0.999,
        "SHARE_OF_RATE": 0.2,
        "SLOPES": (0.8, 1.25),
        "WRONG_PAIRS": 10,
    },
    "topics.calibration": {"FAINT": 0.25, "POOL_SLOPE": 1.05},
    "topics.comparison": {"SIGNIFICANT": 0.05, "COMPARISON_CASES": 50_000},
    "topics.copies": {
        "COPY": 0.995,
        "DISTINCT": 0.99,
        "DECIMALS": 3,
        "COARSE": 2,
        "MOST_EXTREME": 0.5,
        "FEW_EFFECTIVE": 0.5,
    },
    "topics.credit": {
        "EFFORT": 10,
        "FEWEST": 2_000,
        "NOTICEABLE": 0.02,
        "RANKS_WELL": 0.7,
        "WORK": 20_000_000,
    },
    "topics.drift": {"DRIFT_CASES": 5_000, "POINTS": 100},
    "topics.feeds": {"DATED": 0.05},
    "topics.incentives": {
        "LINEAR_CASES": 5_000,
        "NOTICEABLE": 0.02,
        "OTHER_CASES": 500,
    },
    "topics.leaks": {"PERFECT": 0.99, "FAR": 0.95, "LEFT": 0.1},
    "topics.outcome_rate": {"RATIO": 1.5},
    "topics.selective_labels": {"FEW_ALARMS": 30, "RATIO": 1.5, "TENTH": 0.1},
    "topics.reversal": {
        "CHANCE": 0.575,
        "MOST_CASES": 100_000,
        "NEARLY_ALL": 0.8,
        "REVERSED": 0.45,
    },
    "topics.threshold": {"FARTHEST": 12.0, "NOTICEABLE": 0.05, "POINTS": 101},
    "values": {"SCHEMA": 4},
}


def test_every_number_of_the_policy_is_stated_here():
    found = numeric_constants("truepool.audits")
    assert found == {f"audits.{name}": values for name, values in POLICY.items()}


def test_the_range_of_cost_ratios():
    assert_allclose(threshold.RATIOS, np.geomspace(0.01, 100, 41))


def test_the_documentation_lists_the_pools_that_an_audit_compares():
    docs = Path(__file__).parents[2] / "docs"
    listed = (docs / "audit.md").read_text().partition("compares the pool in use with")
    names = re.findall("`([a-z-]+)`", listed[2].partition(": one of each")[0])
    # The other tests of audits do without `auto`, which is slow.
    assert set(names) == {*comparison.POOLS, comparison.RECOMMENDED}


@pytest.mark.parametrize("seed", [0, 3])
def test_noise_of_a_failing_agent_is_drawn_by_the_seed_of_the_audit(seed):
    panel = sound(cases=300)
    study = audit(panel, costs=COSTS, resamples=20, seed=seed).robustness[1]
    assert study.what == "reports noise"
    noisy = RandomNoise()(panel, study.who, seed=seed)
    pooled = noisy.reports.mean(axis=1)[:, None]
    cost = Loss("cost", COSTS).evaluate(pooled, panel.outcomes).mean()
    assert_allclose(study.cost.value, cost)
