import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from truepool import weights
from truepool.core.errors import SettingError

NUMBERS = arrays(
    np.float64, st.integers(1, 8), elements=st.floats(-1e300, 1e300, allow_nan=False)
)


@given(NUMBERS)
def test_proportional_weights_lie_on_the_simplex(merits):
    found = weights.proportional(merits)
    assert (found >= 0).all()
    assert_allclose(found.sum(), 1.0)
    assert not found[merits <= 0].any() or not (merits > 0).any()


def test_the_smallest_merits_keep_their_proportions():
    assert_allclose(
        weights.proportional(np.array([3e-320, 1e-320])), [0.75, 0.25], rtol=1e-3
    )


def test_an_infinite_loss_earns_no_weight():
    assert_allclose(weights.inverse(np.array([0.1, np.inf])), [1.0, 0.0])


def test_equal_weights_are_as_many_agents_as_there_are():
    assert_allclose(weights.effective_number(weights.uniform(7)), 7)


@pytest.mark.parametrize("bad", [[0.5, 0.6], [1.5, -0.5], [1.0], [np.nan, 1.0]])
def test_weights_off_the_simplex_are_refused(bad):
    with pytest.raises(SettingError, match="weights must"):
        weights.as_weights(bad, agents=2)


@pytest.mark.parametrize("given", [[1.0], [0.5, 0.25, 0.25], [[0.5, 0.5]]])
def test_weights_are_one_number_for_each_agent(given):
    with pytest.raises(SettingError):
        weights.as_weights(given, agents=2)
    assert weights.as_weights([0.25, 0.75], agents=2).tolist() == [0.25, 0.75]
