"""The coordinator over HTTP: whatever is sent, the answer is one sentence and a code."""

import io
import json
import socket
import urllib.request
from collections import Counter
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from server.service import FRAUD, Local, serving
from starlette.testclient import TestClient

import truepool as tp
from truepool.core.errors import PluginError
from truepool_serve.server import http, http_cases
from truepool_serve.server.observation import JsonLines
from truepool_serve.server.rules import OnlineRule

EXAMPLES = 15
"""Requests per operation; `make faults` sends more."""


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("http") / "ledger.db") as found:
        yield found


@pytest.fixture(scope="module")
def client(local):
    return TestClient(http.app(local.coordinator), raise_server_exceptions=False)


def refused(answer, status, code):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == code
    assert "\n" not in error["message"]
    return error["message"]


def lines(*rows):
    return "\n".join(map(json.dumps, rows))


def send_arrow(client, table):
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return client.post(
        "/v1/pools/fraud/reports",
        content=stream.getvalue(),
        headers={"Content-Type": http_cases.ARROW},
    )


def test_a_case_in_three_requests(client):
    path = "/v1/pools/fraud/cases/c1"
    answer = client.put(f"{path}/reports/ada", json={"probability": 0.25})
    assert answer.json() == {"stored": 1, "repeated": 0}
    answer = client.post(f"{path}/decision")
    assert answer.json()["probability"] == 0.25
    assert client.put(f"{path}/outcome", json={"outcome": "ok"}).json() == {
        "settled": 1,
        "repeated": 0,
    }
    assert client.get(path).json()["outcome"] == "ok"


def test_batches_come_as_lines_or_as_arrow(client):
    rows = [{"case": f"b{i}", "agent": "ada", "probability": i / 10} for i in range(5)]
    answer = client.post("/v1/pools/fraud/reports", content=lines(*rows))
    assert answer.json() == {"stored": 5, "repeated": 0}
    table = pa.Table.from_pylist([*rows, rows[0] | {"case": "b9"}])
    answer = send_arrow(client, table)
    assert answer.json() == {"stored": 1, "repeated": 5}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "each line must be"),
        ('{"case": "x"}', "missing required field"),
        ('{"case": "x", "agent": "ada", "probability": "high"}', "probability"),
        ('{"case": "x", "agent": "ada", "probability": 0.1, "p": 1}', "unknown field `p`"),
        ('{"case": "x", "agent": "ada", "probability": 2}', "must lie in [0, 1]"),
        ("\xff".encode("latin-1"), "each line must be"),
        (lines(*[{"case": "x", "agent": "ada", "probability": p} for p in (0.1, -1)]), "[0, 1]"),
    ],
)  # fmt: skip
def test_a_batch_that_is_none_is_refused_whole(client, content, sentence):
    answer = client.post("/v1/pools/fraud/reports", content=content)
    assert sentence in refused(answer, 400, "invalid")
    refused(client.get("/v1/pools/fraud/cases/x"), 404, "unknown")


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ('{"case": "x", "agent": "ada"}', "missing required field `probability`"),
        ('{"case": "x", "agent": "ada", "probability": "high"}', "- at `probability`"),
        ('{"case": "x"', "truncated"),
        ("3", "got `int`"),
    ],
)
def test_the_line_of_a_batch_that_is_wrong_is_named_from_1(client, second, reason):
    first = lines({"case": "x", "agent": "ada", "probability": 0.1})
    for body, number in ((f"{first}\n{second}", 2), (f"{first}\n\n{second}\n", 3)):
        answer = client.post("/v1/pools/fraud/reports", content=body)
        sentence = refused(answer, 400, "invalid")
        assert f"; line {number}: " in sentence
        assert reason in sentence
        assert "$" not in sentence


@pytest.mark.parametrize(
    ("method", "path", "content", "sentence"),
    [
        ("PUT", "/v1/pools/fraud/cases/c/reports/ada", {"prob": 0.3},
         "object contains unknown field `prob` (case 'c', agent 'ada')"),
        ("PUT", "/v1/pools/fraud/cases/c/reports/ada", {"probability": 0.3, "x": 1},
         "object contains unknown field `x` (case 'c', agent 'ada')"),
        ("PUT", "/v1/pools/fraud/cases/c/reports/ada", {},
         "object missing required field `probability` (case 'c', agent 'ada')"),
        ("PUT", "/v1/pools/fraud/cases/c/reports/ada", {"probability": "0.3"},
         "expected `float | array`, got `str` - at `probability` (case 'c', agent 'ada')"),
        ("PUT", "/v1/pools/fraud/cases/c/reports/ada", {"probability": [0.3, "0.7"]},
         "expected `float`, got `str` - at `probability[1]` (case 'c', agent 'ada')"),
        ("PUT", "/v1/pools/fraud/cases/c/outcome", {"outcome": [1]},
         "expected `int | str`, got `array` - at `outcome` (case 'c')"),
        ("POST", "/v1/pools/fraud/cases/c/decision", {"columns": {"float": "x"}},
         "expected `float`, got `str` - at `columns[...]` (case 'c')"),
        ("POST", "/v1/pools", {"name": "n", "agents": ["ada", "bob"], "costs": {"fn": 1, "tp": 3}},
         "an error must cost more than the right decision; got fn=1 and tp=3. Raise fn or lower tp."),
        ("POST", "/v1/pools", {"name": "n", "agents": ["ada", "bob"], "labels": ["no", "yes"]},
         "Which label do the reports give the probability of, 'no' or 'yes'? Name it in the field 'positive'."),
        ("POST", "/v1/pools", FRAUD | {"agents": ["ada", "bob"], "costs": {"fn": 3}},
         "there is another pool called 'fraud', with other agents, costs"),
        ("POST", "/v1/pools", FRAUD | {"threshold": 0.5},
         "there is another pool called 'fraud', with other threshold"),
        ("GET", f"/v1/pools/fraud/cases/{'x' * 201}", None,
         f"the name of a case must be text of 1 to 200 characters; got '{'x' * 40}'... (201 characters)"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field_and_what_differs(
    client, method, path, content, sentence
):
    answer = client.request(method, path, json=content)
    kind = (409, "conflict") if "another pool" in sentence else (400, "invalid")
    assert refused(answer, *kind) == sentence


def test_an_arrow_stream_must_be_one(client):
    headers = {"Content-Type": http_cases.ARROW}
    answer = client.post("/v1/pools/fraud/reports", content=b"hello", headers=headers)
    assert "case, agent and probability" in refused(answer, 400, "invalid")


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        ({"agent": [["ada"]]}, "'agent' of an Arrow stream must be text"),
        ({"agent": pa.array([None], pa.string())}, "must be text without gaps"),
        ({"case": [7]}, "'case' of an Arrow stream must be text"),
        ({"probability": ["high"]}, "probability"),
        ({"probability": [None]}, "probability"),
        ({"probability": [[0.5, None]]}, "probability"),
        ({"probability": [[[0.5]]]}, "probability"),
        ({"probability": [{"p": 0.5}]}, "probability"),
    ],
)
def test_columns_of_an_arrow_stream_are_checked(client, odd, sentence):
    columns = {"case": ["x"], "agent": ["ada"], "probability": [0.5]} | odd
    answer = send_arrow(client, pa.table(columns))
    assert sentence in refused(answer, 400, "invalid")
    refused(client.get("/v1/pools/fraud/cases/x"), 404, "unknown")


def test_limits(client, monkeypatch):
    monkeypatch.setattr(http, "LARGEST_BODY", 100)
    monkeypatch.setattr(http_cases, "LONGEST_BATCH", 3)
    path = "/v1/pools/fraud/reports"
    refused(client.post(path, content="x" * 101), 413, "too-large")
    refused(client.post(path, content="\n" * 4), 413, "too-large")


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "code"),
    [
        ("GET", "/v1/pools/none", None, 404, "unknown"),
        ("GET", "/v3", None, 404, "unknown"),
        ("PATCH", "/v1/pools", None, 405, "invalid"),
        ("POST", "/v1/pools", [], 400, "invalid"),
        ("POST", "/v1/pools", FRAUD | {"agent": 1}, 400, "invalid"),
        ("POST", "/v1/pools", FRAUD | {"agents": ["ada"], "name": "one"}, 400, "invalid"),
        ("POST", "/v1/pools", FRAUD | {"learner": "nobody", "name": "n"}, 400, "invalid"),
        ("POST", "/v1/pools", FRAUD | {"costs": {"fn": -1}, "name": "n"}, 400, "invalid"),
        ("POST", "/v1/pools", FRAUD | {"agents": ["ada", "bob"]}, 409, "conflict"),
        ("PUT", "/v1/pools/fraud/cases/n/outcome", {"outcome": "ok"}, 404, "unknown"),
        ("PUT", "/v1/pools/fraud/cases/n/outcome", {}, 400, "invalid"),
        ("POST", "/v1/pools/fraud/cases/n/decision", None, 404, "unknown"),
        ("PUT", "/v1/pools/none/cases/n/reports/ada", {"probability": 0.3}, 404, "unknown"),
        ("PUT", "/v1/pools/fraud/cases/n/reports/zed", {"probability": 0.3}, 400, "invalid"),
        ("DELETE", "/v1/pools/fraud/agents/zed", None, 400, "invalid"),
        ("DELETE", "/v1/pools/fraud/agents/zed/endpoint", None, 404, "unknown"),
        ("POST", "/v1/tokens", {"role": "agent", "pool": "fraud", "agent": "zed"}, 404, "unknown"),
        ("POST", "/v1/pools/fraud/challengers/zed/promote", None, 400, "invalid"),
        ("DELETE", "/v1/pools/fraud/challengers/zed", None, 400, "invalid"),
        ("GET", "/v1/pools/fraud/panel?last=0", None, 400, "invalid"),
        ("GET", "/v1/pools/fraud/panel?last=x", None, 400, "invalid"),
        ("POST", "/v1/pools/fraud/challengers", {"name": "x"}, 400, "invalid"),
        ("POST", "/v1/pools/fraud/challengers", {"name": "x", "saved_pool": "!"}, 400, "invalid"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_one_sentence_with_a_code(
    client, method, path, content, status, code
):
    assert refused(client.request(method, path, json=content), status, code)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/v1/pools", "GET, POST"),
        ("GET", "/v1/pools/fraud/cases/n/decision", "POST"),
        ("POST", "/v1/pools/fraud/cases/a%2Fb", "DELETE, GET"),
        ("DELETE", "/v2/models/fraud/infer", "POST"),
    ],
)
def test_a_wrong_method_is_answered_with_those_of_the_path(
    client, method, path, allowed
):
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)
    error = answer.json()["error"]
    message = error if path.startswith("/v2") else error["message"]
    assert message.startswith(f"{method} {path} is no")
    assert message.endswith(f"this path takes {allowed.replace(', ', ' or ')}")


def test_a_wrong_value_is_named_with_its_case_and_agent(client):
    path = "/v1/pools/fraud/cases/c7"
    answer = client.put(f"{path}/reports/ada", json={"probability": "high"})
    assert refused(answer, 400, "invalid") == (
        "expected `float | array`, got `str` - at `probability` (case 'c7', agent 'ada')"
    )
    answer = client.post(f"{path}/decision", json={"columns": {"amount": None}})
    assert refused(answer, 400, "invalid") == (
        "expected `float`, got `null` - at `columns[...]` (case 'c7')"
    )
    answer = client.get("/v1/pools/fraud/panel?last=x")
    assert refused(answer, 400, "invalid").endswith("; got 'x'")


@pytest.mark.parametrize(
    "value", [True, False, "0.3", ["0.3", "0.7"], [True, 0.0], None, {}]
)
def test_a_report_is_a_number_and_nothing_that_could_pass_for_one(client, value):
    path = "/v1/pools/fraud/cases/strict"
    answer = client.put(f"{path}/reports/ada", json={"probability": value})
    assert "probability" in refused(answer, 400, "invalid")
    refused(client.get(path), 404, "unknown")


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, [1]])
def test_an_outcome_is_a_label_and_nothing_that_could_pass_for_one(client, value):
    pool = {"name": "numbers", "agents": ["ada", "bob"]}
    client.post("/v1/pools", json=pool)
    path = "/v1/pools/numbers/cases/c"
    client.put(f"{path}/reports/ada", json={"probability": 1})
    client.post(f"{path}/decision")
    assert "outcome" in refused(
        client.put(f"{path}/outcome", json={"outcome": value}), 400, "invalid"
    )
    batch = lines({"case": "c", "outcome": value})
    refused(client.post("/v1/pools/numbers/outcomes", content=batch), 400, "invalid")
    assert client.get(path).json()["outcome"] is None


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/v1/pools/fraud/cases/c/decision", {"columns": {"amount": True}}),
        ("/v1/pools/fraud/cases/c/decision", {"columns": {"amount": "120"}}),
        ("/v1/pools/fraud/cases/c/prediction", {"features": {"x": 1}, "columns": {"amount": "1"}}),
        ("/v1/pools/fraud/cases/c/prediction", {"features": {"x": 1}, "deadline": "1"}),
        ("/v1/pools/fraud/cases/c/prediction", {"features": {"x": 1}, "deadline": True}),
        ("/v1/tokens/x/rotate", {"grace": "1"}),
        ("/v1/tokens/x/rotate", {"grace": True}),
        ("/v1/pools", FRAUD | {"name": "n", "costs": {"fn": True}}),
        ("/v1/pools", FRAUD | {"name": "n", "costs": {"matrix": [[0, "1"], [True, 0]]}}),
        ("/v1/pools", FRAUD | {"name": "n", "threshold": "0.5"}),
        ("/v1/pools", FRAUD | {"name": "n", "deadline": "2"}),
        ("/v1/pools", FRAUD | {"name": "n", "deadline": True}),
        ("/v1/pools", FRAUD | {"name": "n", "open_cases": True}),
        ("/v1/pools", FRAUD | {"name": "n", "labels": [True, False], "positive": True}),
        ("/v1/pools", {"name": "n", "agents": ["ada", "bob"], "positive": True}),
        ("/v1/pools", FRAUD | {"name": "n", "settings": {"rate": True}, "learner": "gradient"}),
        ("/v1/pools", FRAUD | {"name": "n", "settings": {"rate": "1"}, "learner": "gradient"}),
    ],
)  # fmt: skip
def test_where_a_number_is_expected_nothing_else_is(client, path, content):
    refused(client.post(path, json=content), 400, "invalid")


def test_a_plug_in_that_fails_is_no_fault_of_the_caller(tmp_path, monkeypatch, caplog):
    """Half of a batch was learned when it failed; nothing of that stays."""
    settle = OnlineRule.settle

    def fail(self, case, outcome, learned):
        settle(self, case, outcome, learned)
        if case == "b":
            try:
                raise KeyError("0.123")
            except KeyError as error:
                raise PluginError("the plug-in 'hedge' failed in update") from error

    pool = FRAUD | {"learner": "hedge", "settings": {"rate": 1.0}}
    with Local(tmp_path / "l.db", pool) as local:
        client = TestClient(http.app(local.coordinator))
        for case in "ab":
            local.report("fraud", [(case, "ada", 0.2), (case, "bob", 0.6)])
            local.decide("fraud", case, None)
        batch = lines(*[{"case": case, "outcome": "ok"} for case in "ab"])
        before = local.describe("fraud")
        with monkeypatch.context() as patch, caplog.at_level("ERROR"):
            patch.setattr(OnlineRule, "settle", fail)
            answer = client.post("/v1/pools/fraud/outcomes", content=batch)
            assert "the plug-in 'hedge'" in refused(answer, 500, "internal")
            assert local.describe("fraud") == before
        (record,) = (r for r in caplog.records if r.message == "fault")
        line = json.loads(JsonLines().format(record))
        assert (line["level"], line["error"]) == ("error", "KeyError")
        assert line["where"].startswith("test_http.py:")
        assert "0.123" not in json.dumps(line)
        answer = client.post("/v1/pools/fraud/outcomes", content=batch)
        assert answer.json() == {"settled": 2, "repeated": 0}
        found = local.describe("fraud")["weights"]
    stream = tp.Stream("hedge", FRAUD["agents"], costs=tp.Costs(10, 1), rate=1.0)
    for case in "ab":
        stream.predict_proba_one({"ada": 0.2, "bob": 0.6}, case)
    for case in "ab":
        stream.settle(case, 0)
    assert found == stream.weights


def test_a_request_that_is_no_json_is_refused(client):
    answer = client.post("/v1/pools", content="{")
    assert "truncated" in refused(answer, 400, "invalid")
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/v1/pools", content="{}", headers=headers)
    assert "must be JSON" in refused(answer, 400, "invalid")


@pytest.mark.parametrize("length", ["banana", "-1", "1e3", "9" * 40])
def test_a_length_that_is_no_number_is_refused_and_others_are_served(local, length):
    head = f"POST /v1/pools HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    with serving(local) as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port), 60) as connection:
            connection.sendall(head.encode() + b"{}")
            assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")
        with urllib.request.urlopen(f"{url}/livez", timeout=60) as answer:
            assert answer.status == 200


def test_a_long_arrow_stream_is_refused(client, monkeypatch):
    monkeypatch.setattr(http_cases, "LONGEST_BATCH", 1)
    table = pa.table(
        {"case": ["a", "b"], "agent": ["ada", "ada"], "probability": [0.1, 0.2]}
    )
    answer = send_arrow(client, table)
    refused(answer, 413, "too-large")


def test_the_api_describes_itself(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert all(
        operation["summary"] or operation["description"]
        for methods in paths.values()
        for operation in methods.values()
    )


@schemathesis.serializer(http_cases.LINES)
def as_lines(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def test_whatever_is_sent_nothing_breaks(tmp_path):
    """Requests made up from the description of the API: none is a server error."""
    sent = Counter()

    def check(case):
        answer = case.call()
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert answer.json()["error"]["code"] in http.STATUS
        sent[answer.status_code] += 1

    with Local(tmp_path / "ledger.db") as local:
        api = schemathesis.openapi.from_asgi(
            "/openapi.json", http.app(local.coordinator)
        )
        for operation in api.get_all_operations():
            cases = operation.ok().as_strategy()
            few = settings(
                max_examples=EXAMPLES, deadline=None, database=None,
                suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            few(given(cases)(check))()
    assert sent.total() > 100
