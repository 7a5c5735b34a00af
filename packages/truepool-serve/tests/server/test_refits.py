"""A refit is an event: computed elsewhere, recorded, and nobody waits for it."""

import time
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest
from server.service import FRAUD, Local
from server.test_verification import change
from starlette.testclient import TestClient

from truepool.online import experts
from truepool_serve.server import background, operations
from truepool_serve.server.background import Background
from truepool_serve.server.entry_file import format_entries, read_entries
from truepool_serve.server.http import app
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.statement import check_statement, make_statement
from truepool_serve.server.verification import verify

AUTO = FRAUD | {"learner": "auto"}


def run(job):
    return job.run()


def records(place):
    with Ledger(place, write=False) as ledger, ledger.moment():
        return list(ledger.entries(1))


@pytest.fixture
def place(tmp_path):
    """A ledger with two refits."""
    with Local(tmp_path / "l.db", AUTO) as local:
        for first in (0, 10):
            local.fill(10, np.random.default_rng(first), first=first)
            assert local.coordinator.refit("fraud", "first", run)
        local.fill(2, np.random.default_rng(2), first=90)
    return tmp_path / "l.db"


def test_no_outcome_waits_for_a_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(experts.Experts, "fit", None)
    with Local(tmp_path / "l.db", AUTO) as local:
        local.fill(30, np.random.default_rng(0))
        assert local.coordinator.operations.due.get_nowait() == ("fraud", "first")


def test_a_refit_is_recorded_and_taken_over_by_a_restart(place, monkeypatch):
    monkeypatch.setattr(experts.Experts, "fit", None)
    with Local(place, None) as local:
        rule = local.coordinator.operations.pools["fraud"][1].rules["first"]
        assert [pool.name for pool in rule.stream.experts.pools] == ["shrunk", "auto"]
        local.fill(1, np.random.default_rng(3), first=95)
    (first, second) = (e for e in records(place) if e.kind == "refit")
    assert (first.record.rule, first.record.cases) == ("first", 10)
    assert second.record.cases == 20
    with Ledger(place) as ledger:
        found = verify(ledger, "fraud")
    assert (found.replayed, found.apart) == (found.entries, 0)


def test_what_was_fitted_is_kept_once(place):
    with Ledger(place) as ledger:
        before = ledger.connection.row("SELECT count(*) FROM fitted")
        with ledger.transaction():
            for entry in [e for e in ledger.entries(1) if e.kind == "refit"]:
                ledger.add_fitted(entry.fitted)
        assert ledger.connection.row("SELECT count(*) FROM fitted") == before


def test_a_changed_fit_is_found(place):
    change(place, "UPDATE fitted SET content = CAST(content || x'00' AS BLOB)")
    with Local(place, None) as local:
        (error,) = local.coordinator.operations.unverified.values()
        assert (
            error.record,
            "pool that record 22 is about was changed" in str(error),
        ) == (22, True)


def test_fits_that_no_restart_needs_can_be_erased(place, monkeypatch):
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", 10)
    with Ledger(place) as ledger, ledger.transaction():
        assert ledger.erase_fitted(1, time.time() + 1) == 0  # no snapshot holds them
    with Local(place, None) as local:
        local.fill(10, np.random.default_rng(4), first=200)
        weights = local.describe("fraud")["weights"]
    with Ledger(place) as ledger, ledger.transaction():
        assert ledger.erase_fitted(1, 0.0) == 0  # none is that old
        assert ledger.erase_fitted(1, time.time() + 1) == 4
    with Ledger(place) as ledger:
        found = verify(ledger, "fraud")
        assert 0 < found.replayed < found.entries
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights


def test_an_export_has_what_was_fitted(place, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(format_entries(records(place))))
    statement = make_statement(read_entries(path), "ada", None, None).to_dict()
    assert check_statement(statement, read_entries(path)) == len(records(place))


def test_the_second_of_two_coordinators_is_too_late(place):
    with Local(place, None) as local:
        local.fill(8, np.random.default_rng(5), first=300)
        local.coordinator.operations.due.get_nowait()

        def slow(job):
            assert local.coordinator.refit("fraud", "first", run)
            return job.run()

        assert not local.coordinator.refit("fraud", "first", slow)


def test_a_process_fits_while_requests_are_answered(tmp_path, monkeypatch):
    with Local(tmp_path / "l.db", AUTO) as local, Background(local.coordinator):
        local.fill(10, np.random.default_rng(0))
        slowest, i, begin = 0.0, 100, time.perf_counter()
        while local.describe("fraud")["entries"] == 2 * i - 179 and i < 20_000:
            start = time.perf_counter()
            local.fill(1, np.random.default_rng(i), first=i)
            slowest, i = max(slowest, time.perf_counter() - start), i + 1
            time.sleep(0.02)
        took = time.perf_counter() - begin
        assert any(e.kind == "refit" for e in records(tmp_path / "l.db"))
        assert slowest < took / 4  # none of them waited for the fit


def test_a_fit_that_fails_is_tried_again_with_more_cases(tmp_path, monkeypatch, caplog):
    with Local(tmp_path / "l.db", AUTO) as local:
        local.fill(10, np.random.default_rng(0))
        thread = Background(local.coordinator)
        monkeypatch.setattr(background.sys, "executable", "/bin/false")
        thread._attempt("refit", thread.refit, "fraud", "first")
        assert "the process of a refit failed" in caplog.records[-1].fields["reason"]
        monkeypatch.undo()
        thread.refit("fraud", "first")  # the same cases
        local.fill(background.MORE, np.random.default_rng(1), first=10)
        assert [e.kind for e in records(tmp_path / "l.db")].count("refit") == 0
        thread.refit("fraud", "first")
        assert [e.kind for e in records(tmp_path / "l.db")].count("refit") == 1


def test_a_pool_that_is_not_as_it_was_is_marked(tmp_path):
    """Beside the coordinator, which goes on, a process verifies."""
    with Local(tmp_path / "l.db") as local:
        local.fill(5, np.random.default_rng(0))
        local.create(FRAUD | {"name": "other"})
        change(
            tmp_path / "l.db", "UPDATE entries SET at = at + 1 WHERE n = 4 AND pool = 1"
        )
        thread = Background(local.coordinator)
        thread.verify()
        (error,) = local.coordinator.operations.unverified.values()
        assert error.record == 4
        text = local.coordinator.metrics.to_text().decode()
        assert 'truepool_unverified{pool="fraud"} 1.0' in text
        assert 'truepool_unverified{pool="other"} 0.0' in text
        client = TestClient(app(local.coordinator), base_url="http://localhost")
        answer = client.get("/readyz").json()
        assert answer == {"status": "ok", "unverified": 1, "records": {"fraud": 4}}
        page = client.get("/pools/fraud").text
        assert "Unverified: record 4 was changed: its digest does not match." in page
        assert "Unverified" not in client.get("/pools/other").text
        local.issue("admin", None, None)
        assert client.get("/readyz").json() == {"status": "ok", "unverified": 1}
        change(
            tmp_path / "l.db", "UPDATE entries SET at = at - 1 WHERE n = 4 AND pool = 1"
        )
        thread.verify()
        assert not local.coordinator.operations.unverified


def test_a_process_has_the_lowest_priority_and_one_thread(tmp_path, monkeypatch):
    """What it is told when it starts, and what it then does to itself."""
    nices = []
    monkeypatch.setattr(background.os, "nice", nices.append)
    monkeypatch.setitem(background.JOBS, "none", lambda content: b"")
    monkeypatch.setattr(background.sys, "argv", ["worker", "none"])
    monkeypatch.setattr(background.sys, "stdin", TextIOWrapper(BytesIO()))
    monkeypatch.setattr(background.sys, "stdout", TextIOWrapper(BytesIO()))
    background.main()
    assert nices == [19]
    assert set(background.ONE_THREAD.values()) == {"1"}
