"""A random share for review, and its propensity."""

import json

import numpy as np
import pandas as pd
import pytest
from panels import random_panel

AGENTS = ["a", "b", "c", "d"]


@pytest.fixture
def folder(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    for name, seed, cases in (("train.csv", 1, 60), ("new.csv", 2, 800)):
        panel = random_panel(seed, cases=cases)
        table = pd.DataFrame(panel.reports, columns=AGENTS).assign(y=panel.outcomes)
        table.insert(0, "id", [f"k{t}" for t in range(cases)])
        table.to_csv(name, index=False)
    words = ("fit", "train.csv", "--pool", "mean", "-o", "m.pool", "--quiet")
    assert truepool(*words)[0] == 0
    return tmp_path


def explored(truepool, *words, new="new.csv", share="10%"):
    code, _, err = truepool(
        "score", "m.pool", new, "--explore", share, *words, "-o", "out.csv", "--quiet"
    )
    assert code == 0, err
    return pd.read_csv("out.csv")


def test_what_is_decided_positive_is_reviewed_and_a_share_of_the_rest(folder, truepool):
    out = explored(truepool)
    alarms = out["decision"] == 1
    assert out.loc[alarms, "review"].all()
    assert (out.loc[alarms, "propensity"] == 1).all()
    assert (out.loc[~alarms, "propensity"] == 0.1).all()
    rest = out.loc[~alarms, "review"]
    noise = np.sqrt(0.1 * 0.9 / len(rest))
    assert abs(rest.mean() - 0.1) < 4 * noise


@pytest.mark.parametrize("words", ["-o out.csv", "-o -", "--json -", "-o parts"])
def test_the_draw_is_counted(folder, truepool, words):
    new = pd.read_csv("new.csv")
    new.loc[3, AGENTS] = np.nan
    new.to_csv("new.csv", index=False)
    new.to_parquet("new.parquet")
    source = "new.parquet" if words.endswith("parts") else "new.csv"
    score = ("score", "m.pool", source, "--explore", "10%", *words.split())
    table = explored(truepool)
    negative, review = (table["decision"] == 0).sum(), table["review"].eq(True).sum()
    drawn = review - (table["decision"] == 1).sum()
    for _ in range(2):  # parts that were done before are counted too
        code, _, err = truepool(*score)
        (said,) = (line for line in err.splitlines() if line.startswith("Drew "))
        counts = [int(word) for word in said.split() if word.isdecimal()]
        assert (code, counts) == (0, [drawn, negative, 799, review])
    assert "Drew" not in truepool(*score, "--quiet")[2]


def test_the_draw_depends_on_the_id_and_the_seed_alone(folder, truepool):
    first = explored(truepool).set_index("id")["review"]
    pd.read_csv("new.csv").iloc[::-1].to_csv("turned.csv", index=False)
    turned = explored(truepool, new="turned.csv").set_index("id")["review"]
    assert first.sort_index().equals(turned.sort_index())
    other = explored(truepool, "--set", "seed=1").set_index("id")["review"]
    assert not first.equals(other)
    assert explored(truepool, share="0.1").set_index("id")["review"].equals(first)
    more = explored(truepool, share="30%").set_index("id")["review"]
    assert (more | ~first).all()  # a larger share holds the smaller one


def test_cases_without_ids_are_drawn_by_their_place(folder, truepool):
    pd.read_csv("new.csv").drop(columns="id").to_csv("bare.csv", index=False)
    out = explored(truepool, new="bare.csv")
    assert 0 < out.loc[out["decision"] == 0, "review"].mean() < 0.3
    pd.read_csv("new.csv").to_json("new.jsonl", orient="records", lines=True)
    lines = explored(truepool, new="new.jsonl")
    assert lines["review"].equals(explored(truepool)["review"])


def test_a_case_without_reports_is_not_drawn(folder, truepool):
    new = pd.read_csv("new.csv")
    new.loc[3, AGENTS] = np.nan
    new.to_csv("new.csv", index=False)
    words = ("score", "m.pool", "new.csv", "--explore", "1%", "--json", "-")
    row = json.loads(truepool(*words)[1].splitlines()[3])
    assert row["review"] is row["propensity"] is None


@pytest.mark.parametrize("share", ["0", "0%", "1", "101%", "-1%", "some", "nan"])
def test_what_is_no_share_is_refused(folder, refused, share):
    words = ("score", "m.pool", "new.csv", "--explore", share, "-o", "out.csv")
    assert repr(share) in refused(*words)


def test_what_was_explored_is_fitted_and_audited_by_its_propensity(folder, truepool):
    """From score to audit: reviewed cases get outcomes, the others stay without."""
    scored = explored(truepool, share="30%")
    table = pd.read_csv("new.csv").merge(scored[["id", "review", "propensity"]])
    table["y"] = table["y"].where(table["review"])
    table.drop(columns="review").to_csv("history.csv", index=False)
    audit = ("audit", "history.csv", "--json", "-")
    code, out, err = truepool(*audit, "--set", "propensity=propensity")
    assert code == 0, err
    result = json.loads(out)
    assert result["cases"] == int(table["review"].sum())
    assert "selective-labels" not in {f["code"] for f in result["findings"]}
    code, out, err = truepool(*audit, "--ignore", "propensity")
    assert code == 0, err
    assert "selective-labels" in {f["code"] for f in json.loads(out)["findings"]}


def test_of_more_than_two_classes_none_is_negative(
    tmp_path, monkeypatch, truepool, refused
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    reports = np.round(rng.dirichlet([1, 1, 1], (60, 2)), 6)
    names = [f"{agent}:{label}" for agent in "ab" for label in ("low", "mid", "high")]
    table = pd.DataFrame(reports.reshape(60, 6), columns=names)
    table.assign(y=rng.choice(["low", "mid", "high"], 60)).to_csv("t.csv", index=False)
    fitted = truepool("fit", "t.csv", "--pool", "mean", "-o", "k.pool", "--quiet")
    assert fitted[0] == 0, fitted[2]
    words = ("score", "k.pool", "t.csv", "--explore", "5%", "-o", "out.csv")
    assert "has 3" in refused(*words)
