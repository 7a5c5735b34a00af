"""What every pool and learner owes to sparse reports: the answers of the table, or a
refusal in one sentence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from truepool import compare, learners, pools, replay
from truepool.core.errors import SettingError
from truepool.measures import credit
from truepool.measures.losses import NAMES
from truepool.panel import sparse
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports

SCALING = [name for name, cls in pools.every().items() if cls.scales]
OTHERS = [name for name, cls in pools.every().items() if not cls.scales]
FITS = {"auto": 1e-8, "beta": 1e-8, "platt": 1e-9}
"""Pools whose fits stop at a stated precision, which the last bit of a sum may move."""
ROUNDING = 1e-12


def tournament(cases=120, agents=25, fill=0.04, seed=0):
    """Reports of many agents on few cases each: the table, outcomes and weights."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    noise = rng.normal(size=(cases, agents)) * rng.uniform(0.2, 2.0, agents)
    table = 1 / (1 + np.exp(-(odds[:, None] + noise)))
    empty = rng.random((cases, agents)) >= fill
    empty[np.arange(cases), rng.integers(agents, size=cases)] = False
    table[empty] = np.nan
    table[:, -1] = np.nan  # one never appeared, another is alone on a case
    table[np.isnan(table).all(axis=1), 0] = 0.25
    return table, outcomes, rng.uniform(0.5, 2.0, cases)


def both(**more):
    table, outcomes, weights = tournament()
    dense = Panel(table, outcomes, weights=weights, **more)
    cells = Panel(SparseReports.from_dense(table), outcomes, weights=weights, **more)
    assert dense.sparse is None
    assert cells.sparse is not None
    return dense, cells


def test_the_pools_that_scale_are_those_that_are_documented():
    assert set(SCALING) == {
        "auto", "best-agent", "beta", "brier", "convex", "extremized", "isotonic",
        "log-odds", "mean", "median", "platt", "shrunk", "simplest", "trimmed", "vcg",
    }  # fmt: skip


@pytest.mark.parametrize("name", SCALING)
def test_a_pool_answers_the_same_in_either_layout(name):
    dense, cells = both()
    expected = pools.make(name).fit_panel(dense)
    found = pools.make(name).fit_panel(cells)
    tolerance = FITS.get(name, ROUNDING)
    truth = expected.probabilities(dense.values)
    assert_allclose(found.probabilities(cells.sparse), truth, atol=tolerance)
    assert_allclose(found.probabilities(dense.values), truth, atol=tolerance)
    assert found.training_ == expected.training_
    assert_array_equal(
        found.pool(cells.sparse).decisions, expected.pool(dense.values).decisions
    )


@pytest.mark.parametrize(
    "name", sorted({"trimmed", "vcg", "brier", "convex", "shrunk", "log-odds", "mean"})
)
def test_no_cell_that_is_empty_is_written_out(name, monkeypatch):
    _, cells = both()
    monkeypatch.setattr(SparseReports, "dense", None)
    pool = pools.make(name).fit_panel(cells)
    assert pool.probabilities(cells.sparse).shape == (len(cells), 2)


@pytest.mark.parametrize("name", OTHERS)
def test_another_pool_refuses_too_many_cells_in_one_sentence(name, monkeypatch):
    _, cells = both()
    monkeypatch.setattr(sparse, "DENSE_CELLS", cells.sparse.cells - 1)
    with pytest.raises(SettingError) as refused:
        pools.make(name).fit_panel(cells)
    message = str(refused.value)
    assert message.startswith(f"the pool {name!r} needs every cell of the table")
    assert all(f" {able}" in message for able in SCALING)


@pytest.mark.parametrize(
    "name", [n for n in ("vote", "stacked-lr", "confidence") if n in pools.every()]
)
def test_another_pool_takes_fewer_cells_in_either_layout(name):
    dense, cells = both()
    expected = pools.make(name).fit_panel(dense).probabilities(dense.values)
    found = pools.make(name).fit_panel(cells).probabilities(cells.sparse)
    assert_allclose(found, expected, atol=ROUNDING)


def test_extremizing_by_the_number_of_reports_is_the_same_in_either_layout():
    dense, cells = both()
    pool = pools.make("extremized", factor="neyman-roughgarden").fit_panel(cells)
    expected = pool.probabilities(dense.values)
    assert_allclose(pool.probabilities(cells.sparse), expected, atol=ROUNDING)


def test_with_fewer_cases_than_agents_shrunk_uses_the_dual_form_in_either_layout():
    table, outcomes, _ = tournament(cases=20, agents=60)
    dense, cells = Panel(table, outcomes), Panel(
        SparseReports.from_dense(table), outcomes
    )  # fmt: skip
    expected = pools.make("shrunk").fit_panel(dense).probabilities(dense.values)
    found = pools.make("shrunk").fit_panel(cells).probabilities(cells.sparse)
    assert_allclose(found, expected, atol=ROUNDING)


def test_of_very_many_rare_agents_those_who_reported_most_are_tilted(monkeypatch):
    monkeypatch.setattr("truepool.pools.shrunk.MOST_TILTS", 6)
    dense, cells = both()
    expected, found = (pools.make("shrunk").fit_panel(p) for p in (dense, cells))
    assert_allclose(found.fits_, expected.fits_, atol=ROUNDING)
    tilted = np.flatnonzero(found.fits_[:, 2:].any(axis=0))
    assert len(tilted) == 6
    rest = np.delete(cells.report_counts, tilted)
    assert cells.report_counts[tilted].min() >= rest.max()


@pytest.mark.parametrize("name", learners.every())
@pytest.mark.parametrize("delay", [0, 5])
def test_a_replay_is_the_same_in_either_layout(name, delay):
    dense, cells = both()
    expected, found = (replay(name, panel, delay=delay) for panel in (dense, cells))
    assert_array_equal(found.pooled, expected.pooled)
    assert_array_equal(found.weights, expected.weights)
    assert_allclose(found.regret, expected.regret, atol=ROUNDING)
    assert_allclose(found.regret_to_agent, expected.regret_to_agent, atol=ROUNDING)
    assert found.best_agent == expected.best_agent


def test_a_replay_of_many_cases_goes_from_block_to_block(monkeypatch):
    monkeypatch.setattr("truepool.core.arrays.BLOCK", 200)
    dense, cells = both()
    expected, found = replay("gradient", dense), replay("gradient", cells)
    assert_array_equal(found.weights, expected.weights)


def test_regret_by_a_loss_that_is_not_squared_is_the_same_in_either_layout():
    dense, cells = both()
    expected, found = (replay("gradient", p, loss="log") for p in (dense, cells))
    assert_allclose(found.regret, expected.regret, atol=1e-9)  # scipy's solver


def test_above_the_largest_table_there_is_no_path_and_no_regret_by_log_loss(
    monkeypatch,
):
    _, cells = both()
    for module in ("panel.sparse", "online.replays", "measures.fixed_weights"):
        monkeypatch.setattr(f"truepool.{module}.DENSE_CELLS", 100)
    trace = replay("gradient", cells, loss="log")
    assert trace.weights is None
    assert trace.regret is None
    with pytest.raises(SettingError, match="the learner 'auto' needs every cell"):
        replay("auto", cells)


@pytest.mark.parametrize("loss", NAMES)
@pytest.mark.parametrize("fn", [3, "amount"])
def test_credit_is_the_same_in_either_layout(loss, fn):
    amount = np.linspace(1.0, 4.0, 120)
    dense, cells = both(columns={"amount": amount})
    setup = {"loss": loss, "costs": Costs(fn=fn)}
    expected = credit.leave_one_out(dense, **setup)
    found = credit.leave_one_out(cells, **setup)
    assert_allclose(found, expected, atol=ROUNDING)
    assert_allclose(
        credit.credit_per_report(found, cells, cells.weights),
        credit.credit_per_report(expected, dense, dense.weights),
        atol=ROUNDING,
    )
    drawn = credit.leave_one_out(cells, removals=len(cells.agents), **setup)
    assert_allclose(drawn, found, atol=ROUNDING)  # all are drawn
    orders = {"orders": (10, 10)}
    expected = credit.sample_shapley(dense, **setup, **orders)
    found = credit.sample_shapley(cells, **setup, **orders)
    assert_allclose(found.credit, expected.credit, atol=ROUNDING)
    assert_allclose(found.standard_errors, expected.standard_errors, atol=ROUNDING)


def test_by_default_only_pools_that_scale_are_tried_on_a_mostly_empty_panel(
    monkeypatch,
):
    dense, cells = both()
    assert not dense.mostly_empty
    usual = pools.make("auto").fit_panel(dense)
    assert "stacked-lr" in {candidate.name for candidate in usual.table_}
    monkeypatch.setattr(sparse, "SPARSE_CELLS", 1_000)
    for panel in (dense, cells):
        assert panel.mostly_empty  # whatever its layout
        tried = {c.name for c in pools.make("auto").fit_panel(panel).table_}
        assert "shrunk" in tried
        assert tried <= set(SCALING)
    monkeypatch.setattr("truepool.pools.auto.is_wide", lambda panel: True)
    tried = {c.name for c in pools.make("auto").fit_panel(cells).table_}
    assert "shrunk" not in tried
    compared = {row.pool for row in compare(cells, resamples=50).rows}
    assert compared <= set(SCALING)
    assert "vote" in {row.pool for row in compare(cells, pools=["vote"]).rows}
