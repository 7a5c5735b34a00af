"""Best weights in hindsight, by the conditions that only the best satisfies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import panels, random_panel

from truepool.core import kernels
from truepool.core.errors import SettingError
from truepool.measures import fixed_weights
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COSTS = Costs(fn=5, fp=1)
CONVEX = [Loss("brier"), Loss("cost-brier", COSTS), Loss("log")]


@pytest.mark.parametrize("loss", [*CONVEX, Loss("spherical"), Loss("cost", COSTS)])
@given(data=st.data())
def test_losses_are_those_of_the_pooled_series(loss, data):
    panel = data.draw(st.one_of(panels(), panels(classes=3), panels(silence=False)))
    rows = np.random.default_rng(0).dirichlet(np.ones(len(panel.agents)), 3)
    rows = np.vstack([rows, np.eye(len(panel.agents))[0]])
    direct = [
        loss.evaluate(kernels.linear(panel.values, w), panel.outcomes).mean()
        for w in rows
    ]
    found = FixedWeights(panel, loss).losses(rows)
    ties = loss.name == "cost"  # a pool on the threshold is decided by its last bit
    assert_allclose(found, direct, atol=COSTS.fn if ties else 1e-9)


@pytest.mark.parametrize("loss", CONVEX, ids=lambda loss: loss.name)
@pytest.mark.parametrize("classes", [2, 3])
@given(seed=st.integers(0, 50))
def test_no_small_step_on_the_simplex_betters_the_best(loss, classes, seed):
    panel = random_panel(seed, agents=5, classes=classes, skill=1.0)
    past = FixedWeights(panel, loss)
    best = past.best()
    _, slope = past._loss_and_gradient(best)
    # KKT: the slope is level where there is weight and no lower elsewhere.
    level = (slope * best).sum()
    scale = np.abs(slope).max() + 1e-3
    assert slope.min() >= level - 2e-4 * scale


def test_the_exact_solver_and_the_descent_agree():
    panel = random_panel(11, agents=6)
    past = FixedWeights(panel, Loss("brier"))
    exact, found = past.best(), past._descend()
    assert past.losses(exact[None]) <= past.losses(found[None]) + 1e-12
    assert_allclose(exact, found, atol=1e-3)


def test_weights_of_cases_count_as_repeats():
    panel = random_panel(2, cases=40)
    counts = np.arange(40) % 4
    counted = FixedWeights(panel, Loss("brier"), counts.astype(float)).best()
    repeated = FixedWeights(panel.take(np.repeat(np.arange(40), counts)), Loss("brier"))
    assert_allclose(counted, repeated.best(), atol=1e-9)


def test_identical_agents_get_the_same_weight():
    panel = random_panel(2, agents=3)
    twins = type(panel)(panel.reports[:, [0, 0, 1, 2]], panel.outcomes)
    best = FixedWeights(twins, Loss("brier")).best()
    assert_allclose(best[0], best[1], atol=1e-6)


def test_with_missing_reports_the_best_weights_are_no_worse_than_equal_ones():
    panel = random_panel(9, silent=0.3)
    for loss in CONVEX:
        past = FixedWeights(panel, loss)
        best = past.best()
        both = past.losses(np.vstack([best, np.full(4, 0.25)]))
        assert both[0] < both[1] + 1e-3


def test_a_loss_that_is_not_convex_has_no_best_weights():
    with pytest.raises(SettingError, match="'cost' is not. Use brier"):
        FixedWeights(random_panel(), Loss("cost")).best()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["brier", "cost-brier"])
def test_many_agents_are_solved_without_their_products(classes, name, monkeypatch):
    panel, loss = random_panel(7, agents=6, classes=classes), Loss(name, COSTS)
    expected = FixedWeights(panel, loss).best()
    monkeypatch.setattr(fixed_weights, "MAX_GRAM", 5)
    past = FixedWeights(panel, loss)
    assert past.gram is None
    assert_allclose(past.best(), expected, atol=1e-6)


def test_of_many_agents_identical_ones_share_their_weight(monkeypatch):
    monkeypatch.setattr(fixed_weights, "MAX_GRAM", 1)
    panel = random_panel(2, agents=3)
    apart = FixedWeights(panel, Loss("brier")).best()
    twins = type(panel)(panel.reports[:, [0, 0, 1, 2]], panel.outcomes)
    best = FixedWeights(twins, Loss("brier")).best()
    assert_allclose(best, [apart[0] / 2, apart[0] / 2, *apart[1:]], atol=1e-12)


def test_ten_thousand_agents_are_no_eigenproblem():
    rng = np.random.default_rng(0)
    outcomes = np.arange(40) % 2
    reports = np.clip(0.5 + rng.normal(0, 0.3, (40, 10_000)), 0, 1)
    reports[:, 0] = 0.1 + 0.8 * outcomes
    panel = Panel(reports, outcomes)
    best = FixedWeights(panel, Loss("brier")).best()
    assert FixedWeights(panel, Loss("brier")).losses(best[None]) <= 0.01 + 1e-12
    with pytest.raises(SettingError, match="at most 500 agents; got 10,000"):
        FixedWeights(panel, Loss("log")).best()
