import json

import numpy as np
import pandas as pd
import pytest
from faults import COSTS, sound
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import quote_report
from truepool.audits.findings import select_findings
from truepool.audits.severity import CALIBRATION, FEEDS, PAST
from truepool.audits.topics import feeds
from truepool.cli.verbs import app
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

CASES, AT = 1500, 1000


def evidence(panel):
    return Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, 0)


def findings(panel):
    return select_findings(list(feeds.check(evidence(panel))))


def spoilt(change, times=None):
    made = sound(cases=CASES)
    reports = made.reports.copy()
    change(reports)
    return Panel(reports, made.outcomes, times=times)


def days(count):
    return np.datetime64("2026-01-01") + np.arange(count)


def dead(reports):
    reports[AT:, 1] = 0.05


def test_a_case_is_dated_where_the_user_gave_dates():
    (finding,) = [
        f for f in findings(spoilt(dead, days(CASES))) if f.severity == "error"
    ]
    assert finding.code == "constant-feed"
    assert "case 1,001 of 1,500 (2028-09-27)" in finding.sentence


def test_a_feed_that_stopped_is_an_error_and_a_gap_that_is_over_a_warning():
    def stop(reports):
        reports[AT:, 1] = np.nan

    def gap(reports):
        reports[AT : AT + 200, 1] = np.nan

    (stopped,) = findings(spoilt(stop))
    assert (stopped.code, stopped.severity, stopped.since) == (
        "stopped-feed",
        "error",
        AT,
    )
    (away,) = findings(spoilt(gap))
    assert (away.code, away.severity) == ("reporting-gap", "warning")
    assert "from case 1,001 of 1,500 to case 1,200 of 1,500:" in away.sentence
    assert away.sentence.endswith("without a report; it has no other gap.")


def test_a_dead_feed_that_came_back_is_told_with_its_end():
    def away(reports):
        reports[400:800, 1] = 0.05

    (finding,) = findings(spoilt(away))
    assert (finding.code, finding.severity) == ("constant-run", "warning")
    assert finding.since == 400
    assert finding.sentence.startswith(
        "The feed of agent1 was stuck from case 401 of 1,500 to case 800 of 1,500: it "
        "reported nothing but 5 %, 400 times;"
    )
    assert finding.advice.startswith("Leave out those rows, and ask")
    assert "Do not just empty those cells" in finding.advice, "it would cost more"


def stuck_for_a_while(panel, value, start=900, stop=1100):
    reports = panel.reports.copy()
    reports[start:stop, 1] = value
    return Panel(reports, panel.outcomes, times=days(len(panel)))


@pytest.mark.parametrize("seed", range(3))
def test_a_feed_that_works_again_is_no_reason_to_distrust_the_pool(seed):
    panel = stuck_for_a_while(sound(seed, cases=CASES), 0.3)
    result = audit(panel, costs=COSTS, resamples=50)
    assert result.recommendation.trust == "with care"
    (own,) = [f for f in result.findings if f.code == "constant-run"]
    assert (own.severity, own.cause) == ("warning", ())
    assert not [f for f in result.findings if f.cause == own.key]
    assert "rows in which agent1 was stuck, or empty its cells there" in result.advice
    assert "take agent1 out" not in result.advice


@pytest.mark.parametrize("value", [0.3, np.nan], ids=["stuck", "gap"])
def test_a_fault_that_is_there_without_the_run_is_not_put_under_it(value):
    made = sound(cases=CASES)
    odds = np.log(made.reports / (1 - made.reports))
    odds[:, 1] += 3
    high = Panel(1 / (1 + np.exp(-odds)), made.outcomes)
    result = audit(stuck_for_a_while(high, value), costs=COSTS, resamples=50)
    found = {f.code: f for f in result.findings if f.who == ("agent1",)}
    assert (found["biased"].severity, found["biased"].cause) == ("error", ())
    past = found.get("constant-run") or found["reporting-gap"]
    assert past.severity == "warning"
    assert not [f for f in result.findings if f.cause == past.key]
    assert not [f for f in result.findings if "for a while" in f.sentence]


def test_a_fault_that_is_only_there_in_the_run_is_put_under_it():
    panel = stuck_for_a_while(sound(cases=CASES), 0.98, stop=1300)
    result = audit(panel, costs=COSTS, resamples=50)
    found = {f.code: f for f in result.findings if f.who == ("agent1",)}
    run = found["constant-run"]
    (effect,) = [found[code] for code in CALIBRATION if code in found]
    assert (effect.severity, effect.cause) == ("note", run.key)
    assert effect.advice == run.advice
    assert "agent1 sent one and the same report for a while" in effect.sentence
    assert "drifted" not in found


def test_old_reports_are_an_error_with_their_age():
    def old(reports):
        reports[AT:, 1] = reports[AT - 300 : CASES - 300, 1]

    finding = findings(spoilt(old))[0]
    assert (finding.code, finding.severity, finding.who) == (
        "repeated-feed",
        "error",
        ("agent1",),
    )
    assert finding.number.value == 300
    assert finding.since == AT


def test_a_change_of_scale_is_an_error_where_outcomes_show_that_it_is_off():
    def sharper(reports):
        odds = np.log(reports[AT:, 1] / (1 - reports[AT:, 1]))
        reports[AT:, 1] = 1 / (1 + np.exp(-3 * odds))

    panel = spoilt(sharper)
    (finding,) = findings(panel)
    assert (finding.code, finding.severity, finding.who) == (
        "rescaled-feed",
        "error",
        ("agent1",),
    )
    assert finding.unit != "factor"
    assert abs(finding.since - AT) < 100
    before, since = (
        roc_auc_score(panel.outcomes[part], panel.reports[part, 1])
        for part in (slice(None, finding.since), slice(finding.since, None))
    )
    words = f" Its AUC was {before:.2f} before and is {since:.2f} since."
    assert finding.sentence.endswith(words)


def test_a_feed_that_dies_among_cases_without_an_outcome_is_found():
    panel = spoilt(dead)
    labelled = Panel(panel.reports[:AT], panel.outcomes[:AT])
    assert findings(labelled) == ()
    finding = findings(labelled.with_pending(panel.reports[AT:]))[0]
    assert (finding.code, finding.who, finding.since) == (
        "constant-feed",
        ("agent1",),
        AT,
    )
    assert "case 1,001 of 1,500" in finding.sentence


def stopped(reports):
    reports[AT:, 1] = np.nan


def higher(reports):
    odds = np.log(reports[AT:, 1] / (1 - reports[AT:, 1]))
    reports[AT:, 1] = 1 / (1 + np.exp(-odds - 3))


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize(
    ("change", "code"),
    [(dead, "constant-feed"), (stopped, "stopped-feed"), (higher, "rescaled-feed")],
)
def test_a_fault_after_the_last_outcome_is_dated_by_its_own_case(
    tmp_path, change, code, dated
):
    """100 cases wait for an outcome already when the feed breaks."""
    panel, known = spoilt(change), AT - 100
    frame = pd.DataFrame(panel.reports, columns=panel.agents)
    if dated:
        frame.insert(0, "time", days(CASES).astype(str))
    frame["y"] = pd.array(panel.outcomes, dtype="Int64")
    frame.loc[known:, "y"] = pd.NA
    frame.to_csv(tmp_path / "table.csv", index=False)
    names = {"html": tmp_path / "a.html", "markdown": tmp_path / "a.md"}
    options = [f"--{kind}={path}" for kind, path in names.items()]
    json_file = tmp_path / "a.json"
    result = CliRunner().invoke(
        app, ["audit", str(tmp_path / "table.csv"), *options, f"--json={json_file}"]
    )
    assert result.exception is None or isinstance(result.exception, SystemExit)
    found = {f["code"]: f for f in json.loads(json_file.read_text())["findings"]}
    finding = found[code]
    assert (finding["who"], finding["since"]) == (["agent1"], known)
    assert "agent1" in result.output.partition("The pool is")[0], "something to do"
    assert finding["cost"] is None, "no outcome since then, so nobody knows"
    assert "if left out since then" not in result.output
    assert not any("since then" in path.read_text() for path in names.values())
    if not dated:
        assert finding["date"] == ""
        return
    place = (np.datetime64(finding["date"]) - days(1)[0]).astype(int)
    assert abs(place - AT) < 0.05 * CASES
    assert f", {finding['date']})" in finding["sentence"].replace("(", ", ")
    assert all(finding["date"] in path.read_text() for path in names.values())


def test_cases_without_an_outcome_stand_where_their_times_put_them():
    panel = spoilt(dead)
    known = np.arange(CASES) % 3 > 0
    part = Panel(panel.reports[known], panel.outcomes[known], times=days(CASES)[known])
    finding = findings(
        part.with_pending(panel.reports[~known], times=days(CASES)[~known])
    )[0]
    assert finding.code == "constant-feed"
    assert finding.since == known[:AT].sum()
    assert "case 1,001 of 1,500" in finding.sentence


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
        finding = findings(one)[0]
        assert finding.code == "constant-feed"
        assert "case 1,001 of 1,500" in finding.sentence
        assert "500 times" in finding.sentence


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


@pytest.mark.parametrize("by", ["the outcome", "agent2"])
def test_rows_that_are_sorted_are_not_in_the_order_of_time(by):
    panel = sound(cases=CASES)
    key = panel.outcomes if by == "the outcome" else panel.reports[:, 2]
    seen = evidence(panel.take(np.argsort(key, kind="stable")))
    assert list(feeds.check(seen)) == []
    assert seen.sampling.withheld == [
        ("feed checks", f"the rows have no times and are sorted by {by}")
    ]


def test_an_agent_that_never_reports_in_one_half_can_be_described():
    def late(reports):
        reports[:AT, 1] = np.nan

    assert findings(spoilt(late)) == ()


def test_dead_feeds_of_many_classes():
    rng = np.random.default_rng(0)
    reports = rng.dirichlet([1, 1, 1], (600, 3))
    reports[400:, 0] = [0.2, 0.3, 0.5]
    finding = findings(Panel(reports, rng.integers(0, 3, 600)))[0]
    assert (finding.code, finding.who, finding.since) == (
        "constant-feed",
        ("agent0",),
        400,
    )


def test_the_line_about_cases_without_an_outcome(tmp_path):
    panel = sound(cases=60)
    rows = [",".join(map(str, row)) for row in panel.reports.round(3)]
    outcomes = [*map(str, panel.outcomes[:50]), *[""] * 10]
    lines = [f"{row},{y}" for row, y in zip(rows, outcomes, strict=True)]
    table = tmp_path / "reports.csv"
    table.write_text("\n".join(["a,b,c,d,e,y", *lines]))
    finding = CliRunner().invoke(app, ["audit", str(table)])
    assert finding.exit_code == 0
    assert "10 cases have no outcome yet: used for feed checks only." in finding.output
    assert "no outcome yet" not in finding.stderr  # said once


def test_the_feed_checks_by_name():
    assert FEEDS == ("constant-feed", "stopped-feed", "repeated-feed", "changed-feed")
    assert PAST == ("constant-run", "reporting-gap")


def test_a_handful_of_cases_has_no_feed_to_judge():
    assert findings(Panel([[0.9, 0.8], [0.2, 0.1], [0.7, 0.9]], [1, 0, 1])) == ()


# The same rule where no audit is made


def sentences(panel):
    return [feed.sentence for feed in feeds.dead_feeds(panel)]


def test_a_feed_that_died_is_named_with_the_case_or_the_date():
    assert sentences(spoilt(dead)) == [
        "The feed of agent1 is dead: from case 1,001 of 1,500 on it only reports 5 %."
    ]
    assert "case 1,001 of 1,500 (2028-09-27)" in sentences(spoilt(dead, days(CASES)))[0]


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ([0.417], "41.7 %"),
        ([0.99987], "99.99 %"),
        ([0.2, 0.5, 0.3], "20 % for 0, 50 % for 1 and 30 % for 2"),
        ([0.1, 0.1, 0.5, 0.2, 0.1], "at most 50 % for 2"),
    ],
)
def test_a_report_is_quoted_as_a_probability_of_each_class(report, words):
    outcomes = np.arange(max(len(report), 2))
    panel = Panel(
        [report * 2 if len(report) == 1 else [report] * 2] * len(outcomes), outcomes
    )
    assert quote_report(panel, np.array(report)) == words


def test_a_feed_that_stopped_or_never_began_is_named():
    def stop(reports):
        reports[AT:, 1] = np.nan
        reports[:, 3] = np.nan

    assert sentences(spoilt(stop)) == [
        "agent1 stopped reporting at case 1,001 of 1,500.",
        "agent3 never reported.",
    ]


def test_a_feed_that_dies_among_pending_cases_is_named():
    panel = spoilt(dead)
    labelled = Panel(panel.reports[:AT], panel.outcomes[:AT])
    assert sentences(labelled) == []
    assert "agent1 is dead" in sentences(labelled.with_pending(panel.reports[AT:]))[0]


def test_an_agent_that_always_says_the_same_is_named_if_there_were_events_to_see():
    def always(reports):
        reports[:, 1] = 0.0

    panel = spoilt(always)
    assert sentences(panel) == ["agent1 reports 0 % in all 1,500 cases."]
    rare = np.zeros(CASES, dtype=int)
    rare[7:10] = 1
    assert sentences(Panel(panel.reports, rare)) == []


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_rounded_reports_are_no_dead_feed(decimals, seed):
    made = sound(seed, cases=CASES)
    reports = made.reports.copy()
    reports[:, 1] = np.round(reports[:, 1], decimals)
    assert sentences(Panel(reports, made.outcomes)) == []
    rare = Panel(np.round(reports**4, decimals), made.outcomes)
    assert sentences(rare) == []


def test_what_the_audit_finds_is_what_is_named():
    def gap(reports):
        reports[AT : AT + 200, 1] = 0.05

    assert sentences(spoilt(gap)) == []  # the feed lives again
    named = feeds.dead_feeds(spoilt(dead))
    errors = [f for f in findings(spoilt(dead)) if f.severity == "error"]
    assert [(f.agent,) for f in named] == [f.who for f in errors]


def test_rows_sorted_by_outcome_say_nothing_about_feeds():
    panel = spoilt(dead)
    order = np.argsort(panel.outcomes, kind="stable")
    ordered = panel.reports[order]
    ordered[AT:, 1] = 0.05
    assert sentences(Panel(ordered, panel.outcomes[order])) == []


def test_a_name_that_ends_in_a_full_stop_ends_no_sentence_twice():
    panel = spoilt(dead)
    names = ["Ada A.", "Lena L.", *panel.agents[2:]]
    result = audit(Panel(panel.reports, panel.outcomes, names), resamples=20)
    texts = [result.verdict, result.advice, *(f.advice for f in result.findings)]
    texts += [f.sentence for f in result.findings]
    assert any("Lena L." in text for text in texts)
    assert not any(".. " in f"{text} " for text in texts)
