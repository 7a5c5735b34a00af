"""Rounds of best responses: convergence, cycles, visibility, pools that learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool.pools import every
from truepool_lab.games import Game, Shift, payments
from truepool_lab.games.dynamics import draw_visibility

COSTS = Costs(fn=10, fp=1)
GAME = Game(threshold=0.3, costs=COSTS, cases=2000)


def test_at_the_end_nobody_can_gain():
    end = GAME.solve("vcg")
    assert end.converged
    beliefs = GAME.draw()
    g = COSTS.fn * beliefs.chance - COSTS.fp * (1 - beliefs.chance)

    def welfare(shifts):
        reports = np.clip(beliefs.values + shifts, 0, 1)
        return g[reports.mean(axis=1) > 0.3 + 1e-12].sum()

    now = welfare(end.shifts)
    for i in range(5):
        for d in Shift().shifts:
            other = end.shifts.copy()
            other[i] = d
            assert welfare(other) <= now + 1e-9


def test_one_after_the_other_is_what_the_loop_says():
    # The whole dynamics again, by brute force.
    beliefs = GAME.draw()
    g = COSTS.fn * beliefs.chance - COSTS.fp * (1 - beliefs.chance)
    shifts, grid = np.zeros(5), Shift().shifts
    for _ in range(20):
        before = shifts.copy()
        for i in range(5):
            values = []
            for d in grid:
                shifts[i] = d
                reports = np.clip(beliefs.values + shifts, 0, 1)
                values.append(g[reports.mean(axis=1) > 0.3 + 1e-12].sum())
            best = np.flatnonzero(np.array(values) >= max(values) - 1e-9)
            shifts[i] = grid[best[np.argmin(np.abs(grid[best]))]]
        if (shifts == before).all():
            break
    assert_allclose(GAME.solve("vcg").shifts, shifts)


def test_all_at_once_overshoot_and_cycle():
    end = GAME.solve("vcg", order="simultaneous")
    assert (end.converged, end.cycle, end.rounds) == (False, 2, 20)
    # Alone each would shift by all it can; together they go too far, and back.
    assert end.path[1].mean() > 0.4
    assert_allclose(end.path[2], 0.0)
    assert len(end.path) == 3  # whole cycles are left out
    assert_allclose(end.shifts, 0.0)  # an even number of rounds ends where it began
    odd = GAME.solve("vcg", order="simultaneous", rounds=7)
    assert_allclose(odd.shifts, 0.5)
    assert odd.rounds == 7


def test_too_few_rounds_leave_agents_moving():
    end = GAME.solve("vcg", rounds=1)
    assert (end.converged, end.cycle, end.rounds) == (False, None, 1)
    assert end.path.shape == (2, 5)


@pytest.mark.parametrize("order", ["sequential", "simultaneous"])
def test_under_a_score_one_round_settles_it(order):
    end = Game(offset=0.1, threshold=0.3, cases=2000).solve("brier", order=order)
    assert (end.converged, end.rounds) == (True, 2)
    assert_allclose(end.shifts, -0.1)


def test_what_an_agent_does_not_see_it_takes_for_the_truth():
    blind = GAME.solve("vcg", sees="none")
    assert_allclose(blind.shifts, 0.5)  # each thinks it alone must move the pool
    assert blind.poa == 0
    assert blind.rounds == 2
    same = [GAME.solve("vcg", sees=k).shifts for k in (4, 5, "all")]
    assert_allclose(same[0], same[1])
    assert_allclose(same[0], same[2])
    some = [GAME.solve("vcg", sees=k).shift for k in range(5)]
    assert some == sorted(some, reverse=True)


def test_brier_does_not_care_what_is_seen():
    game = Game(offset=-0.02, threshold=0.3, cases=2000)
    shifts = [game.solve("brier", sees=k).shifts for k in ("none", 2, "all")]
    assert_allclose(shifts[0], shifts[1])
    assert_allclose(shifts[0], shifts[2])


def test_an_agent_sees_as_many_others_as_asked():
    rng = np.random.default_rng(0)
    for i, others in enumerate(draw_visibility(2, 6, rng)):
        assert len(set(others)) == 2
        assert i not in others
    with pytest.raises(
        SettingError, match="'none', 'all' or a whole number from 0 to 6"
    ):
        draw_visibility(9, 6, rng)
    with pytest.raises(SettingError, match="got 'most'"):
        draw_visibility("most", 6, rng)


def test_more_than_two_thousand_agents_are_refused():
    with pytest.raises(SettingError, match="at most 2,000 agents; got 2,001"):
        Game(agents=2001, cases=2).solve("brier")
    assert len(draw_visibility("none", 2000, np.random.default_rng(0))) == 2000


@pytest.mark.parametrize(
    "pool", ["vcg", "brier", "convex", "median", "log-odds", "platt"]
)
def test_the_pool_learns_from_what_is_sent(pool):
    game = Game(
        agents=3, threshold=0.3, costs=COSTS, cases=300, pool=pool, outcomes="drawn"
    )
    end = game.solve("vcg", rounds=2)
    beliefs = game.draw()
    learned = (
        every()[pool](costs=COSTS, threshold=0.3) if pool == "vcg" else every()[pool]()
    )
    learned.fit(end.reports, beliefs.outcomes)
    says = learned.predict_proba(end.reports)[:, 1] > 0.3 + 1e-12
    assert_allclose(end.fn, 1 - says[beliefs.outcomes == 1].mean())


@pytest.mark.parametrize("pool", [n for n in every() if "mlp" not in n and n != "auto"])
def test_every_pool_can_be_played_under(pool):
    game = Game(agents=3, cases=80, pool=pool, outcomes="drawn", threshold=0.4)
    for payment in ("brier", "externality"):
        end = game.solve(payment, rounds=2)
        assert 0 <= end.fn <= 1


def test_affine_agents_find_the_shrinkage():
    # Under Brier the best affine map hedges: slope below 1 for uncorrelated agents.
    game = Game(correlation=0.0, threshold=0.3, cases=5000)
    for intercept, slope in game.solve("brier", response="affine").deviations:
        assert slope < 0.5
        assert intercept < 0


def test_two_hundred_agents_can_play():
    end = Game(agents=200, threshold=0.3, costs=COSTS, cases=5000).solve("vcg")
    assert end.shifts.shape == (200,)
    assert end.converged
    assert_allclose(end.shift, 0.21, atol=0.02)


@pytest.mark.parametrize("name", list(payments.every()))
def test_the_same_seed_gives_the_same_end(name):
    one, two = (GAME.solve(name, seed=3) for _ in range(2))
    assert one.to_dict() == two.to_dict()


def test_games_that_cannot_be_played_are_refused():
    with pytest.raises(SettingError, match="whole number of rounds, at least 1; got 0"):
        GAME.solve("vcg", rounds=0)
    with pytest.raises(UnknownNameError, match="known: sequential, simultaneous"):
        GAME.solve("vcg", order="random")
    with pytest.raises(UnknownNameError, match="known: brier, externality, log"):
        GAME.solve("vickrey")
    with pytest.raises(SettingError, match="'vcg' needs the reports of all others"):
        GAME.solve("vcg", response="exact", sees=2)
