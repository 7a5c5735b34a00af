"""Pooling and learning, against one pass of numpy.sum over the same reports."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import expit

from truepool.datasets import example
from truepool.online import Stream
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools import load_pool
from truepool.pools.auto import Auto
from truepool.pools.mean import Mean
from truepool.pools.simplest import Simplest
from truepool.pools.vcg import VCG


@pytest.fixture(scope="module")
def many():
    return np.random.default_rng(0).random((10_000_000, 10))


@pytest.fixture(scope="module")
def settled():
    rng = np.random.default_rng(0)
    return rng.random((1_000_000, 20)), rng.integers(0, 2, 1_000_000)


@pytest.mark.parametrize("pool", [Mean(), VCG()], ids=["mean", "vcg"])
def test_pooling_ten_million_cases(ratio, many, pool):
    pool.fit(many[:1000], np.arange(1000) % 2)
    ratio(lambda: pool.predict_proba(many), lambda: many.sum(axis=1), at_most=2)


def test_pooling_makes_no_temporary_larger_than_its_output(many):
    pool = VCG().fit(many[:1000], np.arange(1000) % 2)
    pool.predict_proba(many[:10])
    tracemalloc.start()
    output = pool.predict_proba(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The output itself and at most as much again.
    assert peak <= 2 * output.nbytes + 1_000_000


def test_pooling_one_case_by_a_saved_pool(ratio, tmp_path):
    panel = example()
    VCG().fit_panel(panel).save(tmp_path / "v.pool")
    pool, stream = load_pool(tmp_path / "v.pool"), Stream("gradient", panel.agents)
    case = dict(zip(panel.agents, panel.reports[0].tolist(), strict=True))

    def many(one):
        return lambda: [one(case) for _ in range(1000)]

    ours, theirs = many(pool.predict_proba_one), many(stream.predict_proba_one)
    ratio(ours, theirs, at_most=1.5)


@pytest.mark.parametrize(
    ("pool", "at_most"),
    [
        pytest.param(VCG(loss="brier"), 4, id="brier"),
        pytest.param(VCG(loss="cost", costs=Costs(fn=10, fp=1)), 8, id="cost"),
    ],
)
def test_learning_vcg_weights_from_a_million_cases(ratio, settled, pool, at_most):
    reports, outcomes = settled
    ratio(lambda: pool.fit(reports, outcomes), reports.sum, at_most=at_most, rounds=15)


def test_learning_vcg_weights_is_linear_in_the_agents(ratio):
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 50_000)
    few, most = rng.random((50_000, 20)), rng.random((50_000, 160))
    pool = VCG()
    # Eight times the agents: eight times the work, not sixty-four.
    ratio(lambda: pool.fit(most, outcomes), lambda: pool.fit(few, outcomes), at_most=12)


@pytest.mark.parametrize("given", ["row", "dict"])
def test_one_case_of_auto_against_one_case_of_the_mean(ratio, given):
    panel = example()
    auto, mean = Auto().fit_panel(panel), Mean().fit_panel(panel)
    row = panel.reports[:1]
    case = dict(zip(panel.agents, row[0].tolist(), strict=True))

    def many(pool):
        if given == "row":
            return lambda: [pool.predict_proba(row) for _ in range(1000)]
        return lambda: [pool.predict_proba_one(case) for _ in range(1000)]

    ratio(many(auto), many(mean), at_most=3)


@pytest.mark.parametrize("given", ["row", "dict"])
def test_one_case_of_three_classes_of_auto_against_the_mean(ratio, given):
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 3, 300)
    reports = rng.dirichlet(np.ones(3), (300, 10)) + 0.5 * np.eye(3)[outcomes][:, None]
    panel = Panel(reports / 1.5, outcomes)
    auto, mean = Auto().fit_panel(panel), Mean().fit_panel(panel)
    row = panel.reports[:1]
    case = dict(zip(panel.agents, row[0].tolist(), strict=True))

    def many(pool):
        if given == "row":
            return lambda: [pool.predict_proba(row) for _ in range(300)]
        return lambda: [pool.predict_proba_one(case) for _ in range(300)]

    ratio(many(auto), many(mean), at_most=10)


def test_learning_auto_against_the_rule_that_it_replaced(ratio):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=100_000)
    outcomes = (rng.random(100_000) < expit(signal)).astype(int)
    noise = rng.normal(size=(100_000, 10)) * np.linspace(0.5, 2, 10)
    panel = Panel(expit(signal[:, None] + noise), outcomes)
    # The old rule is the pool `simplest`, which tries eleven candidates on all cases.
    auto, simplest = Auto(), Simplest()
    ratio(
        lambda: auto.fit_panel(panel),
        lambda: simplest.fit_panel(panel),
        at_most=2.5,
        rounds=2,
    )
