"""The file of a ledger is whole once it is closed, and is not mixed with another."""

import shutil
import sqlite3

import numpy as np
import pytest
from server.service import FRAUD, Local, Nursery

from truepool.core.errors import LedgerError
from truepool_serve.server.backup import back_up
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import verify


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


def reported(place):
    with Ledger(place, write=False) as ledger, ledger.moment():
        return ledger.waiting(1)[0]


def fill(service):
    assert service.ask("POST", "/v1/pools", FRAUD)[0] == 201
    for i in range(30):
        path = f"/v1/pools/fraud/cases/c{i}/reports/ada"
        assert service.ask("PUT", path, {"probability": 0.5})[0] == 200


def test_a_file_that_is_stopped_and_moved_has_everything(nursery, tmp_path):
    """As systemd stops it: by SIGTERM."""
    place = tmp_path / "pools.db"
    service = nursery.start(place)
    fill(service)
    service.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["pools.db"]
    moved = tmp_path / "moved" / "pools.db"
    moved.parent.mkdir()
    shutil.move(place, moved)
    assert reported(moved) == 30


def test_a_copy_beside_the_log_of_another_file_is_refused(nursery, tmp_path):
    place, copy = tmp_path / "pools.db", tmp_path / "copy.db"
    with Local(place) as local:
        local.fill(3, np.random.default_rng(0))
        back_up(str(place), copy)
    service = nursery.start(place)
    for i in range(30):
        path = f"/v1/pools/fraud/cases/c{i}/reports/ada"
        assert service.ask("PUT", path, {"probability": 0.5})[0] == 200
    service.kill()
    lost = tmp_path / "lost.db"
    shutil.move(place, lost)
    for open_ledger in (Ledger, lambda place: Ledger(place, write=False)):
        shutil.copy(copy, place)
        with pytest.raises(LedgerError, match="pools.db-wal' beside it is the log of"):
            open_ledger(place)
    place.unlink()
    with pytest.raises(
        LedgerError, match="the log of another ledger. Move the log back"
    ):
        Ledger(place)  # not even a new one is mixed with it
    shutil.move(f"{place}-wal", f"{lost}-wal")
    assert reported(lost) == 30
    place.unlink(missing_ok=True)
    shutil.copy(copy, place)
    with Ledger(place) as ledger:
        assert verify(ledger, "fraud").entries == 7


def test_a_file_that_lost_its_log_is_warned_of(nursery, tmp_path):
    place = tmp_path / "pools.db"
    service = nursery.start(place)
    fill(service)
    service.kill()
    (tmp_path / "pools.db-wal").unlink()
    service = nursery.start(place)
    service.stop()
    assert any("was not closed, and there is no" in line for line in service.said)
    service = nursery.start(place)
    service.stop()
    assert not any("was not closed" in line for line in service.said)


def test_a_reader_does_not_keep_a_coordinator_from_closing(tmp_path):
    place = tmp_path / "pools.db"
    local = Local(place)
    with sqlite3.connect(f"file:{place}?mode=ro", uri=True) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM pools").fetchone()
        local.coordinator.close()
    reader.close()
    with Local(place, None) as local:
        assert local.pools() == ["fraud"]
