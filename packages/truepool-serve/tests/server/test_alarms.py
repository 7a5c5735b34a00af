"""Alarms are raised whether or not somebody looks."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool.core.errors import LedgerError, SettingError
from truepool_serve.messages import to_builtins
from truepool_serve.server import watch, writer
from truepool_serve.server.access import ANYONE
from truepool_serve.server.alarms import Alarms, check_webhook
from truepool_serve.server.dashboard import Dashboard
from truepool_serve.server.http import app
from truepool_serve.server.ledger import SETTLED_AFTER


def run(local, first, cases, *, bob):
    rng = np.random.default_rng(first)
    for i in range(first, first + cases):
        local.report(
            "fraud",
            [
                (f"c{i}", "ada", float(rng.random())),
                (f"c{i}", "cyd", float(rng.random())),
            ],
        )
        if bob:
            local.report("fraud", [(f"c{i}", "bob", float(rng.random()))])
        local.decide("fraud", f"c{i}", None)


@pytest.fixture
def hook():
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/alarms", got
    server.shutdown()
    server.server_close()


def test_a_feed_that_stops_is_noticed_without_a_page(tmp_path, caplog, hook):
    url, got = hook
    with Local(tmp_path / "l.db") as local:
        alarms = local.coordinator.alarms
        alarms.webhook = url
        run(local, 0, 60, bob=True)
        alarms.update()
        assert alarms.of("fraud") == []
        run(local, 100, 60, bob=False)
        alarms.update()
        (one,) = alarms.of("fraud")
        assert (one.who, one.kind) == ("bob", "stopped")
        alarms.update()
        assert [(each["event"], each["pool"], each["who"]) for each in got] == [
            ("alarm", "fraud", "bob")
        ]
        assert [r.fields["kind"] for r in caplog.records if r.message == "alarm"] == [
            "stopped"
        ]
        client = TestClient(app(local.coordinator), base_url="http://localhost")
        assert client.get("/v1/pools/fraud/alarms").json() == {
            "alarms": [to_builtins(one)]
        }
        assert 'truepool_alarms{pool="fraud"} 1.0' in client.get("/metrics").text
        run(local, 200, 3, bob=True)
        alarms.update()
        assert alarms.of("fraud") == []  # it recovered
        assert client.get("/v1/pools/none/alarms").status_code == 404


def test_a_webhook_that_fails_stops_nothing(tmp_path, caplog):
    with Local(tmp_path / "l.db") as local:
        alarms = Alarms(local.coordinator, "http://127.0.0.1:9/")
        run(local, 0, 60, bob=True)
        run(local, 100, 60, bob=False)
        alarms.update()
        assert len(alarms.of("fraud")) == 1
        assert any(r.message == "webhook failed" for r in caplog.records)
    with pytest.raises(SettingError, match="begins with http://"):
        check_webhook("file:///etc/passwd")


def test_the_page_of_all_pools_computes_no_costs(tmp_path, monkeypatch):
    """With 30 pools it took 52 seconds, and everybody else waited."""
    monkeypatch.setattr("truepool_serve.server.pool_view.Resamples", None)
    with Local(tmp_path / "l.db") as local:
        for i in range(30):
            local.create(FRAUD | {"name": f"p{i}"})
        local.fill(50, np.random.default_rng(0))
        start = time.perf_counter()
        views = Dashboard(local.coordinator).pools(ANYONE)
        assert len(views) == 31
        assert {view.settled for view in views} == {0, 50}
        assert time.perf_counter() - start < 10


def test_nobody_waits_for_a_database_that_hangs(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "LONGEST_COMMIT", 0.5)
    released = threading.Event()
    with Local(tmp_path / "l.db") as local:
        to = local.coordinator.writer
        first = to.submit(lambda: released.wait(30))
        later = to.submit(lambda: 5)
        start = time.monotonic()
        for answer in (first, later):
            with pytest.raises(LedgerError, match="has not answered for 0.5 seconds"):
                answer.result(10)
        assert time.monotonic() - start < 5
        released.set()
        assert to.submit(lambda: 6).result(10) == 6


def test_a_watch_of_months_remembers_no_more_than_one_of_days(tmp_path, monkeypatch):
    """Cases without an outcome, and the times of cases, are forgotten in their order."""
    monkeypatch.setattr(watch, "REMEMBERED", 50)
    with Local(tmp_path / "l.db") as local:
        alarms = local.coordinator.alarms
        for first in range(0, 200, 50):
            for i in range(first, first + 50):
                local.report(
                    "fraud", [(f"c{i}", a, 0.3 + i % 7 / 20) for a in ("ada", "bob")]
                )
                local.decide("fraud", f"c{i}", None)
            alarms.update()
        known = alarms.pools["fraud"].watch
    assert (len(known._cases), len(known._waiting)) == (50, 50)
    assert known.first_of_last(10) - known.first_of_last(50) == 40


def test_a_look_at_what_is_new_does_not_go_through_all_decisions(tmp_path):
    """Every five seconds, of every pool: it must not grow with the ledger."""
    with Local(tmp_path / "l.db") as local:
        for i in range(30):
            local.report("fraud", [(f"c{i}", "ada", 0.2)])
            local.decide("fraud", f"c{i}", None)
        for i in (3, 29):
            local.settle("fraud", [(f"c{i}", "ok")])
        with local.coordinator.ledger.reader() as reader:
            found = reader.decided(1, 2000, 28)
            plan = reader.connection.rows(
                f"EXPLAIN QUERY PLAN {SETTLED_AFTER}", 1, 28, 28, 2000
            )
    seen = [(one.case, one.settled) for one in found]
    assert seen == [("c3", 32), ("c27", None), ("c28", None), ("c29", 33)]
    first, second, *_ = [row[-1] for row in plan]
    assert first.startswith("SEARCH s")
    assert "n>?" in first
    assert "case=?" in second
