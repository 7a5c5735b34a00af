import numpy as np
import pytest
from scipy.optimize import minimize

from truepool.core.engine import Cell
from truepool.datasets import synthetic
from truepool_lab.paper.experiments.regret import Regret


def by_hand(reports, outcomes, rate, prices):
    """alg:vcg line by line, and the best fixed weighting by a general optimiser."""
    N = reports.shape[1]
    weights, lost = np.full(N, 1 / N), 0.0
    for r, y in zip(reports, outcomes, strict=True):
        pooled = weights @ r
        without = (pooled - weights * r) / (1 - weights)
        price = prices[y]
        lost += price * (pooled - y) ** 2
        weights = weights * np.exp(
            rate * price * ((without - y) ** 2 - (pooled - y) ** 2)
        )
        weights /= weights.sum()
    costs = np.take(prices, outcomes)
    best = minimize(
        lambda w: (costs * (reports @ w - outcomes) ** 2).sum(),
        np.full(N, 1 / N),
        bounds=[(0, 1)] * N,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        tol=1e-12,
    ).fun
    alone = (costs[:, None] * (reports - outcomes[:, None]) ** 2).sum(axis=0).min()
    return lost - best, lost - alone


def rows_of(T, table):
    cell = Cell("regret", (("T", T), ("table", table)), 3)
    rows = {(*row["key"], row["column"]): row["value"] for row in Regret.measure(cell)}
    return rows, synthetic(T, cell.seed("stream"))


def test_regret_is_that_of_the_algorithm_as_printed():
    rows, panel = rows_of(100, "tab:regret")
    for rate, column in (
        (0.5, "eta=0.5"),
        (np.sqrt(np.log(5) / 100), "eta=sqrt(ln n/T)"),
    ):
        regret, to_agent = by_hand(panel.reports, panel.outcomes, rate, [1, 1])
        assert rows["R_T", 100, column] == pytest.approx(regret, abs=1e-5)
        assert rows["R_T/sqrt(T)", 100, column] == pytest.approx(regret / 10, abs=1e-6)
        assert rows["R_T against the best agent", 100, column] == pytest.approx(
            to_agent
        )


def test_the_asymmetric_loss_counts_what_is_missed_ten_times():
    rows, panel = rows_of(100, "tab:regret_main")
    regret, _ = by_hand(
        panel.reports, panel.outcomes, np.sqrt(np.log(5) / 100), [1, 10]
    )
    assert rows[100, "regret"] == pytest.approx(regret, abs=1e-4)
    assert rows[100, "regret/T"] == pytest.approx(rows[100, "regret"] / 100)
    assert rows[100, "regret/sqrt(T)"] == pytest.approx(rows[100, "regret"] / 10)


def test_full_size_looks_further():
    experiment = Regret()
    assert {cell["T"] for cell in experiment.cells("full")} == {100, 500, 1000, 10_000}
    assert all(experiment.effort(cell) > 0 for cell in experiment.cells("quick"))
