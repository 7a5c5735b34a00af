import numpy as np
from faults import COSTS, flipped, sound
from numpy.testing import assert_allclose

from truepool.audit import audit
from truepool.panel import Panel
from truepool.scores import auc

QUICK = {"costs": COSTS, "resamples": 50}


def found(panel):
    told = audit(panel, **QUICK).findings
    return [f for f in told if f.code == "upside-down"]


def test_its_number_is_the_area_under_the_curve():
    panel = flipped()
    (told,) = found(panel)
    assert_allclose(told.number.value, auc(panel.reports[:, 1], panel.outcomes))
    assert told.cost.low > 0


def test_it_explains_the_miscalibration_of_the_same_agent():
    told = audit(flipped(), **QUICK).findings
    others = [f for f in told if f.who == ("agent1",) and f.code != "upside-down"]
    assert others
    assert {f.severity for f in others} == {"note"}


def test_noise_is_not_upside_down():
    base = sound()
    noise = np.random.default_rng(0).random((2000, 1))
    assert found(Panel(np.hstack([base.reports, noise]), base.outcomes)) == []


def test_an_agent_that_spoke_once_is_not_judged():
    panel = sound(cases=100)
    reports = panel.reports.copy()
    reports[1:, 4] = np.nan
    assert found(Panel(reports, panel.outcomes)) == []
