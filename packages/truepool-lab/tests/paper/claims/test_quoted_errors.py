"""Means and errors that a claim quotes are those of the stored rows."""

import re

import numpy as np
import pytest
from published_run import repeats
from quoted_means import assert_quoted
from scipy.stats import spearmanr

from truepool_lab.paper.claims import every

SIMULATED = {33, 41, 86, 89, 90, 104, 105, 106, 107}
"""Claims that quote simulations, of which no row is stored; their own tests have them."""
SIMULATED_TOO = {
    (8, "0.049 ± 0.015"), (8, "0.026 ± 0.013"),
    (108, "0.0025 ± 0.0005"), (108, "0.052 ± 0.002"),
    (108, "0.0019 ± 0.0003"), (108, "0.023 ± 0.001"),
    (109, "0.0038 ± 0.0002"), (109, "0.0056 ± 0.0004"),
}  # fmt: skip
WITHOUT_LIGHTGBM = {
    (108, "0.028 ± 0.012"), (108, "0.013 ± 0.008"), (143, "0.028 ± 0.012"),
    (143, "0.015 ± 0.010"), (188, "0.016 ± 0.009"), (188, "0.015 ± 0.010"),
}  # fmt: skip
"""Quoted from test_cicids_claims.py, which trains the agents again."""
MAKE_UPS = ("5x RF", "5x LightGBM", "5x MLP", "3xRF+2xLGB", "Heterogeneous")


def less(label, one, other):
    return repeats(label, *one) - repeats(label, *other)


def on(label, column, one, other):
    return less(label, (one, column), (other, column))


def at(label, row, one, other):
    return less(label, (row, one), (row, other))


def few(data, one, other):
    """Difference in recall, the mean over the sizes up to 500 labels."""
    return np.mean([at("tab:sample", n, f"{data}/{one}", f"{data}/{other}") for n in (100, 200, 500)], axis=0)  # fmt: skip


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
POA, MAIN, ATTACK, TWELVE = "tab:poa", "tab:main_results", "tab:adversarial", "tab:multiclass"  # fmt: skip
LR, STACK = "Stacking-LR, on log-odds", "Stacking-MLP"
UNSW, MLP, FLIPPED = "UNSW-NB15", "Stacking-MLP, on log-odds", ("label-flip", 50)
THREE = ("NSL-KDD", "Credit Card", UNSW)
QUOTED = [
    (3, "1.01 ± 0.01", lambda: repeats(POA, "Brier", "PoA, calibrated")),
    (3, "-0.001 ± 0.001", lambda: repeats(POA, "Brier", "bias, calibrated")),
    (3, "10.5 ± 0.4", lambda: repeats(f"{POA}@inferred", "Brier", "PoA")),
    (4, "0.04 ± 0.01", lambda: repeats(POA, "VCG", "PoA, calibrated")),
    (6, "0.0103 ± 0.0036", lambda: few(UNSW, "Majority Vote", "VCG")),
    (6, "0.0049 ± 0.0020", lambda: few("NSL-KDD", "Majority Vote", "VCG")),
    (6, "0.0068 ± 0.0033", lambda: few("Credit Card", "VCG", "Majority Vote")),
    (6, "0.0207 ± 0.0039", lambda: few("NSL-KDD", STACK, "VCG")),
    (6, "0.0277 ± 0.0049", lambda: few(UNSW, STACK, "VCG")),
    (6, "0.0446 ± 0.0119", lambda: few("Credit Card", STACK, "VCG")),
    (6, "0.0036 ± 0.0078", lambda: np.mean([few(data, "VCG", MLP) for data in THREE], axis=0)),
    (8, "0.061 ± 0.037", lambda: at("tab:drift", "Sudden", "static", "adaptive")),
    (8, "0.030 ± 0.031", lambda: at("tab:drift", "Recurring", "static", "adaptive")),
    (12, "0.054 ± 0.007", lambda: on(TWELVE, "rare recall", "VCG", "Majority Vote")),
    (17, "0.020 ± 0.007", lambda: at("tab:sample", 100, f"NSL-KDD/{STACK}", "NSL-KDD/VCG")),
    (62, "0.953 ± 0.003", lambda: repeats("tab:empirical_rho", "Credit Card", "mean rho")),
    (62, "0.989 ± 0.0003", lambda: repeats("tab:empirical_rho", "NSL-KDD", "mean rho")),
    (63, "4.2 ± 0.1", lambda: repeats("tab:corr_poa@inferred", "Brier", "rho=0.95")),
    (70, "0.0011 ± 0.0005", lambda: on(MAIN, f"{UNSW}/FN", "VCG", LR)),
    (72, "+0.001 ± 0.004", lambda: on(MAIN, FRAUD, "Majority Vote", "VCG")),
    (72, "+0.009 ± 0.005", lambda: on(MAIN, FRAUD, BEST, "VCG")),
    (74, "0.36 ± 0.09", lambda: repeats(ATTACK, FLIPPED, "TrimmedMean")),
    (74, "0.37 ± 0.08", lambda: repeats(ATTACK, FLIPPED, "Median")),
    (74, "0.29 ± 0.05", lambda: repeats(f"{ATTACK}@inferred", FLIPPED, "TrimmedMean")),
    (74, "0.30 ± 0.03", lambda: repeats(f"{ATTACK}@inferred", FLIPPED, "Median")),
    (75, "0.002 ± 0.003", lambda: at(POA, "Brier", "equilibrium FN, calibrated", "truthful FN, calibrated")),
    (77, "0.04 ± 0.01", lambda: repeats("tab:observability_basic", "VCG, calibrated", "full")),
    (79, "0.027 ± 0.008", lambda: at("tab:sample", 200, f"{UNSW}/{STACK}", f"{UNSW}/VCG")),
    (79, "0.015 ± 0.005", lambda: at("tab:sample", 500, f"{UNSW}/{STACK}", f"{UNSW}/VCG")),
    (79, "0.013 ± 0.004", lambda: at("tab:sample", 1000, f"{UNSW}/{STACK}", f"{UNSW}/VCG")),
    (79, "0.006 ± 0.001", lambda: at("tab:sample", 2000, f"{UNSW}/{STACK}", f"{UNSW}/VCG")),
    (80, "0.0007 ± 0.0002", lambda: on("tab:neural_comp", "FN", "VCG", "MLP aggregator")),
    (81, "0.006 ± 0.007", lambda: on(TWELVE, F1, "VCG", "Brier")),
    (81, "0.015 ± 0.008", lambda: on(TWELVE, "rare recall", "VCG", "Brier")),
    (82, "0.017 ± 0.006", lambda: repeats("tab:perclass", "Infiltration", "VCG")),
    (83, "0.026 ± 0.002", lambda: on("tab:calibration", "ECE", "Bayesian log-odds", "Simple average")),
    (85, "1.35 ± 0.08", lambda: repeats("tab:regret_main", 100, "regret/sqrt(T)")),
    (85, "5.9 ± 0.2", lambda: repeats("tab:regret_main", 10_000, "regret/sqrt(T)")),
    (85, "0.135 ± 0.008", lambda: repeats("tab:regret_main", 100, "regret/T")),
    (91, "0.017 ± 0.006", lambda: repeats("tab:perclass", "Infiltration", "VCG")),
    (108, "0.113 ± 0.019", lambda: on(CICIDS, F1, BEST, "Majority Vote")),
    (108, "0.117 ± 0.019", lambda: on(CICIDS, F1, "VCG", "Majority Vote")),
    (109, "0.021 ± 0.004", lambda: on("tab:main_results", FRAUD, BEST, LR)),
    (109, "0.018 ± 0.004", lambda: on("tab:main_results", FRAUD, BEST, "Brier")),
    (140, "0.417 ± 0.001", lambda: repeats("tab:ic_verify", "VCG", "utility gap")),
    (140, "0.00194 ± 0.00004", lambda: repeats("tab:ic_verify", "VCG, offset +0.36", "utility gap")),
    (141, "1.006 ± 0.009", lambda: repeats("tab:poa", "Brier", "PoA, calibrated")),
    (143, "0.106 ± 0.023", lambda: on(CICIDS, F1, BEST, "Conf-Weighted")),
    (143, "0.113 ± 0.019", lambda: on(CICIDS, F1, BEST, "Majority Vote")),
    (143, "-0.003 ± 0.005", lambda: on(CICIDS, F1, BEST, "VCG")),
    (144, "-0.004 ± 0.003", lambda: gain("Stacking-LR")),
    (144, "0.203 ± 0.070", lambda: gain("MLP aggregator")),
    (144, "0.169 ± 0.067", lambda: gain("MLP aggregator, 4 layers")),
    (144, "0.002 ± 0.003", lambda: gain("VCG")),
    (144, "-0.003 ± 0.003", lambda: gain("DeepSets")),
    (151, "0.105 ± 0.033", lambda: at(FEW, 25, VCG, "MLP (2-layer)")),
    (151, "0.083 ± 0.022", lambda: at(FEW, 50, VCG, "MLP (2-layer)")),
    (151, "0.013 ± 0.004", lambda: at(FEW, 200, VCG, "MLP (2-layer)")),
    (151, "0.011 ± 0.016", lambda: at(f"{FEW}@inferred", 25, VCG, "MLP (2-layer)")),
    (151, "-0.018 ± 0.015", lambda: at(f"{FEW}@inferred", 50, VCG, "MLP (2-layer)")),
    (151, "-0.009 ± 0.028", lambda: at(f"{FEW}@inferred", 100, VCG, "MLP (2-layer)")),
    (151, "0.028 ± 0.019", lambda: at(f"{FEW}@inferred", 200, VCG, "MLP (2-layer)")),
    (154, "0.087 ± 0.016", lambda: on("tab:adversarial_basic@inferred", "k=1", "Median", "VCG")),
    (154, "0.145 ± 0.021", lambda: on("tab:adversarial_basic@inferred", "k=3", "Median", "VCG")),
    (155, "0.17 ± 0.09", lambda: on("tab:adversarial", "TrimmedMean", ("label-flip", 50), ("const-low", 50))),
    (155, "0.15 ± 0.08", lambda: on("tab:adversarial", "Median", ("label-flip", 50), ("const-low", 50))),
    (157, "0.001 ± 0.002", lambda: on("tab:miscal", "T=0.5/FN", 80, 0)),
    (157, "0.0004 ± 0.0004", lambda: on("tab:miscal", "T=1.5/FN", 80, 0)),
    (157, "0.008 ± 0.004", lambda: on("tab:miscal@inferred", "T=0.5/FN", 80, 0)),
    (157, "-0.010 ± 0.003", lambda: on("tab:miscal@inferred", "T=1.5/FN", 80, 0)),
    (157, "-0.015 ± 0.010", lambda: on("tab:miscal", "VCG T=0.5/FN", 80, 0)),
    (158, "0.011 ± 0.004", lambda: repeats("tab:threshold", 0.1, "PoA, calibrated")),
    (158, "1.225 ± 0.003", lambda: repeats("tab:threshold", 0.5, "PoA, calibrated")),
    (158, "15.7 ± 0.4", lambda: repeats("tab:threshold", 0.5, "PoA")),
    (158, "1.148 ± 0.003", lambda: repeats("tab:threshold", 0.9, "PoA")),
    (163, "0.012 ± 0.019", lambda: on("tab:real_heart", "FN", "Brier", "VCG")),
    (163, "0.017 ± 0.022", lambda: on("tab:real_heart", "FN", "Majority Vote", "VCG")),
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
    (178, "0.080 ± 0.003", lambda: repeats("tab:poa_n_rho@inferred", ("equilibrium FN", 20), "rho=0.8")),
    (188, "0.013 ± 0.010", lambda: on(CICIDS, F1, BEST, "Brier")),
    (188, "-0.003 ± 0.005", lambda: on(CICIDS, F1, BEST, "VCG")),
    (189, "0.000 ± 0.006", lambda: on("tab:tabnet", FRAUD_3, "VCG", LR)),
    (189, "-0.011 ± 0.008", lambda: on("tab:tabnet", FRAUD_3, "VCG", MLP)),
    (189, "0.020 ± 0.007", lambda: on("tab:tabnet", FRAUD, "VCG", LR)),
    (189, "0.016 ± 0.009", lambda: on("tab:tabnet", FRAUD, "VCG", MLP)),
    (189, "0.0003 ± 0.0001", lambda: on("tab:tabnet", "NSL-KDD/FN", "VCG", LR)),
    (212, "0.0001 ± 0.0001", lambda: on("tab:significance", "FN", "Brier", "VCG")),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "quote", "values"), QUOTED)
def test_a_quoted_mean_and_its_error_are_those_of_the_rows(claim, quote, values):
    assert_quoted(claim, quote, values(), stored=True)


def test_no_other_error_is_quoted():
    quotes = {
        (claim.number, quote)
        for claim in every()
        if claim.number not in SIMULATED
        for quote in re.findall(r"[-+]?\d+\.\d+ ± \d+\.\d+", claim.reason)
    }
    assert quotes - SIMULATED_TOO - WITHOUT_LIGHTGBM == {
        (claim, quote) for claim, quote, _ in QUOTED
    }
