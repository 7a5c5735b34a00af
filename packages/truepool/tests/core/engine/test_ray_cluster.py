"""A Ray of our own on this machine: the bits of one process, whatever happens to it."""

import os
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from command import truepool
from panels import random_panel
from pyarrow import parquet
from ray_nodes import ray

from truepool.core.engine import Batch, RowFile, cells, ray_cluster, run
from truepool.core.errors import EngineError, SourceError

__all__ = ["ray", "truepool"]


def test_a_worker_that_is_killed_changes_nothing(ray, tmp_path):
    def work(n):
        place = tmp_path / "killed"
        if n == 3 and not place.exists():
            place.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return n * n

    assert [*ray.map(work, range(9))] == [n * n for n in range(9)]
    assert (tmp_path / "killed").exists()
    assert sorted(ray.map_unordered(work, [2, 1])) == [(0, 4), (1, 1)]


def test_signals_are_handled_as_before(ray):
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_worker_that_is_always_killed_is_an_error(ray, monkeypatch):
    monkeypatch.setattr(ray_cluster, "RETRIES", 0)

    def work(n):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(
        EngineError, match="tried up to 1 times: .*leave out engine=ray"
    ):
        [*ray.map(work, [1])]


def test_few_items_are_in_flight_and_arrays_can_be_written_to(ray):
    import ray as library

    taken = []

    def items():
        for n in range(1000):
            taken.append(n)
            yield np.full(3, n)

    def work(values):
        values[0] = 7
        return values

    results = ray.map(work, items())
    first = next(results)
    first[1] = 8
    assert first.tolist() == [7, 8, 0]
    cores = library.cluster_resources()["CPU"]
    assert len(taken) == ray_cluster.AHEAD * cores
    results.close()


def test_an_error_is_raised_as_in_this_process_and_the_rest_is_given_up(ray, tmp_path):
    def work(n):
        if n == 1:
            raise SourceError("part 1 is corrupt")
        (tmp_path / str(n)).touch()

    with pytest.raises(SourceError, match=r"^part 1 is corrupt$") as caught:
        [*ray.map(work, range(1000))]
    assert caught.value.__cause__ is None
    assert len([*tmp_path.iterdir()]) < 1000


def test_nodes_with_other_packages_are_refused(ray, monkeypatch):
    known = ray_cluster._versions()
    monkeypatch.setattr(ray_cluster, "_versions", lambda: known | {"numpy": "1.0"})
    with pytest.raises(EngineError, match=r"must have numpy 1\.0, .* Install it there"):
        [*ray.map(abs, [1])]


def test_experiments_run_on_it(ray, tmp_path):
    def measure(cell):
        return [{"n": cell["n"], "draw": cell.rng("data").random()}]

    work = cells("draws", 3, {"n": [1, 2]})
    batches = [
        Batch(measure, work, RowFile(tmp_path / name, "1")) for name in ("a", "b")
    ]
    run(batches[:1])
    run(batches[1:], engine=ray)
    assert batches[0].rows == batches[1].rows


def test_commands_write_on_it_what_they_write_here(
    ray, tmp_path, truepool, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("truepool.tables.sample.MOST_ROWS", 100)
    panel = random_panel(1, cases=200, silent=0.2)
    names = [f"agent{i}" for i in range(panel.reports.shape[1])]
    cells = dict(zip(names, panel.reports.T, strict=True)) | {"y": panel.outcomes}
    Path("set").mkdir()
    for n in range(4):
        rows = pa.table(cells).slice(50 * n, 50)
        parquet.write_table(rows, f"set/{n}.parquet")
    for words in (
        "fit set --pool vcg -o {}.pool",
        "score here.pool set -o {}",
    ):
        here = truepool(*words.format("here").split())
        there = truepool(*words.format("there").split(), "--set", "engine=ray")
        assert here[0] == 0
        assert tuple(str(text).replace("there", "here") for text in there) == tuple(
            map(str, here)
        )
    found = {
        str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()
    }
    there = {name: text for name, text in found.items() if name.startswith("there")}
    assert len(there) == 6
    assert there == {name: found[name.replace("there", "here")] for name in there}
    monkeypatch.setattr("truepool.pools.convex.MAX_GRAM", 3)
    fit = truepool(*"fit set --pool convex -o c.pool --set engine=ray".split())
    assert fit[0] == 2
    assert "got 'convex' with 4 agents. Leave it out" in fit[2]
