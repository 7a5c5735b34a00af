"""Gains by misreporting, against plain loops over every case and every misreport."""

from itertools import product

import numpy as np
import pytest

from truepool import Panel
from truepool.datasets import synthetic
from truepool.measures import credit
from truepool.measures.losses import Loss
from truepool.pools import configure
from truepool_lab.paper.methods import vcg
from truepool_lab.paper.misreport_gains import MISREPORTS, Coordinator, changed, send
from truepool_lab.paper.settings import COSTS

TAUS = (0.5, COSTS.threshold)
SLOW = pytest.param("auto", marks=pytest.mark.slow)


def coordinator(pool="mean", threshold=0.5, agents=3, cases=30):
    drawn = synthetic(2 * cases, 5, skill=[2.0, 1.0, 0.5][:agents], base_rate=0.3)
    known, test = drawn.take(np.arange(cases)), drawn.take(np.arange(cases, 2 * cases))
    made = vcg(threshold) if pool == "vcg" else configure(pool, costs=COSTS)
    return Coordinator(made, known, test, Loss("cost", COSTS, threshold))


def cost(p, y, threshold):
    """What one decision costs, spelt out."""
    says = p > threshold
    return COSTS.fn * (y and not says) + COSTS.fp * (says and not y)


def by_hand(here, agent, relearns, apart):
    """Credit of every misreport in every test case, one case at a time."""
    tau, y = here.loss.threshold, here.test.outcomes
    paid = []
    for say in MISREPORTS.values():
        known, test = here.known.reports.copy(), here.test.reports.copy()
        if relearns:
            known[:, agent] = say(known[:, agent])
        test[:, agent] = say(test[:, agent])
        pool = configure(here.pool).fit_panel(Panel(known, here.known.outcomes))
        absent = test.copy()
        absent[:, agent] = np.nan
        line = []
        for t in range(len(test)):
            with_it, without = (
                cost(pool.combine(r[None, t, :, None])[0, 0], y[t], tau)
                for r in (test, absent)
            )
            line.append(-with_it if apart else without - with_it)
        paid.append(line)
    return np.array(paid)


def halves(paid):
    """Choose on the even cases and measure on the odd ones, and the other way round."""
    total = 0.0
    for start in (0, 1):
        means = paid[:, start::2].mean(axis=1) - paid[0, start::2].mean()
        chosen = max(range(len(means)), key=lambda s: (round(means[s], 9), -s))
        total += (paid[chosen] - paid[0])[1 - start :: 2].sum()
    return total / paid.shape[1]


@pytest.mark.parametrize("pool", ["mean", "vcg", "stacked-lr", SLOW])
@pytest.mark.parametrize("threshold", TAUS)
@pytest.mark.parametrize(("relearns", "apart"), [(0, 0), (1, 0), (1, 1)])
def test_a_gain_is_what_loops_over_all_misreports_and_cases_find(
    pool, threshold, relearns, apart
):
    here = coordinator(pool, threshold)
    for agent in range(3):
        expected = halves(by_hand(here, agent, relearns, apart))
        found = here.gain(agent, relearns=bool(relearns), apart=bool(apart))
        assert found.agent == pytest.approx(expected, abs=1e-12)


def test_credit_of_the_mean_is_the_library_s_leave_one_out():
    here = coordinator()
    pool = here.learn(here.honest)
    expected = credit.leave_one_out(here.test, loss="cost", costs=COSTS, threshold=0.5)
    found = [here.credit(pool, here.test, agent).mean() for agent in range(3)]
    assert found == pytest.approx(list(expected))


def test_against_a_pool_without_it_an_agent_gains_what_it_saves():
    here = coordinator("stacked-lr")
    for agent in range(3):
        found = here.gain(agent, relearns=True, apart=True)
        assert found.agent == pytest.approx(-found.pool)


@pytest.mark.parametrize("threshold", TAUS)
def test_where_a_game_with_fixed_weights_settles_no_agent_has_a_better_misreport(
    threshold,
):
    here = coordinator("mean", threshold, agents=2)
    end = here.play(rounds=10)
    assert end.settled
    pool = here.learn(here.honest)
    table = {
        profile: here.losses(pool, send(here.known, profile)).mean()
        for profile in product(MISREPORTS, repeat=2)
    }
    for agent, name in product(range(2), MISREPORTS):
        assert table[end.profile] <= table[changed(end.profile, agent, name)] + 1e-12


def test_a_pool_whose_threshold_is_too_high_is_told_more():
    here = coordinator("mean", 0.5, cases=400)
    assert "more" in here.play().profile
    assert here.gain(0, relearns=False).agent > 0


def test_a_game_that_is_cut_short_says_so():
    assert not coordinator("mean", 0.5, cases=400).play(rounds=1).settled


@pytest.mark.parametrize("agent", [1, 2])
def test_stacking_pays_nothing_for_an_inversion(agent):
    """What stands in for a silent agent has its direction, as its weight has."""
    here = coordinator("stacked-lr", COSTS.threshold, cases=400)
    truthful, inverted = (
        (here.learn(p), send(here.test, p))
        for p in (here.honest, changed(here.honest, agent, "inverted"))
    )
    same = [here.losses(*seen) for seen in (truthful, inverted)]
    np.testing.assert_array_equal(*same)
    told, sent = (here.credit(*seen, agent).mean() for seen in (truthful, inverted))
    assert sent == pytest.approx(told, abs=0.01)  # 0.1 more with the mean of the others
