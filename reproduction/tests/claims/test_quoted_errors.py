"""Means and errors that a claim of the appendix quotes are those of the stored rows.

A quoted mean may be one standard error away from the stored one, so that a new run
with the same conclusion needs no new sentence.
"""

import re

import numpy as np
import pytest
from published_run import repeats
from scipy.stats import spearmanr

from truepool_paper.claims import every

FIRST = 106
"""Claims of the appendix; those before it quote their numbers elsewhere."""
MADE = {106, 107}
"""Claims that quote made panels, of which no row is stored."""
MADE_TOO = {
    (108, "0.002 ± 0.001"), (108, "0.052 ± 0.002"),
    (109, "0.005 ± 0.001"), (109, "0.008 ± 0.002"),
}  # fmt: skip
MAKE_UPS = ("5x RF", "5x LightGBM", "5x MLP", "3xRF+2xLGB", "Heterogeneous")


def less(label, one, other):
    return repeats(label, *one) - repeats(label, *other)


def on(label, column, one, other):
    return less(label, (one, column), (other, column))


def at(label, row, one, other):
    return less(label, (row, one), (row, other))


def gain(pool):
    key = f"NSL-KDD, costs: {pool}"
    return repeats("tab:neural_comp@misreports", key, "gain, relearned")


def ranks(label, data):
    """Rank correlation of disagreement and misses in every repeat."""
    apart, missed = (
        np.array([repeats(label, name, f"{data}/{what}") for name in MAKE_UPS])
        for what in ("disagreement", "FN")
    )
    return np.array([spearmanr(a, m).statistic for a, m in zip(apart.T, missed.T, strict=True)])  # fmt: skip


CICIDS, BEST, F1 = "tab:cicids2017", "Best Individual", "F1-macro"
FEW, VCG = "tab:data_eff_fine", "VCG (5 agents)"
FRAUD, FRAUD_3 = "Credit Card/FN", "Credit Card at 0.3/FN"
QUOTED = [
    (108, "0.113 ± 0.019", lambda: on(CICIDS, F1, BEST, "Majority Vote")),
    (108, "0.117 ± 0.019", lambda: on(CICIDS, F1, "VCG", "Majority Vote")),
    (109, "0.021 ± 0.004", lambda: on("tab:main_results", FRAUD, BEST, "Stacking-LR")),
    (109, "0.018 ± 0.004", lambda: on("tab:main_results", FRAUD, BEST, "Brier")),
    (140, "0.417 ± 0.001", lambda: repeats("tab:ic_verify", "VCG", "utility gap")),
    (140, "0.00194 ± 0.00004", lambda: repeats("tab:ic_verify", "VCG, offset +0.36", "utility gap")),
    (141, "1.006 ± 0.009", lambda: repeats("tab:poa", "Brier", "PoA, calibrated")),
    (143, "0.106 ± 0.023", lambda: on(CICIDS, F1, BEST, "Conf-Weighted")),
    (143, "0.113 ± 0.019", lambda: on(CICIDS, F1, BEST, "Majority Vote")),
    (143, "-0.003 ± 0.005", lambda: on(CICIDS, F1, BEST, "VCG")),
    (144, "0.312 ± 0.070", lambda: gain("Stacking-LR")),
    (144, "0.219 ± 0.064", lambda: gain("MLP aggregator")),
    (144, "0.158 ± 0.060", lambda: gain("MLP aggregator, 4 layers")),
    (144, "0.002 ± 0.003", lambda: gain("VCG")),
    (144, "-0.003 ± 0.003", lambda: gain("DeepSets")),
    (151, "0.112 ± 0.037", lambda: at(FEW, 25, VCG, "MLP (2-layer)")),
    (151, "0.064 ± 0.019", lambda: at(FEW, 50, VCG, "MLP (2-layer)")),
    (151, "0.004 ± 0.006", lambda: at(FEW, 200, VCG, "MLP (2-layer)")),
    (151, "0.014 ± 0.027", lambda: at(f"{FEW}@inferred", 25, VCG, "MLP (2-layer)")),
    (151, "-0.037 ± 0.016", lambda: at(f"{FEW}@inferred", 50, VCG, "MLP (2-layer)")),
    (151, "-0.018 ± 0.034", lambda: at(f"{FEW}@inferred", 100, VCG, "MLP (2-layer)")),
    (151, "0.028 ± 0.022", lambda: at(f"{FEW}@inferred", 200, VCG, "MLP (2-layer)")),
    (154, "0.087 ± 0.016", lambda: on("tab:adversarial_basic@inferred", "k=1", "Median", "VCG")),
    (154, "0.145 ± 0.021", lambda: on("tab:adversarial_basic@inferred", "k=3", "Median", "VCG")),
    (155, "0.17 ± 0.09", lambda: on("tab:adversarial", "TrimmedMean", ("label-flip", 50), ("const-low", 50))),
    (155, "0.15 ± 0.08", lambda: on("tab:adversarial", "Median", ("label-flip", 50), ("const-low", 50))),
    (157, "0.001 ± 0.002", lambda: on("tab:miscal", "T=0.5/FN", 80, 0)),
    (157, "0.0004 ± 0.0004", lambda: on("tab:miscal", "T=1.5/FN", 80, 0)),
    (157, "0.008 ± 0.004", lambda: on("tab:miscal@inferred", "T=0.5/FN", 80, 0)),
    (157, "-0.011 ± 0.003", lambda: on("tab:miscal@inferred", "T=1.5/FN", 80, 0)),
    (157, "-0.015 ± 0.010", lambda: on("tab:miscal", "VCG T=0.5/FN", 80, 0)),
    (158, "0.011 ± 0.004", lambda: repeats("tab:threshold", 0.1, "PoA, calibrated")),
    (158, "1.225 ± 0.003", lambda: repeats("tab:threshold", 0.5, "PoA, calibrated")),
    (158, "15.7 ± 0.5", lambda: repeats("tab:threshold", 0.5, "PoA")),
    (158, "1.148 ± 0.003", lambda: repeats("tab:threshold", 0.9, "PoA")),
    (163, "0.012 ± 0.019", lambda: on("tab:real_heart", "FN", "Brier", "VCG")),
    (163, "0.017 ± 0.023", lambda: on("tab:real_heart", "FN", "Majority Vote", "VCG")),
    (163, "0.032 ± 0.019", lambda: on("tab:real_diabetes", "FN", "Brier", "VCG")),
    (163, "0.036 ± 0.027", lambda: on("tab:real_diabetes", "FN", "Majority Vote", "VCG")),
    (164, "+0.29 ± 0.08", lambda: ranks("tab:heterogeneity", "NSL-KDD")),
    (164, "+0.60 ± 0.06", lambda: ranks("tab:heterogeneity@inferred", "NSL-KDD")),
    (164, "-0.09 ± 0.16", lambda: ranks("tab:heterogeneity", "Credit Card")),
    (164, "+0.15 ± 0.20", lambda: ranks("tab:heterogeneity", "Credit Card at 0.3")),
    (164, "+0.13 ± 0.14", lambda: ranks("tab:heterogeneity@inferred", "Credit Card")),
    (168, "-0.016 ± 0.004", lambda: at("tab:drift_magnitude", 0.1, "static", "adaptive")),
    (168, "0.145 ± 0.053", lambda: at("tab:drift_magnitude", 2.0, "static", "adaptive")),
    (168, "0.072 ± 0.024", lambda: on("tab:drift_window", "FN", 25, 200)),
    (175, "0.0039 ± 0.0004", lambda: on("tab:ece_binary", "NSL-KDD", "Mean", "VCG")),
    (175, "0.0048 ± 0.0003", lambda: on("tab:ece_binary", "NSL-KDD", "Mean", "Log-Odds")),
    (183, "2.99 ± 0.22", lambda: repeats("tab:regret@inferred", ("R_T", 1000), "eta=0.1")),
    (188, "0.013 ± 0.010", lambda: on(CICIDS, F1, BEST, "Brier")),
    (188, "-0.003 ± 0.005", lambda: on(CICIDS, F1, BEST, "VCG")),
    (189, "0.001 ± 0.005", lambda: on("tab:tabnet", FRAUD_3, "VCG", "Stacking-LR")),
    (189, "-0.001 ± 0.007", lambda: on("tab:tabnet", FRAUD_3, "VCG", "Stacking-MLP")),
    (189, "0.020 ± 0.007", lambda: on("tab:tabnet", FRAUD, "VCG", "Stacking-LR")),
    (189, "0.018 ± 0.011", lambda: on("tab:tabnet", FRAUD, "VCG", "Stacking-MLP")),
    (189, "0.0003 ± 0.0001", lambda: on("tab:tabnet", "NSL-KDD/FN", "VCG", "Stacking-LR")),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "quote", "values"), QUOTED)
def test_a_quoted_mean_and_its_error_are_those_of_the_rows(claim, quote, values):
    found = values()
    mean, error = np.mean(found), np.std(found, ddof=1) / np.sqrt(len(found))
    quoted_mean, quoted_error = map(float, quote.split(" ± "))
    half = 0.5 * 10.0 ** -len(quote.partition(".")[2].partition(" ")[0])
    assert abs(quoted_mean - mean) <= half + error
    assert abs(quoted_error - error) <= half + 0.3 * error


def test_no_other_error_is_quoted():
    quotes = {
        (claim.number, quote)
        for claim in every()
        if claim.number >= FIRST and claim.number not in MADE
        for quote in re.findall(r"[-+]?\d+\.\d+ ± \d+\.\d+", claim.reason)
    }
    assert quotes - MADE_TOO == {(claim, quote) for claim, quote, _ in QUOTED}
