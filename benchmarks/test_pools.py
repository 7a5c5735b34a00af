"""Pooling and learning, against one pass of numpy.sum over the same reports."""

import tracemalloc

import numpy as np
import pytest

from truepool.data.costs import Costs
from truepool.datasets import example
from truepool.online import Stream
from truepool.pools import load_pool
from truepool.pools.mean import Mean
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
