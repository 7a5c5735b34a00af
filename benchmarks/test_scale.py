"""Tables larger than memory, against merely reading them in the same run.

By default there are three million rows (0.2 GB of disk in ``TMPDIR``), one to two
minutes on a busy machine. ``TRUEPOOL_SCALE_ROWS=100000000 python -m pytest
benchmarks/test_scale.py -n0 -o addopts=`` takes 6 GB. Steps and reading take turns, and
a ratio is the median over the turns. The limits are for reading as pyarrow does by
default; the ratio to its fastest way is for information. Processor time is always held
to the limits; wall time only where the load leaves free cores.
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


@pytest.mark.parametrize(("step", "limit"), [("score", 2), ("fit", 3)])
def test_scoring_has_half_and_fitting_a_third_of_the_speed_of_reading(
    found, record, step, limit
):
    what = f"{step} {ROWS:,} rows / read"
    free = found["load"] <= os.cpu_count()
    most = limit if free else float("inf")
    record(f"{what}, load {found['load']:.1f}", found[f"{step} ratio"], at_most=most)
    record(f"{what}, processor time", found[f"{step} cpu ratio"], at_most=limit)
    record(f"{what} in the fastest way", found[f"{step} ratio by group"])


@pytest.mark.parametrize("step", ["score", "fit"])
def test_memory_stays_under_a_gibibyte(found, record, step):
    record(f"{step}: peak memory in GiB", found[f"{step} MiB"] / 1024, at_most=1)
