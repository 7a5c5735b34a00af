"""Benchmarks are run by hand; that they can be is tested here."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_benchmark_can_be_collected():
    words = ["-m", "pytest", "benchmarks", "--collect-only", "-q", "-o", "addopts="]
    # Not as a worker of the run that this test is part of.
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
    found = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, env=env
    )
    assert found.returncode == 0, found.stdout + found.stderr
