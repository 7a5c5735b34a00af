import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import random_panel
from scipy.optimize import approx_fprime
from sklearn.metrics import brier_score_loss, log_loss

from truepool import losses
from truepool.core import arrays
from truepool.core.arrays import to_classes
from truepool.core.errors import SettingError, UnknownNameError
from truepool.measures.losses import NAMES, Loss, agent_losses, mean_over_reports
from truepool.panel.costs import Costs

COSTS = Costs(fn=10, fp=1)
SEEDS = st.integers(0, 10_000)


def series(seed, classes=2, cases=30):
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, classes, cases)
    outcomes[:classes] = np.arange(classes)
    return rng.dirichlet(np.ones(classes), cases), outcomes


@given(SEEDS, st.sampled_from([2, 3, 5]))
def test_brier_and_log_are_scikit_learns(seed, classes):
    pooled, outcomes = series(seed, classes)
    labels = np.arange(classes)
    probabilities = pooled[:, 1] if classes == 2 else pooled
    ours = losses.brier(pooled, outcomes).mean()
    assert_allclose(ours, brier_score_loss(outcomes, probabilities, labels=labels))
    ours = losses.log(pooled, outcomes).mean()
    assert_allclose(ours, log_loss(outcomes, pooled, labels=labels), rtol=1e-9)


@pytest.mark.parametrize("name", ["brier", "log", "spherical"])
@pytest.mark.parametrize("classes", [2, 4])
@given(seed=SEEDS)
def test_a_proper_loss_is_least_for_the_truth(name, classes, seed):
    rng = np.random.default_rng(seed)
    truth, other = rng.dirichlet(np.ones(classes), 2)
    everything = np.arange(classes)

    def expected(probabilities):
        probabilities = np.tile(probabilities, (classes, 1))
        return truth @ losses.Loss(name)(probabilities, everything)

    assert expected(truth) <= expected(other) + 1e-12


@given(SEEDS)
def test_deciding_by_the_truth_costs_least(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(0.1, 5, (3, 3)) * (1 - np.eye(3))
    costs = Costs(matrix=matrix)
    truth, other = rng.dirichlet(np.ones(3), 2)
    everything = np.arange(3)
    own = losses.cost(np.tile(truth, (3, 1)), everything, costs) @ truth
    lie = losses.cost(np.tile(other, (3, 1)), everything, costs) @ truth
    assert own <= lie + 1e-12


def test_cost_brier_is_not_proper_as_documented():
    p = np.linspace(0, 1, 1001)
    truth = 0.2
    expected = truth * losses.cost_brier(p, np.ones(1001, int), COSTS)
    expected += (1 - truth) * losses.cost_brier(p, np.zeros(1001, int), COSTS)
    weighted = 10 * truth / (10 * truth + 1 - truth)
    assert abs(p[expected.argmin()] - weighted) <= 1e-3


@pytest.mark.parametrize("classes", [2, 3])
@given(seed=SEEDS)
def test_cost_brier_at_costs_of_one_is_brier(classes, seed):
    pooled, outcomes = series(seed, classes)
    assert_allclose(
        losses.cost_brier(pooled, outcomes), losses.brier(pooled, outcomes), atol=1e-12
    )


@pytest.mark.parametrize("name", ["brier", "log", "cost-brier"])
@pytest.mark.parametrize("classes", [2, 3])
def test_slopes_are_the_derivatives(name, classes):
    loss = losses.Loss(name, COSTS)
    pooled, outcomes = series(1, classes)
    coordinates = pooled[:, 1:] if classes == 2 else pooled
    found = loss.slope(coordinates, outcomes)
    for t in range(5):
        numeric = approx_fprime(
            coordinates[t],
            lambda p, t=t: loss.evaluate(p[None], outcomes[t : t + 1])[0],
            1e-7,
        )
        assert_allclose(found[t], numeric, rtol=1e-4, atol=1e-5)


def test_the_slope_of_a_loss_that_is_not_convex_is_refused():
    with pytest.raises(SettingError, match="not convex"):
        losses.Loss("spherical").slope(np.array([[0.5]]), np.array([1]))


@given(SEEDS)
def test_two_classes_spelled_out_lose_the_same(seed):
    pooled, outcomes = series(seed)
    for name in losses.NAMES:
        loss = losses.Loss(name, COSTS)
        assert_allclose(loss(pooled, outcomes), loss(pooled[:, 1], outcomes))


def test_certainty_that_fails_costs_a_finite_log_loss():
    assert np.isfinite(losses.log([0.0], [1])).all()


def test_an_unknown_loss_is_answered_with_the_known():
    with pytest.raises(UnknownNameError, match="did you mean 'brier'.*known: brier, "):
        losses.Loss("brir")


def test_a_threshold_outside_is_refused():
    with pytest.raises(SettingError, match="threshold must lie"):
        losses.Loss("cost", threshold=1.5)


def test_to_classes_of_many_classes_changes_nothing():
    pooled, _ = series(0, 3)
    assert to_classes(pooled) is pooled


@pytest.mark.parametrize("loss", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_losses_of_agents_are_sums_that_blocks_change_in_no_bit(
    loss, weighted, monkeypatch
):
    panel = random_panel(0, cases=90, silent=0.3)
    weights = np.random.default_rng(0).random(90) if weighted else None
    priced = Loss(loss, Costs(fn=3))
    whole = agent_losses(panel, priced, weights)
    monkeypatch.setattr(arrays, "BLOCK", 28)  # seven cases of four agents
    np.testing.assert_array_equal(agent_losses(panel, priced, weights), whole)
    own = priced.evaluate(np.nan_to_num(panel.values, nan=0.5), panel.outcomes[:, None])
    own[np.isnan(panel.reports)] = np.nan
    assert_allclose(whole, mean_over_reports(own, weights), rtol=1e-13)
