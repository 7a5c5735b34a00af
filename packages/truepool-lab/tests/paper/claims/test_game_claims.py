"""Claims about best responses, decided by exact games and by the published ones."""

from functools import cache

import numpy as np
import pytest
from printed_cells import cell, row
from published_run import gap, ours, value

from truepool import Costs
from truepool_lab.games import Game, draw_beliefs
from truepool_lab.paper.expected import paper_tables

T_9 = 2.262
"""Half a 95 % interval of the mean of ten repeats, in standard errors."""
RHOS = (0, 0.2, 0.5, 0.8, 0.95)
VIEWS = ("full", "partial", "none")


def miscalibration(reports, chance, bins=15):
    """ECE against the chance of the outcome, so that no outcome has to be drawn."""
    place = np.minimum((reports * bins).astype(int), bins - 1)
    apart = np.bincount(place, reports - chance, minlength=bins)
    return np.abs(apart).sum() / len(reports)


@cache
def best_responses(n):
    """Beliefs of the operating model at rho = 0.5, and what Brier agents report."""
    game = Game(n, 0.5, threshold=0.3, cases=50_000)
    return game.draw(), game.solve("brier", response="exact").reports


@pytest.mark.parametrize("n", [2, 5, 10, 20])
def test_claims_001_013_calibrated_best_responses_have_a_miscalibrated_mean(n):
    beliefs, reports = best_responses(n)
    for agent in range(2):
        assert miscalibration(reports[:, agent], beliefs.chance) < 0.002
    assert miscalibration(beliefs.values.mean(axis=1), beliefs.chance) < 1e-9
    pooled = reports.mean(axis=1)
    assert miscalibration(pooled, beliefs.chance) > 0.03
    slope = np.cov(pooled, beliefs.chance)[0, 1] / pooled.var(ddof=1)
    assert slope == pytest.approx(2 * n / (n + 1), rel=0.03)  # under-confident by 1/k
    assert abs(pooled.mean() - beliefs.chance.mean()) < 0.001  # and without a bias


def test_claims_001_013_the_miscalibration_grows_with_the_number_of_agents():
    found = []
    for n in (2, 5, 10, 20):
        beliefs, reports = best_responses(n)
        found.append(miscalibration(reports.mean(axis=1), beliefs.chance))
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.036, abs=0.002)
    assert found[-1] == pytest.approx(0.054, abs=0.002)


# --- Claim 25 and the steps that rest on it -------------------------------------------


def test_claim_025_the_best_report_is_the_belief_in_spite_of_a_covariance():
    together = draw_beliefs(5, 1.0, cases=2000)
    assert np.cov(together.values.T)[0, 1] > 0.01
    assert together.posterior([0]) == pytest.approx(together.values[:, 0], abs=1e-6)
    # The second agent believes what the first does, plus noise: three values, exact.
    first = np.repeat([0.3, 0.5, 0.7], 2)
    second = first + np.tile([-0.1, 0.1], 3)
    chance = (first + second) / 2
    assert np.cov(first, second)[0, 1] > 0.01
    for belief in (0.3, 0.5, 0.7):
        assert chance[first == belief].mean() == pytest.approx(belief)


def test_claims_025_045_the_best_report_is_half_of_what_both_believe():
    beliefs = draw_beliefs(2, 0.5, cases=400_000)
    own, other = beliefs.values.T
    moved = own - beliefs.posterior([0])
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 1.0)):
        near = (low <= own) & (own < high)
        half = (own - other)[near] / 2
        error = half.std(ddof=1) / np.sqrt(near.sum())
        assert abs(moved[near].mean() - half.mean()) < 4 * error
        drawn = (own - beliefs.outcomes)[near]
        assert abs(moved[near].mean() - drawn.mean()) < 4 * drawn.std() / np.sqrt(len(drawn))  # fmt: skip


# --- Prices of VCG --------------------------------------------------------------------


def test_claim_004_the_price_of_vcg_is_lowest_here_and_not_about_1():
    vcg = ours("tab:poa", "VCG", "PoA, calibrated")
    assert vcg.value + T_9 * vcg.error < 0.5
    for rival in ("Brier", "Externality"):
        price, error = gap("tab:poa", (rival, "PoA, calibrated"), ("VCG", "PoA, calibrated"))  # fmt: skip
        assert price > T_9 * error
    # Because agents over-report: few misses, and false alarms nearly always.
    shift = ours("tab:poa", "VCG", "bias, calibrated")
    assert shift.value > T_9 * shift.error
    alarms, error = gap("tab:poa", ("VCG", "equilibrium FP, calibrated"), ("Brier", "equilibrium FP, calibrated"))  # fmt: skip
    assert alarms - T_9 * error > 0.4


def test_claim_004_in_the_papers_own_loss_the_price_of_vcg_is_lowest():
    # def:poa is about losses: FN 10, FP 1 per case. At the canonical point.
    costs = Costs(fn=10, fp=1)
    game = Game(5, 0.5, 0.3, threshold=0.3, costs=costs, cases=20_000)
    price = {
        paid: game.solve(paid).price_cost.ratio
        for paid in ("vcg", "brier", "externality")
    }
    assert price["vcg"] == pytest.approx(0.54, abs=0.02)
    assert price["brier"] == pytest.approx(1, abs=0.01)
    assert price["externality"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("label", ["tab:poa", "tab:observability_basic"])
def test_claims_004_077_externality_is_lower_in_the_inferred_games(label):
    if label == "tab:poa":
        pairs = [(("VCG, played out", "PoA"), ("Externality, played out", "PoA"))]
    else:
        pairs = [(("VCG", view), ("Externality", view)) for view in VIEWS]
    for vcg, rival in pairs:
        mean, error = gap(f"{label}@inferred", vcg, rival)
        assert mean > T_9 * error


def test_claim_004_printed_externality_is_lower_in_every_column_of_three_tables():
    for label in ("tab:corr_poa", "tab:observability_basic"):
        for name in paper_tables()[label].columns:
            vcg = paper_tables()[label].numbers[("VCG",), name]
            assert (vcg.value or vcg.least) > cell(label, "Externality", name)
    for name in ("n=3", "n=5", "n=10", "n=20"):
        vcg, rival = (cell("tab:scaling", f"{who} PoA", name) for who in ("VCG", "Externality"))  # fmt: skip
        assert vcg > rival
    assert cell("tab:poa", "VCG", "PoA") == cell("tab:poa", "Externality", "PoA") == 1


@pytest.mark.parametrize("rho", RHOS)
def test_claim_078_vcg_agents_stop_after_few_rounds(rho):
    game = Game(
        5, rho, threshold=0.3, costs=Costs(fn=10, fp=1), cases=4000, outcomes="drawn"
    )
    early, late = (game.solve("vcg", rounds=rounds, seed=1) for rounds in (20, 100))
    assert early.converged
    assert early.rounds <= 5
    assert early.poa == late.poa < 1  # more rounds change nothing: no overshoot


def test_claim_078_no_reading_has_a_price_of_6_to_9_at_any_correlation():
    for label, key in (("tab:corr_poa", "VCG, calibrated"), ("tab:corr_poa@inferred", "VCG")):  # fmt: skip
        for rho in RHOS:
            found = ours(label, key, f"rho={rho}")
            low, high = (found.value + s * T_9 * found.error for s in (-1, 1))
            assert high < 6 or low > 9


# --- Prices of scores, by correlation and by view -------------------------------------


def test_claim_063_the_printed_price_rises_with_the_correlation_and_the_inferred_falls():
    columns = [f"rho={rho}" for rho in RHOS]
    printed = row("tab:corr_poa", "Brier", columns)
    assert printed == sorted(printed)
    inferred = [ours("tab:corr_poa@inferred", "Brier", name) for name in columns[1:]]
    assert [f.value for f in inferred] == sorted((f.value for f in inferred), reverse=True)  # fmt: skip
    last = inferred[-1]
    assert last.value + T_9 * last.error < 7.25


def test_claim_076_no_reading_has_a_price_of_100_under_the_log_score():
    for rho in RHOS[1:]:
        found = ours("tab:corr_poa", "LogScore, calibrated", f"rho={rho}")
        assert found.value - T_9 * found.error < 1
        for label, key in (("tab:corr_poa", "LogScore, calibrated"), ("tab:corr_poa@inferred", "LogScore")):  # fmt: skip
            found = ours(label, key, f"rho={rho}")
            assert found.value + T_9 * found.error < 10
    below = [cell("tab:corr_poa", "LogScore", f"rho={rho}") for rho in RHOS[2:]]
    assert max(below) < 100  # so three of the four printed prices are not 100 either


def test_claim_077_the_printed_price_with_full_view_is_18():
    assert cell("tab:observability_basic", "VCG", "full") == 18.3


def test_claim_077_in_the_table_that_is_cited_brier_has_the_lower_price_once():
    at = "rho=0.5/n=10/PoA"
    assert cell("tab:observability", ("VCG", "n"), at) == 0.122
    assert cell("tab:observability", ("Brier", "all k"), at) == 0.115


def test_claim_090_printed_prices_of_vcg_rise_where_less_is_seen():
    table = paper_tables()["tab:observability_basic"]
    full, partial, none = (table.numbers[("VCG",), view] for view in VIEWS)
    assert full.value < partial.value < none.least


def test_claim_090_in_the_table_that_is_cited_prices_of_vcg_fall_where_less_is_seen():
    label = "tab:observability"
    for name in paper_tables()[label].columns:
        if name.endswith("PoA"):
            prices = [cell(label, ("VCG", k), name) for k in (0, "floor(n/2)", "n")]
            assert prices[0] == 0
            assert 0.03 <= max(p for p in prices if p is not None) <= 0.122


@pytest.mark.filterwarnings("ignore::truepool_lab.games.ClippedBeliefsWarning")
@pytest.mark.parametrize(("offset", "blind"), [(0.0, 0.700), (0.36, 1.863)])
def test_claim_090_blind_agents_cost_more_with_either_beliefs(offset, blind):
    # By def:poa a price is a ratio of losses, and not of misses alone.
    game = Game(5, 0.5, offset=offset, threshold=0.3, costs=Costs(fn=10, fp=1))
    costs = []
    for seed in range(10):
        full, partial, none = (
            game.solve("vcg", seed=seed, sees=sees) for sees in ("all", 2, "none")
        )
        assert none.cost >= partial.cost > full.cost
        costs.append([full.cost, none.cost])
    assert np.mean(costs, axis=0) == pytest.approx([0.675, blind], abs=0.001)


def test_claim_090_what_blindness_does_to_misses_depends_on_the_beliefs():
    label = "tab:observability_basic"
    for one, place in ((label, "VCG FN"), (f"{label}@inferred", "VCG")):
        mean, error = gap(one, (place, "none"), (place, "full"))
        assert mean > T_9 * error
    mean, error = gap(label, ("VCG FN, calibrated", "full"), ("VCG FN, calibrated", "none"))  # fmt: skip
    assert mean > T_9 * error  # calibrated agents over-report more, and miss less
    assert value(label, "VCG shift, calibrated", "none") > value(label, "VCG shift, calibrated", "full")  # fmt: skip
