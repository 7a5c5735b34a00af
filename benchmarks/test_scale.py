"""Tables larger than memory, against merely reading them in the same run.

By default there are three million rows (0.2 GB of disk in ``TMPDIR``), some minutes on
a busy machine. ``TRUEPOOL_SCALE_ROWS=100000000 python -m pytest benchmarks/test_scale.py
-n0`` takes 6 GB. Steps and reading take turns, and the ratio is the median over the
turns: what else the machine does disturbs both.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = int(os.environ.get("TRUEPOOL_SCALE_ROWS", "3000000"))
SCRIPT = Path(__file__).parents[1] / "scripts" / "measure_scale.py"


ROUNDS = 5


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scale")
    words = [sys.executable, SCRIPT, folder, str(ROWS), "--rounds", str(ROUNDS)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def test_scoring_is_at_least_half_as_fast_as_reading(found, record):
    record(f"score {ROWS:,} rows / read, processor time", found["score cpu ratio"])
    record(f"score {ROWS:,} rows / read", found["score ratio"], at_most=2)


def test_fitting_vcg_is_at_least_a_third_as_fast_as_reading(found, record):
    record(f"fit vcg {ROWS:,} rows / read, processor time", found["fit cpu ratio"])
    record(f"fit vcg {ROWS:,} rows / read", found["fit ratio"], at_most=3)


@pytest.mark.parametrize("step", ["score", "fit"])
def test_memory_stays_under_a_gibibyte(found, record, step):
    record(f"{step}: peak memory in GiB", found[f"{step} MiB"] / 1024, at_most=1)
