"""Measure scoring and fitting of large Parquet files against merely reading them.

Run: python scripts/measure_scale.py FOLDER ROWS [ROWS ...] [--plot FILE] [--rounds N].
For each number of rows a file of 10 agents in single precision and an outcome is
written to the folder (46 bytes per row, and 8 for the result) and removed afterwards.
Reading by pyarrow (as it does by default, which takes 5 GiB of memory for a hundred
million rows, and one row group after another, the fastest way found), `truepool score`
with a linear pool and `truepool fit --pool vcg` take turns in one process, so that
other work on the machine disturbs all of them alike. Printed are the least wall time
and processor time of each, and the median of its ratios to each reading of the same
turn: `ratio` to the default, `ratio by group` to the fastest. Starting the
command is not counted, but measured apart (`start`). The memory of each is the peak of
a process of its own.

For several numbers of rows, the last line has the straight lines through the times,
fixed seconds plus seconds per row, and how far the points are off. `--plot` draws them
too; `--measured FILE` draws what an earlier run printed, instead of measuring.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from itertools import product
from pathlib import Path
from subprocess import run
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

Numbers: TypeAlias = NDArray[np.float64]

AGENTS = [f"agent{i}" for i in range(10)]
ROW_GROUP = 1_000_000


def write(path: Path, rows: int) -> None:
    """Write a file of so many rows, in which agents see the outcome through noise."""
    rng, writer = np.random.default_rng(0), None
    for start in range(0, rows, ROW_GROUP):
        size = min(ROW_GROUP, rows - start)
        y = rng.integers(0, 2, size, dtype=np.int8)
        cells = {
            name: (0.25 * y + 0.75 * rng.random(size)).astype(np.float32)
            for name in AGENTS
        }
        table = pa.table(cells | {"y": y})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def read(path: Path) -> None:
    """Read the reports, and do nothing with them."""
    with parquet.ParquetFile(path) as file:
        for _ in file.iter_batches(columns=AGENTS):
            pass


def read_by_group(path: Path) -> None:
    """Read the reports without a buffer for the whole file."""
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        for _ in file.iter_batches(columns=AGENTS):
            pass


def fit(path: Path) -> None:
    """Learn credit and weights, and save the pool."""
    from truepool.pools.vcg import VCG
    from truepool.tables import Declared
    from truepool.tables.dataset import open_dataset
    from truepool.tables.stream import open_panels

    VCG().fit_stream(open_panels(open_dataset(path), Declared())).save(_pool(path))


def score(path: Path) -> None:
    """Score every row and write the result."""
    from truepool.pools import load_pool
    from truepool.scoring.scorer import Scorer, schema_of
    from truepool.tables import Declared, match
    from truepool.tables.read import read_blocks
    from truepool.tables.write import open_writer

    pool = load_pool(_pool(path))
    scorer = Scorer(pool)
    table = match(path, schema_of(pool), Declared())
    with open_writer(path.with_suffix(".scored.parquet")) as write_columns:
        for block in read_blocks(table):
            write_columns(scorer.score(block)[0])


STEPS: dict[str, Callable[[Path], None]] = {
    "read": read,
    "read by group": read_by_group,
    "fit": fit,
    "score": score,
}


def _pool(path: Path) -> Path:
    return path.with_suffix(".pool")


def peak_memory() -> float:
    """Peak memory of this process in MiB, not that of the one which started it."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def start(path: Path) -> float:
    """Seconds of the command on a small file: imports, and code from the cache."""
    command, out = Path(sys.executable).with_name("truepool"), path.with_suffix(".csv")
    wall = time.perf_counter()
    run([command, "score", _pool(path), path, "-o", out, "--quiet"], check=True)
    return time.perf_counter() - wall


def take_turns(path: Path, rounds: int) -> dict[str, float]:
    """Least seconds of each step, and the median of its ratios to reading."""
    walls: dict[str, list[float]] = {name: [] for name in STEPS}
    used: dict[str, list[float]] = {name: [] for name in STEPS}
    for _ in range(rounds):
        for name, step in STEPS.items():
            wall, cpu = time.perf_counter(), time.process_time()
            step(path)
            walls[name].append(time.perf_counter() - wall)
            used[name].append(time.process_time() - cpu)
    found = {name: min(taken) for name, taken in walls.items()}
    found |= {f"{name} cpu": min(taken) for name, taken in used.items()}
    for unit, taken in (("", walls), (" cpu", used)):
        for reading, name in product(("", " by group"), ("score", "fit")):
            ratios = np.array(taken[name]) / taken[f"read{reading}"]
            found[f"{name}{unit} ratio{reading}"] = float(np.median(ratios))
    return found


def measure(folder: Path, rows: int, rounds: int, times_only: bool) -> dict[str, float]:
    """Seconds of each step, best of several in turns, and its peak memory in MiB."""
    path, small = folder / f"{rows}.parquet", folder / f"{rows}.small.parquet"
    load = os.getloadavg()[0]
    write(small, 1000)
    write(path, rows)
    try:
        for step in STEPS.values():  # compiles
            step(small)
        found = {"rows": rows, "load": load, **take_turns(path, rounds)}
        if times_only:
            return found
        found["start"] = min(start(small) for _ in range(2))
        for name in STEPS:
            words = [sys.executable, __file__, "--step", name, str(path)]
            done = run(words, capture_output=True, text=True, check=True)
            found[f"{name} MiB"] = float(done.stdout)
    finally:
        for left in folder.glob(f"{rows}.*"):
            left.unlink()
    return found


def straight_line(rows: Numbers, seconds: Numbers) -> tuple[float, float, float]:
    """Fixed seconds, seconds per row, and the largest deviation of a point from them.

    Least squares of the relative deviations: small files count as much as large ones.
    """
    terms = np.stack([1 / seconds, rows / seconds], axis=1)
    (fixed, per_row), *_ = np.linalg.lstsq(terms, np.ones(len(rows)), rcond=None)
    apart = float(np.abs(seconds / (fixed + per_row * rows) - 1).max())
    return float(fixed), float(per_row), apart


def lines(found: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Straight line through the times of each step."""
    result = {}
    for name in ("score", "score cpu", "fit", "fit cpu"):
        if len(found) > 2 and all(name in each for each in found):
            fixed, per_row, apart = straight_line(*_points(found, name))
            result[name] = {
                "fixed s": fixed,
                "ns per row": per_row * 1e9,
                "largest deviation": apart,
            }
    return result


def _points(found: list[dict[str, float]], name: str) -> tuple[Numbers, Numbers]:
    rows = np.array([each["rows"] for each in found])
    return rows, np.array([each[name] for each in found])


def plot(path: Path, found: list[dict[str, float]], unit: str) -> None:
    """Draw time and time per row with the straight lines, deviations, and memory."""
    from matplotlib.figure import Figure

    measured = [each for each in found if "score MiB" in each]
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots(1, 4 if measured else 3)
    times, costs, apart = axes[:3]
    for place, name in enumerate(("score", "fit", "read by group")):
        rows, seconds = _points(found, f"{name}{unit}")
        fixed, per_row, _ = straight_line(rows, seconds)
        along, colour = np.geomspace(rows.min(), rows.max(), 200), f"C{place}"
        times.loglog(rows, seconds, "o", color=colour, label=name)
        times.loglog(along, fixed + per_row * along, color=colour)
        costs.loglog(rows, seconds / rows * 1e9, "o", color=colour)
        costs.loglog(along, (fixed / along + per_row) * 1e9, color=colour)
        deviation = seconds / (fixed + per_row * rows) - 1
        apart.semilogx(rows, 100 * deviation, "o-", color=colour)
        known = [each for each in measured if f"{name} MiB" in each]
        if known:
            axes[3].semilogx(*_points(known, f"{name} MiB"), "o-", color=colour)
    kind = "processor time" if unit else "time"
    times.set(xlabel="rows", ylabel="seconds", title=kind)
    costs.set(xlabel="rows", ylabel="nanoseconds", title=f"{kind} per row")
    apart.set(xlabel="rows", ylabel="%", title="deviation from the line")
    if measured:
        axes[3].set(xlabel="rows", ylabel="MiB", title="peak memory", ylim=(0, None))
    times.legend(frameon=False, fontsize=8, loc="upper left", handletextpad=0.1)
    figure.savefig(path, metadata={"Date": None})


def main(words: list[str]) -> None:
    """Measure, print one line of JSON per number of rows, and draw."""
    if words[0] == "--step":
        STEPS[words[1]](Path(words[2]))
        print(peak_memory())
        return
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("rows", type=float, nargs="*")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--cpu", action="store_true", help="draw processor time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--times", action="store_true", help="measure no memory")
    parser.add_argument("--measured", type=Path)
    given = parser.parse_args(words)
    found = []
    if given.measured is not None:
        measured = map(json.loads, given.measured.read_text().splitlines())
        found = [each for each in measured if "rows" in each]
    for rows in given.rows:
        found.append(measure(given.folder, int(rows), given.rounds, given.times))
        print(json.dumps(found[-1]), flush=True)
    if len(found) > 2:
        print(json.dumps(lines(found)))
    if given.plot is not None:
        plot(given.plot, found, " cpu" if given.cpu else "")


if __name__ == "__main__":
    main(sys.argv[1:])
