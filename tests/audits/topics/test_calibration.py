import numpy as np
import pytest
from faults import COSTS, over_confident, sound
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.core.arrays import from_log_scale, log_scale
from truepool.data.panel import Panel
from truepool.measures.losses import Loss
from truepool.stress.temperature import Temperature

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(panel, who, **settings):
    findings = audit(panel, **QUICK, **settings).findings
    return next(f for f in findings if f.who == (who,) and f.figure == "reliability")


def test_the_slope_of_an_over_confident_agent_is_its_temperature():
    finding = findings_of(over_confident(), "agent2")
    assert finding.unit == "calibration slope"
    assert finding.number.low < 0.4 < finding.number.high
    assert "is over-confident (too extreme): when it says" in finding.sentence


def test_an_under_confident_agent():
    finding = findings_of(Temperature(2.5)(sound(), "agent2"), "agent2")
    assert (finding.code, finding.severity) == ("under-confident", "error")
    assert finding.number.low < 2.5 < finding.number.high


@pytest.mark.parametrize(("shift", "word"), [(0.7, "high"), (-0.7, "low")])
def test_a_biased_agent(shift, word):
    panel = sound()
    values = panel.values.copy()
    values[:, 2] = from_log_scale(log_scale(values[:, 2]) + shift)
    finding = findings_of(panel.with_reports(values), "agent2")
    assert (finding.code, finding.unit) == ("biased", "bias")
    assert f"reports too {word}" in finding.sentence
    assert np.sign(finding.number.value) == np.sign(shift)


def test_a_slight_slope_is_told_by_the_slope_and_is_no_error():
    panel = sound(cases=20_000)
    finding = findings_of(Temperature(0.87)(panel, "agent2"), "agent2")
    assert finding.code == "over-confident"
    assert finding.severity in ("warning", "note")


def test_the_cost_is_what_recalibrating_the_agent_saves():
    panel = over_confident()
    finding = findings_of(panel, "agent2")
    # Out of fold or not: two numbers from 2,000 cases hardly differ.
    fixed = panel.reports.copy()
    fixed[:, 2] = sound().reports[:, 2]
    loss = Loss("cost", COSTS)
    saved = [
        loss.of(reports.mean(axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, fixed)
    ]
    assert_allclose(finding.cost.value, saved[0] - saved[1], atol=0.01)


def test_an_agent_that_hardly_spoke_is_not_judged():
    panel = sound(cases=200)
    reports = panel.reports.copy()
    reports[20:, 4] = np.nan
    finding = audit(Panel(reports, panel.outcomes), **QUICK)
    assert finding.calibration[4].slope is None
    assert not any(
        f.who == ("agent4",) and f.figure == "reliability" for f in finding.findings
    )
