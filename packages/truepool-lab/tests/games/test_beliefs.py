"""Beliefs: what was asked for arrives, and agents know what theory says they know."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.core.errors import (
    BeliefError,
    CostError,
    SettingError,
    UnknownNameError,
)
from truepool.panel.costs import Costs
from truepool_lab.games import (
    ClippedBeliefsWarning,
    Game,
    draw_beliefs,
    from_panel,
    incentives,
    sweep,
    verify,
)

MODELS = [
    ("copula", "mean"), ("copula", "latent"), ("factor", "mean"), ("factor", "latent"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "truth"), MODELS)
@pytest.mark.parametrize("correlation", [0.5, 0.8])
def test_correlation_mean_and_offset_arrive(model, truth, correlation):
    beliefs = draw_beliefs(
        4, correlation, 0.3, 0.02, model=model, truth=truth, cases=100_000, seed=1
    )
    assert_allclose(beliefs.correlation, correlation, atol=0.01)
    assert_allclose(beliefs.chance.mean(), 0.3, atol=0.004)
    assert_allclose(beliefs.offset, 0.02, atol=0.004)
    assert_allclose(beliefs.outcomes.mean(), beliefs.chance.mean(), atol=0.006)


def test_independent_and_opposed_beliefs_can_be_drawn():
    assert abs(draw_beliefs(5, 0.0, cases=100_000).correlation) < 0.005
    assert_allclose(draw_beliefs(3, -0.3, cases=100_000).correlation, -0.3, atol=0.005)
    alike = draw_beliefs(3, 1.0, cases=100)
    assert_allclose(alike.values, alike.values[:, :1] * np.ones(3), atol=1e-12)


@pytest.mark.parametrize(("model", "truth"), MODELS)
@pytest.mark.parametrize("known", [[0], [1, 3], [0, 1, 2, 3]])
def test_the_posterior_is_calibrated_given_what_is_known(model, truth, known):
    beliefs = draw_beliefs(4, 0.5, model=model, truth=truth, cases=200_000, seed=2)
    # No function of the signals known may predict the outcome beyond the posterior.
    left = beliefs.outcomes - beliefs.posterior(known)
    own = beliefs.values[:, known[0]]
    for test in (np.ones(len(left)), own, own**2, beliefs.values[:, known].sum(axis=1)):
        score = left * test
        assert abs(score.mean()) < 4 * score.std() / np.sqrt(len(left))


def test_agents_of_the_factor_model_are_calibrated_one_by_one():
    beliefs = draw_beliefs(4, 0.5, model="factor", truth="latent", cases=1000)
    assert_allclose(beliefs.posterior([2]), beliefs.values[:, 2], atol=1e-12)


def test_all_agents_of_the_mean_belief_model_know_the_chance_together():
    beliefs = draw_beliefs(4, 0.5, cases=1000)
    assert_allclose(beliefs.posterior([0, 1, 2, 3]), beliefs.chance, atol=1e-12)


def test_the_same_seed_gives_the_same_beliefs():
    one, two, other = (
        draw_beliefs(cases=50),
        draw_beliefs(cases=50),
        draw_beliefs(cases=50, seed=1),
    )
    assert (one.values == two.values).all()
    assert (one.outcomes == two.outcomes).all()
    assert (one.values != other.values).any()


def test_an_offset_that_clips_many_is_told_with_the_share():
    with pytest.warns(ClippedBeliefsWarning, match=r"\+0\.5 moves 18\.\d % .* \+0\.47"):
        beliefs = draw_beliefs(offset=0.5)
    assert 0.18 < beliefs.clipped_share < 0.19
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < draw_beliefs(offset=0.1).clipped_share < 0.01
        assert draw_beliefs(offset=0.0).clipped_share == 0


def test_what_cannot_be_believed_is_refused():
    with pytest.raises(SettingError, match="whole number of agents, at least 2; got 1"):
        draw_beliefs(agents=1)
    with pytest.raises(SettingError, match="whole number of cases, at least 2"):
        draw_beliefs(cases=1)
    with pytest.raises(BeliefError, match="offset must lie between -1 and 1"):
        draw_beliefs(offset=1.5)
    with pytest.raises(UnknownNameError, match="known: latent, mean"):
        draw_beliefs(truth="mode")


@pytest.mark.parametrize("count", [2.5, float("inf"), "many"])
def test_agents_and_cases_come_in_whole_numbers(count):
    for name in ("agents", "cases"):
        with pytest.raises(SettingError, match=f"whole number of {name}"):
            draw_beliefs(**{name: count})


def test_a_game_of_more_than_a_hundred_million_beliefs_is_refused():
    with pytest.raises(SettingError, match="at most 100,000,000 beliefs; got 5 agents"):
        draw_beliefs(cases=20_000_001)
    assert Game(cases=20_000_000).cases == 20_000_000


@pytest.mark.parametrize("seed", [-1, 1.5])
def test_a_seed_is_a_whole_number_of_at_least_0(seed):
    panel = random_panel(1)
    for call in (
        lambda: draw_beliefs(seed=seed),
        lambda: Game.on(panel).solve("brier", seed=seed),
        lambda: sweep(Game(cases=20), {"n": [2]}, seed=seed),
        lambda: verify("brier", seed=seed),
        lambda: incentives(panel, seed=seed),
    ):
        with pytest.raises(SettingError, match="a seed must be a whole number"):
            call()


def test_a_seed_may_be_larger_than_32_bits():
    values = [draw_beliefs(cases=10, seed=2**k).values for k in (32, 64)]
    assert (values[0] != values[1]).any()


def test_costs_whose_sums_overflow_are_refused():
    for costs in ({"fn": 1e308, "fp": 1}, {"fn": 1, "fp": 1.1e100}):
        with pytest.raises(CostError, match=r"1e-100 and 1e\+100 in size; got 1"):
            Game(costs=Costs(**costs))
    end = Game(costs=Costs(fn=1e100, fp=1e100), cases=50).solve("vcg")
    assert np.isfinite(end.cost)


def test_a_latent_truth_asks_for_enough_correlation():
    with pytest.raises(BeliefError, match=r"\[0\.\d{4}, 1\]; got 0\.1\. Use truth"):
        draw_beliefs(correlation=0.1, model="factor", truth="latent")
    with pytest.raises(BeliefError, match=r"\[0\.0000, 1\]; got -0\.1"):
        draw_beliefs(correlation=-0.1, truth="latent")


def test_a_panel_lends_its_reports():
    panel = random_panel(3, cases=60, silent=0.2)
    beliefs = from_panel(panel)
    spoke = ~np.isnan(panel.reports)
    assert (beliefs.values[spoke] == panel.reports[spoke]).all()
    assert not np.isnan(beliefs.values).any()
    assert (beliefs.chance == panel.outcomes).all()
    rising = np.argsort(beliefs.values[:, 0], kind="stable")
    assert (np.diff(beliefs.posterior([0])[rising]) >= -1e-12).all()
    with pytest.raises(SettingError, match="cannot be estimated from a panel"):
        beliefs.posterior([0, 1])


def test_panels_that_are_no_game_are_refused():
    with pytest.raises(SettingError, match="two classes; got 3 classes"):
        from_panel(random_panel(0, classes=3))


def test_beliefs_tell_what_they_are():
    assert repr(draw_beliefs(3, 0.5, cases=100)).startswith(
        "Beliefs(100 cases, 3 agents, corr"
    )
    assert len(draw_beliefs(cases=70)) == 70
