"""The paper's game tables as experiments: the causes they give are what they measure."""

from functools import cache

import numpy as np
import pytest

from truepool.core.engine import Cell, one_thread
from truepool_lab.paper.canonical_game import ABOVE, BELOW, solve
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import find
from truepool_lab.paper.verdicts import judge, summarise

TABLES = [
    "tab:poa", "tab:corr_poa", "tab:scaling", "tab:threshold", "tab:n2_verify",
    "tab:delta_vs_n", "tab:poa_n_rho", "tab:observability", "tab:observability_basic",
    "tab:scoring_rules_poa", "tab:convergence", "tab:threshold_prevalence",
    "tab:ic_verify",
]  # fmt: skip
FIGURES = ["fig:observability", "fig:scoring_rules_poa", "fig:convergence"]
LUCK = 0.03
"""Three standard errors of the share of 1s among 2,000 cases."""


@cache
def rows(label):
    """Rows of the first repeat of all settings."""
    experiment = find(label)
    first = [cell for cell in experiment().cells("quick") if cell.repeat == 0]
    with one_thread():
        return tuple(row for cell in first for row in experiment.measure(cell))


def values(label):
    return {place: got.value for place, got in summarise(rows(label), label).items()}


@pytest.mark.parametrize("label", TABLES)
def test_every_printed_number_is_measured(label):
    reading = find(label).readings[label]
    cells = judge(paper_tables()[label], summarise(rows(label), label), reading)
    assert not [place for place, cell in cells.items() if cell.verdict == "pending"]


@pytest.mark.parametrize("label", TABLES)
def test_the_offset_is_stated_and_the_calibrated_case_is_there(label):
    reading = find(label).readings[label].reading
    assert reading.startswith("Belief offset E[b] - E[y] = ")
    ours = {f"{key} {column}" for key, column in values(label)}
    all_are = "= 0: all are calibrated" in reading
    assert all_are or any("calibrated" in name for name in ours)


@pytest.mark.parametrize("label", TABLES)
def test_whatever_differs_has_a_cause(label):
    reading = find(label).readings[label]
    cells = judge(paper_tables()[label], summarise(rows(label), label), reading)
    if any(cell.verdict == "apart" for cell in cells.values()):
        assert reading.cause


def test_tab_poa_has_no_price_since_truth_misses_nobody():
    found = values("tab:poa")
    for paid in ("VCG", "Brier", "Externality"):
        assert found[(paid,), "PoA"] == "undefined"
        assert found[(paid,), "truthful FN"] == 0
    assert found[("Externality",), "bias"] > 0.3
    assert abs(found[("Brier",), "bias"] + ABOVE) < LUCK
    assert abs(found[("Brier",), "bias, calibrated"]) < LUCK
    assert abs(found[("Brier",), "PoA, calibrated"] - 1) < 0.15


def test_tab_corr_poa_brier_shifts_do_not_hang_on_rho():
    found = values("tab:corr_poa")
    shifts = [found[("Brier shift",), f"rho={r}"] for r in (0, 0.2, 0.5, 0.8, 0.95)]
    assert np.allclose(shifts, -0.353, atol=LUCK)
    assert found[("Externality shift",), "rho=0"] == 0.5
    assert found[("Externality shift",), "rho=0.95"] == 0


def test_tab_scaling_many_vcg_agents_stay_at_the_truth():
    found = values("tab:scaling")
    assert found[("VCG shift",), "n=3"] < -0.1 > found[("VCG shift",), "n=5"]
    assert found[("VCG shift",), "n=10"] == found[("VCG shift",), "n=20"] == 0
    assert found[("VCG time (s)",), "n=3"] > 0


def test_tab_threshold_the_price_hangs_on_tau():
    found = values("tab:threshold")
    assert found[(0.1,), "PoA"] == found[(0.3,), "PoA"] == "undefined"
    falling = [found[(tau,), "PoA"] for tau in (0.5, 0.7, 0.9)]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] > 1
    calibrated = [found[(tau,), "PoA, calibrated"] for tau in (0.1, 0.5)]
    assert calibrated[0] < 1 < calibrated[1]


def test_tab_threshold_beliefs_of_four_cannot_give_the_printed_rates():
    # Nobody who hears these beliefs misses as few at so few alarms: the truthful pool
    # is calibrated, so its thresholds are the best trade there is.
    found, table = values("tab:threshold"), paper_tables()["tab:threshold"].numbers
    at = (0.5,)
    assert table[at, "FP"].value < found[at, "truthful FP, calibrated"]
    assert table[at, "FN"].value < found[at, "truthful FN, calibrated"]


def test_tab_threshold_prevalence_vcg_agents_miss_fewer():
    found = values("tab:threshold_prevalence")
    for tau in (0.3, 0.5):
        for pi in (0.05, 0.1):
            assert found[(tau,), f"Brier/VCG FN ratio/pi={pi}"] > 1.5


def test_tab_n2_verify_brier_takes_out_the_offset_at_every_rho():
    found = values("tab:n2_verify")
    for mean in (0.3, 0.5, 0.7):
        for rho in (0, 0.3, 0.6, 0.9):
            place = f"({mean}, {mean})", f"rho={rho}"
            assert abs(found[("Brier", place[0]), place[1]] + 0.12) < LUCK + 0.01
            assert abs(found[("Brier, calibrated", place[0]), place[1]]) < LUCK + 0.01
    # eq:delta_star has another sign above one half, and none at rho = 0.
    assert found[("eq:delta_star", "(0.7, 0.7)"), "rho=0.9"] > 0
    assert found[("eq:delta_star", "(0.3, 0.3)"), "rho=0"] == 0


def test_tab_delta_vs_n_is_the_formula_beside_agents_who_stay():
    found = values("tab:delta_vs_n")
    assert round(found[(5,), "delta theory"], 3) == -0.027
    for n in (2, 3, 5, 10, 20, 50):
        assert abs(found[(n,), "delta empirical"]) < LUCK
        assert abs(found[(n,), "bias, case by case"]) < 0.005


def test_tab_poa_n_rho_misses_fall_with_correlation():
    found = values("tab:poa_n_rho")
    for n in (5, 10, 20):
        key = "truthful FN, calibrated", n  # what is left without offset, and luck
        assert found[key, "rho=0"] > found[key, "rho=0.5"] > found[key, "rho=0.95"]


def test_tab_observability_is_found_as_far_as_its_cause_says():
    found = values("tab:observability")
    for n in (5, 10):
        column = f"rho=0.5/n={n}"
        shifts = [
            found[("VCG", k), f"{column}/abs delta"] for k in (0, 2, "floor(n/2)", "n")
        ]
        assert shifts == sorted(shifts, reverse=True)
        assert shifts[0] > 0.45
        assert found[("VCG", 0), f"{column}/PoA"] == 0
        assert abs(found[("Brier", "all k"), f"{column}/abs delta"] + BELOW) < LUCK
        assert found[("Brier", "all k"), f"{column}/PoA"] > 0.5
    five = [found[("VCG", k), "rho=0.2/n=5/abs delta"] for k in (2, "floor(n/2)")]
    assert five[0] == five[1]


def test_tab_observability_basic_blind_agents_shade_too_far():
    found = values("tab:observability_basic")
    assert found[("VCG shift",), "none"] < found[("VCG shift",), "full"]
    assert found[("VCG FN",), "none"] > 5 * found[("VCG FN",), "full"]
    assert (
        len({found[("Brier shift",), view] for view in ("full", "partial", "none")})
        == 1
    )


def test_tab_scoring_rules_log_goes_above_brier_and_spherical_below():
    found = values("tab:scoring_rules_poa")
    for n in (3, 5, 10):
        for end in ("", ", calibrated"):
            log, brier, spherical = (
                found[(n, 0.0), f"{rule} shift{end}"]
                for rule in ("LogScore", "Brier", "Spherical")
            )
            assert log > brier > spherical
        assert found[(n, 0.5), "VCG"] < found[(n, 0.5), "LogScore"]
    # The more so the less beliefs correlate: alike agents know all there is to know.
    cell = Cell("any", (("cases", 20_000),), 0)
    apart, alike = (
        solve(cell, "LogScore", correlation=rho).shift
        - solve(cell, "Brier", correlation=rho).shift
        for rho in (0.0, 0.95)
    )
    assert apart > 0.03 > 0.011 > alike


def test_tab_convergence_falls_for_independent_beliefs_below_their_mean_only():
    found = values("tab:convergence")
    agents = (2, 5, 20, 200)
    assert all(found[(n,), "PoA"] > 0.6 for n in agents)
    assert all(found[(n,), "PoA, rho=0, tau=0.3"] > 0.15 for n in agents)
    low = [found[(n,), "PoA, rho=0, tau=0.2"] for n in (2, 5, 20)]
    assert low == sorted(low, reverse=True)
    assert low[-1] < 0.2


def test_tab_ic_verify_gains_of_vcg_are_no_noise():
    found = values("tab:ic_verify")
    assert found[("VCG",), "violations (%)"] == 100
    assert found[("VCG",), "utility gap"] > 0.1
    for paid in ("Brier", "Externality"):
        assert found[(paid,), "violations (%)"] <= 1
        assert found[(paid,), "shift"] == 0
    assert found[("Brier, offset +0.36",), "violations (%)"] == 100
    assert 0 < found[("VCG, offset +0.36",), "utility gap"] < 0.003
    assert 0 < found[("Externality, offset +0.36",), "utility gap"] < 0.001


@pytest.mark.parametrize("label", FIGURES)
def test_figures_draw_the_numbers_of_their_tables(label):
    table = label.replace("fig:", "tab:")
    page = find(label)().figure(label, rows(table))
    drawn = {
        float(y)
        for axes in page.axes
        for y in (
            *(y for line in axes.lines for y in line.get_ydata()),
            *(bar.get_height() for bar in axes.patches),
        )
    }
    found = values(table)
    columns = {
        "fig:observability": "rho=0.5/n=10/PoA",
        "fig:scoring_rules_poa": "Spherical",
        "fig:convergence": "n*delta",
    }
    expected = {
        value
        for (key, column), value in found.items()
        if column == columns[label] and "calibrated" not in str(key)
    }
    assert expected
    assert expected <= drawn


def test_fig_overview_draws_games_data_and_the_pipeline():
    label = "fig:overview"
    page = find(label)().figure(label, rows(label))
    bias, misses, learned, steps = page.axes
    found = values(label)
    assert [bar.get_height() for bar in bias.patches] == [
        found[("Brier", ABOVE), "bias"], found[("Brier", 0.0), "bias"],
    ]  # fmt: skip
    assert len(misses.patches) == 6
    assert len(learned.lines) == 3
    assert len([text for text in steps.texts if text.get_text()]) == 4
