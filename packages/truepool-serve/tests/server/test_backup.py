"""A backup is a ledger of its own, made while the first is in use."""

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from server.service import FRAUD, Local

from truepool.core.errors import LedgerError
from truepool_serve.server.backup import back_up, restore
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import Verification, verify, verify_all


@pytest.fixture
def place(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture(params=["sqlite", "postgres"])
def source(request, place):
    """A ledger to back up."""
    if request.param == "sqlite":
        return str(place)
    return request.getfixturevalue("postgres").database()


@pytest.fixture(params=["sqlite", "postgres"])
def target(request, tmp_path):
    """An empty ledger to restore into."""
    if request.param == "sqlite":
        return str(tmp_path / "restored.db")
    return request.getfixturevalue("postgres").database()


def test_what_was_backed_up_in_use_is_restored_and_goes_on(source, target, tmp_path):
    copy = tmp_path / "copy.db"
    with Local(source) as local:
        local.create(FRAUD | {"name": "other"})
        local.fill(6, np.random.default_rng(0))
        local.erase("fraud", "case 2")
        local.report("fraud", [("open", "ada", 0.5)])
        token = local.issue("operator", None, None)["token"]
        weights, trail = local.describe("fraud")["weights"], local.trail(100)
        back_up(source, copy)
        local.fill(1, np.random.default_rng(1), first=50)  # not in the copy
    assert restore(copy, target) == ["fraud", "other"]
    with Local(target, None) as local:
        assert local.describe("fraud")["weights"] == weights
        assert local.trail(100) == trail
        assert local.coordinator.access.identify(f"Bearer {token}").role == "operator"
        local.decide("fraud", "open", None)
        local.fill(3, np.random.default_rng(2), first=20)
        local.create(FRAUD | {"name": "third"})
    with Ledger(target) as ledger:
        assert all(isinstance(found, Verification) for found in verify_all(ledger))
        assert [verify(ledger, name).entries for name in ledger.pool_names()] == [
            22,
            1,
            1,
        ]
    assert not list(tmp_path.glob(".*part*"))


def test_a_backup_can_be_verified_and_replaces_the_one_before(place, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(b"old")
    with Local(place) as local:
        local.fill(2, np.random.default_rng(0))
        assert back_up(str(place), copy) == 5
    with Ledger(copy) as ledger:
        assert verify(ledger, "fraud").replayed == 5


def test_a_backup_goes_through_a_link_and_keeps_the_mode_of_the_file(place, tmp_path):
    old, link = tmp_path / "old.db", tmp_path / "link.db"
    old.touch(0o640)
    link.symlink_to(old)
    with Local(place) as local:
        local.fill(2, np.random.default_rng(0))
    back_up(str(place), link)
    assert link.is_symlink()
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    with Ledger(old) as ledger:
        assert verify(ledger, "fraud").replayed == 5
    assert not list(tmp_path.glob(".*"))


def test_a_device_is_not_replaced_by_a_backup(place, tmp_path):
    device, copy = tmp_path / "device", tmp_path / "copy.db"
    os.mkfifo(device)
    with Local(place) as local:
        local.fill(2, np.random.default_rng(0))
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(device.read_bytes)
        back_up(str(place), device)
        copy.write_bytes(read.result(timeout=60))
    assert stat.S_ISFIFO(device.stat().st_mode)
    with Ledger(copy) as ledger:
        assert verify(ledger, "fraud").replayed == 5


def test_a_backup_that_was_changed_is_not_restored(place, tmp_path):
    copy, new = tmp_path / "copy.db", tmp_path / "new.db"
    with Local(place) as local:
        local.fill(3, np.random.default_rng(0))
    back_up(str(place), copy)
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE entries SET at = at + 1 WHERE n = 3")
    connection.close()
    with pytest.raises(LedgerError, match="record 3 was changed"):
        restore(copy, str(new))
    assert not new.exists()


def test_what_a_command_writes_is_for_its_owner_only(truepool, tmp_path):
    with Local(tmp_path / "l.db") as local:
        local.fill(3, np.random.default_rng(0))
    made = {
        "copy.db": ("backup", tmp_path / "l.db", "-o"),
        "cases.parquet": ("export", tmp_path / "l.db", "--pool", "fraud", "-o"),
        "records.jsonl": ("export", tmp_path / "l.db", "--pool", "fraud", "-o"),
        "ada.json": (
            "statement", tmp_path / "l.db", "--pool", "fraud", "--agent", "ada", "--json"
        ),
        "restored.db": ("restore", tmp_path / "copy.db"),
    }  # fmt: skip
    before = os.umask(0o022)
    try:
        for name, words in made.items():
            assert truepool("ledger", *words, tmp_path / name)[0] == 0
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def content(place):
    with sqlite3.connect(place) as connection:
        return list(connection.iterdump())


def test_a_ledger_that_has_something_is_not_overwritten(place, tmp_path):
    copy = tmp_path / "copy.db"
    with Local(place) as local:
        local.fill(1, np.random.default_rng(0))
    back_up(str(place), copy)
    before = content(place)
    with pytest.raises(LedgerError, match="into an empty ledger; .* has pools"):
        restore(copy, str(place))
    assert content(place) == before


@pytest.mark.parametrize("content", [None, b"hello", b""])
def test_what_is_no_ledger_is_not_backed_up(tmp_path, content):
    other = tmp_path / "other.db"
    if content is not None:
        other.write_bytes(content)
    with pytest.raises(LedgerError):
        back_up(str(other), tmp_path / "copy.db")
    with pytest.raises(LedgerError):
        restore(other, str(tmp_path / "new.db"))
    assert not (tmp_path / "copy.db").exists()
    assert not (tmp_path / "new.db").exists()
