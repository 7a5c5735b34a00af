"""What is slow to unpack is unpacked once."""

import lzma
import os

import pyarrow as pa
import pytest

from truepool.datasets import columns
from truepool.datasets.columns import read_cached

TABLE = pa.table({"a": [1.0, 2.0]})


class Reading:
    """A read that counts how often it was asked."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return TABLE


@pytest.fixture
def slow(tmp_path):
    path = tmp_path / "t.csv.xz"
    path.write_bytes(lzma.compress(b"a\n1\n2\n"))
    return path


def test_a_slow_file_is_read_once(nowhere, slow):
    read = Reading()
    assert read_cached(slow, ["a"], read).equals(TABLE)
    assert read_cached(slow, ["a"], read).equals(TABLE)
    assert read.times == 1
    assert len(list((nowhere / "parsed").iterdir())) == 1


def test_other_columns_or_another_file_are_read_anew_and_replace_the_old(nowhere, slow):
    read = Reading()
    read_cached(slow, ["a"], read)
    read_cached(slow, ["a", "b"], read)
    os.utime(slow, (1, 1))
    read_cached(slow, ["a", "b"], read)
    assert read.times == 3
    assert len(list((nowhere / "parsed").iterdir())) == 1


@pytest.mark.usefixtures("nowhere")
def test_a_quick_file_is_not_cached(nowhere, tmp_path):
    read = Reading()
    (tmp_path / "t.csv.gz").touch()
    read_cached(tmp_path / "t.csv.gz", ["a"], read)
    assert not nowhere.exists()


def test_a_damaged_copy_is_read_anew(nowhere, slow):
    read_cached(slow, ["a"], Reading())
    (copy,) = (nowhere / "parsed").iterdir()
    copy.write_bytes(b"nonsense")
    read = Reading()
    assert read_cached(slow, ["a"], read).equals(TABLE)
    assert read.times == 1


def test_a_cache_that_cannot_be_written_into_is_no_fault(nowhere, slow):
    nowhere.parent.mkdir(parents=True)
    nowhere.write_text("a file where the folder should be")
    read = Reading()
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"nothing can be stored in .*parsed'"):
            assert read_cached(slow, ["a"], read).equals(TABLE)
    assert read.times == 2


def test_a_full_disk_leaves_no_file_behind(nowhere, slow, monkeypatch):
    def full(*args, **settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(columns, "_store_parsed", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        assert read_cached(slow, ["a"], Reading()).equals(TABLE)
    assert list((nowhere / "parsed").iterdir()) == []
