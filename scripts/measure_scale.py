"""Measure scoring and fitting of large Parquet files against merely reading them.

Run: python scripts/measure_scale.py FOLDER ROWS [ROWS ...] [--plot FILE] [--rounds N].
For each number of rows a file of 10 agents in single precision and an outcome is
written to the folder (46 bytes per row, and 8 for the result) and removed afterwards.
Reading by pyarrow (as it does by default, and one row group after another, which is
faster for large files), `truepool score` with a linear pool and `truepool fit --pool
vcg` take turns in one process, which prints the least wall time and processor time of
each. Starting the command is not counted, but measured apart (`start`).
The memory of each is the peak of a process of its own.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from subprocess import run

import numpy as np
import pyarrow as pa
from pyarrow import parquet

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
    from truepool.data.tables import TableFormat
    from truepool.data.tables.dataset import open_dataset
    from truepool.data.tables.panel_stream import open_panels
    from truepool.pools.vcg import VCG

    VCG().fit_stream(open_panels(open_dataset(path), TableFormat())).save(_pool(path))


def score(path: Path) -> None:
    """Score every row and write the result."""
    from truepool.data.tables import TableFormat
    from truepool.data.tables.batch_writer import open_writer
    from truepool.data.tables.batches import read_batches
    from truepool.pools import load_pool
    from truepool.pools.scorer import Scorer

    pool = load_pool(_pool(path))
    scorer = Scorer(pool)
    with open_writer(path.with_suffix(".scored.parquet")) as write_columns:
        for batch in read_batches(path, pool.agents_, pool.labels_, TableFormat()):
            write_columns(scorer.score(batch)[0])


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


def measure(folder: Path, rows: int, rounds: int) -> dict[str, float]:
    """Seconds of each step, best of several in turns, and its peak memory in MiB."""
    path, small = folder / f"{rows}.parquet", folder / f"{rows}.small.parquet"
    write(small, 1000)
    write(path, rows)
    found: dict[str, float] = {"rows": rows, "start": np.inf}
    try:
        for step in STEPS.values():  # compiles
            step(small)
        for _ in range(rounds):
            for name, step in STEPS.items():
                wall, used = time.perf_counter(), time.process_time()
                step(path)
                wall, used = time.perf_counter() - wall, time.process_time() - used
                known = found.get(name, np.inf), found.get(f"{name} cpu", np.inf)
                found[name] = min(known[0], wall)
                found[f"{name} cpu"] = min(known[1], used)
            found["start"] = min(found["start"], start(small))
        found["load"] = os.getloadavg()[0]
        for name in STEPS:
            words = [sys.executable, __file__, "--step", name, str(path)]
            done = run(words, capture_output=True, text=True, check=True)
            found[f"{name} MiB"] = float(done.stdout)
    finally:
        for left in folder.glob(f"{rows}.*"):
            left.unlink()
    return found


def plot(path: Path, found: list[dict[str, float]]) -> None:
    """Draw time, time per row and memory against rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    times, costs, memory = figure.subplots(1, 3)
    rows = np.array([each["rows"] for each in found])
    for name, label in (
        ("score", "score"),
        ("fit", "fit --pool vcg"),
        ("read", "read"),
    ):
        ways = [name, "read by group"] if name == "read" else [name]
        seconds = np.array([min(each[way] for way in ways) for each in found])
        times.loglog(rows, seconds, "o-", label=label)
        costs.semilogx(rows, seconds / rows * 1e9, "o-")
        least = [min(each[f"{way} MiB"] for way in ways) for each in found]
        memory.semilogx(rows, least, "o-")
    times.set(xlabel="rows", ylabel="seconds", title="time")
    costs.set(xlabel="rows", ylabel="nanoseconds", title="time per row", ylim=(0, None))
    memory.set(xlabel="rows", ylabel="MiB", title="peak memory", ylim=(0, None))
    times.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main(words: list[str]) -> None:
    """Measure, print one line of JSON per number of rows, and draw."""
    if words[0] == "--step":
        STEPS[words[1]](Path(words[2]))
        print(peak_memory())
        return
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=float, nargs="+")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(words)
    found = []
    for rows in given.rows:
        found.append(measure(given.folder, int(rows), given.rounds))
        print(json.dumps(found[-1]), flush=True)
    if given.plot is not None:
        plot(given.plot, found)


if __name__ == "__main__":
    main(sys.argv[1:])
