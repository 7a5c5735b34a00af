import numpy as np
from checked import found_by
from faults import COSTS, sound, timed
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.panel.panel import Panel


def findings_of(panel):
    return found_by("outcome rate", panel)


def test_a_share_of_positives_that_doubles_is_a_warning_and_nobodys_fault():
    early, late = sound(0, cases=1500), sound(1, cases=1500)
    rare = np.flatnonzero((early.outcomes == 0) | (np.arange(1500) % 3 == 0))
    early = early.take(rare)
    panel = Panel(
        np.r_[early.reports, late.reports], np.r_[early.outcomes, late.outcomes]
    )
    result = audit(timed(panel), costs=COSTS, resamples=50)
    assert (result.outcome.code, result.outcome.severity) == ("outcome-rate", "warning")
    assert abs(result.outcome.since - len(rare)) < 100
    said, since = result.outcome.finding.facts, result.outcome.since
    parts = panel.outcomes[:since], panel.outcomes[since:]
    assert_allclose([said["before"], said["after"]], [part.mean() for part in parts])
    assert result.outcome.finding.who == ()


def test_shares_that_stay_are_not_mentioned():
    assert findings_of(timed(sound())) == []


def test_the_class_whose_share_changed_is_named():
    rng = np.random.default_rng(0)
    outcomes = np.r_[rng.integers(0, 2, 800), rng.integers(0, 3, 800)]
    weights = np.eye(3)[outcomes][:, None, :] + rng.exponential(size=(1600, 3, 3))
    reports = weights / weights.sum(axis=2, keepdims=True)
    (found,) = findings_of(Panel(reports, outcomes, times=np.arange(1600)))
    assert (found.facts["form"], found.facts["name"]) == ("many", "2")
