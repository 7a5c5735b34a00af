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
from truepool.pools import persistence, scorer
from truepool.pools.part_scorer import PartScorer, score_parts
from truepool.tables import TableFormat, dataset
from truepool.tables.column_selection import ColumnSelection
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


def refused(truepool, *words):
    before = contents()
    code, out, err = truepool("score", "v.pool", *words)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert contents() == before
    return err


def test_each_part_is_written_and_together_they_are_the_scored_table(place, truepool):
    out = run(truepool, "new", "-o", "out")
    assert out == (
        "Scored 600 cases with vcg. Wrote out. 1 case without any report: left empty.\n"
    )
    names = [p.relative_to("out").as_posix() for p in Path("out").rglob("*.parquet")]
    assert sorted(names) == [f"year=202{n}/p.parquet" for n in range(3)]
    found = scored("out")
    run(truepool, "all.parquet", "-o", "one.parquet")
    assert found == scored("one.parquet")
    known = np.arange(600) != 7
    pool = tp.load_pool("v.pool")
    p = pool.predict_proba(VALUES[known].astype(float))[:, 1]
    assert found["pooled"][7] is None
    assert found["decision"][7] is None
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
    assert "1 part was done before: skipped." in out
    assert min(seen) == 200
    assert "1 case without any report" in out  # it is in the part that was skipped
    assert contents("out").keys() == {
        name.replace("whole", "out", 1) for name in contents("whole")
    }
    assert scored("out") == scored("whole")


def test_a_part_is_scored_again_when_its_input_or_its_output_changed(place, truepool):
    run(truepool, "new", "-o", "out")
    assert "3 parts were done before: skipped." in run(truepool, "new", "-o", "out")
    os.utime("new/year=2020/p.parquet", ns=(1, 1))
    Path("out/year=2021/p.parquet").unlink()
    write("new/year=2023/p.parquet", slice(0, 5))
    assert "1 part was done before: skipped." in run(truepool, "new", "-o", "out")
    assert len(scored("out")["id"]) == 605


def test_a_part_without_rows_has_no_file_but_an_entry(place, truepool):
    write("new/year=2020/empty.parquet", slice(0, 0))
    run(truepool, "new", "-o", "out")
    parts = json.loads(Path("out/_manifest.json").read_text())["parts"]
    assert parts["year=2020/empty.parquet"]["done"]
    assert "4 parts were done before: skipped." in run(truepool, "new", "-o", "out")
    run(truepool, "new", "-o", "one.parquet")
    assert scored("out") == scored("one.parquet")


def test_an_agent_that_never_reports_is_mentioned(place, truepool):
    shutil.rmtree("new")
    write("new/1.parquet", slice(0, 9), cy=pa.nulls(9, pa.float32()))
    write("new/2.parquet", slice(9, 20), cy=pa.nulls(11))
    _, _, err = truepool("score", "v.pool", "new", "-o", "out")
    assert err == "warning: no case has a report of 'cy'.\n"
    assert truepool("score", "v.pool", "new", "-o", "out")[2] == err


def test_a_scored_data_set_can_be_read_as_one(place, truepool):
    run(truepool, "new", "-o", "out")
    assert dataset.open_dataset(Path("out")).rows == 600
    shutil.rmtree("out/year=2021")
    with pytest.raises(SourceError, match=r"lacks 'year=2021/p\.parquet'"):
        dataset.open_dataset(Path("out"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: write("new/z.parquet", slice(0, 9), bob=["x"] * 9), "one type"),
        (
            lambda: parquet.write_table(pa.table({"ada": [0.5]}), "new/z.parquet"),
            "'new/z.parquet' lacks 'bob'",
        ),
        (
            lambda: write(
                "new/z.parquet", slice(0, 9), bob=pa.array([9.5] * 9).cast("f4")
            ),
            "(in row group 0 of new/z.parquet)",
        ),
        (lambda: Path("new/z.parquet").write_bytes(b"PAR1xPAR1"), "new/z.parquet"),
    ],
    ids=["type", "columns", "report", "garbage"],
)
def test_a_faulty_part_is_named_and_none_is_left_incomplete(
    place, truepool, change, message
):
    change()
    code, out, err = truepool("score", "v.pool", "new", "-o", "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message.replace("'new", "new").replace("parquet'", "parquet") in err
    assert not list(Path(".").glob("out/*.parquet"))
    assert not list(Path(".").glob("out/**/.*"))
    assert [*Path(".").glob("one*")] == []
    assert truepool("score", "v.pool", "new", "-o", "one.parquet")[0] == 2
    assert [*Path(".").glob("*one*")] == []


def test_text_among_reports_is_named_with_its_row_group(place, truepool):
    shutil.rmtree("new")
    text = ["0.5"] * 90 + ["x"] * 10
    write("new/z.parquet", slice(0, 100), bob=text)
    err = refused(truepool, "new", "-o", "one.parquet")
    assert "has 'x' in zero-based row 90" in err
    assert "(in row group 1 of new/z.parquet)" in err


def test_a_folder_that_is_not_for_parts_is_refused(place, truepool):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    assert "holds other files" in refused(truepool, "new", "-o", "mine")
    assert "holds the one that is read" in refused(truepool, "new", "-o", "new")
    assert "no folder" in refused(truepool, "new", "-o", "missing/out")
    assert "is a folder" in refused(truepool, "new", "--json=mine")
    assert "one file; got a folder" in refused(
        truepool, "new", "-o", "out", "--capacity", 5
    )
    long = ("--long", "id", "ada", "bob")
    assert "a long table is read whole" in refused(
        truepool, "new", "-o", "out.parquet", *long
    )
    assert "a long table is read whole" in refused(truepool, "new", "-o", "out", *long)


def test_a_folder_of_another_pool_is_not_continued(place, truepool):
    run(truepool, "new", "-o", "out")
    assert "was written with others" in refused(
        truepool, "new", "-o", "out", "--contributions"
    )
    tp.Mean().fit_panel(tp.Panel(PANEL.reports, PANEL.outcomes, AGENTS)).save("v.pool")
    assert "was written with others" in refused(truepool, "new", "-o", "out")


def test_a_part_of_the_manifest_that_is_gone_is_named(place, truepool):
    run(truepool, "new", "-o", "out")
    shutil.rmtree("new/year=2021")
    err = refused(truepool, "new", "-o", "out")
    assert "'new' lacks 'year=2021/p.parquet', which 'out/_manifest.json' lists" in err


def test_a_capacity_counts_the_cases_of_all_parts(place, truepool):
    out = run(truepool, "new", "-o", "one.parquet", "--capacity", 10)
    assert "Decided 10 positive, within 10" in out
    assert sum(filter(None, scored("one.parquet")["decision"])) == 10


def test_percentages_that_may_be_probabilities_are_asked_about(place, truepool):
    written = TableFormat(percent=True)
    persistence.save(tp.load_pool("v.pool"), "v.pool", written)
    assert "may be probabilities" in refused(truepool, "new", "-o", "one.parquet")
    assert truepool("score", "v.pool", "new", "-o", "out")[0] == 2
    run(truepool, "new", "-o", "fine", "--no-percent")


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
    wanted = ColumnSelection(pool.agents_, pool.labels_, TableFormat())
    how = PartScorer(scorer.Scorer(pool), wanted)
    with pytest.raises(
        SourceError, match=r"p.parquet' was written on a node and is not here"
    ):
        score_parts(how, data, Path("out"), {}, engine=Elsewhere(Path.unlink))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Path.unlink, "p.parquet is not there on "),
        (lambda path: path.write_bytes(b"PAR1"), "p.parquet has 4 bytes, not "),
    ],
    ids=["gone", "changed"],
)
def test_a_part_is_the_same_file_on_every_node(place, change, sentence):
    part = dataset.open_dataset(Path("new")).parts[0]
    change(part.path)
    with pytest.raises(SourceError, match=f"{sentence}.*storage that all nodes share"):
        list(dataset.read_part(part, ["ada"]))
