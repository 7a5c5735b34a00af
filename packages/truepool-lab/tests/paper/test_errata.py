"""What the paper's own printed cells say against its theory and its games.

Only arithmetic over printed numbers: a test here shows that a sentence does not follow
from the table it speaks of, or that two tables cannot be of one and the same run. Which
number is right is for a run to say. docs/errata.md lists all of them.
"""

import numpy as np
import pytest
from printed_cells import cell, column, row, unlike

from truepool_lab.games import theory
from truepool_lab.paper.expected import paper_tables

RHOS = (0, 0.2, 0.5, 0.8, 0.95)


# --- Theory ---------------------------------------------------------------------------


def test_x4_the_general_formula_at_two_agents_is_half_of_the_closed_form():
    general = theory.paper_delta_general(2, 0.5, 0.3)
    star = theory.paper_delta_star(1.0, 0.5, 0.3)
    assert star == pytest.approx(2 * general)
    assert (round(star, 3), round(general, 3)) == (0.067, 0.033)
    assert cell("tab:delta_vs_n", 2, "delta theory") == -0.033


def test_x5_the_formula_vanishes_with_n_and_only_n_times_it_has_a_limit():
    many = [theory.paper_delta_general(n, 0.5, 0.3) for n in (10, 1000, 100_000)]
    assert many == sorted(many, reverse=True)
    assert many[-1] < 1e-5
    assert 100_000 * many[-1] == pytest.approx((1 - 2 * 0.3) / 2, rel=1e-3)


def test_x6_delta_is_above_zero_in_the_theorem_and_below_in_its_table():
    for n, value in column("tab:delta_vs_n", "delta theory").items():
        assert theory.paper_delta_general(n, 0.5, 0.3) == pytest.approx(
            -value, abs=0.0005
        )


def test_x7_printed_shifts_are_not_zero_at_rho_zero_and_do_not_grow_with_it():
    columns = [f"rho={rho}" for rho in RHOS]
    for n in (2, 5, 10, 20):
        sizes = np.abs(row("tab:poa_n_rho", ("equilibrium bias", n), columns))
        assert sizes[0] > 0.28
        assert (np.diff(sizes) < 0).any()
    sizes = np.abs(
        row("tab:n2_verify", ("Brier", "(0.3, 0.3)"), ["rho=0", "rho=0.3", "rho=0.9"])
    )
    assert sizes[0] > 3 * sizes[1:].max()
    assert cell("tab:corr_poa", "Brier", "rho=0") == 4.8


def test_x8_printed_shifts_keep_their_sign_where_the_formula_changes_it():
    for mean, sign in ((0.3, 1), (0.5, 0), (0.7, -1)):
        assert np.sign(theory.paper_delta_star(1.0, 0.6, mean)) == sign
        assert cell("tab:n2_verify", ("Brier", f"({mean}, {mean})"), "rho=0.6") < -0.1


def test_x10_one_setting_has_four_printed_deviations_and_two_miss_rates():
    sizes = [
        cell("tab:poa", "Brier", "bias"),
        cell("tab:delta_vs_n", 5, "delta empirical"),
        cell("tab:delta_vs_n", 5, "delta theory"),
        cell("tab:observability", ("Brier", "all k"), "rho=0.5/n=5/abs delta"),
    ]
    assert unlike(sizes)
    missed = cell("tab:poa", "Brier", "equilibrium FN")
    assert missed > 3 * cell("tab:poa_n_rho", ("equilibrium FN", 5), "rho=0.5")


def test_x11_measured_deviations_are_not_all_below_the_formula():
    above = [
        n
        for n, value in column("tab:delta_vs_n", "delta empirical").items()
        if abs(value) > abs(cell("tab:delta_vs_n", n, "delta theory"))
    ]
    assert above == [20, 50]


def test_x12_the_table_that_is_cited_has_four_of_the_six_numbers_of_agents():
    assert {n for _, n in paper_tables()["tab:poa_n_rho"].keys} == {2, 5, 10, 20}
    assert set(column("tab:delta_vs_n", "PoA")) == {2, 3, 5, 10, 20, 50}


# --- Price of anarchy -----------------------------------------------------------------


def test_x14_one_setting_has_seven_printed_prices_of_brier():
    prices = [
        cell("tab:poa", "Brier", "PoA"),
        cell("tab:corr_poa", "Brier", "rho=0.5"),
        cell("tab:scaling", "Brier PoA", "n=5"),
        cell("tab:observability_basic", "Brier", "full"),
        cell("tab:delta_vs_n", 5, "PoA"),
        cell("tab:scoring_rules_poa", (5, 0.5), "Brier"),
        cell("tab:observability", ("Brier", "all k"), "rho=0.5/n=5/PoA"),
    ]
    assert unlike(prices)
    assert max(prices) / min(prices) > 100


def test_x15_one_setting_has_five_printed_prices_of_vcg_and_three_truthful_rates():
    prices = [
        cell("tab:poa", "VCG", "PoA"),
        cell("tab:corr_poa", "VCG", "rho=0.5"),
        cell("tab:scaling", "VCG PoA", "n=5"),
        cell("tab:observability_basic", "VCG", "full"),
        cell("tab:scoring_rules_poa", (5, 0.5), "VCG"),
    ]
    assert unlike(prices)
    truthful = [
        cell("tab:poa", paid, "equilibrium FN") / cell("tab:poa", paid, "PoA")
        for paid in ("VCG", "Brier", "Externality")
    ]
    assert np.round(truthful, 3).tolist() == [0.018, 0.028, 0.031]


def test_x16_briers_price_rises_with_rho_in_one_table_and_falls_in_another():
    rising = row("tab:corr_poa", "Brier", [f"rho={rho}" for rho in RHOS])
    assert rising == sorted(rising)
    for n in (3, 5, 10):
        falling = [
            cell("tab:scoring_rules_poa", (n, rho), "Brier") for rho in (0.0, 0.2, 0.5)
        ]
        assert falling == sorted(falling, reverse=True)
    assert cell("tab:corr_poa", "LogScore", "rho=0.8") < 90
    assert max(column("tab:scoring_rules_poa", "LogScore").values()) <= 1


def test_x17_vcg_has_not_the_lowest_printed_price():
    assert cell("tab:corr_poa", "VCG", "rho=0.2") > cell(
        "tab:corr_poa", "Brier", "rho=0.2"
    )
    assert cell("tab:scaling", "VCG PoA", "n=20") > cell(
        "tab:scaling", "Brier PoA", "n=20"
    )
    for label in ("tab:corr_poa", "tab:observability_basic"):
        for name in paper_tables()[label].columns:
            vcg = paper_tables()[label].numbers[("VCG",), name]
            assert (vcg.value or vcg.least) > cell(label, "Externality", name)
    ten = (10, 0.5)
    assert (
        cell("tab:scoring_rules_poa", ten, "LogScore")
        < 0.6 * cell("tab:scoring_rules_poa", ten, "VCG")
    )  # fmt: skip


def test_x19_the_deviation_said_to_shrink_is_held_fixed():
    assert set(column("tab:convergence", "delta").values()) == {0.05}
    for n, total in column("tab:convergence", "n*delta").items():
        assert total == pytest.approx(0.05 * n)


def test_x22_printed_vcg_prices_never_fall_with_what_is_seen():
    seen = (0, 1, 2, "floor(n/2)", "n")
    for name in paper_tables()["tab:observability"].columns:
        if name.endswith("PoA"):
            prices = [cell("tab:observability", ("VCG", k), name) for k in seen]
            there = [price for price in prices if price is not None]
            assert there == sorted(there)
    two, half = (
        cell("tab:observability", ("VCG", k), "rho=0.2/n=5/abs delta")
        for k in (2, "floor(n/2)")
    )
    assert (two, half) == (0.366, 0.140)  # both are two of five


def test_x23_printed_vcg_agents_are_not_within_a_hundredth_of_the_truth():
    table = paper_tables()["tab:n2_verify"]
    sizes = [abs(n.value) for (key, _), n in table.numbers.items() if key[0] == "VCG"]
    assert max(sizes) == 0.107
    assert sum(size > 0.01 for size in sizes) == 11
    assert cell("tab:observability", ("VCG", 0), "rho=0.2/n=5/abs delta") == 0.485


def test_x24_printed_ratios_at_one_threshold_disagree_tenfold():
    ratios = [
        cell("tab:threshold_prevalence", 0.3, f"Brier/VCG FN ratio/pi={pi}")
        for pi in (0.01, 0.05, 0.1, 0.5)
    ]
    brier, vcg = (cell("tab:poa", paid, "equilibrium FN") for paid in ("Brier", "VCG"))
    assert max(ratios) < 1.2
    assert brier / vcg > 11
    for pi in (0.01, 0.05, 0.1, 0.5):
        missed = column("tab:threshold_prevalence", f"VCG FN/pi={pi}").values()
        assert list(missed) == sorted(missed)  # a high threshold misses most
