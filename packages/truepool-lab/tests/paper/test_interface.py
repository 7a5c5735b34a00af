import numpy as np
import pytest

from truepool.core.engine import Cell
from truepool_lab.paper.experiments.hyperparams import Hyperparams
from truepool_lab.paper.interface import row


@pytest.mark.parametrize("value", [np.nan, float("inf"), np.float64("-inf")])
def test_what_is_not_finite_is_undefined(value):
    assert row("tab:x", ("a", 1), "c", value)["value"] is None


def test_rows_hold_plain_values():
    made = row("tab:x", ("a", 1), "c", np.float32(0.5))
    assert made == {"table": "tab:x", "key": ["a", 1], "column": "c", "value": 0.5}
    assert type(made["value"]) is float


def test_an_experiment_draws_only_what_it_says_it_can():
    experiment = Hyperparams()
    assert experiment.effort(Cell("x", (), 0)) > 0
    assert experiment.derive([]) == []
    with pytest.raises(NotImplementedError, match="fig:overview"):
        experiment.figure("fig:overview", [])
