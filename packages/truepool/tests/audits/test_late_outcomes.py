"""Outcomes that are not known yet, and count as negative, are asked about."""

import numpy as np
import pytest
from checked import evidence_of, ill
from faults import SKILLS
from simulated_faults import quality_panel

from truepool.audits import Note, audit
from truepool.audits.late_outcomes import find_late_outcomes
from truepool.measures.folds import evaluation_cases, panel_splits
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

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


def found_in(panel):
    return find_late_outcomes(evidence_of(panel, costs=COSTS))


def test_it_is_the_diagnosis_of_the_outcome_and_no_agent_is_blamed():
    """Every figure is without the outcomes that are asked about."""
    panel = late()
    result = audit(panel, **QUICK)
    assert (result.outcome.code, result.outcome.severity) == (
        "late-outcomes",
        "warning",
    )
    assert "outcome-rate" not in {finding.code for finding in result.findings}
    assert ill(result) == {}
    assert result.plan.steps[0].action == "empty-late"
    since = np.datetime64(result.outcome.date)
    kept = panel.take(panel.times < since)
    assert result.cases == len(kept) < CASES
    alarms = kept.reports.mean(axis=1) > COSTS.threshold
    tested = evaluation_cases(panel_splits(kept, 5, 0))
    recall = alarms[tested][kept.outcomes[tested] == 1].mean()
    assert result.operations[0].recall.value == pytest.approx(recall)
    waiting = {"form": "feeds", "count": CASES - len(kept)}
    assert Note("pending", waiting) in result.notes


def test_the_reports_of_these_cases_still_show_a_dead_feed():
    panel = late()
    reports = panel.reports.copy()
    reports[-400:, 1] = 0.07
    found = audit(Panel(reports, panel.outcomes, times=panel.times), **QUICK)
    assert ill(found) == {"agent1": ("constant-feed", "error")}


def test_a_rate_that_falls_with_the_reports_is_no_question():
    """Fewer positive cases come, and the agents say so."""
    panel = sound(0)
    drop = (np.arange(CASES) >= 0.8 * CASES) & (panel.outcomes == 1)
    drop &= np.random.default_rng(1).random(CASES) < 0.7
    kept = panel.take(~drop)
    assert found_in(dated(kept)) is None


@pytest.mark.parametrize("seed", range(20))
def test_sound_outcomes_are_not_asked_about(seed):
    """At a level of .002, one of 20 panels is asked about by chance in 4 % of runs."""
    panel = dated(sound(seed, cases=2000))
    assert found_in(panel) is None


def test_without_times_nothing_is_late():
    panel = late()
    undated = Panel(panel.reports, panel.outcomes)
    assert found_in(undated) is None


def test_cases_that_wait_already_stay_where_they_are():
    panel = late()
    pending = panel.with_pending(
        panel.reports[:30], times=panel.times.max() + np.arange(1, 31)
    )
    found = audit(pending, **QUICK)
    waiting = CASES + 30 - found.cases
    assert Note("pending", {"form": "feeds", "count": waiting}) in found.notes
