"""What a request or an answer of an agent must not be able to do."""

import asyncio
import json
import resource
import socket
import threading

import numpy as np
import pyarrow as pa
import pytest
import uvicorn
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool.core.errors import RequestError, SettingError
from truepool_serve.server import limits
from truepool_serve.server.access import AGENT, OPERATOR
from truepool_serve.server.http import app
from truepool_serve.server.ledger import Ledger


@pytest.fixture
def local(tmp_path):
    with Local(tmp_path / "l.db") as found:
        yield found


@pytest.fixture
def client(local):
    return TestClient(app(local.coordinator), base_url="http://localhost")


def refused(code, act, *words):
    with pytest.raises(RequestError) as caught:
        act(*words)
    assert caught.value.code == code
    return str(caught.value)


def test_a_decision_asked_for_with_other_columns_is_a_conflict(tmp_path):
    pool = FRAUD | {"costs": {"fn": "amount", "fp": 5}}
    with Local(tmp_path / "l.db", pool) as local:
        local.report("fraud", [("c", "ada", 0.1)])
        first = local.decide("fraud", "c", {"amount": 100.0})
        assert local.decide("fraud", "c", {"amount": 100.0}) == first
        assert local.decide("fraud", "c", None) == first
        refused("conflict", local.decide, "fraud", "c", {"amount": 10.0})
        refused("conflict", local.decide_all, "fraud", [("c", {"amount": 10.0})])


@pytest.mark.parametrize("settings", [{"positive": 0, "negative": 1}, {"memory": 1}])
def test_a_learner_has_no_labels_of_its_own(local, settings):
    """Labels the other way round let it learn backwards."""
    pool = FRAUD | {"name": "x", "settings": settings, "learner": "gradient"}
    with pytest.raises(SettingError, match="must not have"):
        local.create(pool)
    rule = {"learner": "hedge", "settings": settings}
    with pytest.raises(SettingError, match="must not have"):
        local.change("fraud", "challenge", {"name": "x", "rule": rule})


@pytest.mark.parametrize("field", ["labels", "currency", "name"])
def test_half_a_character_is_refused(client, field):
    """It could be stored, and then no answer with it could be sent."""
    half = "\\ud800"
    given = {"name": "x", "agents": ["a"], "labels": ["a", "b"], "positive": "a"}
    given |= {"labels": [half, "a"]} if field == "labels" else {}
    given |= {"costs": {"currency": half}} if field == "currency" else {}
    given |= {"name": half} if field == "name" else {}
    content = json.dumps(given).replace("\\\\ud800", "\\ud800")
    headers = {"Content-Type": "application/json"}
    answer = client.post("/v1/pools", content=content, headers=headers)
    assert answer.status_code == 400, answer.text
    assert "must be JSON" not in answer.text


def test_a_batch_of_decisions_is_made_whole_or_not_at_all(client, local):
    local.report("fraud", [(f"c{i}", "ada", i / 10) for i in range(5)])
    lines = [json.dumps({"case": f"c{i}"}) for i in range(5)]
    path = "/v1/pools/fraud/decisions"
    answer = client.post(path, content="\n".join([*lines, '{"case": "none"}']))
    assert answer.status_code == 404
    assert local.describe("fraud")["entries"] == 1
    answer = client.post(path, content="\n".join([*lines, lines[0]]))
    assert answer.status_code == 400
    answer = client.post(path, content="\n".join(lines))
    found = answer.json()["decisions"]
    assert [one["case"] for one in found] == [f"c{i}" for i in range(5)]
    assert [one["decision"] for one in found] == ["ok", *["fraud"] * 4]
    assert found[2] == client.post("/v1/pools/fraud/cases/c2/decision").json()


def test_a_batch_does_not_open_more_cases_than_a_pool_may_have(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"open_cases": 2}) as local:
        local.report(
            "fraud", [(f"c{i}", a, 0.5) for i, a in enumerate(("ada", "bob", "cyd"))]
        )
        cases = [(f"c{i}", None) for i in range(3)]
        refused("too-many", local.decide_all, "fraud", cases)
        assert local.describe("fraud")["entries"] == 1
        local.decide_all("fraud", cases[:2])


def infer(client, names, reports):
    body = {
        "inputs": [
            {"name": "case", "datatype": "BYTES", "shape": [len(names)], "data": names},
            {"name": "reports", "datatype": "FP64", "shape": [len(names), 3], "data": reports},
        ]
    }  # fmt: skip
    return client.post("/v2/models/fraud/infer", json=body)


def test_a_batch_of_the_inference_protocol_is_stored_whole_or_not_at_all(client, local):
    local.report("fraud", [("c1", "ada", 0.2)])
    reports = [0.1, 0.2, 0.3, 0.9, 0.2, 0.3]
    assert infer(client, ["c0", "c1"], reports).status_code == 409
    refused("unknown", local.case, "fraud", "c0")
    assert infer(client, ["c0", "c2"], reports).status_code == 200
    assert infer(client, ["c0", "c2"], reports).status_code == 200
    assert local.describe("fraud")["entries"] == 3


def test_one_agent_cannot_use_up_what_the_others_may_have_waiting(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"open_cases": 3}) as local:
        local.report("fraud", [(f"c{i}", "ada", 0.5) for i in range(3)])
        assert "of an agent" in refused(
            "too-many", local.report, "fraud", [("c9", "ada", 0.5)]
        )
        local.report("fraud", [(f"c{i}", "bob", 0.5) for i in range(3)])
        local.decide("fraud", "c0", None)
        local.report("fraud", [("c9", "ada", 0.5)])
    with Ledger(tmp_path / "l.db") as ledger:
        assert ledger.waiting(1) == {0: 3, 1: 2}


def test_a_pool_wants_a_quorum(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"min_agents": 2}) as local:
        local.report("fraud", [("c", "ada", 0.5)])
        sentence = refused("unavailable", local.decide, "fraud", "c", None)
        assert "at least 2 agents (min_agents); case 'c' has 1" in sentence
        refused("unavailable", local.decide_all, "fraud", [("c", None)])
        local.report("fraud", [("c", "bob", 0.5)])
        assert local.decide("fraud", "c", None)["reported"] == ["ada", "bob"]
        assert local.describe("fraud")["min_agents"] == 2


def arrow(table, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)
    ) as out:
        out.write_table(table)
    return sink.getvalue().to_pybytes()


ROWS = 60_000
LONG = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int8()), ["x" * 60_000])
PLAIN = {
    "case": [f"c{i}" for i in range(5)],
    "agent": ["ada"] * 5,
    "probability": [0.5] * 5,
}


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ({"case": LONG, "agent": LONG, "probability": [0.5] * ROWS}, {}, "at most 200 characters"),
        ({**PLAIN, "probability": pa.nulls(5)}, {}, "must be numbers; got null"),
        ({**PLAIN, "probability": pa.array([[None]] * 5, pa.list_(pa.null()))}, {}, "must be numbers"),
        ({**PLAIN, "case": [1, 2, 3, 4, 5]}, {}, "must be text"),
        (PLAIN, {"compression": "zstd"}, "must not be compressed"),
        ({**PLAIN, "case": pa.array(PLAIN["case"]).dictionary_encode()}, {"compression": "lz4"}, "must not be compressed"),
    ],
    ids=["shared text", "nulls", "lists of nulls", "numbers", "zstd", "lz4"],
)  # fmt: skip
def test_a_small_arrow_stream_takes_no_memory(client, columns, options, sentence):
    """48 kB took 3.9 GB."""
    body = arrow(pa.table(columns), **options)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
    answer = client.post("/v1/pools/fraud/reports", content=body, headers=kind)
    assert answer.status_code == 400, answer.text
    assert sentence in answer.json()["error"]["message"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_a_plain_arrow_stream_is_taken(client):
    kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
    columns = PLAIN | {"agent": pa.array(PLAIN["agent"]).dictionary_encode()}
    body = arrow(pa.table(columns))
    answer = client.post("/v1/pools/fraud/reports", content=body, headers=kind)
    assert answer.json() == {"stored": 5, "repeated": 0}


def test_the_token_is_looked_at_before_the_body(client, local):
    local.issue(OPERATOR, None, None)
    read = []

    async def app_without_reading():
        sent = []

        async def receive():
            read.append(1)
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/v1/pools", "raw_path": b"/v1/pools",
            "headers": [], "query_string": b"", "http_version": "1.1", "scheme": "http",
            "server": ("localhost", 80), "client": ("127.0.0.1", 1), "root_path": "",
        }  # fmt: skip
        await app(local.coordinator)(scope, receive, send)
        return sent[0]["status"]

    assert asyncio.run(app_without_reading()) == 401
    assert not read


@pytest.fixture
def served(local, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_HEAD", 0.3)
    monkeypatch.setattr(limits, "MOST_CONNECTIONS", 20)
    config = uvicorn.Config(
        app(local.coordinator), port=0, log_level="error", http=limits.LimitedProtocol
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    yield server.servers[0].sockets[0].getsockname()
    server.should_exit = True
    thread.join(30)


def answered(connection):
    connection.settimeout(10)
    try:
        return connection.recv(1000)
    except ConnectionResetError:
        return b""


def test_headers_have_a_size_and_a_time(served):
    good = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
    with socket.create_connection(served) as connection:
        connection.sendall(good + b"\r\n")
        assert answered(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(good)  # and never ends
        while answered(connection):
            continue  # the rest of the answer, then the end
    with socket.create_connection(served) as connection:
        try:
            connection.sendall(good + b"X: " + b"x" * 300_000)
        except OSError:
            return
        assert not answered(connection).startswith(b"HTTP/1.1 200")


def test_connections_have_a_limit(served, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_HEAD", 60.0)
    many = [socket.create_connection(served) for _ in range(25)]
    try:
        many[-1].sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answered(many[-1]) == b""
        many[0].sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answered(many[0]).startswith(b"HTTP/1.1 200")
    finally:
        for connection in many:
            connection.close()


def test_a_deleted_pool_is_gone_and_its_name_is_free(local, client):
    local.fill(4, np.random.default_rng(0))
    operator = local.issue(OPERATOR, None, None)
    token = local.issue(AGENT, "fraud", "ada")
    assert local.delete("fraud") == {"name": "fraud", "entries": 9}
    header = {"Authorization": f"Bearer {token['token']}"}
    assert client.get("/v1/pools/fraud", headers=header).status_code == 401
    header = {"Authorization": f"Bearer {operator['token']}"}
    assert client.get("/v1/pools/fraud", headers=header).status_code == 404
    assert local.trail(1)[0]["action"] == "delete"
    local.create(FRAUD)
    local.fill(2, np.random.default_rng(1))
    assert local.describe("fraud")["entries"] == 5
    for table in ("reports", "entries"):
        statement = f"SELECT count(*) FROM {table}"
        count = local.coordinator.ledger.connection.value(statement)
        assert count in (5, 6)
