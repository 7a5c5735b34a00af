"""Benchmarks are run by hand; that they can be is tested here."""

import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import numpy as np
from numpy.testing import assert_allclose

ROOT = Path(__file__).parents[1]


def test_every_benchmark_can_be_collected():
    words = ["-m", "pytest", "benchmarks", "--collect-only", "-q", "-o", "addopts="]
    # Not as a worker of the run that this test is part of.
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
    found = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, env=env
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_straight_line_through_the_times_is_fixed_plus_per_row():
    found = run_path(str(ROOT / "scripts" / "measure_scale.py"))["straight_line"]
    rows = np.array([1e4, 1e5, 1e6, 1e7])
    seconds = 0.02 + 5e-8 * rows
    assert_allclose(found(rows, seconds)[:2], (0.02, 5e-8))
    assert found(rows, seconds)[2] < 1e-12
    assert found(rows, seconds * [1, 1, 1.1, 1])[2] > 0.05
