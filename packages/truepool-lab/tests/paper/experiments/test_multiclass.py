import numpy as np
import pytest

from truepool.core.engine import Cell
from truepool_lab.datasets.intrusion import PARTS
from truepool_lab.paper.experiments.multiclass import Multiclass


@pytest.fixture(scope="module")
def found():
    rows = Multiclass.measure(Cell("multiclass", (("rows", 1500),), 0))
    return {(r["table"], r["key"][0], r["column"]): r["value"] for r in rows}


@pytest.mark.parametrize(
    "method", ["Majority Vote", "Weighted Avg", "VCG", "Brier", "Externality"]
)
def test_both_tables_tell_of_the_same_decisions(found, method):
    recalls = np.array([found["tab:perclass", name, method] for name in PARTS])
    parts = np.array(list(PARTS.values()))
    accuracy = (recalls * parts / parts.sum()).sum()
    # classes share the test rows out in whole numbers
    assert found["tab:multiclass", method, "accuracy"] == pytest.approx(
        accuracy, abs=0.01
    )
    rare = recalls[parts / parts.sum() < 0.05]
    assert found["tab:multiclass", method, "rare recall"] == pytest.approx(rare.mean())


def test_calibration_is_told_of_three_averages(found):
    for method in ("Simple average", "Bayesian log-odds", "VCG"):
        assert 0 < found["tab:calibration", method, "ECE"] < 0.5
        assert 0 < found["tab:calibration", method, "Brier score"] < 2 / 12
