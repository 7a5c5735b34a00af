"""Measure scoring and fitting of a data set against the number of workers of Ray.

Run: python scripts/measure_ray.py FOLDER [--parts N] [--rows N] [--rounds N]. Writes so
many parts of so many rows, of 10 agents in single precision, and removes them. Each
number of workers, up to the cores of this machine, gets a Ray of its own; one round
warms its workers up, and the least time of the others is printed, with that of this
process alone. Nothing listens beyond loopback.
"""

import json
import os
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

from measure_scale import write

from truepool.core.engine import Engine, Processes, make_engine
from truepool.core.engine.ray_cluster import OWN
from truepool.pools.vcg import VCG
from truepool.scoring.parts import PartScorer, score_parts
from truepool.scoring.scorer import Scorer, schema_of
from truepool.tables import Declared, match
from truepool.tables.dataset import open_dataset
from truepool.tables.stream import open_panels


def measure(folder: Path, engine: Engine, rounds: int) -> dict[str, float]:
    """Least seconds of fitting and of scoring, the first round not counted."""
    data, best = open_dataset(folder / "set"), {"fit": 1e9, "score": 1e9}
    for n in range(rounds + 1):
        start = time.perf_counter()
        pool = VCG().fit_stream(open_panels(data, Declared(), engine=engine))
        fitted = time.perf_counter()
        table = match(folder / "set", schema_of(pool), Declared())
        how = PartScorer(Scorer(pool), table.schema)
        score_parts(how, data, folder / "out", {}, engine=engine)
        scored = time.perf_counter()
        rmtree(folder / "out")
        if n:
            best["fit"] = min(best["fit"], fitted - start)
            best["score"] = min(best["score"], scored - fitted)
    return {name: round(seconds, 2) for name, seconds in best.items()}


def engines() -> Iterator[tuple[str, Engine]]:
    """Yield this process, and a Ray of 1, 2, 4 ... workers; each ends with its turn."""
    yield "here", Processes()
    os.environ.update(OWN)
    import ray

    workers = 1
    while workers <= (os.cpu_count() or 1):
        ray.init("local", num_cpus=workers, include_dashboard=False)
        with make_engine("ray") as engine:
            yield f"{workers} workers", engine
        ray.shutdown()
        workers *= 2


def main() -> None:
    """Write the data set, and print one line for each engine."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    data = given.folder / "set"
    data.mkdir(parents=True)
    try:
        for part in range(given.parts):
            write(data / f"{part:04}.parquet", given.rows)
        for name, engine in engines():
            found = measure(given.folder, engine, given.rounds)
            load = round(os.getloadavg()[0], 1)
            print(json.dumps({"engine": name, **found, "load": load}), flush=True)
    finally:
        rmtree(data)


if __name__ == "__main__":
    main()
