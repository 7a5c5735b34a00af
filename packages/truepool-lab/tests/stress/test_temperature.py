"""Temperatures act on log-odds, multiply, and do to calibration what the paper says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels, random_panel

from truepool.core.arrays import log_scale
from truepool.core.errors import SettingError
from truepool.measures.scores import ece
from truepool.panel.panel import Panel
from truepool_lab.stress.drift import quality_panel
from truepool_lab.stress.temperature import Temperature

ANY_PANEL = st.one_of(panels(), panels(classes=3))
TEMPERATURES = st.floats(0.3, 3)


@given(ANY_PANEL)
def test_temperature_one_leaves_all_as_it_is(panel):
    assert_array_equal(Temperature(1.0)(panel, panel.agents).reports, panel.reports)


@pytest.mark.parametrize("classes", [2, 4])
@given(T=TEMPERATURES, seed=st.integers(0, 100))
def test_log_odds_are_divided(classes, T, seed):
    panel = random_panel(seed, cases=20, classes=classes, silent=0.2)
    after = Temperature(T)(panel, "agent1")
    wanted = log_scale(panel.values[:, 1]) / T
    assert_allclose(log_scale(after.values[:, 1]), wanted, rtol=1e-9, atol=1e-9)


@given(ANY_PANEL, TEMPERATURES, TEMPERATURES)
def test_one_temperature_after_another_is_their_product(panel, one, other):
    both = Temperature(one * other)(panel, panel.agents)
    each = Temperature(other)(Temperature(one)(panel, panel.agents), panel.agents)
    assert_allclose(each.reports, both.reports, atol=1e-12)


@pytest.mark.parametrize("T", [1e-3, 0.5, 1.5, 1e3])
def test_certainties_stay_certain_and_a_shrug_a_shrug(T):
    panel = Panel([[0.0, 1.0], [1.0, 0.5]], [0, 1])
    assert_array_equal(Temperature(T)(panel, panel.agents).reports, panel.reports)


def test_a_low_temperature_overstates_and_a_high_one_understates():
    skills = [1.5] * 3
    panel = quality_panel(
        "none", before=skills, after=skills, cases=20_000, honest=True
    )
    errors, boldness = {}, {}
    for T in (0.5, 1.0, 1.5):
        reports = Temperature(T)(panel, 1.0).reports[:, 0]
        errors[T] = ece(reports, panel.outcomes)
        boldness[T] = np.abs(reports - 0.5).mean()
    assert errors[1.0] < 0.02 < min(errors[0.5], errors[1.5])
    assert boldness[0.5] > boldness[1.0] > boldness[1.5]


@pytest.mark.parametrize("T", [0.0, -1.0, np.inf, np.nan])
def test_a_temperature_is_positive(T):
    with pytest.raises(SettingError, match="a temperature must be positive"):
        Temperature(T)
