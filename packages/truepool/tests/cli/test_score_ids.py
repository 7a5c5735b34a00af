"""Ids of new cases: kept as they are, and counted where they occur more than once."""

import json

import pandas as pd
import pytest
from panels import random_panel

import truepool as tp
from truepool.tables import source, write

AGENTS = ("ada", "bob", "cy", "di")
IDS = ["a", "b", "a", "", "", "c", "a", "d"]
"""Two cases repeat an id; two have none."""


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


@pytest.fixture
def repeated(truepool):
    """How many ids a run says are repeated, and among how many cases of which."""

    def count(*words):
        code, _, err = truepool(*words)
        assert code == 0, err
        said = [line for line in err.splitlines() if "repeat" in line]
        assert all(line.startswith("warning: ") for line in said)
        return [int(word) for line in said for word in line.split() if word.isdecimal()]

    return count


@pytest.mark.parametrize("new", ["new.csv", "new.parquet", "new.jsonl"])
def test_repeated_ids_are_warned_of_and_all_cases_are_scored(place, repeated, new):
    words = ("score", "v.pool", new, "-o", "out.csv")
    assert repeated(*words) == [2]
    assert len(pd.read_csv("out.csv")) == len(IDS)
    assert repeated(*words, "--quiet") == []


def test_ids_of_a_stream_are_compared_from_batch_to_batch(
    place, repeated, stdin, monkeypatch
):
    monkeypatch.setattr(source, "BLOCK", 200)
    stdin((place / "new.jsonl").read_bytes())
    assert repeated("score", "v.pool", "-", "-o", "out.jsonl") == [2]


def test_different_ids_are_not_mentioned(place, repeated):
    frame(["x", "y", "", ""]).to_csv("new.csv", index=False)
    assert repeated("score", "v.pool", "new.csv", "-o", "out.csv") == []
    frame([1, 2, 3]).drop(columns="id").to_csv("new.csv", index=False)
    assert repeated("score", "v.pool", "new.csv", "-o", "out.csv") == []


def test_beyond_a_million_cases_it_is_said_which_were_compared(
    place, repeated, monkeypatch
):
    assert write.MOST_IDS == 1_000_000
    monkeypatch.setattr(write, "MOST_IDS", 3)
    assert repeated("score", "v.pool", "new.csv", "-o", "out.csv") == [1, 3]


def test_ids_of_a_data_set_are_compared_within_each_part(place, repeated, truepool):
    (place / "parts").mkdir()
    for n, ids in enumerate([[1, 2, 1], [1, 2, 3], [4, 4, 4]]):
        frame(ids).to_parquet(f"parts/{n}.parquet")
    for _ in range(2):  # the second time, the manifest remembers
        assert repeated("score", "v.pool", "parts", "-o", "scored") == [3]
    assert "of each part" in truepool("score", "v.pool", "parts", "-o", "scored")[2]
    entries = json.loads((place / "scored/_manifest.json").read_text())["parts"]
    assert [entry["repeated"] for entry in entries.values()] == [1, 0, 2]
    assert repeated("score", "v.pool", "parts", "-o", "all.parquet") == [5]


def test_fitting_and_scoring_at_once_warns_of_the_new_cases_too(place, repeated):
    frame(range(8)).assign(y=[0, 1] * 4).to_csv("train.csv", index=False)
    assert repeated("pool", "train.csv", "new.csv", "-o", "out.csv") == [2]


@pytest.mark.parametrize("words", [[], ["--id", "konto"]])
@pytest.mark.parametrize("verb", ["score", "pool"])
def test_ids_keep_their_name_and_their_zeros(place, truepool, verb, words):
    ids = [f"{t:03}" for t in range(24)]
    table = frame(ids).rename(columns={"id": "konto"})
    table.assign(y=[0, 1] * 12).to_csv("train.csv", index=False)
    table.to_csv("new.csv", index=False)
    fit = ("fit", "train.csv", "--pool", "mean", "-o", "k.pool", *words)
    assert truepool(*fit)[0] == 0
    first = ["train.csv", *words] if verb == "pool" else ["k.pool"]
    code, _, err = truepool(verb, *first, "new.csv", "-o", "out.csv")
    assert code == 0, err
    assert pd.read_csv("out.csv", dtype=str).konto.tolist() == ids
