"""Reading a table against one pass of pyarrow's CSV reader over it, in the same run."""

import os
import subprocess
import sys
import time
from statistics import median

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from truepool.tables import Declared, load_panel
from truepool.tables.read import examine

ROWS = int(os.environ.get("TRUEPOOL_TABLE_ROWS", "1000000"))
ROUNDS = 5
STEPS = {
    "csv": csv.read_csv,
    "look": lambda path: examine(path, Declared()),
    "panel": lambda path: load_panel(path, Declared()),
}


def write(path, rows):
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 5, rows)
    start = np.datetime64("2025-01-01T00:00:00")
    table = {
        "id": np.arange(rows),
        "time": start + np.arange(rows).astype("timedelta64[s]"),
    }
    for name in ("rf", "gbm", "nn", "rules", "vendor"):
        table[name] = np.round(np.clip(p + rng.normal(0, 0.05, rows), 0, 1), 6)
    table |= {"amount": rng.lognormal(3, 1, rows).round(2)}
    table |= {"fraud": (rng.random(rows) < p).astype(int)}
    csv.write_csv(pa.table(table), path)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "large.csv"
    write(path, ROWS)
    return path


PEAK = """
import re, sys
from pathlib import Path
from test_tables import STEPS, write
def memory(name):
    found = re.search(rf"{name}:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    return 1024 * int(found[1])
write("small.csv", 2_000)
STEPS[sys.argv[1]]("small.csv")  # imports, and code from the cache
before = memory("VmRSS")
kept = STEPS[sys.argv[1]](sys.argv[2])
print(memory("VmHWM") - before)
"""


@pytest.mark.parametrize("step", STEPS)
def test_a_table_is_read_in_three_times_its_size(table, tmp_path, record, step):
    words = [sys.executable, "-c", PEAK, step, str(table)]
    path = os.environ | {"PYTHONPATH": os.path.dirname(__file__)}
    found = subprocess.run(
        words, cwd=tmp_path, env=path, capture_output=True, check=True
    )
    ratio = int(found.stdout) / table.stat().st_size
    limit = 4 if step == "csv" else 3
    record(f"{step} of {ROWS:,} rows, memory / file", ratio, at_most=limit)


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """Processor time of each step, the median over the rounds; they take turns."""
    folder = tmp_path_factory.mktemp("tables")
    write(folder / "small.csv", 2_000)
    write(folder / "large.csv", ROWS)
    found = {name: [] for name in STEPS}
    for step in STEPS.values():
        step(folder / "small.csv")  # imports, and code from the cache
    for _ in range(ROUNDS):
        for name, step in STEPS.items():
            start = time.process_time()
            step(folder / "large.csv")
            found[name].append(time.process_time() - start)
    return {name: median(taken) for name, taken in found.items()}


@pytest.mark.parametrize(("step", "limit"), [("look", 2), ("panel", 2)])
def test_a_table_is_read_in_a_few_passes_of_a_csv_reader(seconds, record, step, limit):
    ratio = seconds[step] / seconds["csv"]
    record(f"{step} of {ROWS:,} rows / csv, processor time", ratio, at_most=limit)
