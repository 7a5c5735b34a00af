"""Data sets larger than memory, scored part by part."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from pyarrow import parquet

import truepool as tp
from truepool.cli import screen
from truepool.core.engine import Engine
from truepool.core.errors import SourceError
from truepool.scoring import scorer
from truepool.scoring.parts import PartScorer, score_parts
from truepool.tables import Schema, dataset
from truepool.tables.manifest import Manifest

AGENTS = ("ada", "bob", "cy", "di")
PANEL = random_panel(1, cases=90, silent=0.2)
NEW = random_panel(2, cases=600, silent=0.2)
VALUES = NEW.reports.astype(np.float32)
VALUES[7] = np.nan
IDS = np.arange(600)


def table(rows, **columns):
    reports = {
        a: pa.array(VALUES[rows, i], from_pandas=True) for i, a in enumerate(AGENTS)
    }
    return pa.table({"id": IDS[rows], **reports} | columns)


def write(path, rows, **columns):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table(rows, **columns), path, row_group_size=70)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tp.VCG(costs=tp.Costs(fn=3, fp=1)).fit_panel(
        tp.Panel(PANEL.reports, PANEL.outcomes, AGENTS)
    ).save("v.pool")
    for n in range(3):
        write(f"new/year=202{n}/p.parquet", slice(200 * n, 200 * (n + 1)))
    write("all.parquet", slice(0, 600))
    return tmp_path


def scored(source):
    return parquet.read_table(source, partitioning=None).sort_by("id").to_pydict()


def contents(folder="."):
    files = sorted(Path(folder).rglob("*"))
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def run(truepool, *words):
    code, out, err = truepool("score", "v.pool", *words)
    assert code == 0, err
    return out


def test_each_part_is_written_and_together_they_are_the_scored_table(place, truepool):
    out = run(truepool, "new", "-o", "out")
    assert "600 cases" in out
    assert "1 case without any report" in out
    names = [p.relative_to("out").as_posix() for p in Path("out").rglob("*.parquet")]
    assert sorted(names) == [f"year=202{n}/p.parquet" for n in range(3)]
    found = scored("out")
    run(truepool, "all.parquet", "-o", "one.parquet")
    assert found == scored("one.parquet")
    known = np.arange(600) != 7
    pool = tp.load_pool("v.pool")
    p = pool.predict_proba(VALUES[known].astype(float))[:, 1]
    assert found["pooled"][7] is found["decision"][7] is None
    assert_allclose(np.array(found["pooled"], float)[known], p, rtol=0, atol=1e-15)
    decisions = np.array(found["decision"], float)[known]
    assert_array_equal(decisions, pool.predict(VALUES[known].astype(float)))


@pytest.mark.parametrize("source", ["new", "new/*/*.parquet", "all.parquet"])
@pytest.mark.parametrize("numbers", [5, 1 << 20])
def test_the_source_and_the_size_of_a_batch_change_no_bit(
    place, truepool, monkeypatch, source, numbers
):
    monkeypatch.setattr(dataset, "BATCH_NUMBERS", numbers)
    run(truepool, source, "-o", "out.parquet", "--explore", "10%")
    monkeypatch.setattr(dataset, "BATCH_NUMBERS", 100)
    run(truepool, "new", "-o", "out", "--explore", "10%")
    assert scored("out") == scored("out.parquet")


@pytest.mark.parametrize("pool", ["median", "platt"])
def test_pools_that_are_not_linear_score_parts_too(place, truepool, pool):
    panel = tp.Panel(PANEL.reports, PANEL.outcomes, AGENTS)
    tp.pools.make(pool).fit_panel(panel).save("v.pool")
    run(truepool, "new", "-o", "out", "--contributions")
    run(truepool, "all.parquet", "-o", "one.csv", "--contributions")
    one = pd.read_csv("one.csv")
    found = scored("out")
    assert list(one.columns) == list(found)
    for name in one:
        assert_allclose(np.array(found[name], float), one[name], rtol=1e-12)


def test_the_keys_of_partitions_can_be_the_cost_of_each_case(place, truepool):
    pool = tp.Mean(costs=tp.Costs(fn="year", fp=1))
    panel = tp.Panel(
        PANEL.reports, PANEL.outcomes, AGENTS, columns={"year": np.full(90, 2.0)}
    )
    pool.fit_panel(panel).save("v.pool")
    run(truepool, "new", "-o", "out")
    p = np.array(scored("out")["pooled"], float)
    line = 1 / (1 + 2020 + np.arange(600) // 200)
    known = ~np.isnan(p)
    decisions = np.array(scored("out")["decision"], float)
    assert_array_equal(decisions[known], (p > line + 1e-12)[known])


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(
    place, truepool, monkeypatch
):
    run(truepool, "new", "-o", "whole")
    original, seen = scorer.Scorer.score, []

    def stop(self, batch):
        if batch.start >= 340:
            raise KeyboardInterrupt
        return original(self, batch)

    monkeypatch.setattr(scorer.Scorer, "score", stop)
    assert truepool("score", "v.pool", "new", "-o", "out")[0] != 0
    record = json.loads(Path("out/_manifest.json").read_text())["parts"]
    done = [entry["done"] for entry in record.values()]
    assert done == [True, False, False]
    assert len(list(Path("out").rglob("*.parquet"))) == 1

    def score(self, batch):
        seen.append(batch.start)
        return original(self, batch)

    monkeypatch.setattr(scorer.Scorer, "score", score)
    leftover = Path("out/year=2021")
    leftover.mkdir(exist_ok=True)
    (leftover / ".p.parquet.killed.parquet").write_bytes(b"half")
    out = run(truepool, "new", "-o", "out")
    assert "1 part was done before" in out
    assert min(seen) == 200
    assert "1 case without any report" in out  # it is in the part that was skipped
    assert contents("out").keys() == {
        name.replace("whole", "out", 1) for name in contents("whole")
    }
    assert scored("out") == scored("whole")


def test_a_part_is_scored_again_when_its_input_or_its_output_changed(place, truepool):
    write("new/year=2020/empty.parquet", slice(0, 0))  # it has no file but an entry
    run(truepool, "new", "-o", "out")
    parts = json.loads(Path("out/_manifest.json").read_text())["parts"]
    assert parts["year=2020/empty.parquet"]["done"]
    assert "4 parts were done before" in run(truepool, "new", "-o", "out")
    run(truepool, "new", "-o", "one.parquet")
    assert scored("out") == scored("one.parquet")
    os.utime("new/year=2020/p.parquet", ns=(1, 1))
    Path("out/year=2021/p.parquet").unlink()
    write("new/year=2023/p.parquet", slice(0, 5))
    assert "2 parts were done before" in run(truepool, "new", "-o", "out")
    assert len(scored("out")["id"]) == 605


def test_an_agent_that_never_reports_is_mentioned(place, truepool):
    shutil.rmtree("new")
    write("new/1.parquet", slice(0, 9), cy=pa.nulls(9, pa.float32()))
    write("new/2.parquet", slice(9, 20), cy=pa.nulls(11))
    for _ in range(2):  # the second time, the manifest remembers
        (said,) = truepool("score", "v.pool", "new", "-o", "out")[2].splitlines()
        assert said.startswith("warning: ")
        assert "'cy'" in said


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda: write("new/z.parquet", slice(0, 9), bob=["x"] * 9), "bob"),
        (
            lambda: parquet.write_table(pa.table({"ada": [0.5]}), "new/z.parquet"),
            "bob",
        ),
        (
            lambda: write(
                "new/z.parquet", slice(0, 9), bob=pa.array([9.5] * 9).cast("f4")
            ),
            "9.5 in row 0 of",
        ),
        (lambda: Path("new/z.parquet").write_bytes(b"PAR1xPAR1"), "new/z.parquet"),
    ],
    ids=["type", "columns", "report", "garbage"],
)
def test_a_faulty_part_is_named_and_none_is_left_incomplete(
    place, truepool, change, named
):
    change()
    for output in ("out", "one.parquet"):
        code, out, err = truepool("score", "v.pool", "new", "-o", output)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert named in err
        assert "z.parquet" in err
    assert not [*Path(".").glob("out/*.parquet"), *Path(".").glob("out/**/.*")]
    assert not [*Path(".").glob("*one*")]


def test_text_among_reports_is_named_with_its_row(place, truepool, refused):
    write("new/z.parquet", slice(0, 100), bob=["0.5"] * 90 + ["x"] * 10)
    for part in Path("new").glob("year*"):
        shutil.rmtree(part)
    assert "'x' in row 90" in refused("score", "v.pool", "new", "-o", "one.parquet")


def test_a_folder_that_is_not_for_parts_is_refused(place, truepool, refused):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    long = ("--set", "long=id,ada,bob")
    for words in (
        ("-o", "mine"),
        ("-o", "new"),
        ("-o", "missing/out"),
        ("--json", "mine"),
        ("-o", "out", "--set", "capacity=5"),
        ("-o", "out", *long),
    ):
        refused("score", "v.pool", "new", *words)


def test_a_folder_of_another_pool_is_not_continued(place, truepool, refused):
    run(truepool, "new", "-o", "out")
    assert "'out'" in refused("score", "v.pool", "new", "-o", "out", "--contributions")
    tp.Mean().fit_panel(tp.Panel(PANEL.reports, PANEL.outcomes, AGENTS)).save("v.pool")
    assert "'out'" in refused("score", "v.pool", "new", "-o", "out")


def test_a_part_of_the_manifest_that_is_gone_is_named(place, truepool, refused):
    run(truepool, "new", "-o", "out")
    shutil.rmtree("new/year=2021")
    assert "'year=2021/p.parquet'" in refused("score", "v.pool", "new", "-o", "out")


def test_a_capacity_counts_the_cases_of_all_parts(place, truepool):
    out = run(truepool, "new", "-o", "one.parquet", "--set", "capacity=10")
    assert "Decided 10 positive" in out
    assert sum(filter(None, scored("one.parquet")["decision"])) == 10


def test_every_part_is_read_in_the_units_of_the_fit(place, truepool, refused):
    run(truepool, "new", "-o", "shares")
    train = pd.DataFrame(100 * PANEL.reports, columns=AGENTS)
    train.assign(y=PANEL.outcomes).to_csv("train.csv", index=False)
    fit = ("fit", "train.csv", "--pool", "vcg", "--cost-fn", 3, "-o", "v.pool")
    assert truepool(*fit, "--set", "percent=true")[0] == 0
    for n in range(3):
        rows = slice(200 * n, 200 * (n + 1))
        cells = {a: pa.array(100 * VALUES[rows, i], from_pandas=True)
                 for i, a in enumerate(AGENTS)}  # fmt: skip
        write(f"percent/{n}.parquet", rows, **cells)
    run(truepool, "percent", "-o", "out")
    found, expected = scored("out")["pooled"], scored("shares")["pooled"]
    assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-5)
    refused("score", "v.pool", "new", "-o", "one.parquet")
    assert truepool("score", "v.pool", "new", "-o", "again")[0] == 2
    assert not [*Path("again").rglob("*.parquet")]


def test_progress_is_shown_after_two_seconds_and_never_when_quiet(monkeypatch):
    clock = iter([0.0, 1.0, 4.0, 0.0, 9.0])
    monkeypatch.setattr(screen, "monotonic", lambda: next(clock))
    terminal = screen.Screen(force_terminal=True, record=True, width=200, stderr=True)
    monkeypatch.setattr(screen, "console", lambda stderr: terminal)
    with screen.row_progress("Scoring", 400, "writing out") as step:
        step(100)
        assert not terminal.export_text(clear=False)
        step(100)
    shown = terminal.export_text()
    assert "Scoring" in shown
    assert " 50%" in shown
    assert "50 rows/s, " in shown
    assert "MiB of memory, writing out" in shown
    with (
        screen.no_progress(True),
        screen.row_progress("Scoring", 400, "writing out") as step,
        screen.progress_bar("Comparing") as count,
        screen.clock("Fitting", "vcg"),
    ):
        step(200)
        count("vcg", 1, 2)
    assert not terminal.export_text()


def test_the_manifest_is_not_written_for_every_small_part(place):
    record = Manifest(place, {})
    record.save()
    record.parts["a"] = {}
    record.save(now=False)
    assert json.loads(Path("_manifest.json").read_text())["parts"] == {}
    record.save()
    assert json.loads(Path("_manifest.json").read_text())["parts"] == {"a": {}}


class Elsewhere(Engine):
    """Nodes that see other files than this machine."""

    def __init__(self, change):
        self.change = change

    def map(self, work, items):
        for item in items:
            result = work(item)
            self.change(item.target)
            yield result

    def map_unordered(self, work, items):
        raise AssertionError


def test_a_part_that_a_node_wrote_elsewhere_is_named(place):
    pool, data = tp.load_pool("v.pool"), dataset.open_dataset(Path("new"))
    known = Schema(pool.agents_, {name: (name,) for name in pool.agents_})
    how = PartScorer(scorer.Scorer(pool), known)
    with pytest.raises(
        SourceError, match=r"p.parquet' was written on a node and is not here"
    ):
        score_parts(how, data, Path("out"), {}, engine=Elsewhere(Path.unlink))
