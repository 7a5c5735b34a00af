import numpy as np
import pytest
from faults import COSTS, flipped, sound, timed
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import audit
from truepool.audits.topics.reversal import REVERSED
from truepool.data.panel import Panel
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.stress.sleeper import Sleeper

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(panel, **changes):
    findings = audit(panel, **QUICK | changes).findings
    return [f for f in findings if f.code == "reversed"]


def test_its_number_is_the_area_under_the_curve():
    panel = flipped()
    (finding,) = findings_of(panel)
    assert_allclose(finding.number.value, auc(panel.reports[:, 1], panel.outcomes))
    assert finding.cost.low > 0


def test_it_explains_the_miscalibration_of_the_same_agent():
    findings = audit(flipped(), **QUICK).findings
    others = [f for f in findings if f.who == ("agent1",) and f.code != "reversed"]
    assert others
    assert {f.severity for f in others} == {"note"}


def test_noise_is_not_reversed():
    base = sound()
    noise = np.random.default_rng(0).random((2000, 1))
    assert findings_of(Panel(np.hstack([base.reports, noise]), base.outcomes)) == []


def test_an_agent_that_spoke_once_is_not_judged():
    panel = sound(cases=100)
    reports = panel.reports.copy()
    reports[1:, 4] = np.nan
    assert findings_of(Panel(reports, panel.outcomes)) == []


def test_its_interval_is_where_resamples_of_the_area_fall():
    panel = flipped(cases=600)
    (finding,) = findings_of(panel)
    rng = np.random.default_rng(0)
    draws = [
        auc(panel.reports[rows, 1], panel.outcomes[rows])
        for rows in rng.integers(0, 600, (400, 600))
    ]
    # The error of 400 resamples at their 2.5 % points is about a tenth of the width.
    assert_allclose(
        (finding.number.low, finding.number.high),
        np.quantile(draws, (0.025, 0.975)),
        atol=0.01,
    )


def test_an_area_of_more_than_two_classes_has_no_interval():
    panel = random_panel(2, cases=400, classes=3, skill=3.0)
    outcomes = np.where(panel.outcomes == 1, 0, panel.outcomes)
    outcomes[:3] = [0, 1, 2]
    reports = panel.reports.copy()
    reports[:, 0] = reports[:, 0, ::-1]
    (finding,) = findings_of(Panel(reports, outcomes), costs=None)
    assert np.isnan(finding.number.low)


def turned(at, seed=0):
    """A sound panel in which agent2 reports the opposite from a share of it on."""
    return Sleeper(at=at)(timed(sound(seed, cases=3000)), "agent2", seed=seed)


@pytest.mark.parametrize("seed", range(3))
def test_an_agent_that_turned_is_dated_and_its_sound_reports_are_not_reversed(seed):
    finding = audit(turned(0.3, seed), **QUICK)
    assert (finding.findings[0].severity, finding.findings[0].who) == (
        "error",
        ("agent2",),
    )
    (turn,) = (f for f in finding.findings if f.code == "reversed")
    assert abs(turn.since - 900) < 60
    assert "was reversed at case" in turn.sentence
    assert turn.advice.endswith("do not reverse them.")
    assert "reverse its reports" not in finding.advice
    assert "take agent2 out of the pool" in finding.advice


def test_what_an_agent_that_turned_costs_is_what_leaving_it_out_since_then_saves():
    panel = turned(0.3)
    (finding,) = findings_of(panel)
    later = panel.reports.copy()
    later[finding.since :, 2] = np.nan
    loss = Loss("cost", COSTS)
    as_is, without = (
        loss.of(np.nanmean(reports, axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, later)
    )
    tested = 5 / 6  # the first sixth of the cases only teaches
    assert_allclose(finding.cost.value, (as_is - without) / tested)


def test_an_agent_that_was_always_reversed_has_no_date():
    (finding,) = findings_of(timed(flipped()))
    assert finding.since is None
    assert "one minus its report" in finding.advice


def test_the_level_of_a_reversed_area():
    assert REVERSED == 0.45
