"""What the coordinator survives: kill -9, power cuts, a full disk, a damaged file."""

import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from server.load import EARLY_ANSWER, kill_under_load
from server.power_cut import compile_shim, compiler, cut_power, record
from server.service import FRAUD, Local, Nursery

from truepool.core.errors import LedgerError, RequestError
from truepool_serve.messages import Receipt
from truepool_serve.server import operations, writer
from truepool_serve.server.access import ANYONE
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import verify

KILLS = int(os.environ.get("TRUEPOOL_KILLS", "4"))
"""Times that the coordinator is killed; `make faults` sets 200."""
CUTS = int(os.environ.get("TRUEPOOL_CUTS", "12"))
"""Times that the power is cut; `make faults` sets 500."""


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


def test_whatever_was_answered_survives_a_kill(nursery, tmp_path):
    counts = kill_under_load(nursery, tmp_path / "ledger.db", KILLS)
    print(counts)
    assert counts["outcomes"] > KILLS
    assert (counts["lost"], counts["changed"]) == (0, 0)


def test_an_answer_before_the_commit_would_be_found(nursery, tmp_path):
    """The control: without it the test above might show nothing."""
    place = tmp_path / "ledger.db"
    counts = kill_under_load(nursery, place, 2, patch=EARLY_ANSWER)
    assert counts["lost"] > 0


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if compiler() is None:
        if os.environ.get("TRUEPOOL_NEED_COMPILER"):
            pytest.fail("power cuts need a C compiler (apt-get install gcc libc6-dev)")
        pytest.skip("power cuts need a C compiler (apt-get install gcc libc6-dev)")
    return compile_shim(tmp_path_factory.mktemp("shim"))


def test_whatever_was_answered_survives_a_power_cut(shim, tmp_path):
    events = record(tmp_path / "disk", shim, "FULL", cases=8)
    counts = cut_power(events, tmp_path / "cuts", CUTS, seed=0)
    print(counts)
    assert counts["answers"] > 10 * CUTS
    assert (counts["lost"], counts["changed"], counts["corrupt"]) == (0, 0, 0)


def test_a_commit_that_does_not_wait_for_the_disk_would_be_found(shim, tmp_path):
    """The control: with synchronous=NORMAL the power cuts lose what was answered."""
    events = record(tmp_path / "disk", shim, "NORMAL", cases=4)
    counts = cut_power(events, tmp_path / "cuts", CUTS, seed=0)
    print(counts)
    assert counts["cuts with losses"] > CUTS / 10


def test_a_commit_that_fails_is_told_to_everyone_and_undone(tmp_path, monkeypatch):
    with Local(tmp_path / "ledger.db") as local:
        local.fill(5, np.random.default_rng(0))
        weights = local.describe("fraud")["weights"]
        local.report("fraud", [("late", "ada", 0.2), ("late", "bob", 0.9)])
        local.decide("fraud", "late", None)

        ledger = local.coordinator.ledger
        pages = ledger.connection.value("PRAGMA page_count")
        ledger.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match="disk is full"):
            local.report("fraud", [(f"c{i}", "ada", 0.5) for i in range(1000)])
        with pytest.raises(RequestError, match="nothing is known"):
            local.case("fraud", "c0")  # and the new connection has no limit
        assert local.describe("fraud")["weights"] == weights
        local.settle("fraud", [("late", "fraud")])
        assert local.describe("fraud")["weights"] != weights


def test_one_operation_that_fails_does_not_fail_the_others(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        act = local.coordinator.writer.submit
        started = threading.Event()
        stop = act(lambda: (started.set(), time.sleep(0.2)))
        started.wait(10)
        broken = act(lambda: 1 / 0)
        good = local.coordinator.report(ANYONE, "fraud", [("c1", "ada", 0.5)])
        stop.result(10)
        with pytest.raises(ZeroDivisionError):
            broken.result(10)
        assert good.result(10) == Receipt(stored=1, repeated=0)
        assert local.case("fraud", "c1")["reports"] == {"ada": 0.5}


def test_a_caller_who_leaves_stops_neither_the_operation_nor_the_others(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        started = threading.Event()
        stop = local.coordinator.writer.submit(lambda: (started.set(), time.sleep(0.2)))
        started.wait(10)
        left = local.coordinator.report(ANYONE, "fraud", [("c1", "ada", 0.5)])
        with pytest.raises(TimeoutError):
            left.result(0.01)
        stop.result(10)
        assert left.result(10) == Receipt(stored=1, repeated=0)
        assert local.case("fraud", "c1")["reports"] == {"ada": 0.5}


def test_a_damaged_ledger_is_unavailable_to_everyone_who_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "GROUP", 2)
    with Local(tmp_path / "ledger.db") as local:
        act = local.coordinator.writer.submit
        started = threading.Event()
        pause = act(lambda: (started.set(), time.sleep(0.2)))
        started.wait(10)

        def damaged():
            raise LedgerError("entry 3 was changed")

        answers = [act(work) for work in (damaged, lambda: 1, lambda: 2)]
        pause.result(10)
        with pytest.raises(LedgerError):
            answers[0].result(10)
        assert answers[2].result(10) == 2


def test_a_second_coordinator_on_one_file_is_refused(tmp_path):
    with Local(tmp_path / "ledger.db"):
        with pytest.raises(LedgerError, match="in use by a coordinator; stop it"):
            Ledger(tmp_path / "ledger.db")
    Ledger(tmp_path / "ledger.db").close()


@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\x00" + bytes(100), b"hello"]
)
def test_a_file_that_is_no_ledger_is_refused_or_begun(tmp_path, content):
    place = tmp_path / "ledger.db"
    place.write_bytes(content)
    if not content:
        Ledger(place).close()
        return
    with pytest.raises(LedgerError, match="cannot be used"):
        Ledger(place)
    assert place.read_bytes() == content


@pytest.mark.parametrize("cut", [1, 300, 5000, 20_000])
def test_a_log_that_was_cut_off_is_a_ledger_up_to_there(tmp_path, cut):
    """The disk lost the end of the write-ahead log: what is left is whole."""
    copy = tmp_path / "copy.db"
    with Local(tmp_path / "ledger.db") as local:
        local.fill(8, np.random.default_rng(0))
        shutil.copy(tmp_path / "ledger.db", copy)
        log = (tmp_path / "ledger.db-wal").read_bytes()
    (tmp_path / "copy.db-wal").write_bytes(log[:-cut])
    with Ledger(copy) as ledger:
        found = verify(ledger, "fraud")
    assert found.replayed == found.entries < 17
    with Local(copy, None) as local:
        local.fill(8, np.random.default_rng(0))  # sent again: what is there is repeated
    with Ledger(copy) as ledger:
        assert verify(ledger, "fraud").entries == 17


def test_a_clock_that_jumps_changes_no_order(tmp_path, monkeypatch):
    jumps = np.random.default_rng(1)
    monkeypatch.setattr(
        operations.time, "time", lambda: float(jumps.normal(1.7e9, 1e8))
    )
    with Local(tmp_path / "ledger.db") as local:
        local.fill(10, np.random.default_rng(0))
        weights = local.describe("fraud")["weights"]
    with Ledger(tmp_path / "ledger.db") as ledger:
        assert verify(ledger, "fraud").replayed == 21
    with Local(tmp_path / "ledger.db", None) as local:
        assert local.describe("fraud")["weights"] == weights


def test_threads_that_send_the_same_at_once_store_it_once(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        for i in range(20):
            local.report("fraud", [(f"c{i}", "ada", i / 20), (f"c{i}", "bob", 0.5)])
            local.decide("fraud", f"c{i}", None)

        def settle(_):
            for i in range(20):
                local.settle("fraud", [(f"c{i}", ["ok", "fraud"][i % 2])])

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(settle, range(4)))
    with Ledger(tmp_path / "ledger.db") as ledger:
        assert verify(ledger, "fraud").entries == 1 + 20 + 20


def test_a_newer_ledger_is_refused(tmp_path):
    import sqlite3

    place = tmp_path / "ledger.db"
    Ledger(place).close()
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE ledger SET version = 9")
    connection.close()
    with pytest.raises(LedgerError, match="version 9 of the ledger.*Upgrade"):
        Ledger(place)


def test_a_stopped_coordinator_finishes_what_was_asked(nursery, tmp_path):
    service = nursery.start(tmp_path / "ledger.db")
    service.wait_until_ready()
    assert service.ask("POST", "/v1/pools", FRAUD)[0] == 201
    path = "/v1/pools/fraud/cases/c1/reports/ada"
    answer = service.ask("PUT", path, {"probability": 0.25})
    assert answer == (200, {"stored": 1, "repeated": 0})
    service.stop()
    with Local(tmp_path / "ledger.db", None) as local:
        assert local.case("fraud", "c1")["reports"] == {"ada": 0.25}


def test_tls_and_certificates_of_callers(nursery, tmp_path, certificate):
    key, cert = certificate
    words = ("--tls-cert", str(cert), "--tls-key", str(key))
    words += ("--set", f"tls-client-ca={cert}")
    service = nursery.start(tmp_path / "l.db", *words)
    assert service.url.startswith("https://")
    context = ssl.create_default_context(cafile=str(cert))
    with pytest.raises((ssl.SSLError, OSError)):
        urllib.request.urlopen(f"{service.url}/livez", context=context, timeout=10)
    context.load_cert_chain(str(cert), str(key))
    with urllib.request.urlopen(
        f"{service.url}/livez", context=context, timeout=10
    ) as answer:
        assert json.loads(answer.read()) == {"status": "ok"}
    service.stop()


FULL = """
import asyncio, json, sys
from pathlib import Path
from server.service import Local
from truepool.core.errors import LedgerError
folder = Path(sys.argv[1])
ballast = folder / "ballast"
ballast.write_bytes(bytes(2**20))
answered, refused = [], 0
with Local(folder / "ledger.db") as local:
    for i in range(4000):
        try:
            local.report("fraud", [(f"{i} {'x' * 150}", "ada", 0.5)])
            answered.append(i)
        except LedgerError:
            refused += 1
            if refused == 3:
                break
    try:
        asyncio.run(local.coordinator.check_ready())
        ready = True
    except LedgerError:
        ready = False
    ballast.unlink()  # somebody makes room, and it goes on without a restart
    local.report("fraud", [("after", "ada", 0.5)])
with Local(folder / "ledger.db", None) as local:
    lost = [i for i in answered if "ada" not in local.case("fraud", f"{i} {'x' * 150}")["reports"]]
    local.case("fraud", "after")
print(json.dumps([len(answered), refused, ready, len(lost)]))
"""


def test_a_disk_that_is_full_loses_nothing_and_recovers_with_room(tmp_path):
    """A file system of 4 MB, in a namespace of its own that ends with the process."""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             f'mount -t tmpfs -o size=4m none "{tmp_path}" && exec "$@"', "sh"]  # fmt: skip
    if shutil.which("unshare") is None or subprocess.run([*words, "true"]).returncode:
        pytest.skip("needs namespaces of the user and of mounts")
    command = [*words, sys.executable, "-W", "ignore", "-c", FULL, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    answered, refused, ready, lost = json.loads(done.stdout)
    assert (answered > 100, refused, ready, lost) == (True, 3, False, 0)
