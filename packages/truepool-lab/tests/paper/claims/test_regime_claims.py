"""Claims about the regimes of tab:when_vcg, decided by paired costs on fresh panels."""

import numpy as np
import pytest
from quoted_means import assert_quoted

from truepool import compare
from truepool.pools import configure
from truepool_lab.paper.experiments.when_vcg import REGIMES
from truepool_lab.paper.settings import COSTS, THRESHOLD

T_19 = 2.093
"""Half a 95 % interval of the mean of twenty panels, in standard errors."""
ATTACK, FEW, _, IMBALANCE, *_ = REGIMES


def paired(regime, threshold):
    """Cost per case of VCG less that of stacked logistic regression, by panel."""
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
    return apart


def assert_above_zero(apart):
    error = np.std(apart, ddof=1) / np.sqrt(len(apart))
    assert np.mean(apart) > T_19 * error


thresholds = pytest.mark.parametrize("threshold", [THRESHOLD, None], ids=["half", "costs"])  # fmt: skip


@thresholds
def test_claims_086_104_under_attack_stacking_costs_less_than_vcg(threshold):
    apart = paired(ATTACK, threshold)
    assert_above_zero(apart)
    assert_quoted(104, "0.73 ± 0.11" if threshold else "0.032 ± 0.006", apart)
    if threshold:
        assert_quoted(86, "0.73 ± 0.11", apart)


@thresholds
def test_claims_086_105_with_little_data_stacking_costs_less_than_vcg(threshold):
    apart = paired(FEW, threshold)
    assert_above_zero(apart)
    assert_quoted(105, "0.16 ± 0.03" if threshold else "0.12 ± 0.01", apart)
    if threshold:
        assert_quoted(86, "0.16 ± 0.03", apart)


@thresholds
def test_claim_086_with_imbalance_stacking_costs_less_than_vcg(threshold):
    apart = paired(IMBALANCE, threshold)
    assert_above_zero(apart)
    if threshold:
        assert_quoted(86, "0.090 ± 0.005", apart)
