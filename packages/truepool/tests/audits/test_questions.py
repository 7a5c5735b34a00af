"""A case that updates split into rows is one case: the same audit as of one row."""

import numpy as np
import pytest
from faults import COSTS, sound, timed
from numpy.testing import assert_allclose

from truepool import compare
from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.reliability import calibration
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

CASES = 200


def names(count):
    return np.array([f"q{t:04}" for t in range(count)])


def whole(panel, **more):
    """Return the panel with one row per case, each a group of its own."""
    ids = names(len(panel))
    return Panel(panel.reports, panel.outcomes, ids=ids, groups=ids, **more)


def split(panel, **more):
    """Return the panel with each case in one to six rows that say the same."""
    count = np.random.default_rng(0).integers(1, 7, len(panel))
    rows = np.repeat(np.arange(len(panel)), count)
    ids = names(len(panel))[rows]
    return Panel(
        panel.reports[rows], panel.outcomes[rows], ids=ids, questions=ids,
        weights=1 / count[rows], **{name: column[rows] for name, column in more.items()},
    )  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "dates"])
def audits(request):
    panel = sound(cases=CASES, seed=1)
    reports = panel.reports.copy()
    reports[120:, 1] = 0.05
    reports[:, 2] = 1 - reports[:, 2]
    panel = Panel(reports, panel.outcomes)
    days = np.datetime64("2026-01-01") + np.arange(CASES)
    more = {"times": days} if request.param else {}
    return [
        audit(make(panel, **more), costs=COSTS, resamples=50) for make in (whole, split)
    ]


def test_the_cases_are_counted_once(audits):
    one, parts = audits
    assert (one.cases, one.positives, one.label_cases) == (
        parts.cases,
        parts.positives,
        parts.label_cases,
    )
    assert parts.cases == CASES
    assert parts.plan.trust == one.plan.trust
    assert [c.cases for c in parts.calibration[:5]] == [CASES] * 5
    # Over time, a fold ends where the rows do and not the cases.
    assert abs(parts.plan.tested - one.plan.tested) <= 1
    assert parts.weighted_share is None


def test_intervals_and_tests_are_those_of_as_many_cases(audits):
    one, parts = audits
    for before, after in zip(one.calibration[:5], parts.calibration, strict=False):
        for name in ("bias", "slope"):
            found = [vars(c)[name] for c in (before, after)]
            if found[0] is not None:
                assert_allclose(bounds(found[1]), bounds(found[0]), atol=1e-6)
        for name in ("mean_report", "frequency", "cases", "low", "high"):
            bins = [vars(c.reliability)[name] for c in (before, after)]
            assert_allclose(bins[1], bins[0], atol=1e-9)
    # Of the tested cases, of which there may be one more or less over time.
    tested = one.plan.tested
    apart = abs(parts.plan.tested - tested) / tested
    for before, after in zip(one.summaries, parts.summaries, strict=True):
        assert_allclose(after.brier, before.brier, atol=apart)


def bounds(found):
    return [found.value, found.low, found.high]


def test_changes_are_found_at_the_same_case(audits):
    found = [
        {(f.code, f.since, f.date, str(f.facts)) for f in result.findings if f.since}
        for result in audits
    ]
    assert ("constant-feed", 120) in {f[:2] for f in found[1]}
    assert found[0] == found[1]


def test_too_few_questions_are_too_few_however_often_they_were_updated():
    panel = split(sound(cases=25))
    assert len(panel) > 60
    evidence = Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, 0)
    assert evidence.shortage == "at least 30 outcomes are needed, got 25"
    result = compare(panel, pools=["mean"], resamples=50)
    assert (result.cases, result.tested) == (25, 25)


def test_pending_questions_are_counted_once():
    panel = split(timed(sound(cases=60)), times=np.arange(60))
    rows = panel.reports[:5]
    waiting = panel.with_pending(rows, ids=list("aabbb"), times=[90, 90, 91, 91, 91])
    whole = waiting.unsplit()
    assert (len(whole), len(whole.pending)) == (60, 2)
    assert whole.pending.ids.tolist() == ["a", "b"]
    assert whole.weights is None is whole.groups


def test_groups_that_are_named_stay_groups():
    panel = sound(cases=40)
    rows = np.repeat(np.arange(40), 2)
    split = Panel(
        panel.reports[rows], panel.outcomes[rows], questions=rows, groups=rows // 5
    )
    assert len(set(split.unsplit().groups.tolist())) == 8


def test_a_slope_that_rests_on_one_pair_of_questions_is_not_estimated():
    p = np.r_[np.linspace(0.01, 0.4, 100), np.linspace(0.6, 0.99, 100)][:, None]
    outcomes = np.repeat([0, 1], 100)
    p[99] = 0.602  # above the lowest report on a positive case, and no other
    one = calibration("ada", p, outcomes, 0.95)
    rows = np.repeat(np.arange(200), 8)  # 64 pairs of rows
    shares = np.full(len(rows), 1 / 8)
    parts = calibration("ada", p[rows], outcomes[rows], 0.95, shares, rows, rows)
    assert one.slope is None is parts.slope
    assert one.no_slope == parts.no_slope != ""
