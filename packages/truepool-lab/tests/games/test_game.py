"""Game and Equilibrium: the contract, prices that are safe at 0, and intervals."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

import truepool as tp
from truepool.core.errors import BeliefError, SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool_lab.games import Game, PriceOfAnarchy

COSTS = Costs(fn=10, fp=1)


def test_the_contract_of_the_design():
    game = tp.games.Game(
        agents=5, correlation=0.5, mean=0.3, offset=0.0, threshold=0.3, costs=COSTS,
        cases=10_000,
    )  # fmt: skip
    end = game.solve("brier", rounds=20, seed=0)
    assert end.shifts.shape == (5,)
    assert_allclose(end.shifts, 0.0)
    assert end.poa == 1.0
    assert end.fn == end.truthful_fn
    assert end.bias == 0.0
    assert end.converged
    assert end.rounds == 1
    assert 0 < end.fp < 1


def test_rates_are_those_of_the_reports_sent():
    game = Game(threshold=0.3, costs=COSTS, cases=3000, outcomes="drawn")
    end, beliefs = game.solve("vcg", seed=4), game.draw(4)
    says = end.reports.mean(axis=1) > 0.3 + 1e-12
    y = beliefs.outcomes == 1
    assert_allclose(end.reports, np.clip(beliefs.values + end.shifts, 0, 1))
    assert_allclose(end.fn, (~says)[y].mean())
    assert_allclose(end.fp, says[~y].mean())
    assert_allclose(end.cost, (10.0 * (~says & y) + (says & ~y)).mean())
    assert_allclose(end.bias, (end.reports - beliefs.values).mean())
    truthful = beliefs.values.mean(axis=1) > 0.3 + 1e-12
    assert_allclose(end.truthful_fn, (~truthful)[y].mean())
    assert_allclose(end.truthful_fp, truthful[~y].mean())
    assert_allclose(end.poa, end.fn / end.truthful_fn)
    assert_allclose(end.price_cost.ratio, end.cost / end.truthful_cost)
    assert_allclose(end.price_fp.difference, end.fp - end.truthful_fp)


def test_expected_rates_are_what_drawn_rates_go_to():
    ends = [
        Game(threshold=0.3, costs=COSTS, cases=100_000, outcomes=how).solve("brier")
        for how in ("expected", "drawn")
    ]
    assert_allclose(ends[0].fn, ends[1].fn, atol=0.01)
    assert_allclose(ends[0].cost, ends[1].cost, atol=0.03)


def test_the_price_is_undefined_where_truth_misses_nothing():
    # Beliefs above 0.36 and a line of 0.3: truthful agents miss nobody.
    with pytest.warns(tp.games.ClippedBeliefsWarning):
        end = Game(offset=0.36, threshold=0.3, cases=2000).solve("brier")
    assert end.truthful_fn == 0
    assert end.poa is None
    assert end.price_fn.difference == end.fn > 0.2
    assert "undefined" in repr(end)
    assert end.intervals(resamples=20)["poa"] is None
    assert end.to_dict()["price_fn"] == {
        "ratio": None, "difference": end.fn, "defined": False,
    }  # fmt: skip


def test_a_price_tells_both_ratio_and_difference():
    assert str(PriceOfAnarchy(0.3, 0.2)) == "1.5 (+0.1)"
    assert PriceOfAnarchy(0.0, 0.2).ratio == 0


def test_intervals_hold_what_they_should():
    # The rate of many games lies in the interval of one about as often as it says.
    game = Game(threshold=0.4, cases=400)
    truth = Game(threshold=0.4, cases=200_000).solve("brier").fn
    hits = 0
    for seed in range(60):
        low, high = game.solve("brier", seed=seed).intervals(0.9, 200)["fn"]
        hits += low <= truth <= high
    assert 46 <= hits <= 60  # 54 expected, sd 2.3


def test_an_end_can_be_told_to_machines():
    end = Game(cases=200, threshold=0.3).solve("vcg", response="affine")
    result = json.loads(json.dumps(end.to_dict()))
    assert result["poa"] == end.poa
    assert len(result["deviations"][0]) == 2
    assert len(result["shifts"]) == 5


@pytest.mark.parametrize(
    ("settings", "ends"),
    [
        ({}, "converged after 2 rounds"),
        ({"rounds": 1}, "not converged after 1 round)"),
        ({"order": "simultaneous"}, "in a cycle of 2 rounds"),
    ],
)
def test_an_end_tells_how_it_ended(settings, ends):
    end = Game(threshold=0.3, costs=COSTS, cases=2000).solve("vcg", **settings)
    assert ends in repr(end)


def test_a_real_panel_can_be_played():
    panel = random_panel(5, cases=400)
    game = Game.on(panel, costs=COSTS)
    assert (game.agents, game.cases, game.outcomes) == (4, 400, "drawn")
    end = game.solve("brier")
    # The best constant shift takes out each agent's error in the large.
    offsets = (panel.reports - panel.outcomes[:, None]).mean(axis=0)
    assert_allclose(end.shifts, -offsets, atol=0.03)
    exact = game.solve("brier", response="exact")
    assert (exact.reports >= 0).all()
    assert ((exact.reports - panel.outcomes[:, None]) ** 2).mean() < (
        (panel.reports - panel.outcomes[:, None]) ** 2
    ).mean()
    assert Game.on(tp.datasets.example()).solve("vcg").shifts.shape == (5,)


def test_the_threshold_is_what_the_costs_ask_for():
    assert Game(costs=COSTS).decision_threshold == 1 / 11
    assert Game(costs=COSTS, threshold=0.0).decision_threshold == 0.0


def test_bad_games_are_refused_when_made():
    with pytest.raises(SettingError, match="whole number of agents, at least 2"):
        Game(agents=1)
    with pytest.raises(BeliefError, match=r"must lie in \[-0\.2353, 1\]"):
        Game(correlation=-0.9)
    with pytest.raises(BeliefError, match="mean of the beliefs"):
        Game(mean=1.0)
    with pytest.raises(SettingError, match="threshold must lie in"):
        Game(threshold=1.5)
    with pytest.raises(UnknownNameError, match="known: drawn, expected"):
        Game(outcomes="guessed")
    with pytest.raises(UnknownNameError, match="no pool is called"):
        Game(pool="meen")
    with pytest.raises(SettingError, match="two classes"):
        Game.on(random_panel(0, classes=3))


def test_one_class_drawn_is_no_panel_to_learn_from():
    silent = Panel([[0.2, 0.3], [0.4, 0.9]], [0, 1])
    assert Game.on(silent, pool="vcg").solve("brier").fn in (0.0, 1.0)
