"""Newton's method under penalties, against a general optimiser and its compiled twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from truepool.core import kernels
from truepool.measures import newton
from truepool.measures.newton import BinaryLoss, Minimizer


def a_loss(cases=200, seed=0):
    rng = np.random.default_rng(seed)
    features = np.vstack([rng.normal(size=(3, cases)), np.ones(cases)])
    happened = (rng.random(cases) < 0.3).astype(float)
    return BinaryLoss(features, rng.normal(size=cases), happened, rng.random(cases))


def test_it_stops_after_its_last_step(monkeypatch):
    monkeypatch.setattr(newton, "STEPS", 1)

    def bowl(x):
        return float(x @ x) ** 2, 4 * (x @ x) * x, np.array([[12 * x @ x]])

    theta, value, _ = Minimizer(bowl, np.ones(1), 1.0).find(np.zeros(1))
    assert_allclose([theta[0], value], [1.0, 1.0])  # where the step began


@pytest.mark.parametrize("compiled", [True, False])
def test_one_minimum_after_the_other_is_where_a_general_optimiser_finds_it(
    compiled, monkeypatch
):
    loss = a_loss()
    if not compiled:
        monkeypatch.setattr(kernels, "find", None)
    search = Minimizer(loss, np.zeros(4), 200.0)
    for penalty in (np.full(4, 1e6), np.array([0.1, 5.0, 0.1, 1e-6]), np.full(4, 2.0)):

        def price(theta, penalty=penalty):
            value, gradient, _ = loss(theta)
            return value + penalty @ theta**2 / 2, gradient + penalty * theta

        best = minimize(price, np.zeros(4), jac=True, options={"gtol": 1e-9})
        theta, value, hessian = search.find(penalty)
        assert_allclose(theta, best.x, atol=1e-6)
        assert_allclose(value, best.fun, rtol=1e-9)
        assert_allclose(hessian, loss(theta)[2] + np.diag(penalty), rtol=1e-4)


def test_compiled_and_plain_search_agree(monkeypatch):
    answers = []
    for compiled in (kernels.find, None):
        monkeypatch.setattr(kernels, "find", compiled)
        search = Minimizer(a_loss(seed=3), np.zeros(4), 200.0, 1e-7)
        near = np.array([0.1, 0.0, 0.2, -0.5])
        answers.append([search.find(np.full(4, s), near) for s in (100.0, 1.0, 0.9)])
    for one, other in zip(*answers, strict=True):
        for left, right in zip(one, other, strict=True):
            assert_allclose(left, right, rtol=1e-9, atol=1e-12)


def test_a_hessian_that_is_singular_in_rounding_is_no_obstacle():
    ones = np.ones((2, 50))  # two features that are one
    loss = BinaryLoss(ones, np.zeros(50), np.r_[np.ones(10), np.zeros(40)], np.ones(50))
    theta, _, _ = Minimizer(loss, np.zeros(2), 50.0).find(np.zeros(2))
    assert_allclose(theta.sum(), np.log(10 / 40), atol=1e-6)


def test_what_is_near_is_looked_at_only_where_it_is_needed(monkeypatch):
    monkeypatch.setattr(kernels, "find", None)
    seen = []

    def bowl(x):
        seen.append(x.tolist())
        return float(x @ x) / 2, x, np.eye(1)

    search = Minimizer(bowl, np.ones(1), 1.0)
    search.find(np.ones(1), near=np.array([0.5]))
    assert seen == [[1.0], [0.5], [0.0]]
    search.find(np.full(1, 2.0), near=np.array([0.5]))
    assert len(seen) == 3


@pytest.mark.parametrize("compiled", [True, False])
def test_a_step_that_only_raises_the_loss_is_not_taken(compiled, monkeypatch):
    """Where the loss is flat a step may be longer than it can be shortened."""
    if not compiled:
        monkeypatch.setattr(kernels, "find", None)
    features, happened = np.ones((1, 500)), (np.arange(500) < 5) * 1.0
    loss = BinaryLoss(features, np.zeros(500), happened, np.ones(500))
    start = np.array([-60.0])
    search, penalty = Minimizer(loss, start, 500.0), np.array([1e-12])
    _, value, _ = search.find(penalty)
    assert value <= loss(start)[0] + penalty @ start**2 / 2
