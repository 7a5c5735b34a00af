"""What it costs to start: fresh processes, best of several."""

import subprocess
import sys
import time

PYTHON = [sys.executable, "-c"]
HELP = "import sys; sys.argv = ['truepool', '--help']; from truepool.cli import main; main()"


def best_of(code, rounds=7):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([*PYTHON, code], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def test_importing_truepool_costs_at_most_twice_numpy(record_property):
    nothing = best_of("pass")
    numpy = best_of("import numpy") - nothing
    ours = best_of("import truepool") - nothing
    record_property("ratio", ours / numpy)
    assert ours <= 2 * numpy


def test_help_comes_within_half_a_second():
    assert best_of(HELP) < 0.5
