import numpy as np
from faults import COSTS, sound, timed

from truepool.audits import audit
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def findings_of(panel):
    return [f for f in audit(panel, **QUICK).findings if f.code == "outcome-rate"]


def test_a_share_of_positives_that_doubles_is_a_warning_and_nobodys_fault():
    early, late = sound(0, cases=1500), sound(1, cases=1500)
    rare = np.flatnonzero((early.outcomes == 0) | (np.arange(1500) % 3 == 0))
    early = early.take(rare)
    panel = Panel(
        np.r_[early.reports, late.reports], np.r_[early.outcomes, late.outcomes]
    )
    (finding,) = findings_of(timed(panel))
    assert (finding.severity, finding.who) == ("warning", ())
    assert abs(finding.since - len(rare)) < 100
    assert findings_of(panel) == []  # rows without times


def test_shares_that_stay_are_not_mentioned():
    assert findings_of(timed(sound())) == []


def test_the_class_whose_share_changed_is_named():
    rng = np.random.default_rng(0)
    outcomes = np.r_[rng.integers(0, 2, 800), rng.integers(0, 3, 800)]
    weights = np.eye(3)[outcomes][:, None, :] + rng.exponential(size=(1600, 3, 3))
    reports = weights / weights.sum(axis=2, keepdims=True)
    (finding,) = [
        f
        for f in audit(
            Panel(reports, outcomes, times=np.arange(1600)), resamples=50
        ).findings
        if f.code == "outcome-rate"
    ]
    assert "outcome 2" in finding.sentence
