"""Games under the inferred readings: beliefs given the outcome, and mixed ones."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from truepool.core.engine import Cell
from truepool_lab.paper.canonical_game import CANONICAL
from truepool_lab.paper.experiments.beliefs_given_outcomes import (
    BY_N_RHO,
    CAP,
    CORRELATED,
    NARROW,
    POA,
    SCALING,
    VIEWS,
    WIDE,
    BeliefsGivenOutcomes,
)
from truepool_lab.paper.experiments.mixed_beliefs import BY_RULE, GROWING, MixedBeliefs


@cache
def given(table):
    cell = Cell("beliefs-given-outcomes", (("cases", 4000), ("table", table)), 0)
    return {
        (tuple(row["key"]), row["column"]): row["value"]
        for row in BeliefsGivenOutcomes.measure(cell)
    }


def mixed(table, n, rho, repeat=0):
    axes = (("cases", 10_000), ("n", n), ("rho", rho), ("table", table))
    return {
        row["column"]: row["value"]
        for row in MixedBeliefs.measure(Cell("mixed-beliefs", axes, repeat))
    }


def test_beliefs_given_the_outcome_have_a_price_and_a_truthful_miss_rate():
    found = given(POA)
    truthful = found[("Truth",), "equilibrium FN"]
    assert 0.005 < truthful < 0.04  # printed 0.028
    assert 4 < found[("Brier",), "PoA"] < 20  # printed 7.25
    assert 0.15 < found[("Brier",), "equilibrium FN"] < 0.3  # printed 0.203
    assert -0.42 < found[("Brier",), "bias"] < -0.34  # printed -0.375


def test_both_readings_of_the_caption_are_shown():
    found = given(POA)
    for paid in ("VCG", "Externality"):
        assert found[(paid,), "PoA"] == 1
        assert found[(paid,), "equilibrium FN"] == found[("Truth",), "equilibrium FN"]
        assert found[(f"{paid}, played out",), "PoA"] >= 0
    assert found[("VCG, played out",), "PoA"] > 1.1  # played out VCG is not truthful


def test_misses_rise_with_the_correlation_as_printed():
    found = given(BY_N_RHO)
    for n in (5, 10, 20):
        low, high = (found[("equilibrium FN", n), f"rho={rho}"] for rho in (0, 0.8))
        assert high > low + 0.02


def test_every_price_is_defined_and_capped():
    for table in (CORRELATED, SCALING, VIEWS):
        prices = np.array(list(given(table).values()))
        assert np.isfinite(prices).all()
        assert prices.max() <= CAP


def test_with_beliefs_mixed_with_a_constant_the_price_falls_with_n():
    prices = [mixed(GROWING, n, 0.5)["PoA"] for n in (2, 5, 20, 50)]
    assert prices == sorted(prices, reverse=True)
    assert prices[0] > 0.4
    assert prices[-1] < 0.1


def test_the_regulariser_changes_nothing_there_either():
    found = mixed(BY_RULE, 5, 0.5)
    assert abs(found["Brier"] - found["Brier+Reg"]) < 0.02
    assert found["VCG"] < 0.2


GENERATORS = {
    "wide": WIDE,
    "wider": {**WIDE, "concentration": 0.5},
    "narrow": NARROW,
    "narrow, lower": {**NARROW, "offset": 0.29},
    "calibrated given the outcome": {"model": "outcome"},
    "copula, pushed up": {"offset": 0.36},
    "copula, pushed up a little": {"offset": 0.12},
    "copula, calibrated": {},
}
"""The eight that were tried for tab:corr_poa."""


@pytest.mark.filterwarnings("ignore::truepool_lab.games.ClippedBeliefsWarning")
@pytest.mark.parametrize("rho", [0.2, 0.5, 0.95])
@pytest.mark.parametrize("beliefs", GENERATORS)
def test_no_generator_tried_sets_the_log_score_far_above_brier(beliefs, rho):
    """Print has 3 to 19 times the price; the truthful FN is the same under both."""
    game = replace(CANONICAL, cases=4000, correlation=rho, **GENERATORS[beliefs])
    log, brier = (
        np.mean([game.solve(payment, seed=seed).fn for seed in range(3)])
        for payment in ("log", "brier")
    )
    assert 0 < log < 1.05 * brier
