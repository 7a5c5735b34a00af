"""What the dashboard shows is what happened."""

import base64
import re
import shlex
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from server.service import FRAUD, Local
from starlette.testclient import TestClient

import truepool as tp
from truepool.audits.reliability import too_many_outside
from truepool.audits.values import Reliability
from truepool.core.errors import RequestError
from truepool_serve.messages import to_builtins
from truepool_serve.render import dashboard as render
from truepool_serve.render.dashboard_values import moment
from truepool_serve.server import dashboard as dashboards
from truepool_serve.server import demo
from truepool_serve.server.access import ADMIN, AGENT, ANYONE, OPERATOR
from truepool_serve.server.dashboard import Dashboard
from truepool_serve.server.demo import AGENTS, DEAD, DRIFT, World
from truepool_serve.server.http import app

FORM = "Content-Type: application/x-www-form-urlencoded"
"""What ``curl -d`` sends unless told otherwise."""
ODD = '<script>alert(1)</script>"&'


def drive(local, cases, seed=0, first=0, unsettled=()):
    """Send the cases of the demonstration, and wait for the last answer."""
    world, act, answers = World(np.random.default_rng(seed)), local.coordinator, []
    for number in range(first + cases):
        fraud, reports = world.next(number)
        if number < first:
            continue
        case = f"p{number}"
        rows = [(case, agent, report) for agent, report in reports.items()]
        answers.append(act.report(ANYONE, "demo", rows))
        answers.append(act.decide(ANYONE, "demo", case, None))
        if number not in unsettled:
            outcome = "fraud" if fraud else "genuine"
            answers.append(act.settle(ANYONE, "demo", [(case, outcome)]))
    for answer in answers:
        answer.result(60)


POOL = to_builtins(demo.POOL)


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A pool in which an agent drifted, another died, and a challenger runs."""
    with Local(tmp_path_factory.mktemp("busy") / "l.db", POOL) as local:
        rule = {"learner": "hedge"}
        local.change("demo", "challenge", {"name": "shadow", "rule": rule})
        drive(local, DEAD + 60, unsettled=range(100, 107))
        yield local


@pytest.fixture(scope="module")
def view(busy):
    return Dashboard(busy.coordinator).pool(ANYONE, "demo")


def test_the_counts_are_those_of_the_ledger(view):
    cases = DEAD + 60
    assert (view.decided, view.settled, view.pending) == (cases, cases - 7, 7)
    assert (view.window, view.window_settled) == (cases, cases - 7)
    assert [case for case, _ in view.oldest] == [f"p{i}" for i in range(100, 107)]
    assert view.throughput.sum() == cases
    assert view.recent[0].case == f"p{cases - 1}"


def test_decisions_per_minute_are_those_of_the_last_ten_minutes(view):
    times = (0.0, 100.0, 500.0, 590.0, 599.0)
    all_shown = replace(view, times=times, decided=5, now=600.0)
    assert all_shown.per_minute == "0.400"  # the one at 0 is too old
    assert replace(all_shown, now=13 * 60.0 + 599.0).per_minute == "0"
    assert replace(all_shown, times=(), decided=0).per_minute == "0"
    # Of more decisions than are shown, the time is that of those shown.
    busy = replace(view, times=tuple(range(500, 600)), decided=10_000, now=600.0)
    assert busy.per_minute == "60.0"
    assert replace(busy, now=500.0 + 10 * 60).per_minute == "9.90"
    assert "decisions per minute, last 10 min" in render.pool_page(all_shown)


def test_the_table_of_agents_says_which_cases_its_columns_are_about(view):
    page = unescape(render.pool_page(view))
    assert "Reports on: the share of these decisions since the agent joined." in page
    assert "over the cases that it reported on" in page


def test_a_drift_and_a_dead_feed_raise_alarms(view):
    kinds = {(alarm.who, alarm.kind) for alarm in view.alarms}
    assert {("bob", "level"), ("cyd", "stopped")} <= kinds
    assert {who for who, _ in kinds} <= {"bob", "cyd"}
    states = {agent.name: agent.state for agent in view.agents}
    assert states["cyd"] == "stopped"
    assert states["bob"] == "changed"
    assert {states[name] for name in ("ada", "dan", "eve")} == {"reporting"}
    assert view.severity == "error"
    assert view.headline == "Check the feed of cyd (stopped). Alarms also on bob."
    stopped = next(a for a in view.alarms if a.kind == "stopped")
    assert stopped.sentence(view.now) == "cyd has stopped reporting."
    assert view.times[DEAD - 1] <= stopped.since <= stopped.at


LATER_COSTS = "costs and the outcome rate (from settled case 31 on)"
LATER_DRIFT = "drift of the reports (from case 231 on)"


@pytest.mark.parametrize(
    ("drift", "outcomes", "said"),
    [
        (None, False, "No feed is watched: alarms need two labels and at least two agents."),
        (0, False, f"No alarms on feeds in {{}}. Not watched yet: {LATER_COSTS} and {LATER_DRIFT}."),
        (0, True, f"No alarms on feeds in {{}}. Not watched yet: {LATER_DRIFT}."),
        (201, True, "No alarms on feeds in {}, nor on drift in the last 201."),
        (10_000, True, "No alarms on feeds or drift in {}."),
        (10_000, False, f"No alarms on feeds or drift in {{}}. Not watched yet: {LATER_COSTS}."),
    ],
)  # fmt: skip
def test_the_headline_says_what_is_watched(view, drift, outcomes, said):
    fine = tuple(replace(a, severity="ok") for a in view.agents)
    now = {"drift_watched": drift, "outcomes_watched": outcomes}
    calm = replace(view, agents=fine, alarms=(), **now)
    assert calm.headline == said.format(calm.last_decisions)
    html = render.pool_page(calm)
    part = drift is not None and (drift < view.window or not outcomes)
    for watch in (
        "Watched from the first case: feeds",
        "From settled case 31 on: costs and the outcome rate.",
        "From case 231 on: the level and spread",
        "first 200 reports, from settled case 31 of the rarer label on.",
    ):
        assert (watch in html) == part


def test_a_view_counts_what_was_watched(view):
    assert view.drift_watched == view.window - 230
    assert view.outcomes_watched


def test_the_headline_names_every_agent_with_an_alarm(view):
    fine = tuple(replace(a, severity="ok") for a in view.agents)
    (alarm,) = [a for a in view.alarms if a.kind == "stopped"]
    names = ("ada", "pool", "bob", "outcomes", "dan")
    alarms = tuple(replace(alarm, who=name) for name in names)
    assert replace(view, agents=fine, alarms=alarms).headline == (
        "ada has stopped reporting. Alarms also on the pool, bob, the outcomes and 1 more."
    )


def feed(local, cases, rossi):
    """Decide cases on which rossi reports what it is given, in order, or nothing."""
    rng = np.random.default_rng(cases[0])
    for i, own in zip(cases, rossi, strict=True):
        rows = [(f"f{i}", name, rng.random()) for name in ("ada", "bob")]
        rows += [] if own is None else [(f"f{i}", "rossi", own)]
        local.report("demo", rows)
        local.decide("demo", f"f{i}", None)


def varied(n):
    return np.random.default_rng(n).random(n).tolist()


@pytest.mark.parametrize(
    ("fault", "state", "now", "then"),
    [
        (None, "stopped", "rossi has stopped reporting.", "rossi stopped reporting"),
        (0.5, "constant", "rossi reports 0.500 again and again.", "rossi reported 0.500 again and again"),
    ],
)  # fmt: skip
def test_a_feed_that_has_recovered_is_said_to_have(tmp_path, fault, state, now, then):
    pool = POOL | {"agents": ["ada", "bob", "rossi"]}
    with Local(tmp_path / "l.db", pool) as local:
        feed(local, range(40), varied(40))
        feed(local, range(40, 80), [fault] * 40)
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
        (alarm,) = view.alarms
        assert (alarm.sentence(view.now), alarm.until) == (now, None)
        assert view.headline == f"Check the feed of rossi ({state})."
        feed(local, range(80, 90), varied(10))
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
    (alarm,) = view.alarms
    assert {agent.name: agent.state for agent in view.agents}["rossi"] == "recovered"
    start, end = (moment(view.times[i], view.now) for i in (40, 80))
    assert view.headline == f"{then} from {start} to {end}, and has recovered."
    assert (view.severity, alarm.severity) == ("warning", "warning")
    page = unescape(render.pool_page(view))
    assert now not in page
    assert page.count(view.headline) >= 2  # the title and the page
    # What is not over comes first.
    other = replace(alarm, who="ada", kind="level", until=None)
    both = replace(view, alarms=(alarm, other))
    assert both.headline.startswith("The reports of ada have shifted")
    assert "rossi" not in both.headline


def test_a_feed_that_sent_earlier_reports_again_is_not_said_to_have_recovered(
    tmp_path,
):
    with Local(tmp_path / "l.db", POOL | {"agents": ["ada", "bob", "rossi"]}) as local:
        feed(local, range(160), [*varied(100), *varied(100)[40:]])
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
    assert view.headline.startswith("rossi sends earlier reports again.")
    states = {agent.name: agent.state for agent in view.agents}
    assert states == {"ada": "reporting", "bob": "reporting", "rossi": "repeated"}


def test_every_state_of_an_agent_is_documented():
    text = (Path(__file__).parents[4] / "docs" / "serve.md").read_text()
    for state in ("no decision yet", "no reports", "stopped", "constant", "repeated",
                  "changed", "recovered", "reporting"):  # fmt: skip
        assert f"| *{state}* |" in text


def test_a_pool_with_three_labels_is_not_said_to_be_free_of_alarms(tmp_path):
    pool = {"name": "demo", "agents": ["ada", "bob"], "labels": ["a", "b", "c"]}
    with Local(tmp_path / "l.db", pool) as local:
        rows = [("c", agent, [0.2, 0.3, 0.5]) for agent in pool["agents"]]
        local.report("demo", rows)
        local.decide("demo", "c", None)
        local.settle("demo", [("c", "b")])
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
    assert view.headline.startswith("No feed is watched: ")
    assert "No alarms" not in render.pool_page(view)


def test_costs_are_those_of_the_decisions(busy, view):
    history = busy.settled("demo", 10_000)
    panel, costs = history.panel(), tp.Costs(fn=10, fp=1)

    def cost(pooled, cases=slice(None)):
        decisions = tp.decide(np.asarray(pooled)[cases], costs)
        return costs.cost_per_case(panel.outcomes[cases], decisions, 2).mean()

    rows = {row.name: row for row in view.comparison}
    pooled = [case.record.pooled["first"][1] for case in history.cases]
    assert rows["the pool"].cost.value == pytest.approx(cost(pooled))
    mean = np.nanmean(panel.reports, axis=1)
    assert rows["the mean of the reports"].cost.value == pytest.approx(cost(mean))
    saved = rows["the mean of the reports"].saved
    assert saved.value == pytest.approx(cost(mean) - cost(pooled))
    assert saved.low < saved.value < saved.high
    alone = {agent.name: agent.cost.value for agent in view.agents}
    for i, agent in enumerate(AGENTS):
        known = ~np.isnan(panel.reports[:, i])
        assert alone[agent] == pytest.approx(cost(panel.reports[:, i], known))
    best = min(alone, key=alone.get)
    assert f"the best agent ({best})" in rows
    assert view.cost_lines[0].values[-1] == pytest.approx(cost(pooled))


def test_credit_and_weights_are_those_of_the_ledger(busy, view):
    history = busy.settled("demo", 10_000)
    saved = history.savings
    for line in view.credit:
        i = AGENTS.index(line.name)
        np.testing.assert_allclose(line.values, np.cumsum(saved[:, i]))
    credit = {agent.name: agent.credit.value for agent in view.agents}
    np.testing.assert_allclose([credit[a] for a in AGENTS], saved.mean(axis=0))
    for line in view.weights:
        decided = busy.case("demo", "p42")["decision"]["weights"]
        assert line.values[42] == decided[line.name]
        assert line.values[0] == 0.2
    assert [line.name for line in view.weights] == [line.name for line in view.credit]
    (evidence,) = view.challengers
    assert evidence == busy.evidence("demo", 10_000)[0]


def two_agents(local, cases, *, bob=None, first=0):
    """Ada knows the outcome well; bob reports on every other case. Yield the weights."""
    rng = np.random.default_rng(first)
    for i in range(first, first + cases):
        fraud = rng.random() < 0.3
        ada = float(np.clip(rng.normal(0.8 if fraud else 0.05, 0.02), 0.01, 0.99))
        rows = [(f"c{i}", "ada", ada)]
        if i % 2:
            rows.append((f"c{i}", "bob", rng.random() if bob is None else bob(ada)))
        local.report("demo", rows)
        yield local.describe("demo")["weights"]
        local.decide("demo", f"c{i}", None)
        local.settle("demo", [(f"c{i}", "fraud" if fraud else "genuine")])


TWO = POOL | {"agents": ["ada", "bob"]}


def test_an_agent_that_reports_on_every_other_case_has_a_whole_line(tmp_path):
    rule = {"learner": "hedge", "settings": {"rate": 0.5}}
    with Local(tmp_path / "l.db", TWO | rule) as local:
        weights = list(two_agents(local, 40))
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
    assert {line.name for line in view.weights} == {"ada", "bob"}
    for line in view.weights:
        expected = [one[line.name] for one in weights]
        np.testing.assert_allclose(line.values, expected, rtol=1e-9)
    html = render.pool_page(view)
    drawn = re.findall(r'class="line c[01]" d="([^"]*)"', html)[:2]
    assert [path.count("M") for path in drawn] == [1, 1]


def test_an_agent_that_joined_had_no_weight_before(tmp_path):
    with Local(tmp_path / "l.db", TWO) as local:
        for _ in two_agents(local, 20):
            pass
        before = local.describe("demo")["weights"]
        local.change("demo", "join", {"agent": "eve"})
        local.report("demo", [("late", "ada", 0.5), ("late", "eve", 0.5)])
        local.decide("demo", "late", None)
        lines = Dashboard(local.coordinator).pool(ANYONE, "demo").weights
    shown = {line.name: line.values for line in lines}
    assert np.isnan(shown["eve"][:-1]).all()
    assert shown["eve"][-1] == pytest.approx(1 / 3)
    assert shown["ada"][-2] + shown["bob"][-2] == pytest.approx(1)
    assert shown["ada"][-1] == pytest.approx(before["ada"] * 2 / 3)


def test_a_saved_pool_gives_its_weights_as_they_are(tmp_path):
    known = tp.datasets.example()
    outcomes = np.where(known.outcomes == 1, "fraud", "genuine")
    panel = tp.Panel(known.reports, outcomes, known.agents, positive="fraud")
    pool = tp.pools.make("vcg").fit_panel(panel)
    pool.save(tmp_path / "p.pool")
    saved = base64.b64encode((tmp_path / "p.pool").read_bytes()).decode()
    given = {"agents": list(panel.agents), "saved_pool": saved}
    with Local(tmp_path / "l.db", POOL | given) as local:
        for case in range(4):
            rows = [(f"c{case}", agent, 0.4) for agent in panel.agents[case % 2 :]]
            local.report("demo", rows)
            local.decide("demo", f"c{case}", None)
        lines = Dashboard(local.coordinator).pool(ANYONE, "demo").weights
    weights = dict(zip(pool.agents_, pool.weights_, strict=True))
    for line in lines:
        np.testing.assert_allclose(line.values, weights[line.name])


def test_what_is_significantly_cheaper_stands_under_the_headline(tmp_path):
    """Alarms are about feeds and drift: none does not mean that all is well."""
    rule = {"learner": "static", "settings": {"warmup": 0}}
    with Local(tmp_path / "l.db", TWO | rule) as local:
        added = {"name": "shadow", "rule": {"learner": "hedge", "settings": {"rate": 2.0}}}  # fmt: skip
        local.change("demo", "challenge", added)
        for _ in two_agents(local, 200, bob=lambda ada: 1 - ada):
            pass
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
        client = TestClient(app(local.coordinator, local=True), "http://localhost:8765")
        index = unescape(client.get("/").text)
    assert view.headline == (
        "No alarms on feeds in the last 200 decisions. "
        "Not watched yet: drift of the reports (from case 231 on)."
    )
    assert re.fullmatch(
        r"Significantly cheaper per case than the rule in use: the best agent \(ada\) by "
        r"\S+ \[.+?\], the challenger shadow by \S+ \[.+?\] \(95 % interval, EUR\)\.",
        view.cheaper,
    )
    best = next(row for row in view.comparison if "best agent" in row.name)
    assert best.saved.high < 0 < view.challengers[0]["interval"][0]
    html = unescape(render.pool_page(view))
    assert f'<p class="caution">{view.cheaper}</p>' in html
    assert '<p class="verdict ">' in html
    assert '<span class="badge note">no alarms</span>' in index
    assert view.cheaper not in index  # costs are on the page of the pool


BAD_BOB = {"learner": "static", "settings": {"warmup": 0}}
"""Weights stay equal, also that of an agent who reports the opposite."""


def test_after_a_promotion_the_page_is_about_the_promoted_rule(tmp_path):
    """Costs and calibration are those of its own decisions and its shadow decisions."""
    with Local(tmp_path / "l.db", TWO | BAD_BOB) as local:
        for _ in two_agents(local, 10, bob=lambda ada: 1 - ada):
            pass
        rule = {"learner": "hedge", "settings": {"rate": 2.0}}
        local.change("demo", "challenge", {"name": "shadow", "rule": rule})
        for _ in two_agents(local, 200, bob=lambda ada: 1 - ada, first=10):
            pass
        before = Dashboard(local.coordinator).pool(ANYONE, "demo")
        local.change("demo", "promote", {"name": "shadow"})
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
        (evidence,) = local.evidence("demo", 10_000)
        decided = local.settled("demo", 10_000).cases[10:]
        for _ in two_agents(local, 5, bob=lambda ada: 1 - ada, first=210):
            pass
        later = Dashboard(local.coordinator).pool(ANYONE, "demo")
        now = local.describe("demo")["weights"]
    assert "the best agent (ada)" in before.cheaper
    assert before.promotion == ""
    assert evidence["cases"] == view.rule_settled == view.comparison[0].cases == 200
    assert view.comparison[0].cost.value == pytest.approx(evidence["cost"]["shadow"])
    assert evidence["cost"]["shadow"] < evidence["cost"]["first"]
    assert view.cheaper == ""
    pooled = [case.record.pooled["shadow"][1] for case in decided]
    mean = np.average(view.reliability.mean_report, weights=view.reliability.cases)
    assert mean == pytest.approx(np.mean(pooled))
    assert view.reliability.cases.sum() == 200
    assert view.promotion == (
        "shadow was promoted after the last decision. first made the last 210 "
        "decisions. Costs and calibration are those of shadow, from the 200 settled cases "
        "that it decided, or would have decided in shadow mode."
    )
    html = unescape(render.pool_page(view))
    assert f'<p class="about">{view.promotion}</p>' in html
    assert "Appears after the second decision by shadow." in html
    assert re.match(
        r"shadow has decided every case since \S+\. Of the last 215 decisions, first "
        r"made 210, shadow made 5\. .* from the 205 settled cases",
        later.promotion,
    )
    for line in later.weights:
        assert np.isnan(line.values[:210]).all()
        assert line.values[-1] == pytest.approx(now[line.name], abs=0.05)
    assert "Weight of each agent in decisions by shadow" in render.pool_page(later)


def test_a_promoted_rule_that_ran_on_few_cases_has_no_cost_yet(tmp_path):
    with Local(tmp_path / "l.db", TWO | BAD_BOB) as local:
        for _ in two_agents(local, 60):
            pass
        added = {"name": "new", "rule": {"learner": "hedge"}}
        local.change("demo", "challenge", added)
        local.change("demo", "promote", {"name": "new"})
        none = Dashboard(local.coordinator).pool(ANYONE, "demo")
        for _ in two_agents(local, 5, first=60):
            pass
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
    assert none.promotion == (
        "new was promoted after the last decision. first made the last 60 decisions."
    )
    assert view.comparison == ()
    assert view.reliability is None
    assert view.cautions == []
    html = render.pool_page(view)
    for what in ("Costs are compared", "It is shown"):
        assert (
            f"{what} once 30 cases are settled that new decided, or would have decided "
            "in shadow mode; so far 5."
        ) in html
    assert {agent.name for agent in view.agents if agent.cost} == {"ada", "bob"}


def test_what_is_not_significantly_cheaper_is_not_said_to_be(view):
    assert all(row.saved is None or row.saved.high >= 0 for row in view.comparison)
    assert view.challengers[0]["interval"][0] <= 0
    assert view.cheaper == ""


def test_miscalibration_stands_under_the_headline(tmp_path):
    """Both agents report the square of the probability, and so does the pool."""
    rng = np.random.default_rng(0)
    with Local(tmp_path / "l.db", TWO) as local:
        for i in range(400):
            truth = rng.uniform(0.05, 0.95)
            rows = [(f"c{i}", agent, truth**2) for agent in TWO["agents"]]
            local.report("demo", rows)
            local.decide("demo", f"c{i}", None)
            outcome = TWO["labels"][int(rng.random() < truth)]
            local.settle("demo", [(f"c{i}", outcome)])
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
        client = TestClient(app(local.coordinator, local=True), "http://localhost:8765")
        index = unescape(client.get("/").text)
    assert re.fullmatch(
        r"Miscalibrated: \d+ of 10 groups of similar probabilities lie outside the band "
        r"of a calibrated pool\. When it says \S+ %, \S+ % of the outcomes are fraud\.",
        view.miscalibrated,
    )
    said, seen = map(float, re.findall(r"(\S+) %", view.miscalibrated))
    assert seen > said + 10
    html = unescape(render.pool_page(view))
    assert f'<p class="caution">{view.miscalibrated}</p>' in html
    assert view.miscalibrated not in index


@pytest.mark.parametrize(("outside", "said"), [(0, False), (2, False), (3, True)])
def test_one_or_two_groups_of_ten_outside_their_bands_are_chance(outside, said):
    low, high = np.full(10, 0.4), np.full(10, 0.6)
    seen = np.where(np.arange(10) < outside, 0.7, 0.5)
    found = Reliability(np.full(10, 0.5), seen, np.full(10, 90.0), low, high)
    assert too_many_outside(found, 0.95) == said


def test_a_later_look_sees_what_is_new(tmp_path, monkeypatch):
    monkeypatch.setattr(dashboards, "FRESH", 0.0)
    with Local(tmp_path / "l.db", POOL) as local:
        seen = Dashboard(local.coordinator)
        drive(local, DRIFT + 30, unsettled=range(5))
        first = seen.pool(ANYONE, "demo")
        local.settle("demo", [(f"p{i}", "genuine") for i in range(5)])
        drive(local, DEAD + 60 - DRIFT - 30, first=DRIFT + 30)
        second = seen.pool(ANYONE, "demo")
        again = Dashboard(local.coordinator).pool(ANYONE, "demo")
    assert (first.decided, first.pending) == (DRIFT + 30, 5)
    assert (second.decided, second.pending) == (DEAD + 60, 0)
    assert {a.kind for a in second.alarms} >= {"level", "stopped"}
    assert [a.who for a in second.alarms if a.kind == "stopped"] == ["cyd"]
    assert (second.decided, second.settled) == (again.decided, again.settled)


def test_a_page_is_not_made_for_everyone_who_looks(tmp_path):
    with Local(tmp_path / "l.db") as local:
        seen = Dashboard(local.coordinator)
        assert seen.pool(ANYONE, "fraud") is seen.pool(ANYONE, "fraud")


def test_a_pool_without_any_case_has_a_page(tmp_path):
    with Local(tmp_path / "l.db") as local:
        view = Dashboard(local.coordinator).pool(ANYONE, "fraud")
        assert view.headline == "Nothing was decided yet."
        html = render.pool_page(view)
        assert "Costs are compared once 30 cases are settled; so far none is." in html
        local.report("fraud", [("c0", "ada", 0.5)])
        local.decide("fraud", "c0", None)
        view = Dashboard(local.coordinator).pool(ANYONE, "fraud")
        assert view.headline == "Check the feed of bob (no reports), cyd (no reports)."
        html = render.pool_page(view)
        assert "c0" in html
        assert "The last decision, without an outcome" in html
        assert "the last 1 decision" not in html.lower()
        local.settle("fraud", [("c0", "ok")])
        view = Dashboard(local.coordinator).pool(ANYONE, "fraud")
        assert "The last decision, with a known outcome" in render.pool_page(view)


DECISION, SETTLED = "Appears after the second decision.", "Appears after the second settled case."  # fmt: skip


@pytest.mark.parametrize(
    ("decided", "settled", "waiting"),
    [
        (0, 0, [DECISION, SETTLED, DECISION]),
        (1, 0, [DECISION, SETTLED, DECISION]),
        (1, 1, [DECISION, SETTLED, DECISION]),
        (2, 1, [SETTLED]),
        (3, 2, []),
    ],
)
def test_a_chart_without_a_line_says_when_it_appears(
    tmp_path, decided, settled, waiting
):
    with Local(tmp_path / "l.db", POOL) as local:
        drive(local, decided, unsettled=range(settled, decided))
        html = render.pool_page(Dashboard(local.coordinator).pool(ANYONE, "demo"))
    assert re.findall(r'<p class="waiting">(.*?)</p>', html) == waiting
    charts = re.findall(r'<svg class="chart.*?</svg>', html, re.DOTALL)
    assert len(charts) == 3 - len(waiting)
    assert all('class="bar"' in chart or "L" in chart for chart in charts)
    known = {0: "none is", 1: "1 is", 2: "2 are"}[settled]
    for what in ("Costs are shown", "Costs are compared", "It is shown"):
        assert f"{what} once 30 cases are settled; so far {known}." in html
    assert "0 decisions" not in html


def test_a_pool_without_weights_shows_its_credit(tmp_path):
    known = tp.datasets.example()
    outcomes = np.where(known.outcomes == 1, "fraud", "genuine")
    panel = tp.Panel(known.reports, outcomes, known.agents, positive="fraud")
    pool = tp.pools.make("log-odds").fit_panel(panel)
    pool.save(tmp_path / "p.pool")
    saved = base64.b64encode((tmp_path / "p.pool").read_bytes()).decode()
    given = {"agents": list(panel.agents), "saved_pool": saved}
    with Local(tmp_path / "l.db", POOL | given) as local:
        for case in "abc":
            local.report("demo", [(case, agent, 0.4) for agent in panel.agents])
            local.decide("demo", case, None)
            local.settle("demo", [(case, "genuine")])
        html = render.pool_page(Dashboard(local.coordinator).pool(ANYONE, "demo"))
    assert "The deciding rule has no weight for each agent." in html
    assert "Weight of each agent" not in html
    assert "Savings so far by agent: " in html


def test_a_rule_without_credit_says_why(tmp_path):
    with Local(tmp_path / "l.db", POOL | {"learner": "auto"}) as local:
        drive(local, 3)
        html = render.pool_page(Dashboard(local.coordinator).pool(ANYONE, "demo"))
    assert "The deciding rule has no weight for each agent." in html
    assert "There is no credit either: the rule pools again" in html
    assert "Saved so far" not in html


def test_costs_allow_for_errors_that_were_not_seen(tmp_path):
    """Forty cases without an error are no proof that there are none."""
    with Local(tmp_path / "l.db", POOL) as local:
        for number in range(40):
            case, fraud = f"p{number}", number % 4 == 0
            chance = 0.9 if fraud else 0.01
            local.report("demo", [(case, agent, chance) for agent in AGENTS])
            local.decide("demo", case, None)
            local.settle("demo", [(case, "fraud" if fraud else "genuine")])
        view = Dashboard(local.coordinator).pool(ANYONE, "demo")
    for one in (*view.comparison, *view.agents):
        assert (one.cost.value, one.cost.low) == (0.0, 0.0)
        assert one.cost.high > 10 / 40


@pytest.mark.parametrize(
    "pool",
    [
        {"labels": ["a", "b", "c"]},
        {"learner": "auto"},
        {"costs": {"fn": "amount", "fp": 1}},
        {"threshold": 0.3},
    ],
)
def test_every_kind_of_pool_has_a_page(tmp_path, pool):
    rng = np.random.default_rng(0)
    config = FRAUD | pool
    if len(config["labels"]) > 2:
        del config["positive"]
    with Local(tmp_path / "l.db", config) as local:
        for i in range(40):
            for agent in config["agents"]:
                many = len(config["labels"]) > 2
                report = rng.dirichlet([1, 1, 1]).tolist() if many else rng.random()
                local.report("fraud", [(f"c{i}", agent, report)])
            local.decide("fraud", f"c{i}", {"amount": 20.0})
            local.settle("fraud", [(f"c{i}", config["labels"][i % 2])])
        local.erase("fraud", "c3")
        view = Dashboard(local.coordinator).pool(ANYONE, "fraud")
        assert (view.decided, view.settled, view.window) == (39, 39, 39)
        html = render.pool_page(view)
    assert len(re.findall("<section", html)) == 6


def test_a_case_whose_outcome_was_corrected_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr(dashboards, "FRESH", 0.0)
    with Local(tmp_path / "l.db") as local:
        seen = Dashboard(local.coordinator)
        for outcome in ("ok", "fraud"):
            local.report("fraud", [("c1", "ada", 0.2), ("c1", "bob", 0.4)])
            local.decide("fraud", "c1", None)
            local.settle("fraud", [("c1", outcome)])
            view = seen.pool(ANYONE, "fraud")
            assert (view.decided, view.settled, view.pending) == (1, 1, 0)
            if outcome == "ok":
                local.erase("fraud", "c1")
        for case in ("open", "gone"):
            local.report("fraud", [(case, "ada", 0.2)])
            local.decide("fraud", case, None)
        local.erase("fraud", "gone")
        for board in (seen, Dashboard(local.coordinator)):
            view = board.pool(ANYONE, "fraud")
            assert (view.decided, view.settled, view.pending) == (2, 1, 1)


def test_an_agent_that_joins_is_watched_too(tmp_path, monkeypatch):
    monkeypatch.setattr(dashboards, "FRESH", 0.0)
    with Local(tmp_path / "l.db") as local:
        seen = Dashboard(local.coordinator)
        local.fill(10, np.random.default_rng(0))
        seen.pool(ANYONE, "fraud")
        local.change("fraud", "join", {"agent": "dan"})
        local.change("fraud", "leave", {"agent": "ada"})
        view = seen.pool(ANYONE, "fraud")
    assert [agent.name for agent in view.agents] == ["bob", "cyd", "dan"]
    assert view.agents[2].state == "no decision yet"


def test_cases_before_an_agent_joined_do_not_count_against_its_feed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(dashboards, "FRESH", 0.0)
    with Local(tmp_path / "l.db", TWO) as local:
        seen = Dashboard(local.coordinator)

        def decide(case, *agents):
            local.report("demo", [(case, agent, 0.4) for agent in agents])
            local.decide("demo", case, None)
            return seen.pool(ANYONE, "demo")

        for case in ("c0", "c1", "c2"):
            decide(case, "ada", "bob")
        local.change("demo", "join", {"agent": "eve"})
        joined = seen.pool(ANYONE, "demo")
        assert "feed" not in joined.headline
        assert (joined.agents[2].state, joined.agents[2].share) == (
            "no decision yet",
            None,
        )
        assert decide("c3", "ada", "bob", "eve").agents[2].share == 1
        assert decide("c4", "ada").agents[2].share == 0.5
        assert Dashboard(local.coordinator).pool(ANYONE, "demo").agents[2].share == 0.5
        local.change("demo", "join", {"agent": "fay"})
        silent = decide("c5", "ada")
    assert silent.headline.startswith("Check the feed of fay (no reports).")


def test_many_agents_are_cut_and_counted(tmp_path):
    names = [f"a{i}" for i in range(120)]
    with Local(tmp_path / "l.db", FRAUD | {"agents": names}) as local:
        for i in range(3):
            local.report("fraud", [(f"c{i}", name, 0.3) for name in names])
            local.decide("fraud", f"c{i}", None)
        view = Dashboard(local.coordinator).pool(ANYONE, "fraud")
    assert (len(view.agents), view.all_agents) == (100, 120)
    assert "The 100 agents with most weight of 120." in render.pool_page(view)


# over HTTP


def basic(token, user="x"):
    return {
        "Authorization": "Basic "
        + base64.b64encode(f"{user}:{token}".encode()).decode()
    }


@pytest.fixture
def guarded(tmp_path):
    pool = FRAUD | {"name": ODD, "agents": [ODD, "bob"]}
    with Local(tmp_path / "l.db", pool) as local:
        made = {
            ADMIN: local.issue(ADMIN, None, None),
            OPERATOR: local.issue(OPERATOR, None, None),
            AGENT: local.issue(AGENT, ODD, ODD),
        }
        client = TestClient(app(local.coordinator), raise_server_exceptions=False)
        yield client, {role: one["token"] for role, one in made.items()}


def test_pages_are_for_operators_by_password_or_header(guarded):
    client, tokens = guarded
    for path in ("/", "/pools/nothing"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert client.get(path, headers=basic("tp_no_no")).status_code == 401
        assert (
            client.get(path, headers={"Authorization": "Basic %%%"}).status_code == 401
        )
        assert client.get(path, headers=basic(tokens[AGENT])).status_code == 403
    for role in (OPERATOR, ADMIN):
        assert client.get("/", headers=basic(tokens[role])).status_code == 200
    bearer = {"Authorization": f"Bearer {tokens[ADMIN]}"}
    assert client.get("/", headers=bearer).status_code == 200
    answer = client.get("/pools/nothing", headers=bearer)
    assert answer.status_code == 404
    assert "there is no pool" in answer.text


def test_a_password_opens_the_pages_and_nothing_else(guarded):
    """A browser sends a password by itself, whatever page asks it to."""
    client, tokens = guarded
    headers = basic(tokens[ADMIN])
    assert client.get("/v1/pools", headers=headers).status_code == 401
    assert client.post("/v1/pools", json=FRAUD, headers=headers).status_code == 401


def test_names_are_escaped_and_the_policy_is_strict(guarded):
    client, tokens = guarded
    answer = client.get("/", headers=basic(tokens[OPERATOR]))
    assert "<script>alert" not in answer.text
    link = re.search(r'href="(/pools/[^"]+)"', answer.text)[1]
    answer = client.get(link, headers=basic(tokens[OPERATOR]))
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    meta = re.search(r'Policy" content="([^"]*)"', answer.text)[1].replace("&#39;", "'")
    for part in ("style-src", "script-src", "connect-src"):
        assert re.search(f"{part} '[^']*'", policy)[0] in meta
    assert answer.headers["cache-control"] == "no-store"


def test_a_coordinator_without_pools_says_how_to_make_one(tmp_path):
    with Local(tmp_path / "l.db", None) as local:
        client = TestClient(app(local.coordinator, local=True), "http://localhost:8765")
        answer = client.get("/")
        assert answer.status_code == 200
        assert "There is no pool yet" in answer.text
        shown = unescape(re.search("<code>(curl .*)</code>", answer.text)[1])
        _, url, *options = shlex.split(shown)
        given = {"-H": FORM} | dict(zip(options[::2], options[1::2], strict=True))
        header = dict([given["-H"].split(": ")])
        made = client.post(f"http://{url}", content=given["-d"], headers=header)
    assert made.is_success, made.text


def test_an_unknown_pool_is_not_kept_in_mind(tmp_path):
    with Local(tmp_path / "l.db", None) as local:
        seen = Dashboard(local.coordinator)
        with pytest.raises(RequestError, match="there is no pool 'x'"):
            seen.pool(ANYONE, "x")
        assert seen.pools(ANYONE) == []
        assert seen._pools == {}
