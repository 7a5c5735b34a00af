"""Closed form = simulation = quadrature; the paper's formulas shown false."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit, ndtri
from sklearn.linear_model import LogisticRegression

from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool_lab.games import Game, draw_beliefs, theory
from truepool_lab.games.marginals import variance

GRID = [(2, 0.0), (2, 0.9), (5, 0.2), (5, 0.5), (10, 0.8), (20, 0.5)]


@pytest.mark.parametrize(("agents", "correlation"), GRID)
def test_the_best_report_shrinks_by_k(agents, correlation):
    beliefs = draw_beliefs(agents, correlation, cases=200_000)
    own = beliefs.values[:, 0]
    slope = np.cov(own, beliefs.posterior([0]))[0, 1] / own.var()
    assert_allclose(slope, theory.shrinkage(agents, correlation), atol=0.005)
    # ... and so does the outcome itself, on average.
    slope = np.cov(own, beliefs.chance)[0, 1] / own.var()
    assert_allclose(slope, theory.shrinkage(agents, correlation), atol=0.005)


@pytest.mark.parametrize(("agents", "correlation"), GRID)
def test_the_mean_bias_is_zero_for_every_n_and_rho(agents, correlation):
    game = Game(agents, correlation, threshold=0.3, cases=100_000)
    end = game.solve("brier", response="exact")
    assert abs(end.bias - theory.brier_bias()) < 0.001
    constant = game.solve("brier")
    assert_allclose(constant.shifts, 0.0, atol=1e-12)


@pytest.mark.parametrize(("agents", "correlation"), GRID)
def test_the_papers_formulas_are_false(agents, correlation):
    printed = theory.paper_delta_general(agents, correlation, 0.3)
    end = Game(agents, correlation, threshold=0.3, cases=100_000).solve(
        "brier", response="exact"
    )
    if correlation > 0:
        assert printed > 0.008  # under-reporting by this much, says the paper
        assert abs(end.bias) < 0.1 * printed
    else:
        assert printed == 0  # no effect, says the paper: it is the max_gain there
    if agents == 2:
        spread = variance(0.3, 4.0)
        star = theory.paper_delta_star(spread, correlation * spread, 0.3)
        assert_allclose(star, 2 * printed)  # nor do the two agree with each other


def test_the_effect_falls_with_rho_where_the_paper_says_it_grows():
    rhos = [0.0, 0.2, 0.5, 0.8, 0.95]
    moved, printed = [], []
    for rho in rhos:
        game = Game(5, rho, threshold=0.3, cases=20_000)
        end, beliefs = game.solve("brier", response="exact"), game.draw()
        moved.append(np.abs(end.reports - beliefs.values).mean())
        printed.append(theory.paper_delta_general(5, rho, 0.3))
    assert moved == sorted(moved, reverse=True)
    assert printed == sorted(printed)
    together = Game(5, 1.0, cases=1000)
    sent = together.solve("brier", response="exact").reports
    assert_allclose(sent, together.draw().values, atol=1e-6)


def test_shrinkage_at_the_ends():
    assert theory.shrinkage(7, 0.0) == 1 / 7
    assert theory.shrinkage(7, 1.0) == 1.0


@pytest.mark.parametrize("threshold", [0.2, 0.3, 0.4, 0.5])
def test_the_effective_threshold_decides_as_shrunken_reports_do(threshold):
    beliefs = draw_beliefs(5, 0.5, cases=5000)
    k = theory.shrinkage(5, 0.5)
    pooled = (0.3 + k * (beliefs.values - 0.3)).mean(axis=1)
    line = theory.effective_threshold(5, 0.5, 0.3, threshold)
    agree = (pooled > threshold) == (beliefs.values.mean(axis=1) > line)
    assert agree.mean() > 0.9999
    assert np.sign(line - threshold) == np.sign(round(threshold - 0.3, 9))


def test_opposed_beliefs_can_shrink_to_nothing():
    assert theory.effective_threshold(5, -0.25, 0.3, 0.4) == np.inf


@pytest.mark.parametrize(
    ("agents", "correlation", "threshold"),
    [(5, 0.5, 0.2), (5, 0.5, 0.3), (5, 0.5, 0.4), (2, 0.0, 0.4), (5, 0.95, 0.4),
     (20, 0.2, 0.4), (20, 0.8, 0.2)],
)  # fmt: skip
def test_quadrature_is_simulation(agents, correlation, threshold):
    price = theory.miss_rates(agents, correlation, 0.3, threshold)
    end = Game(agents, correlation, threshold=threshold, cases=200_000).solve(
        "brier", response="exact"
    )
    assert_allclose(price.truthful, end.truthful_fn, atol=0.004)
    assert_allclose(price.strategic, end.fn, atol=0.004)
    ratio = theory.price_of_anarchy(agents, correlation, 0.3, threshold)
    assert ratio == price.ratio


def test_the_linear_price_is_that_of_the_effective_threshold():
    line = theory.effective_threshold(5, 0.5, 0.3, 0.4)
    linear = theory.miss_rates(5, 0.5, 0.3, 0.4, response="linear")
    moved = theory.miss_rates(5, 0.5, 0.3, line)
    assert_allclose(linear.strategic, moved.truthful, atol=2e-4)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_the_price_is_above_one_exactly_where_the_threshold_is_above_the_mean(
    correlation,
):
    def price(threshold):
        return theory.price_of_anarchy(
            5, correlation, 0.3, threshold, response="linear"
        )

    assert price(0.2) < 1 < price(0.4)
    # The convolution cuts [0, 1] into 2000 cells; its error is of their square.
    assert_allclose(price(0.3), 1.0, atol=10 / 2000**2)


def test_the_gain_of_a_shift_is_what_brier_agents_see():
    game = Game(offset=0.08, threshold=0.3, cases=100_000)
    beliefs = game.draw()

    def utility(shift):
        return -((beliefs.values[:, 0] + shift - beliefs.chance) ** 2).mean()

    offset = float(beliefs.values[:, 0].mean() - beliefs.chance.mean())
    for shift in (-0.1, 0.03, 0.2):
        expected = theory.brier_gain(shift, offset)
        assert_allclose(utility(shift) - utility(0.0), expected, atol=1e-12)
    best = theory.brier_shift(offset)
    assert_allclose(game.solve("brier").shifts[0], best, atol=0.005)


@pytest.mark.parametrize(
    ("threshold", "costs"),
    [(0.3, Costs(10, 1)), (0.5, Costs(10, 1)), (None, Costs(10, 1)), (0.3, Costs())],
)
def test_vcg_agents_move_the_pool_to_where_they_want_it(threshold, costs):
    game = Game(threshold=threshold, costs=costs, cases=20_000)
    end = game.solve("vcg")
    assert_allclose(
        end.shift, theory.vcg_shift(game.decision_threshold, costs), atol=0.011
    )
    assert theory.vcg_threshold(costs) == costs.threshold
    # They decide as an all-knowing coordinator would.
    best = Game(threshold=costs.threshold, costs=costs, cases=20_000)
    assert_allclose(end.cost, best.solve("brier").truthful_cost, rtol=0.003)


PROPER = ("brier", "log", "spherical")


@pytest.mark.parametrize(
    ("correlation", "log", "spherical"),
    [(0.0, 0.04, -0.07), (0.5, 0.02, -0.02), (0.95, 0.0, 0.0)],
)
def test_proper_scores_agree_case_by_case_and_not_on_a_constant_shift(
    correlation, log, spherical
):
    game = Game(5, correlation, threshold=0.3, cases=20_000)
    shifts = [game.solve(name).shift for name in PROPER]
    assert_allclose(shifts, [0.0, log, spherical], atol=0.0101)  # a step of the grid
    brier, *others = (game.solve(name, response="exact").reports for name in PROPER)
    for reports in others:
        assert_allclose(reports, brier)


def test_proper_scores_leave_beliefs_that_are_the_chance_given_them():
    game = Game(model="factor", truth="latent", threshold=0.3, cases=20_000)
    for name in PROPER:
        assert_allclose(game.solve(name).shifts, 0.0)


def test_theory_refuses_what_it_does_not_know():
    with pytest.raises(SettingError, match="at least 2 agents"):
        theory.shrinkage(1, 0.5)
    with pytest.raises(SettingError, match=r"in \[-0.25, 1\]; got -0.5"):
        theory.shrinkage(5, -0.5)
    with pytest.raises(SettingError, match=r"correlation in \[0, 1\)"):
        theory.miss_rates(5, 1.0, 0.3, 0.4)
    with pytest.raises(UnknownNameError, match="known: exact, linear"):
        theory.miss_rates(5, 0.5, 0.3, 0.4, response="cubic")


def test_at_the_costs_threshold_a_calibrated_pool_does_not_make_truth_an_equilibrium():
    # y has log-odds 2 x1 + 0.7 x2; one agent sees x1, the other x2, both calibrated.
    # By quadrature, so that nothing is drawn.
    x = ndtri((np.arange(400) + 0.5) / 400)
    chance = expit(2 * x[:, None] + 0.7 * x)
    knows_more, knows_less = chance.mean(axis=1), chance.mean(axis=0)
    costs = Costs(fn=10, fp=1)
    truthful = (knows_more[:, None] + knows_less) / 2

    # The pool recalibrates the mean and decides at the threshold of the costs. That is
    # a cut on the mean: the one that costs least, as Pr(y = 1) rises with the mean.
    order = np.argsort(truthful, axis=None)
    saved = costs.fn * chance - costs.fp * (1 - chance)
    cut = truthful.ravel()[order[np.argmin(np.cumsum(saved.ravel()[order]))]]

    def value(first, second):
        return np.where((first[:, None] + second) / 2 > cut, saved, 0.0).mean()

    def scaled(report, slope):
        return expit(slope * np.log(report / (1 - report)))

    truth = value(knows_more, knows_less)
    shifts = (-0.2, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, 0.2)
    for shift in shifts:  # no shift pays
        assert value(np.clip(knows_more + shift, 0, 1), knows_less) < truth
        assert value(knows_more, np.clip(knows_less + shift, 0, 1)) < truth
    for slope in (0.5, 0.8, 1.25, 2):
        assert value(scaled(knows_more, slope), knows_less) < truth
    gain = value(knows_more, scaled(knows_less, 0.5)) - truth
    assert gain == pytest.approx(0.004, abs=0.0005)

    # A regression on both log-odds is nearly the chance given both reports, and no
    # misreport can then gain more than what it still loses to that chance.
    both = np.stack(np.broadcast_arrays(logit(knows_more)[:, None], logit(knows_less)))
    features = both.reshape(2, -1).T
    stacked = LogisticRegression(C=np.inf, max_iter=500).fit(
        np.concatenate([features, features]),
        np.repeat([1, 0], chance.size),
        sample_weight=np.concatenate([chance.ravel(), 1 - chance.ravel()]),
    )
    pooled = stacked.predict_proba(features)[:, 1].reshape(chance.shape)
    left = np.where(chance > costs.threshold, saved, 0.0).mean()
    left -= np.where(pooled > costs.threshold, saved, 0.0).mean()
    assert 0 <= left < gain / 100
