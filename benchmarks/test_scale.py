"""Tables larger than memory, against merely reading them in the same run.

``TRUEPOOL_SCALE_ROWS=100000000 make bench`` takes 6 GB of disk in ``TMPDIR``; by
default there are ten million rows (0.6 GB).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = int(os.environ.get("TRUEPOOL_SCALE_ROWS", "10000000"))
SCRIPT = Path(__file__).parents[1] / "scripts" / "measure_scale.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scale")
    words = [sys.executable, SCRIPT, folder, str(ROWS)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    times = json.loads(done.stdout)
    # The faster one: which of them that is depends on the size of the file.
    times["read"] = min(times["read"], times["read by group"])
    return times


def test_scoring_is_at_least_half_as_fast_as_reading(found, record):
    record(f"score {ROWS:,} rows / read", found["score"] / found["read"], at_most=2)


def test_fitting_vcg_is_at_least_a_third_as_fast_as_reading(found, record):
    record(f"fit vcg {ROWS:,} rows / read", found["fit"] / found["read"], at_most=3)


@pytest.mark.parametrize("step", ["score", "fit"])
def test_memory_stays_under_a_gibibyte(found, record, step):
    record(f"{step}: peak memory in GiB", found[f"{step} MiB"] / 1024, at_most=1)
