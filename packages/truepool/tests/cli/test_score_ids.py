"""Ids of new cases that occur more than once."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from panels import random_panel

import truepool as tp
from truepool.tables import repeated_ids
from truepool.tables.repeated_ids import RepeatedIds

AGENTS = ("ada", "bob", "cy", "di")
IDS = ["a", "b", "a", "", "", "c", "a", "d"]
"""Two cases repeat an id; two have none."""
TWICE = (
    "warning: 2 cases repeat the id of an earlier one; each counts as a case of its "
    "own."
)


def frame(ids):
    reports = random_panel(3, cases=len(ids)).reports
    return pd.DataFrame({"id": ids} | dict(zip(AGENTS, reports.T, strict=True)))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = random_panel(1, cases=90)
    tp.VCG().fit_panel(tp.Panel(panel.reports, panel.outcomes, AGENTS)).save("v.pool")
    frame(IDS).to_csv("new.csv", index=False)
    known = frame([id or None for id in IDS])
    known.to_parquet("new.parquet")
    known.to_json("new.jsonl", orient="records", lines=True)
    return tmp_path


@pytest.mark.parametrize("new", ["new.csv", "new.parquet", "new.jsonl"])
def test_repeated_ids_are_warned_of_and_all_cases_are_scored(place, truepool, new):
    code, _, err = truepool("score", "v.pool", new, "-o", "out.csv")
    assert (code, err.splitlines()) == (0, [TWICE])
    assert len(pd.read_csv("out.csv")) == len(IDS)
    assert truepool("score", "v.pool", new, "-o", "out.csv", "--quiet")[2] == ""


def test_ids_of_a_stream_are_compared_from_batch_to_batch(place, truepool, monkeypatch):
    monkeypatch.setattr("truepool.tables.batches.BATCH_SIZE", 2)
    lines = (place / "new.jsonl").read_bytes()
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(lines)))
    monkeypatch.setattr(sys, "stdin", stream)
    code, _, err = truepool("score", "v.pool", "-", "-o", "out.jsonl")
    assert (code, err.splitlines()) == (0, [TWICE])


def test_different_ids_are_not_mentioned(place, truepool):
    frame(["x", "y", "", ""]).to_csv("new.csv", index=False)
    assert truepool("score", "v.pool", "new.csv", "-o", "out.csv")[2] == ""
    frame([1, 2, 3]).drop(columns="id").to_csv("new.csv", index=False)
    assert truepool("score", "v.pool", "new.csv", "-o", "out.csv")[2] == ""


def test_beyond_a_million_cases_it_is_said_which_were_compared(
    place, truepool, monkeypatch
):
    assert repeated_ids.MOST_IDS == 1_000_000
    monkeypatch.setattr(repeated_ids, "MOST_IDS", 3)
    err = truepool("score", "v.pool", "new.csv", "-o", "out.csv")[2]
    assert err.splitlines() == [
        "warning: 1 case repeats the id of an earlier one; each counts as a case of "
        "its own. Ids were compared among the first 3 cases."
    ]


def test_ids_of_a_data_set_are_compared_within_each_part(place, truepool):
    (place / "parts").mkdir()
    for n, ids in enumerate([[1, 2, 1], [1, 2, 3], [4, 4, 4]]):
        frame(ids).to_parquet(f"parts/{n}.parquet")
    said = (
        "warning: 3 cases repeat the id of an earlier one; each counts as a case of "
        "its own. Ids were compared among the cases of each part."
    )
    for _ in range(2):  # the second time, the manifest remembers
        code, _, err = truepool("score", "v.pool", "parts", "-o", "scored")
        assert (code, err.splitlines()) == (0, [said])
    entries = json.loads((place / "scored/_manifest.json").read_text())["parts"]
    assert [entry["repeated"] for entry in entries.values()] == [1, 0, 2]
    err = truepool("score", "v.pool", "parts", "-o", "all.parquet")[2]
    assert err.startswith("warning: 5 cases repeat the id of an earlier one")
    assert "compared" not in err


def test_fitting_and_scoring_at_once_warns_of_the_new_cases_too(place, truepool):
    train = frame(range(8)).assign(y=[0, 1] * 4)
    train.to_csv("train.csv", index=False)
    code, _, err = truepool("pool", "train.csv", "new.csv", "-o", "out.csv")
    assert code == 0
    assert f"warning: new.csv: {TWICE.removeprefix('warning: ')}" in err


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([5, 7, 5, None, None]),
        pa.array(["x", None, "x", "y", None]).dictionary_encode(),
        pa.array([[1], [2], [1], None, None]),
        pa.array([-1, -2, -1, None, None], pa.int8()),
        [{"k": 1}, {"k": 2}, {"k": 1}, None, None],
    ],
)
def test_ids_of_any_type_are_compared(ids):
    seen = RepeatedIds()
    seen.add(ids)
    seen.add(None)
    assert seen.count() == 1


def test_millions_of_cases_take_the_memory_of_a_million():
    seen = RepeatedIds()
    for start in range(0, 3_000_000, 500_000):
        seen.add(pa.array(np.arange(start, start + 500_000) % 900_000))
    assert (seen.count(), seen.left_out) == (100_000, 2_000_000)
    assert sum(part.nbytes for part in seen._parts) == 8 * repeated_ids.MOST_IDS
