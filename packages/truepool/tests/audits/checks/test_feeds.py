import numpy as np
import pytest
from checked import evidence_of, found_by, ill, of, treated
from faults import COSTS, sound
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from truepool.audits import Note, audit
from truepool.audits.checks import feeds
from truepool.panel.panel import Panel

CASES, AT = 1500, 1000
QUICK = {"costs": COSTS, "resamples": 50}


def findings(panel):
    return found_by("feeds", panel)


def spoilt(change, times=None):
    made = sound(cases=CASES)
    reports = made.reports.copy()
    change(reports)
    return Panel(reports, made.outcomes, times=times)


def days(count):
    return np.datetime64("2026-01-01") + np.arange(count)


def dead(reports):
    reports[AT:, 1] = 0.05


def stopped(reports):
    reports[AT:, 1] = np.nan


def higher(reports):
    odds = np.log(reports[AT:, 1] / (1 - reports[AT:, 1]))
    reports[AT:, 1] = 1 / (1 + np.exp(-odds - 3))


def turned(reports):
    reports[AT:, 1] = 1 - reports[AT:, 1]


def test_a_case_is_dated_where_the_user_gave_dates():
    (found,) = of("constant-feed", findings(spoilt(dead, days(CASES))))
    assert (found.severity, found.who, found.since) == ("error", ("agent1",), AT)
    assert (found.date, found.facts["from"].place) == ("2028-09-27", AT)


def test_a_feed_that_stopped_is_an_error_and_a_gap_that_is_over_a_note():
    def gap(reports):
        reports[AT : AT + 200, 1] = np.nan

    (now,) = findings(spoilt(stopped))
    assert (now.code, now.severity, now.since) == ("stopped-feed", "error", AT)
    (away,) = findings(spoilt(gap))
    assert (away.code, away.severity) == ("reporting-gap", "note")
    assert (away.facts["from"].place, away.facts["to"].place) == (AT, AT + 199)
    assert away.facts["count"] == 200


def test_a_dead_feed_that_came_back_has_an_end():
    def away(reports):
        reports[400:800, 1] = 0.05

    (found,) = findings(spoilt(away))
    assert (found.code, found.severity, found.since) == ("constant-run", "note", 400)
    assert (found.facts["from"].place, found.facts["to"].place) == (400, 799)
    assert (found.facts["report"], found.facts["count"]) == (0.05, 400)


# What was wrong for a while, in the whole audit


def stuck_for_a_while(panel, value, start=900, stop=1100):
    reports = panel.reports.copy()
    reports[start:stop, 1] = value
    return Panel(reports, panel.outcomes, times=days(len(panel)))


@pytest.mark.parametrize(("value", "stop"), [(0.3, 1100), (0.98, 1300)])
def test_a_feed_that_works_again_is_no_reason_to_distrust_the_pool(value, stop):
    """What its reports did to calibration and costs in that time is over, too."""
    panel = stuck_for_a_while(sound(cases=CASES), value, stop=stop)
    result = audit(panel, **QUICK)
    assert ill(result) == {}
    assert treated(result) == set()
    assert result.plan.trust != "no"
    (own,) = [one.evidence for one in result.agents if one.who == "agent1"]
    assert [finding.code for finding in own] == ["constant-run"]


@pytest.mark.parametrize(
    ("value", "past"), [(0.3, "constant-run"), (np.nan, "reporting-gap")]
)
def test_a_fault_that_is_there_without_the_run_is_still_found(value, past):
    made = sound(cases=CASES)
    odds = np.log(made.reports / (1 - made.reports))
    odds[:, 1] += 3
    high = Panel(1 / (1 + np.exp(-odds)), made.outcomes)
    result = audit(stuck_for_a_while(high, value), **QUICK)
    (own,) = [one for one in result.agents if one.who == "agent1"]
    assert (own.code, own.severity) == ("biased", "error")
    assert past in {finding.code for finding in own.evidence}


def test_old_reports_are_an_error_with_their_age():
    def old(reports):
        reports[AT:, 1] = reports[AT - 300 : CASES - 300, 1]

    found = findings(spoilt(old))[0]
    assert (found.code, found.severity) == ("repeated-feed", "error")
    assert (found.who, found.number.value, found.since) == (("agent1",), 300, AT)


def test_a_change_of_scale_is_an_error_where_outcomes_show_that_it_is_off():
    def sharper(reports):
        odds = np.log(reports[AT:, 1] / (1 - reports[AT:, 1]))
        reports[AT:, 1] = 1 / (1 + np.exp(-3 * odds))

    panel = spoilt(sharper)
    (found,) = findings(panel)
    assert (found.code, found.severity) == ("rescaled-feed", "error")
    assert (found.who, found.facts["form"]) == (("agent1",), "scale")
    assert abs(found.since - AT) < 100
    areas = [
        roc_auc_score(panel.outcomes[part], panel.reports[part, 1])
        for part in (slice(None, found.since), slice(found.since, None))
    ]
    assert_allclose([found.facts["area_before"], found.facts["area_after"]], areas)


# Cases without an outcome


def waiting(change, times=None):
    """100 cases wait for an outcome already when the feed breaks."""
    panel, known = spoilt(change), AT - 100
    first, last = (None, None) if times is None else (times[:known], times[known:])
    labelled = Panel(panel.reports[:known], panel.outcomes[:known], times=first)
    return labelled.with_pending(panel.reports[known:], times=last)


@pytest.mark.parametrize("when", [days(CASES), None], ids=["dated", "by row"])
@pytest.mark.parametrize(
    ("change", "code"),
    [(dead, "constant-feed"), (stopped, "stopped-feed"), (higher, "shifted-feed")],
)
def test_a_fault_after_the_last_outcome_is_dated_by_its_own_case(change, code, when):
    panel = waiting(change, when)
    (found,) = of(code, findings(panel))
    assert (found.who, found.since) == (("agent1",), len(panel))
    assert found.saving is None, "no outcome since then, so nobody knows"
    place = found.facts["from"].place
    assert abs(place - AT) < 0.05 * CASES
    assert found.date == ("" if when is None else str(when[place]))


@pytest.mark.parametrize(
    ("change", "action"),
    [(dead, "leave-out"), (stopped, "restore"), (higher, "ask-unit"), (turned, "leave-out")],
)  # fmt: skip
def test_a_feed_that_broke_after_the_last_outcome_is_acted_on(change, action):
    """What that saves is not known, and not 0."""
    result = audit(waiting(change), **QUICK)
    assert treated(result) == {(action, ("agent1",))}
    assert [step.saving for step in result.plan.steps if step.agents] == [None]
    assert Note("pending", {"form": "feeds", "count": 600}) in result.notes


def test_cases_without_an_outcome_stand_where_their_times_put_them():
    panel = spoilt(dead)
    known = np.arange(CASES) % 3 > 0
    part = Panel(panel.reports[known], panel.outcomes[known], times=days(CASES)[known])
    found = findings(
        part.with_pending(panel.reports[~known], times=days(CASES)[~known])
    )[0]
    assert (found.code, found.since) == ("constant-feed", known[:AT].sum())
    assert found.facts["from"].place == AT


def test_rows_of_one_day_stay_in_the_order_of_the_table():
    """With or without an outcome: 30 cases a day, four in five without one."""
    made = sound(cases=CASES)
    reports, day = made.reports.copy(), days(CASES)[np.arange(CASES) // 30]
    dead(reports)
    known = np.random.default_rng(2).random(CASES) < 0.2
    panel = Panel(reports[known], made.outcomes[known], times=day[known])
    panel = panel.with_pending(
        reports[~known], times=day[~known], position=np.cumsum(known)[~known]
    )
    for one in (panel, panel.sort_by_time()):
        found = findings(one)[0]
        assert (found.code, found.facts["count"]) == ("constant-feed", CASES - AT)
        assert found.facts["from"].place == AT


def test_sorting_by_time_keeps_pending_cases_in_their_place():
    """Against a plain sort of all rows, by time and then by place in the table."""
    rng = np.random.default_rng(4)
    times, known = rng.integers(0, 5, 60), rng.random(60) < 0.5
    rows = np.arange(60) / 100
    reports = np.stack([rows, rows], axis=1)
    outcomes = rng.integers(0, 2, known.sum())
    panel = Panel(reports[known], outcomes, times=times[known]).with_pending(
        reports[~known], times=times[~known], position=np.cumsum(known)[~known]
    )
    expected = rows[sorted(range(60), key=lambda row: (times[row], row))]
    for one in (panel, panel.sort_by_time()):
        both = np.concatenate([one.reports, one.pending.reports])[:, 0]
        assert both[one.order_with_pending].tolist() == expected.tolist()


# Who is to blame


def tied(change, seed=0):
    """Four agents, of which the first and the last move closely together."""
    rng = np.random.default_rng(seed)
    common, shared = rng.normal(size=CASES), rng.normal(size=CASES)
    own = rng.normal(size=(CASES, 4))
    scores = 0.6 * common[:, None] + 0.8 * own
    for i in (0, 3):
        scores[:, i] = 0.6 * common + 0.7 * shared + 0.3 * own[:, i]
    reports = 1 / (1 + np.exp(1 - scores))
    outcomes = (rng.random(CASES) < 1 / (1 + np.exp(1 - common))).astype(int)
    change(reports)
    return Panel(reports, outcomes, times=np.arange(CASES))


@pytest.mark.parametrize("value", [0.05, np.nan], ids=["constant", "stopped"])
@pytest.mark.parametrize("seed", range(3))
def test_nobody_else_is_blamed_for_the_feed_that_died(value, seed):
    """Agent 0 lost the one it moved with most: its mean correlation falls."""

    def die(reports):
        reports[AT:, 3] = value

    panel = tied(die, seed)
    z = np.argsort(np.argsort(panel.reports[:, :3], axis=0), axis=0)
    links = [np.corrcoef(part.T)[0, 1:].mean() for part in (z[:AT], z[AT:])]
    assert links[1] == pytest.approx(links[0], abs=0.1)  # it moves with the rest
    assert {f.who for f in findings(panel)} == {("agent3",)}


@pytest.mark.parametrize("seed", range(3))
def test_a_feed_that_changes_is_found_beside_one_that_died(seed):
    def both(reports):
        reports[AT:, 3] = 0.05
        reports[AT:, 1] = np.random.default_rng(seed).permutation(reports[AT:, 1])

    found = {(f.who, f.code) for f in findings(tied(both, seed))}
    assert (("agent1",), "changed-feed") in found
    assert not [who for who, _ in found if who not in {("agent1",), ("agent3",)}]


@pytest.mark.parametrize("seed", range(3))
def test_an_agent_that_moves_against_the_others_is_opposed_and_not_only_changed(seed):
    """It is known without any outcome. It reports at another level, too."""
    panel = tied(turned, seed)
    labelled = Panel(panel.reports[:900], panel.outcomes[:900])
    result = audit(labelled.with_pending(panel.reports[900:]), **QUICK)
    assert ill(result) == {"agent1": ("opposed-feed", "warning")}
    found = result.agents[1].finding
    assert abs(found.facts["from"].place - AT) < 0.05 * CASES
    assert found.facts["before"] > 0 > found.facts["after"]


# Where nothing is found


@pytest.mark.parametrize("by", ["outcome", "agent2"])
def test_rows_that_are_sorted_are_not_in_the_order_of_time(by):
    panel = sound(cases=CASES)
    key = panel.outcomes if by == "outcome" else panel.reports[:, 2]
    seen = evidence_of(panel.take(np.argsort(key, kind="stable")))
    assert list(feeds.check(seen)) == []
    assert seen.sampling.notes == [Note("sorted", {"by": by})]


def test_an_agent_that_never_reports_in_one_half_is_not_judged_by_it():
    def late(reports):
        reports[:AT, 1] = np.nan

    assert findings(spoilt(late)) == []


def test_dead_feeds_of_many_classes():
    rng = np.random.default_rng(0)
    reports = rng.dirichlet([1, 1, 1], (600, 3))
    reports[400:, 0] = [0.2, 0.3, 0.5]
    found = findings(Panel(reports, rng.integers(0, 3, 600)))[0]
    assert (found.code, found.who, found.since) == ("constant-feed", ("agent0",), 400)
    assert found.facts["report"] == {"0": 0.2, "1": 0.3, "2": 0.5}


def test_a_handful_of_cases_has_no_feed_to_judge():
    assert findings(Panel([[0.9, 0.8], [0.2, 0.1], [0.7, 0.9]], [1, 0, 1])) == []


# The same rule where no audit is made


def named(panel):
    return [(feed.agent, feed.code) for feed in feeds.dead_feeds(panel)]


def test_a_feed_that_died_is_named_with_its_case_as_in_the_audit():
    panel = spoilt(dead, days(CASES))
    (feed,) = feeds.dead_feeds(panel)
    (found,) = of("constant-feed", findings(panel))
    assert (feed.agent,) == found.who
    assert feed.facts == {name: found.facts[name] for name in ("from", "report")}

    def gap(reports):
        reports[AT : AT + 200, 1] = 0.05

    assert named(spoilt(gap)) == []  # the feed lives again


def test_a_feed_that_stopped_or_never_began_is_named():
    def stop(reports):
        reports[AT:, 1] = np.nan
        reports[:, 3] = np.nan

    assert named(spoilt(stop)) == [
        ("agent1", "stopped-feed"),
        ("agent3", "no-reports"),
    ]


def test_a_feed_that_dies_among_pending_cases_is_named():
    panel = waiting(dead)
    assert named(panel) == [("agent1", "constant-feed")]
    assert named(Panel(panel.reports, panel.outcomes)) == []


def test_an_agent_that_always_says_the_same_is_named_if_there_were_events_to_see():
    def always(reports):
        reports[:, 1] = 0.0

    panel = spoilt(always)
    assert named(panel) == [("agent1", "single-report")]
    rare = np.zeros(CASES, dtype=int)
    rare[7:10] = 1
    assert named(Panel(panel.reports, rare)) == []


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_rounded_reports_are_no_dead_feed(decimals, seed):
    made = sound(seed, cases=CASES)
    reports = made.reports.copy()
    reports[:, 1] = np.round(reports[:, 1], decimals)
    assert named(Panel(reports, made.outcomes)) == []
    rare = Panel(np.round(reports**4, decimals), made.outcomes)
    assert named(rare) == []


def test_rows_sorted_by_outcome_say_nothing_about_feeds():
    panel = spoilt(dead)
    order = np.argsort(panel.outcomes, kind="stable")
    ordered = panel.reports[order]
    ordered[AT:, 1] = 0.05
    assert named(Panel(ordered, panel.outcomes[order])) == []
