"""Outcomes that are not known yet, and count as negative, are asked about."""

import numpy as np
import pytest
from faults import SKILLS
from simulated_faults import quality_panel

from truepool.audits import audit
from truepool.audits.auditor import find_late_outcomes
from truepool.audits.evidence import Evidence
from truepool.audits.severity import LATE
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

COSTS = Costs(fn=10, fp=1)
QUICK = {"costs": COSTS, "resamples": 50}
CASES = 6000


def sound(seed, cases=CASES):
    """Calibrated agents; one case in ten is positive."""
    return quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=cases, base_rate=0.1,
        correlation=0.2, honest=True, seed=seed,
    )  # fmt: skip


def dated(panel, outcomes=None):
    times = np.datetime64("2026-01-01") + np.arange(len(panel)) // 50
    outcomes = panel.outcomes if outcomes is None else outcomes
    return Panel(panel.reports, outcomes, times=times)


def late(seed=0, share=0.12):
    """The newest positive cases count as negative; the reports are as they were."""
    panel = sound(seed)
    outcomes = panel.outcomes.copy()
    outcomes[int((1 - share) * CASES) :] = 0
    return dated(panel, outcomes)


def evidence_of(panel):
    return Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, 0)


def test_it_is_the_first_finding_and_no_agent_is_blamed():
    found = audit(late(), **QUICK)
    assert found.findings[0].code == LATE
    assert not [f for f in found.findings if f.who and f.severity != "note"]
    assert not [f for f in found.findings if f.code == "outcome-rate"]
    assert found.recommendation.fixes[0].code == LATE


def test_every_figure_is_without_the_outcomes_that_are_asked_about():
    panel = late()
    found = audit(panel, **QUICK)
    since = np.datetime64(found.findings[0].date)
    kept = panel.take(panel.times < since)
    assert found.cases == len(kept) < CASES
    assert found.operations[0].recall.value == pytest.approx(
        (kept.reports.mean(axis=1) > COSTS.threshold)[kept.outcomes == 1].mean()
    )
    assert any(f"{CASES - len(kept):,} cases have" in note for note in found.sampled)


def test_the_reports_of_these_cases_still_show_a_dead_feed():
    panel = late()
    reports = panel.reports.copy()
    reports[-400:, 1] = 0.07
    found = audit(Panel(reports, panel.outcomes, times=panel.times), **QUICK)
    dead = [f for f in found.findings if f.code == "constant-feed"]
    assert [f.who for f in dead] == [("agent1",)]


def test_a_rate_that_falls_with_the_reports_is_no_question():
    """Fewer positive cases come, and the agents say so."""
    panel = sound(0)
    drop = (np.arange(CASES) >= 0.8 * CASES) & (panel.outcomes == 1)
    drop &= np.random.default_rng(1).random(CASES) < 0.7
    kept = panel.take(~drop)
    assert find_late_outcomes(evidence_of(dated(kept))) is None


@pytest.mark.parametrize("seed", range(20))
def test_sound_outcomes_are_not_asked_about(seed):
    """At a level of .002, one of 20 panels is asked about by chance in 4 % of runs."""
    panel = dated(sound(seed, cases=2000))
    assert find_late_outcomes(evidence_of(panel)) is None


def test_without_times_nothing_is_late():
    panel = late()
    undated = Panel(panel.reports, panel.outcomes)
    assert find_late_outcomes(evidence_of(undated)) is None


def test_cases_that_wait_already_stay_where_they_are():
    panel = late()
    pending = panel.with_pending(
        panel.reports[:30], times=panel.times.max() + np.arange(1, 31)
    )
    found = audit(pending, **QUICK)
    waiting = CASES + 30 - found.cases
    assert any(
        f"{waiting:,} cases have no outcome yet" in note for note in found.sampled
    )
