"""Games: against the direct evaluation of every shift, both timed in one run."""

import os
import time

import numpy as np
import pytest
from joblib import Parallel, delayed

from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool_lab.games import Game, Shift, draw_beliefs, incentives, payments, sweep
from truepool_lab.games.dynamics import play
from truepool_lab.games.payoffs import Steps

COSTS = Costs(fn=10, fp=1)
GRID = Shift().shifts


def best(call, rounds=7):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def direct(values, chance, threshold, rounds, patient):
    """Every shift of every agent in every round, on (T, G) arrays of numpy.

    Somebody ``patient`` plays all the rounds, as the paper does; else the game is over
    when nobody moves.
    """
    N = values.shape[1]
    gains = COSTS.fn * chance - COSTS.fp * (1 - chance)
    shifts = np.zeros(N)
    sent = values.copy(order="F")
    total = sent.mean(axis=1)
    for played in range(1, rounds + 1):
        before = shifts.copy()
        for i in range(N):
            rest = total - sent[:, i] / N
            reports = np.clip(values[:, i, None] + GRID, 0, 1)
            earned = gains @ (rest[:, None] + reports / N > threshold + 1e-12)
            tied = earned >= earned.max() - 1e-9
            shifts[i] = GRID[np.argmin(np.where(tied, np.abs(GRID), np.inf))]
            sent[:, i] = np.clip(values[:, i] + shifts[i], 0, 1)
            total = rest + sent[:, i] / N
        if (shifts == before).all() and not patient:
            return shifts, played
    return shifts, rounds


@pytest.fixture(scope="module")
def canonical():
    return Game(threshold=0.3, costs=COSTS, cases=10_000)


def test_the_canonical_game_within_sixty_milliseconds(canonical, record):
    canonical.solve("vcg")
    record("canonical game (vcg), in ms", 1e3 * best(lambda: canonical.solve("vcg")),
           at_most=60)  # fmt: skip


@pytest.fixture(scope="module")
def state(canonical):
    payment, response = payments.make("vcg"), Shift()
    return canonical.state(canonical.draw(), payment, response)


def test_twenty_rounds_against_the_direct_evaluation(canonical, state, record):
    # The whole game with its beliefs drawn, against the direct rounds alone.
    b = state.beliefs
    shifts, _ = direct(b.values, b.chance, 0.3, 20, patient=True)
    np.testing.assert_allclose(canonical.solve("vcg").shifts, shifts)
    fast = best(lambda: canonical.solve("vcg"))
    slow = best(lambda: direct(b.values, b.chance, 0.3, 20, patient=True), rounds=2)
    record("20 rounds of direct numpy grids / game", slow / fast, at_least=50)


def test_the_same_rounds_against_the_direct_evaluation(state, record):
    # Both stop when nobody moves: two rounds here, of which the bookkeeping is a part.
    b = state.beliefs
    ours = play(state, 20, "sequential")
    shifts, rounds = direct(b.values, b.chance, 0.3, 20, patient=False)
    np.testing.assert_allclose([move.deviation[0] for move in ours.moves], shifts)
    assert ours.rounds == rounds
    fast = best(lambda: play(state, 20, "sequential"), rounds=50)
    slow = best(lambda: direct(b.values, b.chance, 0.3, 20, patient=False))
    record("the same rounds of direct numpy grids / ours", slow / fast, at_least=25)


def test_one_best_response_against_the_direct_evaluation(record):
    beliefs = draw_beliefs(5, 0.5, cases=10_000)
    values = np.asfortranarray(beliefs.values)
    gains = COSTS.fn * beliefs.chance - COSTS.fp * (1 - beliefs.chance)
    rest, own = values[:, 1:].sum(axis=1) / 5, np.ascontiguousarray(values[:, 0])
    payoff = Steps(rest, np.array([0.2]), 0.3 + 1e-12, gains)

    def plain():
        reports = np.clip(own[:, None] + GRID, 0, 1)
        return gains @ (rest[:, None] + 0.2 * reports > 0.3 + 1e-12) / 10_000

    np.testing.assert_allclose(payoff.over_shifts(own, GRID), plain(), atol=1e-12)
    fast = best(lambda: payoff.over_shifts(own, GRID), rounds=50)
    record("direct numpy grid / best response", best(plain) / fast, at_least=50)


def test_fifty_agents_within_a_second(record):
    game = Game(agents=50, threshold=0.3, costs=COSTS, cases=10_000)
    game.solve("vcg")
    record("n = 50 at T = 10,000, in s", best(lambda: game.solve("vcg"), 3), at_most=1)


def count(steps):
    total = 0
    for k in range(steps):
        total += k
    return total


def test_a_sweep_of_two_hundred_points_uses_all_cores(record):
    # What many processes gain, against what they gain in counting, at the same time:
    # other work on the machine slows both.
    game = Game(threshold=0.3, costs=COSTS, agents=20, cases=10_000)
    over = {"rho": np.linspace(0.05, 0.95, 200).tolist()}

    def games(jobs):
        return lambda: sweep(game, over, ["vcg"], jobs=jobs)

    def counting(workers):
        jobs = [delayed(count)(500_000) for _ in range(200)]
        return lambda: Parallel(workers)(jobs)

    games(-1)(), counting(-1)()  # processes start, and import what they need
    gained = best(games(1), 1) / best(games(-1), 1)
    possible = best(counting(1), 1) / best(counting(-1), 1)
    record(f"gain from {os.cpu_count()} cores / possible", gained / possible,
           at_least=0.6)  # fmt: skip


@pytest.mark.parametrize("pool", ["mean", "vcg"])
def test_incentives_of_a_hundred_thousand_cases(pool, record):
    beliefs = draw_beliefs(10, 0.5, cases=100_000)
    panel = Panel(beliefs.values, beliefs.outcomes)
    incentives(panel.take(np.arange(1000)), pool, COSTS)
    took = best(lambda: incentives(panel, pool, COSTS), 2)
    one = best(lambda: np.sort(beliefs.values, axis=0), 3)
    # 10 agents, 6 times (hindsight and 5 folds), 3 families: about 60 sorts of all.
    record(f"incentives ({pool}) / sorting the panel", took / one, at_most=150)
