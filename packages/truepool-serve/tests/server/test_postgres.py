"""A ledger in PostgreSQL: several coordinators, a server that is restarted."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hostile.commands import run
from server.load import Load, count_losses
from server.postgres_server import PASSWORD
from server.service import FRAUD, Local, Nursery
from starlette.testclient import TestClient

from truepool.core import distributions
from truepool.core.errors import LedgerError, MissingExtraError, SettingError
from truepool_serve.messages import Receipt
from truepool_serve.server import http, schema
from truepool_serve.server import postgres as postgres_module
from truepool_serve.server.access import ADMIN, ANYONE, OPERATOR
from truepool_serve.server.databases import ContentionError, display_name
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.state import PoolState
from truepool_serve.server.verification import verify


@pytest.fixture
def url(postgres):
    return postgres.database()


def replayed(url):
    """Weights of a replay from the beginning, once the ledger is verified."""
    with Ledger(url) as ledger:
        found = verify(ledger, "fraud")
        assert found.replayed == found.entries
        state = PoolState()
        for entry in ledger.entries(1):
            state.verify(entry)
    return state.rules["first"].weights


def test_two_coordinators_share_a_pool_and_agree_with_a_replay(url):
    with Local(url) as one, Local(url, None) as two:

        def work(local, first):
            local.fill(15, np.random.default_rng(first), first=first)

        with ThreadPoolExecutor(4) as threads:
            jobs = [(one, 0), (two, 100), (one, 200), (two, 300)]
            list(threads.map(lambda job: work(*job), jobs))
        weights = one.describe("fraud")["weights"]
        assert two.describe("fraud")["weights"] == weights
        assert two.describe("fraud")["entries"] == 1 + 2 * 60
    assert replayed(url) == weights


def test_what_one_coordinator_answered_the_other_repeats(url):
    with Local(url) as one, Local(url) as two:
        one.report("fraud", [("c", "ada", 0.2), ("c", "bob", 0.4)])
        again = two.report("fraud", [("c", "ada", 0.2), ("c", "cyd", 0.4)])
        assert again == {"stored": 1, "repeated": 1}
        answer = two.decide("fraud", "c", None)
        assert one.decide("fraud", "c", None) == answer
        one.settle("fraud", [("c", "ok")])
        assert two.settle("fraud", [("c", "ok")]) == {"settled": 0, "repeated": 1}
        one.change("fraud", "join", {"agent": "dan"})
        two.report("fraud", [("d", "dan", 0.2)])
        assert one.decide("fraud", "d", None)["reported"] == ["dan"]


def test_a_case_that_another_coordinator_erased_is_gone_here_too(url):
    with Local(url) as one, Local(url) as two:
        two.fill(2, np.random.default_rng(0))
        one.fill(3, np.random.default_rng(1), first=10)
        one.erase("fraud", "case 11")
        weights = one.describe("fraud")["weights"]
        assert two.describe("fraud")["weights"] == weights
        two.fill(1, np.random.default_rng(2), first=20)
        assert one.describe("fraud") == two.describe("fraud")


def test_coordinators_that_start_at_once_make_one_ledger_and_one_pool(url):
    with ThreadPoolExecutor(4) as threads:
        every = list(threads.map(lambda _: Local(url), range(4)))
    names = [local.pools() for local in every]
    for local in every:
        local.__exit__()
    assert names == [["fraud"]] * 4
    assert replayed(url)


def test_locks_in_another_order_end_in_no_deadlock(url):
    """Each coordinator writes to two pools in one commit, and waits for the other."""
    with Local(url) as one, Local(url, FRAUD | {"name": "second"}) as two:
        met = threading.Barrier(2, timeout=10)

        def hold(local, pool):
            local.coordinator.operations.find(pool)
            try:
                met.wait()
            except threading.BrokenBarrierError:
                pass  # each operation is alone by now

        def group(local, pools):
            started = threading.Event()
            act = local.coordinator.writer.submit
            pause = act(lambda: (started.set(), time.sleep(0.3)))
            started.wait(10)
            held = act(lambda: hold(local, pools[0]))
            report = [("c", "ada", 0.5)]
            answer = local.coordinator.report(ANYONE, pools[1], report)
            return [each.result(60) for each in (pause, held, answer)][-1]

        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(group, one, ("fraud", "second"))
            second = threads.submit(group, two, ("second", "fraud"))
            answers = first.result(60), second.result(60)
            assert set(answers) == {Receipt(stored=1, repeated=0)}


def test_a_coordinator_that_hangs_is_not_waited_for_long(url, monkeypatch):
    import psycopg

    monkeypatch.setattr(postgres_module, "PATIENCE", 1)
    with Local(url) as local, psycopg.connect(url) as hung:
        hung.execute("SELECT * FROM pools FOR UPDATE")
        with pytest.raises(ContentionError, match="lock timeout"):
            local.describe("fraud")
        hung.rollback()
        assert local.describe("fraud")["entries"] == 1


def test_a_reader_does_not_wait_for_ever_for_a_server_that_hangs(url, monkeypatch):
    monkeypatch.setattr(postgres_module, "LONGEST_READ", 0.5)
    with Ledger(url) as ledger:
        begin = time.monotonic()
        with pytest.raises(LedgerError, match="cannot be used"):
            with ledger.reader() as reader:
                reader.connection.rows("SELECT pg_sleep(60)")
        assert time.monotonic() - begin < 20
        with ledger.reader() as reader:  # another one has time of its own
            assert reader.connection.value("SELECT count(*) FROM pools") == 0


def test_a_server_that_is_restarted_loses_nothing_that_was_answered(postgres, url):
    """Two coordinators under load; the server is stopped, and once it crashes."""
    modes = ("fast", "immediate")
    with Nursery() as nursery:
        services = [nursery.start(url) for _ in range(2)]
        for service in services:
            service.wait_until_ready()
        assert services[0].ask("POST", "/v1/pools", FRAUD)[0] == 201
        loads = [
            Load(service.url, first, clients=2, seed=5, patient=True)
            for first, service in enumerate(services)
        ]
        for mode in modes:
            progress(loads)
            postgres.stop(mode)
            assert services[0].ask("GET", "/readyz")[0] == 503
            assert services[0].ask("GET", "/livez")[0] == 200
            postgres.start()
        progress(loads)
        services[0].kill()  # and one coordinator dies
        for load in loads:
            load.stop()
        services[1].stop()
    answered: dict[str, dict] = {"reports": {}, "decisions": {}, "outcomes": {}}
    for load in loads:
        assert not load.unexpected, load.unexpected[:3]
        for name, found in answered.items():
            found.update(getattr(load, name))
    counts = count_losses(url, **answered)
    print(counts)
    assert counts["outcomes"] > 6
    assert (counts["lost"], counts["changed"]) == (0, 0)


def progress(loads):
    """Wait until every load has got further."""
    before = [len(load.outcomes) for load in loads]
    wait(lambda: all(len(x.outcomes) > n for x, n in zip(loads, before, strict=True)))


def test_tokens_are_known_to_every_coordinator_within_a_second(url, monkeypatch):
    monkeypatch.setattr("truepool_serve.server.access.READ_EVERY", 0.05)
    with Local(url) as one, Local(url) as two:
        admin = one.issue(ADMIN, None, None)
        made = one.issue(OPERATOR, None, None)
        header = f"Bearer {made['token']}"
        wait(lambda: made["id"] in two.coordinator.access.known)
        assert two.coordinator.access.identify(header).role == OPERATOR
        one.revoke(made["id"])
        wait(lambda: made["id"] not in two.coordinator.access.known)
        assert admin["id"] in two.coordinator.access.known


def wait(true):
    for _ in range(2000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def test_tokens_stay_as_they_are_while_the_server_is_away(url, monkeypatch):
    monkeypatch.setattr("truepool_serve.server.access.READ_EVERY", 0.01)
    with Local(url) as local:
        access, read = local.coordinator.access, threading.Event()
        local.issue(ADMIN, None, None)

        def away():
            read.set()
            raise LedgerError("the server is away")

        monkeypatch.setattr(access, "read", away)
        read.wait(10)
        assert len(access.known) == 1


def test_history_and_verification_see_one_moment(url):
    with Local(url) as local:
        local.fill(12, np.random.default_rng(0))
        assert len(local.settled("fraud", 10).cases) == 10
        with Ledger(url) as ledger, ledger.moment():
            ledger.pool_names()  # the moment
            local.fill(1, np.random.default_rng(1), first=50)
            assert verify(ledger, "fraud").entries == 25


@pytest.mark.parametrize("name", ["a\x00b", "\ud800"])
def test_names_that_the_database_has_no_room_for_are_refused_before(url, name):
    with Local(url) as local:
        client = TestClient(http.app(local.coordinator), raise_server_exceptions=False)
        quoted = name.encode("utf-8", "surrogatepass").hex()
        path = "".join(f"%{quoted[i : i + 2]}" for i in range(0, len(quoted), 2))
        for method, place in (
            ("GET", f"/v1/pools/{path}"), ("GET", f"/v1/pools/fraud/cases/{path}"),
            ("DELETE", f"/v1/pools/fraud/cases/{path}"), ("DELETE", f"/v1/tokens/{path}"),
            ("POST", f"/v1/pools/fraud/cases/{path}/decision"),
        ):  # fmt: skip
            assert client.request(method, place).status_code in (400, 404)


def test_an_older_ledger_is_brought_up_to_date(postgres, url):
    with Local(url) as local:
        local.fill(2, np.random.default_rng(0))
        local.report("fraud", [("open", "ada", 0.25), ("open", "bob", 0.5)])
    name = url.rpartition("/")[2]
    for column in (
        "tokens.replaces",
        "tokens.until",
        "trail.chain",
        "ledger.trail",
        "trail.role",
        "trail.agent",
    ):
        table, _, field = column.partition(".")
        postgres.ask(name, f"ALTER TABLE {table} DROP COLUMN {field}")
    for table in ("waiting", "fitted"):
        postgres.ask(name, f"DROP TABLE {table}")
    postgres.ask(name, "UPDATE ledger SET version = 1")
    with Ledger(url) as ledger:
        assert ledger.waiting(1) == {0: 1, 1: 1}
        assert verify(ledger, "fraud").replayed == 5
    assert postgres.ask(name, "SELECT version FROM ledger") == [(schema.VERSION,)]


def test_a_server_that_does_not_wait_for_its_disk_is_refused(postgres, url):
    name = url.rpartition("/")[2]
    try:
        postgres.ask(name, "ALTER SYSTEM SET full_page_writes = off")
        postgres.ask(name, "SELECT pg_reload_conf()")
        wait(lambda: postgres.ask(name, "SHOW full_page_writes") == [("off",)])
        with pytest.raises(LedgerError, match="must have full_page_writes = on"):
            Ledger(url)
    finally:
        postgres.ask(name, "ALTER SYSTEM RESET full_page_writes")
        postgres.ask(name, "SELECT pg_reload_conf()")
        wait(lambda: postgres.ask(name, "SHOW full_page_writes") == [("on",)])


SECRETS = (PASSWORD, PASSWORD.replace(" ", "%20").replace("/", "%2F"), "wrong horse")


def test_a_database_without_a_ledger_is_not_one(postgres, url):
    answer = run(["serve", url, "--check"])
    assert (answer.code, "there is no ledger in 'postgresql://" in answer.err) == (
        2,
        True,
    )
    name = url.rpartition("/")[2]
    tables = "SELECT 1 FROM pg_tables WHERE tablename = 'ledger'"
    assert postgres.ask(name, tables) == []


def test_a_password_is_never_printed(postgres, url):
    Ledger(url).close()
    wrong = url.replace(":s3cret%20of%20the%2Ftest@", ":wrong%20horse@")
    elsewhere = f"postgresql://ann:{SECRETS[1]}@127.0.0.1:1/none"
    broken = f"postgresql://ann:{PASSWORD}@127.0.0.1/none"
    for words in (
        ["serve", url, "--check"], ["serve", wrong, "--check"],
        ["serve", url, "--host", "0.0.0.0"], ["ledger", "verify", elsewhere],
        ["ledger", "verify", broken], ["ledger", "backup", wrong, "-o", "x.db"],
        ["ledger", "restore", "none.db", wrong],
    ):  # fmt: skip
        answer = run(words)
        said = answer.out + answer.err
        assert said.count("\n") == 1, said
        assert not any(secret in said for secret in SECRETS), said
        assert answer.code == (0 if words == ["serve", url, "--check"] else 2), said


@pytest.mark.parametrize(
    "place",
    ["postgresql://", "postgresql://host", "postgresql://u:a@b@host/db",
     "postgresql://u:p@host:port/db", "postgres://u:p/q@host/db"],
)  # fmt: skip
def test_a_url_that_names_no_database_is_refused(place):
    with pytest.raises(SettingError, match="is named by postgresql://"):
        Ledger(place)


def test_a_place_is_shown_without_user_password_and_options():
    shown = display_name("postgres://ann:x@host:5/db?password=y&sslmode=require")
    assert shown == "postgresql://host:5/db"
    assert display_name("pools.db") == "pools.db"


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(distributions, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"truepool-serve\[postgres\]"):
        Ledger("postgresql://host/db")


def test_version_1_of_a_file_is_brought_up_to_date(tmp_path):
    """The file was written by the first release of the ledger."""
    import sqlite3

    place = tmp_path / "old.db"
    with sqlite3.connect(place) as connection:
        script = Path(__file__).with_name("version_1.sql").read_text(encoding="utf-8")
        connection.executescript(script)
    connection.close()
    with Ledger(place) as ledger:
        assert sum(ledger.waiting(1).values()) == 3
        found = verify(ledger, "fraud")
        assert (found.entries, found.erased) == (9, 2)
    with Local(place, None) as local:
        assert local.describe("fraud")["weights"] == {
            "ada": 0.35358380325335653,
            "bob": 0.4071835432441683,
            "cyd": 0.23923265350247525,
        }
        (token,) = local.tokens()
        assert (token["role"], token["replaces"]) == ("operator", None)
        assert [each["action"] for each in local.trail(10)][-1] == "issue"
        local.decide("fraud", "open", None)
        assert sum(local.coordinator.ledger.waiting(1).values()) == 1
    Ledger(place).close()


def test_every_version_has_its_migration():
    assert sorted(schema.MIGRATIONS) == list(range(2, schema.VERSION + 1))
