import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import random_panel

from truepool.core.errors import ReportError, SettingError
from truepool.measures.decisions import decide
from truepool.panel.costs import Costs


@given(st.integers(0, 1000), st.floats(0.1, 20), st.floats(0.1, 20))
def test_no_other_class_is_cheaper(seed, fn, fp):
    rng = np.random.default_rng(seed)
    pooled = rng.dirichlet(np.ones(4), 20)
    costs = Costs(fn=fn, fp=fp)
    expected = pooled @ costs.table(4)
    decided = decide(pooled, costs)
    assert (expected[np.arange(20), decided] <= expected.min(axis=1) + 1e-12).all()


@given(st.floats(0, 1), st.floats(0.1, 20), st.floats(0.1, 20))
def test_two_classes_are_decided_at_the_threshold(p, fn, fp):
    costs = Costs(fn=fn, fp=fp)
    assert decide([p], costs)[0] == (p > costs.threshold)


def test_at_the_threshold_the_decision_is_0():
    assert decide([0.3], threshold=0.3)[0] == 0


def test_a_threshold_between_three_classes_is_refused():
    with pytest.raises(SettingError, match="two classes; the panel has 3"):
        decide(random_panel(classes=3).reports[:, 0], threshold=0.5)


@pytest.mark.parametrize("bad", [[1.2], [np.nan], [[[0.5]]]])
def test_invalid_probabilities_are_refused(bad):
    with pytest.raises(ReportError):
        decide(bad)
