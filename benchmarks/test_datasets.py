"""Loading the largest data set: packed against unpacking it, plain against pandas."""

import lzma
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from truepool import datasets
from truepool.datasets.location import find_local
from truepool_lab.datasets.credit_card import CreditCard

pytestmark = pytest.mark.skipif(
    CreditCard.location() is None, reason="credit-card not here: set TRUEPOOL_DATA"
)

PEAK = """
from pathlib import Path
from truepool import datasets
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("VmHWM"))
before = peak()
rows = datasets.credit_card(None, seed=None)
print(before, peak(), rows.values.nbytes // 1024)
"""


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """A cache without anything in it."""
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "truepool"))
    return tmp_path


def whole():
    return datasets.credit_card(None, seed=None)


def by_row(path):
    """The same values as ours, a row a case; pandas has them a column after another."""
    return np.ascontiguousarray(pd.read_csv(path).to_numpy())


def copied(source, target):
    with source as stream, open(target, "wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)


def test_the_archive_loads_the_first_time_and_again(record, cold):
    _, path = find_local(CreditCard.files[0])
    assert path.suffix == ".xz", "the archive that the figures are about"
    bare = first = float("inf")
    for _ in range(2):  # in turns, and the better of two: others use this machine
        bare = min(bare, timed(lambda: copied(lzma.open(path), os.devnull)))
        shutil.rmtree(cold / "truepool", ignore_errors=True)
        first = min(first, timed(whole))
    again = min(timed(whole) for _ in range(3))
    record(
        f"xz: first load ({first:.1f} s) / unpacking alone", first / bare, at_most=1.6
    )
    record(f"xz: later load ({again:.2f} s) / first", again / first, at_most=0.3)


def test_the_plain_file_loads(record, cold, monkeypatch):
    _, path = find_local(CreditCard.files[0])
    plain = cold / CreditCard.files[0].name
    copied(lzma.open(path) if path.suffix == ".xz" else path.open("rb"), plain)
    monkeypatch.setenv("TRUEPOOL_DATA", str(cold))
    ours = theirs = float("inf")
    for _ in range(4):
        ours = min(ours, timed(whole))
        theirs = min(theirs, timed(lambda: by_row(plain)))
    record(f"csv: load ({ours:.2f} s) / pandas.read_csv", ours / theirs, at_most=1.5)


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("first", [True, False], ids=["first", "again"])
def test_memory_is_a_small_multiple_of_the_values(record, cold, first):
    if not first:
        whole()
    answer = subprocess.run(
        [sys.executable, "-c", PEAK], env=dict(os.environ), capture_output=True, text=True, check=True
    )  # fmt: skip
    before, peak, values = map(int, answer.stdout.split())
    which = "first" if first else "later"
    record(f"{which} load: peak of the process in GiB", peak / 2**20, at_most=1.5)
    record(f"{which} load: memory / values", (peak - before) / values, at_most=8)
