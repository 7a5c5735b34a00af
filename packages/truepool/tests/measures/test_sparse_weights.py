"""Best weights of agents who report on few cases, without a table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from truepool.core.errors import PanelError
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import Loss
from truepool.measures.sparse_weights import GAP, SparseErrors, project
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports


def sparse_panel(cases=200, agents=12, fill=0.3, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.random((cases, agents))
    outcomes = (rng.random(cases) < table[:, 0]).astype(np.int64)
    table[rng.random(table.shape) > fill] = np.nan
    table[np.isnan(table).all(axis=1), 1] = 0.5
    return Panel(SparseReports.from_dense(table), outcomes)


def errors_of(panel):
    fill = panel.sparse.linear(np.ones(len(panel.agents)))
    share = np.full(len(panel), 1 / len(panel))
    return SparseErrors.build(panel, Loss("brier"), share, fill)


def test_the_gram_matrix_gives_the_loss_of_any_weights():
    errors = errors_of(sparse_panel())
    weights = np.random.default_rng(1).dirichlet(np.ones(12))
    assert_allclose(
        weights @ errors.gram() @ weights, np.square(errors.of(weights)).sum()
    )


@pytest.mark.parametrize("fill", [0.1, 0.9])
def test_descent_comes_as_close_to_the_least_loss_as_it_states(fill, monkeypatch):
    panel = sparse_panel(fill=fill)
    errors = errors_of(panel)
    past = FixedWeights(panel, Loss("brier"))
    exact = np.square(errors.of(past.best())).sum()
    monkeypatch.setattr("truepool.measures.fixed_weights.MAX_GRAM", 5)
    found = np.square(errors.of(past.best())).sum()
    assert found <= exact * (1 + 2 * GAP)


def test_descent_stops_after_a_stated_number_of_steps(monkeypatch):
    monkeypatch.setattr("truepool.measures.sparse_weights.STEPS", 2)
    weights = errors_of(sparse_panel()).descend()
    assert_allclose(weights.sum(), 1.0)


def test_a_point_is_projected_to_the_nearest_weights():
    rng = np.random.default_rng(0)
    for _ in range(20):
        point = rng.normal(size=6)
        found = project(point)
        assert_allclose(found.sum(), 1.0)
        assert (found >= 0).all()
        others = rng.dirichlet(np.ones(6), 500)
        assert np.square(others - point).sum(axis=1).min() >= (
            np.square(found - point).sum()
        )


def test_a_table_has_no_sparse_errors():
    panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    with pytest.raises(PanelError, match="need a panel with sparse reports"):
        SparseErrors.build(panel, Loss("brier"), np.ones(2) / 2, np.full(2, 0.5))
