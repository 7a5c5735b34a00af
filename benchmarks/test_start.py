"""What it costs to start and to install: fresh processes, least processor time of several."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HELP = "import sys; sys.argv = ['truepool', '--help']; from truepool.cli import main; main()"
ROUNDS = 9
MOST_MEGABYTES = 754
"""The library alone in an environment of its own, with bytecode: when one package had
everything, it was 754."""


def processor_seconds(code):
    """Least processor time of a fresh Python: other programs disturb it less than the clock."""
    times = []
    for _ in range(ROUNDS):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        times.append(used.ru_utime + used.ru_stime)
    return min(times)


def test_importing_truepool_costs_at_most_half_more_than_numpy(record):
    numpy, ours = map(processor_seconds, ("import numpy", "import truepool"))
    record("import truepool, in import numpy", ours / numpy, at_most=1.5)


def test_the_help_costs_at_most_three_times_an_empty_program(record):
    nothing, ours = map(processor_seconds, ("pass", HELP))
    record("truepool --help, in python -c pass", ours / nothing, at_most=3.0)


def test_the_core_is_no_larger_than_it_was(record, tmp_path):
    root = Path(__file__).parents[1]
    uv = Path(sys.executable).parent / "uv"
    if not uv.exists():
        pytest.skip("the environment was not made by make")
    subprocess.run(
        [uv, "venv", "-q", "--python", sys.executable, tmp_path / "core"], check=True
    )
    python = tmp_path / "core" / "bin" / "python"
    words = ["--python", python, "--compile-bytecode", "-c", root / "constraints.txt"]
    subprocess.run(
        [uv, "pip", "install", "-q", *words, root / "packages/truepool"], check=True
    )
    files = [path for path in (tmp_path / "core").rglob("*") if path.is_file()]
    size = sum(path.lstat().st_size for path in files if not path.is_symlink())
    record("megabytes of the core alone", size / 2**20, at_most=MOST_MEGABYTES)
