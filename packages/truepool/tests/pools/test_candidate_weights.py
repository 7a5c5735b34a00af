"""How candidates are weighed where one class is rare, and by which loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import expit, logit

from truepool.pools.candidates.weights import (
    CERTAIN,
    REACH,
    average_weights,
    decision_losses,
    weigh,
)

LINES = [0.01, 0.05, 0.2, 0.5, 0.9]
ODDS = np.linspace(-12, 12, 481)


def expected_losses(truth, line):
    """Mean loss of saying each of `ODDS` where the event has this probability."""
    happened, not_happened = (
        decision_losses(ODDS[:, None], np.full(len(ODDS), y), line)[:, 0]
        for y in (1, 0)
    )
    return truth * happened + (1 - truth) * not_happened


@pytest.mark.parametrize("line", [None, *LINES])
@pytest.mark.parametrize("truth", ODDS[20:-20:40])
def test_nobody_does_better_than_by_saying_the_truth(line, truth):
    losses = expected_losses(expit(truth), line)
    at_truth = losses[np.argmin(np.abs(ODDS - truth))]
    assert (losses >= at_truth - 1e-12).all()
    if line is None or abs(truth - logit(line)) < REACH - 0.1:
        assert (losses[np.abs(ODDS - truth) > 0.1] > at_truth).all()


def cost_over_thresholds(odds, outcome, line):
    """Cost of the decisions by these log-odds, at every threshold within reach.

    A false alarm costs the threshold and a miss the rest, so that each has the
    threshold that its costs imply; thresholds count by their log-odds.
    """

    def cost(at):
        c, alarm = expit(at), odds > at
        return c * alarm if outcome == 0 else (1 - c) * (not alarm)

    centre = logit(line)
    ends = centre - REACH, centre + REACH
    jump = [odds] if ends[0] < odds < ends[1] else None
    return quad(cost, *ends, points=jump)[0]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("outcome", [0, 1])
def test_it_is_the_cost_of_decisions_over_the_thresholds_within_reach(line, outcome):
    odds = logit(line) + np.array([-9.0, -2.4, -1.0, 0.3, 2.0, 2.6, 8.0])
    found = decision_losses(odds[:, None], np.full(7, outcome), line)[:, 0]
    expected = np.array([cost_over_thresholds(x, outcome, line) for x in odds])
    assert_allclose(found - found[0], expected - expected[0], atol=1e-7)


def test_how_far_beyond_reach_a_case_is_does_not_count():
    outcomes = np.array([0, 1, 0, 1])
    line = np.array([0.01, 0.02, 0.3, 0.9])
    ends = logit(line)[:, None] + REACH * np.array([-1.0, 1.0])
    far = ends + np.array([-5.0, 30.0])
    assert_allclose(
        decision_losses(far, outcomes, line), decision_losses(ends, outcomes, line)
    )
    inside = ends + np.array([0.2, -0.2])
    assert (decision_losses(inside, outcomes, line) != decision_losses(ends, outcomes, line)).all()  # fmt: skip


def test_each_case_has_its_own_threshold():
    rng = np.random.default_rng(0)
    odds, outcomes = rng.normal(-3, 2, (50, 3)), rng.integers(0, 2, 50)
    line = rng.uniform(0.01, 0.4, 50)
    each = [
        decision_losses(odds[[t]], outcomes[[t]], float(line[t]))[0] for t in range(50)
    ]
    assert_allclose(decision_losses(odds, outcomes, line), each)


def test_where_nobody_states_what_errors_cost_it_is_the_log_loss():
    odds = np.array([[-20.0, 3.0], [0.1, 9.0]])
    p = expit(odds)
    expected = -np.log(np.where([[False], [True]], p, 1 - p))
    assert_allclose(decision_losses(odds, np.array([0, 1]), None), expected)


def test_a_certain_threshold_is_clipped():
    """Where a hit costs as much as a miss the threshold is 1: never decide positive."""
    odds, outcomes = np.array([[-3.0, 4.0]] * 2), np.array([0, 1])
    found = decision_losses(odds, outcomes, np.array([1.0, 0.0]))
    assert np.isfinite(found).all()
    assert_allclose(found[:, 0], found[:, 1])
    assert_allclose(found, decision_losses(odds, outcomes, [1 - CERTAIN, CERTAIN]))


# Weights


def losses_of(cases, gap, seed=0, models=3):
    """Losses of models, of which each costs so much more than the one before."""
    rng = np.random.default_rng(seed)
    return rng.exponential(0.2, (cases, models)) + gap * np.arange(models)


def test_weights_are_probabilities():
    for cases, gap in ((1, 0.0), (40, 0.05), (400, 3.0)):
        weights = average_weights(losses_of(cases, gap))
        assert (weights >= 0).all()
        assert_allclose(weights.sum(), 1.0)


def test_what_all_models_lose_alike_does_not_count():
    losses = losses_of(300, 0.01)
    shared = np.random.default_rng(1).exponential(5.0, (300, 1))
    assert_allclose(average_weights(losses + shared), average_weights(losses))


def test_equal_models_have_equal_weights():
    one = np.random.default_rng(2).exponential(1.0, 200)
    assert_allclose(average_weights(np.stack([one] * 4, axis=1)), 0.25)
    better = np.stack([one, one, one + 1.0], axis=1)
    assert_allclose(average_weights(better), [0.5, 0.5, 0.0], atol=1e-12)


def test_a_model_that_is_always_better_gets_the_weight_as_cases_are_added():
    shares = [average_weights(losses_of(cases, 0.03))[0] for cases in (10, 100, 1000)]
    assert shares[0] < shares[1] < shares[2]
    assert shares[0] < 0.6
    assert shares[2] > 0.95


def test_two_models_are_weighed_by_how_often_either_is_ahead_in_other_samples():
    """Of a normal difference of their summed losses the weight is an integral."""
    gap = np.random.default_rng(3).normal(0.0, 0.5, 2000)
    gap += 15 / 2000 - gap.mean()
    losses = np.stack([np.zeros(2000), gap], axis=1)
    centre, spread = gap.sum(), gap.std() * np.sqrt(2000)
    z = np.linspace(-6, 6, 2001)
    density = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    expected = density @ expit(centre + spread * z)
    assert 0.6 < expected < 0.9
    weight = average_weights(losses)[0]
    assert abs(weight - expected) < 4 * np.sqrt(expected * (1 - expected) / 1000)


def test_a_weight_of_two_is_about_as_good_as_two_cases():
    """The sums are the same; repeated cases vary less by the root of two."""
    losses = losses_of(400, 0.02, models=2)
    counts = np.random.default_rng(4).integers(1, 3, 400)
    weighted = average_weights(losses, counts.astype(float))
    assert_allclose(weighted, average_weights(np.repeat(losses, counts, axis=0)), atol=0.06)  # fmt: skip
    assert weighted[0] > average_weights(losses)[0] > 0.6


def test_a_case_without_weight_is_left_out():
    losses = losses_of(300, 0.02, models=2)
    others = losses + np.array([9.0, 0.0])  # in these the order is the opposite
    both = np.concatenate([losses, others])
    counted = np.repeat([1.0, 0.0], 300)
    found = average_weights(both, counted)
    assert_allclose(found, average_weights(losses), atol=0.06)
    assert average_weights(both)[0] < 0.01


def test_the_same_seed_gives_the_same_weights():
    losses = losses_of(100, 0.02)
    assert (average_weights(losses, None, 5) == average_weights(losses, None, 5)).all()
    assert (average_weights(losses, None, 5) != average_weights(losses, None, 6)).any()


# The table


def candidates(cases=600, seed=0):
    """Out-of-fold probabilities of a good, a biased and a hopeless candidate."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(-3.5, 1.5, cases)
    outcomes = (rng.random(cases) < expit(truth)).astype(int)
    odds = [truth + rng.normal(0, 0.3, cases), truth + 1.5, np.zeros(cases)]
    return [expit(one)[:, None] for one in odds], outcomes


def test_where_an_event_is_rare_candidates_are_weighed_by_the_loss_of_decisions():
    pooled, outcomes = candidates()
    odds = logit(np.concatenate(pooled, axis=1))
    for line in (None, 0.05):
        table, shares = weigh(
            ["good", "biased", "hopeless"], pooled, outcomes, None, 600,
            rare=True, line=line, seed=3,
        )  # fmt: skip
        weights = average_weights(decision_losses(odds, outcomes, line), None, 3)
        assert weights[2] < 0.01
        expected = np.r_[weights[:2], 0.0] / weights[:2].sum()
        expected[expected < 0.01] = 0.0
        assert_allclose(shares, expected / expected.sum(), rtol=1e-6)
        assert [row.weight for row in table] == sorted(shares, reverse=True)


def test_far_from_the_threshold_candidates_may_differ_and_weigh_the_same():
    """One is sure of cases that nobody would decide positive, the other is not."""
    pooled, outcomes = candidates()
    low = pooled[0][:, 0] < expit(logit(0.2) - REACH)
    cautious = np.where(low, 0.8 * expit(logit(0.2) - REACH), pooled[0][:, 0])
    both = [pooled[0], cautious[:, None]]
    _, far = weigh(["a", "b"], both, outcomes, None, 600, rare=True, line=0.2)
    assert_allclose(far, 0.5)
    _, near = weigh(["a", "b"], both, outcomes, None, 600, rare=True)
    assert abs(near[0] - 0.5) > 0.1
