"""Thousands of forecasters: the command on a simulated tournament, time and memory.

The yardstick is one table of all cells, which the command must never build. Sizes come
from the environment: TRUEPOOL_FORECASTERS (5000) and TRUEPOOL_QUESTIONS (20000).
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import tournament

from truepool import credit, pools
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports

FORECASTERS = int(os.environ.get("TRUEPOOL_FORECASTERS", 5_000))
QUESTIONS = int(os.environ.get("TRUEPOOL_QUESTIONS", 20_000))
FILL = 0.01
LONG = ("--set", "long=question,forecaster,probability")
OUTCOME = ("--outcome", "happened")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tournament")
    tournament.write(place, FORECASTERS, QUESTIONS, FILL)
    (place / "small").mkdir()
    tournament.write(place / "small", 10, 50, 0.5)
    return place


# The peak of a process counts from its start; that of getrusage begins with the parent.
PEAK = """
import re, sys, time
from pathlib import Path
from truepool.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
Path("used.txt").write_text(f"{time.process_time()} {int(peak) / 1024}")
"""


def run(folder, *words):
    """CPU seconds and peak memory in MB of a command in a process of its own."""
    command = [sys.executable, "-c", PEAK, *words]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    seconds, peak = (folder / "used.txt").read_text().split()
    return float(seconds), float(peak)


def test_fit_score_and_replay_never_build_the_table(folder, record):
    fit = (*LONG, *OUTCOME, "--pool", "vcg", "-o", "a.pool")
    _, imports = run(folder / "small", "fit", "train.parquet", *fit)
    table = FORECASTERS * QUESTIONS * 8 / 2**20
    for title, words in {
        "fit": ("fit", "train.parquet", *fit),
        "score": ("score", "a.pool", "new.parquet", *LONG, "-o", "out.csv"),
        "replay": ("replay", "train.parquet", *LONG, *OUTCOME),
    }.items():
        seconds, peak = run(folder, *words)
        record(f"forecasters: {title}, CPU seconds", seconds, at_most=30)
        extra = peak - imports
        record(f"forecasters: {title}, MB above imports", extra)
        if table > 700:
            record(
                f"forecasters: {title}, memory / one table", extra / table, at_most=1
            )


def small():
    question, forecaster, report, happened = tournament.simulate(500, 2_000, FILL)
    cells = SparseReports.from_cells(question, forecaster, report, 2_000, 500)
    return Panel(cells, happened), Panel(
        np.array(cells.dense()[:, :, 0]), happened, copy=False
    )


@pytest.mark.parametrize("name", ["vcg", "brier"])
def test_a_fit_of_sparse_reports_against_the_table(name, ratio, monkeypatch):
    monkeypatch.setattr("truepool.panel.sparse.SPARSE_CELLS", 10**9)
    cells, table = small()
    assert cells.sparse is not None
    assert table.sparse is None
    ratio(
        lambda: pools.make(name).fit_panel(cells),
        lambda: pools.make(name).fit_panel(table),
        at_most=1.0,
    )


def test_credit_of_sparse_reports_against_the_table(ratio, monkeypatch):
    monkeypatch.setattr("truepool.panel.sparse.SPARSE_CELLS", 10**9)
    cells, table = small()
    ratio(
        lambda: credit.leave_one_out(cells, loss="log"),
        lambda: credit.leave_one_out(table, loss="log"),
        at_most=0.5,
    )
