"""What is seen from outside: metrics, log lines and traces, and none of it a secret."""

import json
import logging
import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from server.service import Local
from starlette.testclient import TestClient

from truepool.core import distributions
from truepool.core.errors import LedgerError, MissingExtraError, SettingError
from truepool_serve.server import http, observation, traces
from truepool_serve.server.access import ADMIN, AGENT, OPERATOR

CASE, REPORT = "Jane Doe 1970", 0.123456789


@pytest.fixture
def local(tmp_path):
    with Local(tmp_path / "ledger.db") as found:
        yield found


@pytest.fixture
def client(local):
    return TestClient(http.app(local.coordinator), raise_server_exceptions=False)


def values(text):
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def one_case(client, headers=None):
    path = f"/v1/pools/fraud/cases/{CASE}"
    headers = headers or {}
    client.put(f"{path}/reports/ada", json={"probability": REPORT}, headers=headers)
    client.post(f"{path}/decision", headers=headers)
    client.put(f"{path}/outcome", json={"outcome": "ok"}, headers=headers)


def test_metrics_count_what_was_done(client, local):
    one_case(client)
    one_case(client)  # again: nothing new is stored or learned
    client.get("/v1/pools/nothing")
    client.get("/nowhere")
    found = values(client.get("/metrics").text)
    assert found["truepool_reports_total", "fraud"] == 1
    assert found["truepool_decisions_total", "fraud"] == 2
    assert found["truepool_outcomes_total", "fraud"] == 1
    assert found["truepool_entries", "fraud"] == 3
    assert found["truepool_agents", "fraud"] == 3
    assert found["truepool_open_cases", "fraud"] == 0
    assert found[("truepool_queue",)] == 0
    assert found[("truepool_failed_commits_total",)] == 0
    assert found["truepool_requests_total", "GET /v1/pools/{pool}", "404"] == 1
    assert found["truepool_requests_total", "GET other", "404"] == 1
    decide = "POST /v1/pools/{pool}/cases/{case}/decision"
    assert found["truepool_request_seconds_count", decide] == 2
    assert found[("truepool_commit_seconds_count",)] >= 6


def test_a_commit_that_fails_is_counted(client, local):
    def broken():
        raise LedgerError("no room")

    with pytest.raises(LedgerError):
        local.coordinator.writer.submit(broken).result(10)
    assert values(client.get("/metrics").text)[("truepool_failed_commits_total",)] == 1


def test_metrics_and_logs_name_no_case_report_or_token(client, local, caplog):
    caplog.set_level(logging.INFO, observation.LOGGER.name)
    token = local.issue(ADMIN, None, None)["token"]
    one_case(client, {"Authorization": f"Bearer {token}"})
    client.get("/v1/pools", headers={"Authorization": "Bearer tp_a_secret"})
    text = client.get("/metrics", headers={"Authorization": f"Bearer {token}"}).text
    lines = [observation.JsonLines().format(record) for record in caplog.records]
    logged = [json.loads(line) for line in lines]
    assert {line["event"] for line in logged} >= {"request"}
    outcome = "PUT /v1/pools/{pool}/cases/{case}/outcome"
    (line,) = [line for line in logged if line.get("operation") == outcome]
    assert (line["status"], line["level"]) == (200, "info")
    assert line["token"] == token.split("_")[1]  # its public name
    assert line["ms"] > 0
    for secret in (CASE, "Jane", str(REPORT), token.split("_")[2], "secret"):
        assert not any(secret in line for line in [text, *lines])


def test_an_unexpected_error_is_logged_by_kind_and_place_only(caplog):
    try:
        raise ValueError(f"report {REPORT}")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in %s", CASE)
    (record,) = caplog.records
    line = json.loads(observation.JsonLines().format(record))
    assert (line["event"], line["error"]) == ("uvicorn.error", "ValueError")
    assert line["where"].startswith("test_observation.py:")
    assert CASE not in json.dumps(line)
    bare = logging.LogRecord("x", logging.INFO, "", 0, "", (), (None, None, None))
    assert "where" not in observation.JsonLines().format(bare)


@pytest.mark.parametrize(
    ("level", "info", "error"),
    [("all", True, True), ("errors", False, True), ("off", False, False)],
)
def test_requests_are_logged_as_asked(level, info, error, capsys):
    loggers = [logging.getLogger(n) for n in (observation.LOGGER.name, "uvicorn.error")]
    before = [(each.handlers, each.propagate, each.level) for each in loggers]
    try:
        observation.start_logging(level)
        observation.LOGGER.info("first")
        observation.LOGGER.error("second")
        said = capsys.readouterr().err
        assert ("first" in said, "second" in said) == (info, error)
    finally:
        for each, (handlers, propagate, was) in zip(loggers, before, strict=True):
            each.handlers, each.propagate = handlers, propagate
            each.setLevel(was)


def test_only_operators_and_admins_read_metrics_where_there_are_tokens(client, local):
    made = {
        ADMIN: local.issue(ADMIN, None, None),
        OPERATOR: local.issue(OPERATOR, None, None),
        AGENT: local.issue(AGENT, "fraud", "ada"),
    }
    for role, status in ((ADMIN, 200), (OPERATOR, 200), (AGENT, 403)):
        header = {"Authorization": f"Bearer {made[role]['token']}"}
        assert client.get("/metrics", headers=header).status_code == status
    assert client.get("/metrics").status_code == 401


@pytest.mark.parametrize("declared", [True, False])
def test_every_operation_has_a_limit_on_its_size(client, monkeypatch, declared):
    monkeypatch.setattr(http, "LARGEST_BODY", 100)
    body = b'{"probability": 0.5' + b" " * 200 + b"}"
    content = body if declared else iter([body[:50], body[50:]])
    headers = {"Content-Type": "application/json"}
    path = "/v1/pools/fraud/cases/c/reports/ada"
    answer = client.put(path, content=content, headers=headers)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "too-large"
    assert client.get("/v1/pools/fraud/cases/c").status_code == 404


class Collector(BaseHTTPRequestHandler):
    """Keeps what is sent to it."""

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.received.append(self.rfile.read(length))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_trace_is_sent_to_the_collector_as_part_of_that_of_the_caller(local):
    server = HTTPServer(("127.0.0.1", 0), Collector)
    server.received = []
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        with traces.open_tracer(url) as tracer:
            client = TestClient(http.app(local.coordinator, tracer))
            trace = "0af7651916cd43dd8448eb211c80319c"
            parent = {"traceparent": f"00-{trace}-b7ad6b7169203331-01"}
            client.get(f"/v1/pools/fraud/cases/{CASE}", headers=parent)
            broken = local.coordinator.writer
            broken.submit = lambda operation: 1 / 0
            with pytest.raises(ZeroDivisionError):
                client.get("/v1/pools")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    sent = b"".join(server.received)
    assert bytes.fromhex(trace) in sent
    assert b"GET /v1/pools/{pool}/cases/{case}" in sent
    assert b"Jane" not in sent
    assert b"ZeroDivisionError" not in sent


def test_requests_without_a_valid_token_are_counted(tmp_path):
    """Who tries tokens is seen in the metrics."""
    with Local(tmp_path / "l.db") as local:
        token = local.issue("admin", None, None)["token"]
        client = TestClient(http.app(local.coordinator))
        for _ in range(3):
            assert client.get("/v1/pools").status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        found = client.get("/metrics", headers=headers).text
    counted = 'truepool_requests_total{operation="GET other",status="401"} 3.0'
    assert counted in found


def test_a_collector_is_a_url_and_needs_the_extra(monkeypatch):
    with pytest.raises(SettingError, match="traces must be the URL of a collector"):
        traces.open_tracer("localhost:4318")
    monkeypatch.setattr(distributions, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"truepool-serve\[tracing\]"):
        traces.open_tracer("http://localhost:4318")


def test_the_rules_for_alerts_name_metrics_that_are_there(tmp_path):
    folder = Path(__file__).parents[4] / "examples" / "deploy"
    named = set(re.findall(r"truepool_[a-z_]+", (folder / "alerts.yml").read_text()))
    with Local(tmp_path / "l.db") as local:
        local.fill(1, np.random.default_rng(0))
        text = local.coordinator.metrics.to_text().decode()
    assert named
    assert not {name for name in named if name not in text}


def test_the_reason_of_an_unavailable_is_in_the_log(tmp_path, caplog):
    with Local(tmp_path / "l.db") as local:
        client = TestClient(http.app(local.coordinator))

        def fail():
            raise LedgerError("the disk is full")

        local.coordinator.access.is_open = True
        local.coordinator.operations.find = lambda name: fail()
        assert client.get("/v1/pools/fraud").status_code == 503
    (record,) = (r for r in caplog.records if r.message == "unavailable")
    assert record.fields == {"reason": "the disk is full"}
