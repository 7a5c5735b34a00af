"""Agents that lose their skill do so along the schedule, and to noise of its size."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool.core.arrays import log_scale
from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.panel import Panel
from truepool_lab.stress.degradation import Degradation
from truepool_lab.stress.drift import KINDS, schedule

MOVING = [kind for kind in KINDS if kind != "none"]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", MOVING)
def test_log_odds_move_along_the_schedule_to_the_noise(kind, classes):
    panel = random_panel(3, cases=60, classes=classes, silent=0.2)
    at_once = Degradation("sudden", noise=2.0, at=0.0)(panel, "agent1")
    moved = schedule(kind, 60)[:, None]
    expected = (1 - moved) * log_scale(panel.values[:, 1])
    expected = expected + moved * log_scale(at_once.values[:, 1])
    found = log_scale(Degradation(kind, noise=2.0)(panel, "agent1").values[:, 1])
    assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_noise_knows_nothing_and_has_its_size(classes):
    T = 20_000
    panel = random_panel(1, cases=T, classes=classes)
    spoilt = Degradation("sudden", noise=1.5, at=0.0)(panel, "agent0")
    odds = log_scale(spoilt.values[:, 0])
    pairs = [*odds.T, *(odds[:, 1:] - odds[:, :-1]).T]  # of every class with others
    for pair in pairs:
        assert_allclose(pair.std(), 1.5, atol=5 * 1.5 / np.sqrt(2 * T))
        for k in range(classes):
            of_class = panel.outcomes == k
            assert abs(pair[of_class].mean()) < 5 * 1.5 / np.sqrt(of_class.sum())


def test_no_noise_leaves_an_agent_undecided():
    spoilt = Degradation("sudden", noise=0.0)(random_panel(), "agent0")
    assert_allclose(spoilt.reports[40:, 0], 0.5)


def test_time_orders_the_drift_not_the_rows():
    panel = random_panel(cases=40)
    backwards = Panel(
        panel.reports, panel.outcomes, ids=range(40), times=np.arange(40)[::-1]
    )
    spoilt = Degradation("sudden")(backwards, "agent0")
    assert (spoilt.reports[:20, 0] != panel.reports[:20, 0]).all()
    assert_array_equal(spoilt.reports[20:], panel.reports[20:])
    assert_array_equal(spoilt.times, backwards.times)
    assert_array_equal(spoilt.ids, backwards.ids)


def test_a_case_in_which_nobody_spoke_may_degrade_too():
    reports = random_panel().reports.copy()
    reports[5] = np.nan
    panel = Panel(reports, random_panel().outcomes, allow_empty_cases=True)
    assert np.isnan(Degradation("gradual")(panel, "agent0").reports[5]).all()


@pytest.mark.parametrize("noise", [-1.0, np.nan, np.inf])
def test_noise_has_a_size(noise):
    with pytest.raises(SettingError, match="noise must be"):
        Degradation("sudden", noise=noise)(random_panel(), "agent0")


def test_an_unknown_drift_is_refused_before_there_is_a_panel():
    with pytest.raises(UnknownNameError, match="did you mean 'sudden'"):
        Degradation("suden")
