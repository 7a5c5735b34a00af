import numpy as np
import pytest
from numpy.testing import assert_array_equal

from truepool.datasets.synthetic import synthetic
from truepool.lab import Cell
from truepool.panel import Panel
from truepool.paper.expected import printed
from truepool.paper.experiments.when_vcg import REGIMES, WhenVCG, _compared, _followed


def test_the_regimes_are_those_of_the_table():
    assert [(regime,) for regime in REGIMES] == list(printed()["tab:when_vcg"].keys)


@pytest.mark.parametrize(("place", "low", "high"), [(3, 0.01, 0.05), (5, 0.001, 0.01)])
def test_rare_outcomes_are_as_rare_as_the_regime_says(place, low, high):
    panel = list(REGIMES.values())[place](0)
    assert low < panel.outcomes.mean() < high


@pytest.mark.parametrize("regime", list(REGIMES))
def test_a_regime_is_the_same_for_the_same_seed(regime):
    assert_array_equal(REGIMES[regime](3).reports, REGIMES[regime](3).reports)


def test_where_one_agent_knows_and_the_rest_mislead_it_is_left_alone():
    good = synthetic(300, 0, skill=[6.0, 6.0])
    wrong = np.random.default_rng(0).random((300, 4)) * 0.1
    panel = Panel(np.column_stack([good.reports[:, 0], wrong]), good.outcomes)
    assert _compared(panel, 0.5) in (
        "Best-Individual",
        "VCG",
        "Stacking-LR",
        "Stacking-MLP",
    )
    assert _compared(panel, None) != "Majority Vote"


def test_under_drift_weights_that_follow_cost_least():
    panel = REGIMES["Non-stationary environments (drift)"](0)
    assert _followed(panel, 0.5) != "VCG"


def test_both_thresholds_are_answered():
    cell = Cell("when-vcg", (("regime", "Non-stationary environments (drift)"),), 0)
    assert [r["column"] for r in WhenVCG.measure(cell)] == [
        "recommendation",
        "at the costs' threshold",
    ]
    sparse = Cell("when-vcg", (("regime", "Data-sparse (n_train <= 500)"),), 0)
    assert len(WhenVCG.measure(sparse)) == 2
    assert WhenVCG().effort(cell) > 0
