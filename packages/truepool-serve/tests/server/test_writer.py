"""Operations that wait for each other: done together, answered as if each came alone."""

import sqlite3
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from server.service import Local

from truepool.core.errors import LedgerError, TruepoolError
from truepool_serve.messages import to_builtins
from truepool_serve.server import writer
from truepool_serve.server.access import ANYONE

CASES, VALUES = ("c1", "c2", "c3", "decided"), (0.25, 0.5, 87.0)
AGENTS, POOLS = ("ada", "bob", "cyd", "nobody"), ("fraud", "fraud", "fraud", "none")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return tmp_path / "ledger.db"
    return request.getfixturevalue("postgres").database()


@pytest.fixture
def local(tmp_path):
    with Local(tmp_path / "ledger.db") as found:
        yield found


@contextmanager
def held(local):
    """What is asked in this block is done in one group."""
    started, end = threading.Event(), threading.Event()
    local.coordinator.writer.submit(lambda: (started.set(), end.wait(60)))
    started.wait(60)
    yield local.coordinator
    end.set()


def outcome(answer):
    """An answer as values that can be compared."""
    try:
        return to_builtins(answer.result(60))
    except TruepoolError as error:
        return type(error).__name__, str(error)


def random_requests(rng, number):
    def pick(values):
        return values[rng.integers(len(values))]

    def reports(size):
        return [(pick(CASES), pick(AGENTS[:3]), pick(VALUES[:2])) for _ in range(size)]

    made = [(pick(POOLS), reports(rng.integers(4))) for _ in range(number)]
    bad = [("c4", pick(AGENTS), pick(VALUES))]
    return [(pool, given if rng.random() < 0.8 else bad) for pool, given in made]


def prepare(local):
    local.report("fraud", [("decided", "ada", 0.5)])
    local.decide("fraud", "decided", None)


def stored(local):
    with local.coordinator.ledger.reader() as reader:
        rows = reader.connection.rows(
            'SELECT "case", agent, value FROM reports ORDER BY "case", agent'
        )
        waiting = reader.connection.value(
            "SELECT coalesce(sum(number), 0) FROM waiting"
        )
    return [(case, agent, bytes(value)) for case, agent, value in rows], waiting


def test_reports_that_are_written_together_are_answered_as_if_each_came_alone(
    place, tmp_path
):
    rng = np.random.default_rng(0)
    with Local(place) as joint, Local(tmp_path / "alone.db") as alone:
        for local in (joint, alone):
            prepare(local)
        for size in (1, 2, 3, 5, 8, 13) * 5:
            requests = random_requests(rng, size)
            fresh = [("fraud", [(f"new {rng.random()}", "ada", 0.5)])] * (size % 2)
            with held(joint) as coordinator:
                answers = [
                    coordinator.report(ANYONE, *each) for each in requests + fresh
                ]
            together = [outcome(answer) for answer in answers]
            expected = [
                outcome(alone.coordinator.report(ANYONE, *each))
                for each in requests + fresh
            ]
            assert together == expected
            assert stored(joint) == stored(alone)


def test_many_new_reports_are_one_statement(local):
    statements = []
    driver = local.coordinator.ledger.connection.raw
    with held(local) as coordinator:
        driver.set_trace_callback(statements.append)
        answers = [
            coordinator.report(ANYONE, "fraud", [(f"c{i}", "ada", 0.5)])
            for i in range(50)
        ]
    assert [outcome(each) for each in answers] == [{"stored": 1, "repeated": 0}] * 50
    driver.set_trace_callback(None)
    assert len([s for s in statements if s.startswith("INSERT INTO reports")]) == 1


def test_a_commit_waits_for_more_only_after_one_of_a_crowd(local, monkeypatch):
    pauses = []
    monkeypatch.setattr(writer.time, "sleep", pauses.append)
    for i in range(2 * writer.CROWD):  # one after another: nobody else is there
        local.report("fraud", [(f"alone {i}", "ada", 0.5)])
    assert pauses == []
    for size, expected in [(writer.CROWD - 1, []), (writer.CROWD, [writer.PAUSE])]:
        with held(local) as coordinator:
            for i in range(size):
                last = coordinator.report(ANYONE, "fraud", [(f"{size}.{i}", "ada", 1)])
        outcome(last)
        local.report("fraud", [(f"after {size}", "ada", 0.5)])
        assert pauses == expected


def test_nothing_overtakes_a_decision(local):
    with held(local) as coordinator:
        first = coordinator.report(ANYONE, "fraud", [("c", "ada", 0.5)])
        decision = coordinator.decide(ANYONE, "fraud", "c", None)
        late = coordinator.report(ANYONE, "fraud", [("c", "bob", 0.5)])
    assert outcome(first) == {"stored": 1, "repeated": 0}
    assert outcome(decision)["reported"] == ["ada"]
    assert "came too late" in outcome(late)[1]


def test_reports_beyond_the_room_of_a_pool_are_refused_one_by_one(tmp_path):
    pool = {"name": "small", "agents": ["ada", "bob"], "open_cases": 2}
    with Local(tmp_path / "ledger.db", pool) as local:
        with held(local) as coordinator:
            answers = [
                coordinator.report(ANYONE, "small", [(f"c{i}", "ada", 0.5)])
                for i in range(6)
            ]
        found = [outcome(each) for each in answers]
    assert found[:2] == [{"stored": 1, "repeated": 0}] * 2
    assert all("may wait for a decision" in sentence for _, sentence in found[2:])


def test_only_what_was_stored_is_counted(local):
    with held(local) as coordinator:
        for report in [("c", "ada", 0.5), ("c", "ada", 0.5), ("c", "ada", 0.7)]:
            last = coordinator.report(ANYONE, "fraud", [report])
    outcome(last)
    assert b'truepool_reports_total{pool="fraud"} 1.0' in coordinator.metrics.to_text()


def test_a_commit_that_fails_is_nobodys_answer_and_is_not_counted(local, monkeypatch):
    ledger = local.coordinator.ledger
    usual = ledger._write_counts

    def fail():
        raise sqlite3.OperationalError("disk I/O error")

    with held(local) as coordinator:
        answers = [
            coordinator.report(ANYONE, "fraud", [(f"c{i}", "ada", 0.5)])
            for i in range(20)
        ]
        monkeypatch.setattr(ledger, "_write_counts", fail)
    for answer in answers:
        with pytest.raises(LedgerError, match="disk I/O error"):
            answer.result(60)
    monkeypatch.setattr(ledger, "_write_counts", usual)
    assert stored(local) == ([], 0)
    assert b"truepool_reports_total{" not in coordinator.metrics.to_text()


def test_the_writer_finishes_what_was_asked_before_it_stops(tmp_path):
    with Local(tmp_path / "ledger.db") as local, held(local) as coordinator:
        answers = [
            coordinator.report(ANYONE, "fraud", [(f"c{i}", "ada", 0.5)])
            for i in range(20)
        ]
        closing = threading.Thread(target=coordinator.writer.close)
        closing.start()
        time.sleep(0.01)
    closing.join(60)
    assert [outcome(each) for each in answers] == [{"stored": 1, "repeated": 0}] * 20
