"""A ledger can be replayed bit for bit, and nobody can change it unnoticed."""

import sqlite3
import threading
from hashlib import sha256

import numpy as np
import pytest
from server.service import FRAUD, Local

from truepool import datasets, learners, pools
from truepool.core.errors import LedgerError, RequestError
from truepool_serve.server import operations
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.records import digest
from truepool_serve.server.state import PoolState
from truepool_serve.server.verification import verify


@pytest.fixture
def place(tmp_path):
    return tmp_path / "ledger.db"


def filled(place, monkeypatch, every=25, pool=FRAUD, cases=30):
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", every)
    with Local(place, pool) as local:
        local.fill(cases, np.random.default_rng(0))
        return local.describe("fraud")["weights"]


def check(place):
    with Ledger(place) as ledger:
        return verify(ledger, "fraud")


def change(place, statement, *values):
    with sqlite3.connect(place) as connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def test_a_restart_goes_on_from_the_last_snapshot(place, monkeypatch):
    weights = filled(place, monkeypatch)
    replayed = []
    recover = operations.PoolState.recover
    monkeypatch.setattr(
        operations.PoolState,
        "recover",
        lambda self, entry: (replayed.append(entry.n), recover(self, entry)),
    )
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights
        assert replayed == list(
            range(51, 64)
        )  # 1 + 2 * 30 entries, snapshots of 25 and 50, which are entries too
        local.fill(1, np.random.default_rng(1), first=30)


def test_agents_that_are_not_in_the_order_of_their_names_are_replayed_too(place):
    agents = ["logistic", "forest", "tree", "bayes", "neighbours"]
    panel = datasets.example()
    with Local(place, FRAUD | {"agents": agents}) as local:
        for t in range(12):
            reports = zip(agents, panel.reports[t], strict=True)
            local.report(
                "fraud", [(f"c{t}", a, float(p)) for a, p in reports if p == p]
            )
            local.decide("fraud", f"c{t}", None)
            local.settle("fraud", [(f"c{t}", "fraud" if panel.outcomes[t] else "ok")])
    assert check(place).replayed == 25


@pytest.mark.parametrize("name", [*learners.every(), "auto"])
def test_every_learner_is_replayed_to_the_last_bit(place, monkeypatch, name):
    filled(place, monkeypatch, every=10**6, pool=FRAUD | {"learner": name}, cases=12)
    found = check(place)
    assert (found.entries, found.replayed, found.snapshots) == (25, 25, 0)
    assert found.apart == 0


def test_late_outcomes_in_any_order_are_replayed(place, monkeypatch):
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", 7)
    rng = np.random.default_rng(3)
    with Local(place) as local:
        for i in range(30):
            case = f"c{i}"
            local.report(
                "fraud", [(case, a, float(rng.random())) for a in ("ada", "bob")]
            )
            local.decide("fraud", case, None)
            if i == 10:
                local.change("fraud", "join", {"agent": "dan"})
                local.change(
                    "fraud", "challenge", {"name": "x", "rule": {"learner": "wsu"}}
                )
            if i == 20:
                local.change("fraud", "promote", {"name": "x"})
                local.change("fraud", "leave", {"agent": "cyd"})
        for i in rng.permutation(30):
            local.settle("fraud", [(f"c{i}", ["ok", "fraud"][i % 2])])
    found = check(place)
    assert found.replayed == found.entries == 1 + 30 + 4 + 30 + 10
    assert found.snapshots == 2  # the last ones


@pytest.mark.parametrize(
    ("statement", "values", "sentence"),
    [
        ("UPDATE entries SET body = CAST(replace(body, '0.', '0.1') AS BLOB) WHERE n = 4", (), "was changed"),
        ("UPDATE entries SET at = at + 1 WHERE n = 4", (), "was changed"),
        ("UPDATE entries SET digest = ? WHERE n = 4", (bytes(32),), "record 4"),
        ("DELETE FROM entries WHERE n = 4", (), "record 4 is missing"),
        ("DELETE FROM entries WHERE n = 63", (), "the last are missing"),
        ("UPDATE entries SET \"case\" = 'case 99' WHERE n = 4", (), "was changed"),
        ("UPDATE entries SET n = n + 100 WHERE n = 63", (), "record 63 is missing"),
    ],
)  # fmt: skip
def test_a_changed_ledger_is_found(place, monkeypatch, statement, values, sentence):
    filled(place, monkeypatch)
    change(place, statement, *values)
    with pytest.raises(LedgerError, match=sentence):
        check(place)


def test_a_forged_chain_is_found_by_the_replay(place, monkeypatch):
    """Whoever recomputes all hashes still cannot make the weights come out."""
    filled(place, monkeypatch, every=10**6)
    with Ledger(place) as ledger:
        entries = list(ledger.entries(1))
    forged = PoolState()
    rows = []
    for entry in entries:
        body = entry.body
        if entry.n == 5:
            assert b'"outcome":0' in body or b'"outcome":1' in body
            body = body.replace(b'"outcome":0', b'"outcome":9').replace(
                b'"outcome":1', b'"outcome":0'
            )
            body = body.replace(b'"outcome":9', b'"outcome":1')
        mark = digest(entry.kind, entry.case, entry.at, body)
        forged.chain = sha256(forged.chain + mark).digest()
        rows.append((body, mark, forged.chain, entry.n))
    with sqlite3.connect(place) as connection:
        connection.executemany(
            "UPDATE entries SET body = ?, digest = ?, chain = ? WHERE n = ?", rows
        )
    connection.close()
    with pytest.raises(LedgerError, match="another learned than its replay"):
        check(place)


def test_a_changed_snapshot_is_found(place, monkeypatch):
    filled(place, monkeypatch)
    change(
        place,
        "UPDATE snapshots SET state = (SELECT state FROM snapshots WHERE n = 25 AND rule = 'first') "
        "WHERE n = 50 AND rule = 'first'",
    )
    with pytest.raises(LedgerError, match="the snapshot after record 50"):
        check(place)


def edit_costs(place, and_the_hash=False):
    """Let a missed fraud cost a tenth, in the snapshots only."""
    with sqlite3.connect(place) as connection:
        rows = connection.execute(
            "SELECT n, rule, state FROM snapshots WHERE rule = ''"
        )
        for n, rule, state in rows.fetchall():
            new = state.replace(b'"fn":10.0', b'"fn":1.00')
            assert new != state
            values = (new, n, rule)
            connection.execute(
                "UPDATE snapshots SET state = ? WHERE n = ? AND rule = ?", values
            )
            if and_the_hash:
                entries = connection.execute(
                    "SELECT n, body FROM entries WHERE kind = 'snapshot'"
                )
                for number, body in entries.fetchall():
                    body = body.replace(
                        sha256(state).hexdigest().encode(),
                        sha256(new).hexdigest().encode(),
                    )
                    connection.execute(
                        "UPDATE entries SET body = ? WHERE n = ?", (body, number)
                    )
    connection.close()


@pytest.mark.parametrize("and_the_hash", [False, True])
def test_costs_that_were_edited_in_a_snapshot_decide_nothing(
    place, monkeypatch, and_the_hash
):
    """Without the chain, a case at 0.8 was no fraud, and everything was verified."""
    filled(place, monkeypatch, every=25)
    edit_costs(place, and_the_hash)
    with pytest.raises(
        LedgerError, match="snapshot after record|record 51 was changed"
    ):
        check(place)
    with Local(place, None) as local:
        assert local.coordinator.operations.unverified["fraud"].record in (
            25,
            26,
            50,
            51,
        )
        if not and_the_hash:
            local.report("fraud", [("new", "ada", 0.2)])
            assert local.decide("fraud", "new", None)["decision"] == "fraud"


def test_a_snapshot_in_the_background_keeps_nobody_waiting(place, monkeypatch):
    """Nor is one kept that holds a case that was erased meanwhile."""
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", 10)
    with Local(place) as local:
        act, taken = local.coordinator.operations, []
        act.take_snapshot = lambda *words: taken.append(words)
        local.fill(3, np.random.default_rng(0))
        local.report("fraud", [("secret", "ada", 0.4)])
        local.decide("fraud", "secret", None)
        local.fill(1, np.random.default_rng(1), first=20)
        (first,) = taken
        local.fill(5, np.random.default_rng(1), first=40)
        assert [n for _, n, _ in taken] == [10, 20]

        def keep(pool, n, pack):
            local.coordinator.writer.submit(
                lambda: act.keep_snapshot(pool, n, pack())
            ).result()

        keep(*first)
        local.erase("fraud", "secret")
        keep(*taken[1])
        local.fill(2, np.random.default_rng(1), first=60)
        weights = local.describe("fraud")["weights"]
    with sqlite3.connect(place) as connection:
        states = connection.execute("SELECT n, state FROM snapshots").fetchall()
    connection.close()
    assert not any(b"secret" in state for _, state in states)
    assert 20 not in {n for n, _ in states}
    check(place)
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights


def test_old_snapshots_go(place, monkeypatch):
    filled(place, monkeypatch, every=5, cases=30)
    with Ledger(place) as ledger:
        assert len(ledger.snapshot_numbers(1)) == 2
        assert verify(ledger, "fraud").replayed > 61


def test_a_snapshot_after_an_erasure_must_follow_the_chain(place, monkeypatch):
    filled(place, monkeypatch, every=10**6)
    with Local(place, None) as local:
        local.erase("fraud", "case 3")
    change(
        place,
        "UPDATE snapshots SET state = CAST(replace(state, '\"chain\":\"', '\"chain\":\"00') AS BLOB) WHERE rule = ''",
    )
    with pytest.raises(LedgerError, match="was changed: record 62 has other hashes"):
        check(place)


def test_an_erased_case_is_gone_and_the_rest_can_be_verified(place, monkeypatch):
    weights = filled(place, monkeypatch)
    with Local(place, None) as local:
        local.report("fraud", [("secret open", "ada", 0.4)])
        local.report(
            "fraud", [("secret waiting", "ada", 0.4), ("secret waiting", "bob", 0.2)]
        )
        local.decide("fraud", "secret waiting", None)
        for case in ("secret open", "secret waiting", "case 20"):
            local.erase("fraud", case)
        assert local.describe("fraud")["weights"] == weights
        local.fill(3, np.random.default_rng(4), first=100)
        weights = local.describe("fraud")["weights"]
    found = check(place)
    assert found.erased == 4  # decided and settled; decided and dropped
    assert found.replayed < found.entries
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
    connection.close()
    content = place.read_bytes()
    assert b"secret" not in content
    assert b"case 21" in content


def test_a_snapshot_between_the_decision_and_the_outcome_of_an_erased_case_goes(
    place, monkeypatch
):
    """It holds the case, which waited for its outcome when it was taken."""
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", 10)
    with Local(place) as local:
        local.report("fraud", [("secret", "ada", 0.4), ("secret", "bob", 0.2)])
        local.decide("fraud", "secret", None)
        local.fill(6, np.random.default_rng(0))
        local.settle("fraud", [("secret", "ok")])
        local.fill(1, np.random.default_rng(1), first=50)
        with sqlite3.connect(place) as connection:
            states = connection.execute("SELECT n, state FROM snapshots").fetchall()
        assert {n for n, state in states if b"secret" in state} == {10}
        weights = local.describe("fraud")["weights"]
        local.erase("fraud", "secret")
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
    connection.close()
    assert b"secret" not in place.read_bytes()
    assert check(place).erased == 2
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights


def test_what_comes_after_an_erasure_is_replayed_again(place, monkeypatch):
    filled(place, monkeypatch, every=25, cases=30)
    with Local(place, None) as local:
        local.erase("fraud", "case 2")
    found = check(place)
    # Before it: creation and two cases. After it: all from the next snapshot on, which
    # was taken after its outcome.
    replayed = 1 + 2 * 2 + (found.entries - 25)
    assert (found.replayed, found.erased, found.snapshots) == (replayed, 2, 2)
    with Local(place, None) as local:
        local.fill(3, np.random.default_rng(4), first=100)
    assert check(place).replayed > replayed + 2 * 3 - 1


def test_a_saved_pool_decides_and_is_replayed(place, tmp_path):
    import base64

    rng = np.random.default_rng(0)
    reports, outcomes = (
        rng.random((50, 3)),
        np.array(["ok", "fraud"])[np.arange(50) % 2],
    )
    import truepool as tp

    panel = tp.Panel(reports, outcomes, ("ada", "bob", "cyd"), positive="fraud")
    pool = pools.make("vcg").fit_panel(panel)
    pool.save(tmp_path / "f.pool")
    content = base64.b64encode((tmp_path / "f.pool").read_bytes()).decode()
    with Local(place, FRAUD | {"saved_pool": content}) as local:
        local.fill(3, rng)
        known = local.case("fraud", "case 1")
        expected = pool.predict_proba_one(known["reports"])[1]
        assert known["decision"]["probability"] == expected
    assert check(place).replayed == 7


def test_nobody_waits_while_the_state_without_an_erased_case_is_packed(
    place, monkeypatch
):
    """Of 200,000 open cases it takes a second, of every request to every pool."""
    threads, freeze = [], PoolState.freeze

    def watched(self):
        pack = freeze(self)

        def note():
            threads.append(threading.current_thread().name)
            return pack()

        return note

    monkeypatch.setattr(PoolState, "freeze", watched)
    weights = filled(place, monkeypatch, every=10**6)
    with Local(place, None) as local:
        local.report("fraud", [("open", "ada", 0.4)])
        local.decide("fraud", "open", None)
        for case in ("case 29", "open"):
            local.erase("fraud", case)
    assert threads == [threading.current_thread().name] * 2
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights
    check(place)


def test_a_case_of_long_ago_is_erased_without_a_new_snapshot(place, monkeypatch):
    weights = filled(place, monkeypatch, every=25)
    with Ledger(place) as ledger:
        before = ledger.snapshot_numbers(1)
    with Local(place, None) as local:
        local.erase("fraud", "case 3")
    with Ledger(place) as ledger:
        assert ledger.snapshot_numbers(1) == before
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights
    check(place)


def test_a_case_that_is_being_erased_cannot_be_settled(place):
    with Local(place) as local:
        local.report("fraud", [("c", "ada", 0.4)])
        local.decide("fraud", "c", None)
        act = local.coordinator.operations
        submit = local.coordinator.writer.submit
        n, pack = submit(lambda: act.prepare_erasure("fraud", ["c"])).result(60)
        with pytest.raises(RequestError, match="is being erased"):
            local.settle("fraud", [("c", "ok")])
        local.fill(2, np.random.default_rng(0))
        submit(lambda: act.erase("fraud", ["c"], (n, pack()))).result(60)
        weights = local.describe("fraud")["weights"]
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == weights
    check(place)
