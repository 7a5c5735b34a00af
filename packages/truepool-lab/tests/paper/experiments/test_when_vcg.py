import pytest
from numpy.testing import assert_array_equal

from truepool.core.engine import Cell
from truepool.datasets import synthetic
from truepool.measures.folds import out_of_fold, splits
from truepool.measures.losses import Loss
from truepool.pools import configure
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments.when_vcg import (
    METHODS,
    REGIMES,
    WhenVCG,
    _best_learner,
    _best_pool,
)
from truepool_lab.paper.settings import COSTS


def test_the_regimes_are_those_of_the_table():
    assert [(regime,) for regime in REGIMES] == list(
        paper_tables()["tab:when_vcg"].keys
    )


@pytest.mark.parametrize(("place", "low", "high"), [(3, 0.01, 0.05), (5, 0.001, 0.01)])
def test_rare_outcomes_are_as_rare_as_the_regime_says(place, low, high):
    panel = list(REGIMES.values())[place](0)
    assert low < panel.outcomes.mean() < high


@pytest.mark.parametrize("regime", list(REGIMES))
def test_a_regime_is_the_same_for_the_same_seed(regime):
    assert_array_equal(REGIMES[regime](3).reports, REGIMES[regime](3).reports)


@pytest.mark.parametrize("threshold", [0.5, None])
def test_the_answer_costs_least_out_of_fold(threshold):
    panel = synthetic(150, 0, correlation=0.5)
    loss = Loss("cost", COSTS, threshold)
    pairs = splits(panel.outcomes, 5, 0)
    cost = {}
    for name, method in METHODS.items():
        extra = {"loss": "cost"} if name == "vcg" else {}
        pool = configure(name, costs=COSTS, threshold=threshold, **extra)
        pooled = out_of_fold(pool, panel, pairs, None)
        cost[method] = loss(pooled, panel.outcomes).mean()
    assert cost[_best_pool(panel, threshold)] == min(cost.values())


def test_under_drift_weights_that_follow_cost_least():
    panel = REGIMES["Non-stationary environments (drift)"](0)
    assert _best_learner(panel, 0.5) != "VCG"


def test_both_thresholds_are_answered():
    cell = Cell("when-vcg", (("regime", "Non-stationary environments (drift)"),), 0)
    assert [r["column"] for r in WhenVCG.measure(cell)] == [
        "recommendation",
        "at the costs' threshold",
    ]
    sparse = Cell("when-vcg", (("regime", "Data-sparse (n_train <= 500)"),), 0)
    assert len(WhenVCG.measure(sparse)) == 2
    assert WhenVCG().effort(cell) > 0
