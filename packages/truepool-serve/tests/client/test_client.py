"""A client keeps what was not sent, sends it again, and nothing is stored twice."""

import httpx
import numpy as np
import pytest
from server.service import FRAUD

import truepool as tp
from truepool.core.errors import ReportError, RequestError, SettingError
from truepool_serve.client import exchange

NOWHERE = "http://127.0.0.1:9"
"""Nobody listens on this port."""


def known(service, case):
    try:
        return service.case("fraud", case)["reports"]
    except RequestError:
        return {}


def fail(client, error):
    """Report once in a block that fails."""
    with client:
        client.report("fraud", "c0", "ada", 0.5)
        raise error


def test_a_case_is_reported_decided_and_settled(connect, service):
    client = connect()
    assert client.create(FRAUD)["name"] == "fraud"  # it is there already
    assert client.pools() == ["fraud"]
    client.report("fraud", 4711, "ada", 0.2)
    client.report("fraud", 4711, "bob", np.float64(0.4))
    answer = client.decide("fraud", 4711)
    assert answer["probability"] == pytest.approx(0.3)
    client.settle("fraud", 4711, "fraud")
    assert client.flush() == {"stored": 0, "settled": 1, "repeated": 0}
    assert client.case("fraud", 4711)["outcome"] == "fraud"
    weights = client.describe("fraud")["weights"]
    assert weights["bob"] > weights["ada"]
    assert client.challengers("fraud") == []


def test_reports_wait_until_there_are_enough(connect, service):
    client = connect(buffer=3)
    for i in range(2):
        client.report("fraud", f"c{i}", "ada", 0.5)
    assert (client.waiting, known(service, "c0")) == (2, {})
    client.report("fraud", "c2", "ada", 0.5)
    assert (client.waiting, known(service, "c0")) == (0, {"ada": 0.5})


def test_reports_wait_no_longer_than_the_delay(connect, service):
    client = connect(delay=0.0)
    client.report("fraud", "c0", "ada", 0.5)
    assert known(service, "c0") == {"ada": 0.5}


def test_the_end_of_a_block_sends_what_waits(kind, service):
    with kind[0](service.url) as client:
        client.report("fraud", "c0", "ada", 0.5)
        assert known(service, "c0") == {}
    assert known(service, "c0") == {"ada": 0.5}


def test_a_block_that_fails_sends_what_waits(kind, service):
    with pytest.raises(ZeroDivisionError) as error:
        fail(kind[0](service.url), ZeroDivisionError())
    assert known(service, "c0") == {"ada": 0.5}
    assert "__notes__" not in vars(error.value)


def test_a_block_that_fails_says_what_could_not_be_sent(kind):
    with pytest.raises(ZeroDivisionError) as error:
        fail(kind[0](NOWHERE, patience=0), ZeroDivisionError())
    reason, count = error.value.__notes__
    assert "a coordinator must answer at" in reason
    assert count == "1 reports or outcomes were not sent"


def test_an_interrupted_block_does_not_wait(kind):
    with pytest.raises(KeyboardInterrupt) as error:
        fail(kind[0](NOWHERE, patience=1e6), KeyboardInterrupt())
    assert error.value.__notes__ == ["1 reports or outcomes were not sent"]


def test_the_end_of_a_block_raises_what_cannot_be_sent(kind):
    with pytest.raises(RequestError, match="a coordinator must answer"):
        with kind[0](NOWHERE, patience=0) as client:
            client.report("fraud", "c0", "ada", 0.5)


def test_lost_answers_double_nothing(kind, connect, service):
    client = connect(transport=kind[1]())
    cases = [f"c{i}" for i in range(6)]
    for i, case in enumerate(cases):
        client.report("fraud", case, "ada", i / 10)
        client.report("fraud", case, "bob", i / 20)
    assert client.flush() == {"stored": 0, "settled": 0, "repeated": 12}
    for case in cases:
        client.decide("fraud", case)
    for case in cases:
        client.settle("fraud", case, "ok")
    assert client.flush() == {"stored": 0, "settled": 0, "repeated": 6}
    assert service.describe("fraud")["entries"] == 1 + 6 + 6
    assert client.waiting == 0


def test_an_answer_of_trouble_is_waited_out(kind):
    answers = [
        httpx.Response(503, json={"error": {"code": "unavailable", "message": "full"}}),
        httpx.Response(429, headers={"Retry-After": "0"}, text="slow down"),
        httpx.Response(502, text="<html>Bad Gateway</html>"),
        httpx.Response(200, json={"pools": ["fraud"]}),
    ]
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    with kind[0]("http://x.test", transport=transport) as client:
        assert client.pools() == ["fraud"]


def test_what_a_broken_plug_in_of_the_coordinator_fails_on_is_kept(kind):
    broken = httpx.Response(500, json={"error": {"code": "internal", "message": "no"}})
    transport = httpx.MockTransport(lambda request: broken)
    with (
        pytest.raises(RequestError, match=r"no \(1 attempts") as caught,
        kind[0]("http://x.test", transport=transport, patience=0) as client,
    ):
        client.settle("fraud", "c1", "ok")
    assert (caught.value.code, client.waiting, client.refused) == ("internal", 1, [])


def test_a_coordinator_may_ask_to_wait_longer_than_patience_lasts(kind):
    slow = httpx.Response(429, headers={"Retry-After": "99"}, json={
        "error": {"code": "limited", "message": "too many requests"}})  # fmt: skip
    transport = httpx.MockTransport(lambda request: slow)
    with kind[0]("http://x.test", transport=transport, patience=5) as client:
        with pytest.raises(RequestError, match=r"too many requests \(1 attempts") as e:
            client.pools()
    assert e.value.code == "limited"


def test_waits_grow_up_to_a_limit():
    class Top:
        def uniform(self, low, high):
            return high

    waits = exchange.Exchange("http://x.test", 60.0, Top())._wait
    assert [waits(i) for i in (0, 1, 2, 5, 6, 10**6)] == [0.1, 0.2, 0.4, 3.2, 5.0, 5.0]


@pytest.mark.parametrize(
    ("status", "text", "code", "sentence"),
    [
        (404, "<html>Not Found</html>", "invalid", "status 404 with '<html>"),
        (200, "<html>Hello</html>", "invalid", "in JSON; got '<html>"),
        (503, "x" * 999, "unavailable", "must come from a coordinator.*'x{200}'"),
        (400, '{"error": "so"}', "invalid", "status 400 with"),
    ],
)
def test_what_is_no_coordinator_is_said(kind, status, text, code, sentence):
    transport = httpx.MockTransport(lambda request: httpx.Response(status, text=text))
    with kind[0]("http://x.test", transport=transport, patience=0) as client:
        with pytest.raises(RequestError, match=sentence) as error:
            client.pools()
    assert error.value.code == code


def test_one_bad_report_keeps_back_no_other(connect, service):
    service.report("fraud", [("c3", "ada", 0.9)])
    client = connect()
    for i in range(8):
        client.report("fraud", f"c{i}", "ada", 0.5)
    client.report("fraud", "c0", "nobody", 0.5)
    client.report("fraud", "c9", "bob", [0.2, 0.2, 0.6])
    with pytest.raises(RequestError, match=r"'ada' has reported 0.9.*\(2 more") as e:
        client.flush()
    assert e.value.code == "conflict"
    assert client.waiting == 0
    assert [known(service, f"c{i}") for i in (0, 2, 4, 7)] == [{"ada": 0.5}] * 4
    assert known(service, "c3") == {"ada": 0.9}
    assert [(r.line["case"], r.line["agent"], r.code) for r in client.refused] == [
        ("c3", "ada", "conflict"), ("c0", "nobody", "invalid"), ("c9", "bob", "invalid"),
    ]  # fmt: skip
    assert client.flush() == {"stored": 0, "settled": 0, "repeated": 0}


def test_an_outcome_of_an_undecided_case_keeps_back_no_other(connect, service):
    service.report("fraud", [("c1", "ada", 0.9)])
    service.decide("fraud", "c1", None)
    client = connect()
    client.settle("fraud", "c0", "fraud")
    client.settle("fraud", "c1", "fraud")
    with pytest.raises(RequestError, match="'c0' was not decided"):
        client.flush()
    assert service.case("fraud", "c1")["outcome"] == "fraud"
    assert [refusal.line for refusal in client.refused] == [
        {"case": "c0", "outcome": "fraud"}
    ]


def test_reports_to_an_unknown_pool_wait_until_there_is_one(connect, service):
    client = connect()
    client.report("theft", "c0", "ada", 0.5)
    with pytest.raises(RequestError, match="there is no pool 'theft'"):
        client.flush()
    assert client.waiting == 1
    client.create(FRAUD | {"name": "theft"})
    assert client.flush()["stored"] == 1


def test_reports_without_a_valid_token_wait(connect, service):
    token = service.issue("admin", None, None)["token"]
    stranger, admin = connect("tp_no_token"), connect(token)
    for client in (stranger, admin):
        client.report("fraud", "c0", "ada", 0.5)
    with pytest.raises(RequestError, match="needed; give it as token="):
        stranger.flush()
    assert stranger.waiting == 1
    assert admin.flush()["stored"] == 1
    stranger.operations.buffer.reports.clear()


def test_a_report_that_waits_cannot_be_changed(connect):
    client = connect()
    client.report("fraud", "c0", "ada", 0.5)
    client.report("fraud", "c0", "ada", 0.5)
    assert client.waiting == 1
    with pytest.raises(RequestError, match="a report cannot be changed.*0.5.*got.*0.6"):
        client.report("fraud", "c0", "ada", 0.6)
    client.settle("fraud", "c9", "ok")
    with pytest.raises(RequestError, match="an outcome cannot be changed"):
        client.settle("fraud", "c9", "fraud")
    client.operations.buffer.outcomes.clear()


@pytest.mark.parametrize(
    "report", [1.5, -0.1, float("nan"), "0.5", True, None, [], [0.5, "x"], {}]
)
def test_a_report_that_is_no_probability_is_refused_at_once(connect, report):
    client = connect()
    with pytest.raises(ReportError, match="agent 'ada' has"):
        client.report("fraud", "c0", "ada", report)
    assert client.waiting == 0


@pytest.mark.parametrize("outcome", [True, 0.5, None])
def test_an_outcome_that_is_no_label_is_refused_at_once(connect, outcome):
    client = connect()
    with pytest.raises(SettingError, match="an outcome must be a label"):
        client.settle("fraud", "c0", outcome)


def test_a_panel_is_what_the_coordinator_knows(connect, service):
    service.fill(12, np.random.default_rng(0))
    panel = connect().panel("fraud", 10)
    expected = service.settled("fraud", 10).panel()
    np.testing.assert_array_equal(panel.reports, expected.reports)
    np.testing.assert_array_equal(panel.outcomes, expected.outcomes)
    assert (panel.agents, list(panel.ids)) == (expected.agents, list(expected.ids))


def test_costs_of_a_case_are_given_with_the_decision(connect):
    client = connect()
    client.create(FRAUD | {"name": "amounts", "costs": {"fn": "amount", "fp": 1}})
    client.report("amounts", "c0", "ada", 0.5)
    assert client.decide("amounts", "c0", {"amount": 9.0})["threshold"] == 0.1


@pytest.mark.parametrize("cost", [120.0, 0.4])
def test_the_costs_of_cases_are_no_agent_of_the_panel(connect, cost):
    client = connect()
    client.create(FRAUD | {"name": "amounts", "costs": {"fn": "amount", "fp": 1}})
    for number, label in enumerate(["fraud", "ok"] * 4):
        case = f"c{number}"
        for agent in FRAUD["agents"]:
            client.report("amounts", case, agent, 0.1 + 0.1 * number)
        client.decide("amounts", case, {"amount": cost})
        client.settle("amounts", case, label)
    client.flush()
    panel = client.panel("amounts")
    assert sorted(panel.agents) == sorted(FRAUD["agents"])
    assert panel.columns["amount"].tolist() == [cost] * 8


@pytest.mark.parametrize(
    ("words", "settings", "sentence"),
    [
        (("127.0.0.1:8765",), {}, "must be a URL"),
        ((NOWHERE,), {"buffer": 0}, "buffer must be at least 1"),
        ((NOWHERE,), {"patience": -1.0}, "patience must be a number of seconds"),
    ],
)
def test_settings_that_cannot_be_are_refused(words, settings, sentence):
    for kind in (tp.Client, tp.AsyncClient):
        with pytest.raises(SettingError, match=sentence):
            kind(*words, **settings)


def test_cases_are_decided_together_or_not_at_all(connect, service):
    client = connect()
    for i in range(4):
        client.report("fraud", i, "ada", i / 10)
    before = service.describe("fraud")["entries"]
    with pytest.raises(RequestError, match="nothing to pool"):
        client.decide_all("fraud", [0, 1, "none"])
    assert service.describe("fraud")["entries"] == before
    found = client.decide_all("fraud", range(3))
    assert [one["case"] for one in found] == ["0", "1", "2"]
    assert client.decide_all("fraud", {0: {}})[0] == found[0]
    assert service.describe("fraud")["entries"] == before + 3
