"""A Ray cluster of two nodes gives the files of one machine, even if a node dies."""

import time
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from ray_nodes import ADDRESS, HEAD, PATIENCE, WORKER, end_session, two_nodes

PARTS, ROWS, TIMES = 60, 20_000, 10
RAY = ("--set", "engine=ray", "--set", f"address={ADDRESS}")


def write_parts(folder):
    """More rows than are read whole: weights are learned from sums over the parts."""
    rng = np.random.default_rng(0)
    for part in range(PARTS):
        y = rng.integers(0, 2, ROWS)
        noise = {"ada": 0.2, "bob": 0.4, "cy": 0.7}
        cells = {
            name: np.clip(0.2 + 0.6 * y + rng.normal(0, s, ROWS), 0, 1)
            for name, s in noise.items()
        }
        table = pa.table({n: c.astype(np.float32) for n, c in cells.items()} | {"y": y})
        path = folder / f"month={part % 12}" / f"{part:02}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, path)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def test_two_nodes_give_the_bits_of_one_machine_and_may_lose_one(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    write_parts(Path("set"))
    for copy, part in product(range(TIMES), sorted(Path("set").rglob("*.parquet"))):
        link = Path("sets", str(copy), part.name)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.hardlink_to(part)
    compare = ("compare", "set/month=0", "--pool", "vcg,platt,median", "--json", "-")
    audit = ("audit", "set/month=0/00.parquet", "--pool", "vcg", "--json", "-")
    fits = [("fit", "set", "--pool", pool, "-o") for pool in ("vcg", "convex")]
    score = ("score", "vcg.pool", "set", "--explore", "5%", "-o")
    few = ("score", "vcg.pool", "set/month=0", "--explore", "5%", "-o")
    here, notes = [], []
    for words in (compare, audit):
        code, out, note = truepool(*words)
        here.append(out)
        notes.append(note)
        assert code == 0
    fitted = [truepool(*words, f"{words[3]}.pool") for words in fits]
    assert [code for code, _, _ in fitted] == [0, 0]
    _, _, drawn = truepool(*few, "few-here")
    _, scored, drawn_of_all = truepool(*score, "one")
    assert drawn.startswith("Drew ")
    notes += [*(note for _, _, note in fitted), drawn, drawn_of_all]
    at_death = []
    with two_nodes() as nodes:

        def lose_a_node():
            end = time.monotonic() + PATIENCE
            while not (done := [*Path("two").rglob("[!._]*.parquet")]):
                assert time.monotonic() < end
                time.sleep(0.01)
            at_death.append(len(done))
            end_session(nodes.node)

        (where, *there, _, _, _, _, out), err = nodes.run(
            *((*words, *RAY) for words in (compare, audit)),
            *([*words, f"ray-{words[3]}.pool", *RAY] for words in fits),
            (*few, "few", *RAY),
            ("fit", "sets", *fits[0][2:], "many.pool", "--quiet", *RAY),
            (*score, "two", *RAY),
            during=lose_a_node,
        )
    assert where == [HEAD, WORKER]
    assert there == here
    assert err == "".join(notes)
    for pool in ("vcg", "convex"):
        fitted = Path(f"ray-{pool}.pool").read_bytes()
        assert fitted == Path(f"{pool}.pool").read_bytes()
    assert at_death[0] < PARTS
    assert out == scored.replace("Wrote one", "Wrote two")
    assert contents("two") == contents("one")
    # With twelve times the rows, and with ten times: the driver never holds what the
    # nodes read or write. By then it has loaded all code that either needs.
    whole = sum(path.stat().st_size for path in Path("set").rglob("*.parquet"))
    _, _, fitted, _, few_scored, many_fitted, scored_all = nodes.peaks
    assert scored_all - few_scored < whole
    assert many_fitted - fitted < whole
