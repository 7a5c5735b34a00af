"""Benchmarks are run by hand; that they can be is tested here."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_benchmark_can_be_collected():
    words = ["-m", "pytest", "benchmarks", "--collect-only", "-q", "-o", "addopts="]
    found = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout
