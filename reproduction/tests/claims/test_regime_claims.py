"""Claims about the regimes of tab:when_vcg, decided by paired costs on fresh panels."""

import numpy as np
import pytest

from truepool import compare
from truepool.pools import configure
from truepool_paper.experiments.when_vcg import REGIMES
from truepool_paper.settings import COSTS, THRESHOLD

T_19 = 2.093
"""Half a 95 % interval of the mean of twenty panels, in standard errors."""
ATTACK, FEW, _, IMBALANCE, *_ = REGIMES


def paired(regime, threshold):
    """Cost per case of VCG less that of stacked logistic regression, and its error."""
    apart = []
    for seed in range(1000, 1020):
        panel = REGIMES[regime](seed)
        pools = {
            "vcg": configure("vcg", costs=COSTS, threshold=threshold, loss="cost"),
            "stacked-lr": configure("stacked-lr", costs=COSTS, threshold=threshold),
        }
        found = compare(
            panel, pools=pools, resamples=2, costs=COSTS, threshold=threshold
        )
        apart.append(found["vcg"].cost - found["stacked-lr"].cost)
    return np.mean(apart), np.std(apart, ddof=1) / np.sqrt(len(apart))


@pytest.mark.parametrize("threshold", [THRESHOLD, None], ids=["half", "costs"])
def test_claims_086_104_under_attack_stacking_costs_less_than_vcg(threshold):
    mean, error = paired(ATTACK, threshold)
    assert mean > T_19 * error


@pytest.mark.parametrize("threshold", [THRESHOLD, None], ids=["half", "costs"])
def test_claims_086_105_with_little_data_stacking_costs_less_than_vcg(threshold):
    mean, error = paired(FEW, threshold)
    assert mean > T_19 * error


@pytest.mark.parametrize("threshold", [THRESHOLD, None], ids=["half", "costs"])
def test_claim_086_with_imbalance_stacking_costs_less_than_vcg(threshold):
    mean, error = paired(IMBALANCE, threshold)
    assert mean > T_19 * error
