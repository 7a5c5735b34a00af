"""Limited capacity on the command line: score, pool, compare and audit."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import truepool as tp

DAYS = pd.Timestamp("2026-03-02") + pd.to_timedelta(np.arange(120) // 12, unit="D")
AGENTS = ["ada", "bob", "cy"]


@pytest.fixture
def folder(tmp_path, monkeypatch, truepool):
    """Tables with amounts and dates, and a pool that pays by the amount."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = (rng.random(120) < 0.4).astype(int)
    said = 1 / (1 + np.exp(-(2 * y[:, None] - 1 + rng.normal(0, 1.2, (120, 3)))))
    table = pd.DataFrame(said.round(4), columns=AGENTS)
    table["amount"], table["day"] = rng.lognormal(3, 1, 120).round(2), DAYS
    table["region"] = np.tile(["EU", "US"], 60)
    table.assign(y=y).to_csv("train.csv", index=False)
    table.loc[5, AGENTS] = np.nan
    table.to_csv("new.csv", index=False)
    words = "fit train.csv --cost-fn amount --cost-fp 4 --pool vcg -o a.pool"
    assert truepool(*words.split(), "--agents", "ada,bob,cy")[0] == 0
    return tmp_path


def by_hand(limit, share=None):
    """Decisions of the saved pool by pandas: the most valuable cases of each day."""
    new = pd.read_csv("new.csv", parse_dates=["day"])
    known = new[AGENTS].notna().any(axis=1)
    p = tp.load_pool("a.pool").predict_proba(new.loc[known, AGENTS])[:, 1]
    part = new[known].assign(saved=p * new.amount[known] - (1 - p) * 4)
    worth = part[part.saved > 0].sort_values("saved", ascending=False, kind="stable")
    chosen = worth.head(limit) if share else worth.groupby("day").head(limit)
    return new.index.isin(chosen.index)


@pytest.mark.parametrize("source", ["new.csv", "new.parquet", "new.jsonl"])
def test_score_decides_the_most_valuable_cases_of_each_day(folder, truepool, source):
    new = pd.read_csv("new.csv")
    if source.endswith("parquet"):
        new.assign(day=pd.to_datetime(new.day)).to_parquet(source)
    elif source.endswith("jsonl"):
        new.to_json(source, orient="records", lines=True)
    words = ("--set", "capacity=3/day", "--time", "day")
    code, out, err = truepool("score", "a.pool", source, "-o", "out.csv", *words)
    assert code == 0, err
    decided = pd.read_csv("out.csv").decision
    assert_array_equal(decided.fillna(0) == 1, by_hand(3))
    assert decided.isna().to_numpy().nonzero()[0].tolist() == [5]
    count = int(by_hand(3).sum())
    assert out.endswith(f"Decided {count} positive, within 3 cases per day.\n")


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ("--set long=q,who,p --time made --set decision-time=closes", "closes"),
        ("--set long=q,who,p --time made", "made"),
        ("--time closes --agents ada,bob", "closes"),
    ],
)
def test_a_case_counts_on_the_day_on_which_it_is_decided(
    tmp_path, monkeypatch, truepool, words, column
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    cases = pd.DataFrame({"q": np.arange(60), "y": np.arange(60) % 2})
    cases["closes"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(
        np.arange(60) // 6, unit="D"
    )
    cases["made"] = cases.closes - pd.to_timedelta(rng.integers(1, 4, 60), unit="D")
    for agent in ("ada", "bob"):
        cases[agent] = rng.uniform(0.6, 0.9, 60).round(3)
    same = ["q", "y", "closes", "made"]
    table = cases.drop(columns="made").rename(columns={"q": "id"})
    if "long=" in words:
        table = cases.melt(same, var_name="who", value_name="p")
    table.to_csv("cases.csv", index=False)
    fit = f"fit cases.csv --pool mean -o a.pool {words}"
    assert truepool(*fit.split())[0] == 0
    score = "score a.pool cases.csv -o out.csv --set capacity=2/day"
    code, _, err = truepool(*score.split())
    assert code == 0, err
    flagged = (pd.read_csv("out.csv").decision == 1).groupby(cases[column])
    assert_array_equal(flagged.sum(), flagged.size().clip(upper=2))


def test_a_plain_number_or_a_share_is_for_the_whole_table(folder, truepool):
    for capacity, limit in (("7", 7), ("10%", 11)):  # 119 cases have reports
        words = ("-o", "out.csv", "--set", f"capacity={capacity}")
        assert truepool("score", "a.pool", "new.csv", *words)[0] == 0
        decided = pd.read_csv("out.csv").decision
        assert_array_equal(decided.fillna(0) == 1, by_hand(limit, share=True))


def test_pool_and_score_decide_alike_within_a_capacity(folder, truepool):
    options = "--agents ada,bob,cy --cost-fn amount --cost-fp 4 --pool vcg".split()
    rate = ("--set", "capacity=2/week", "--time", "day", "-o")
    # With dates a pool is fitted to the same cases; only folds would differ.
    code, _, err = truepool("pool", "train.csv", "new.csv", *options, *rate, "p.csv")
    assert code == 0, err
    assert truepool("score", "a.pool", "new.csv", *rate, "s.csv")[0] == 0
    scored, pooled = pd.read_csv("s.csv"), pd.read_csv("p.csv")
    pd.testing.assert_frame_equal(scored, pooled)
    assert pooled.decision.sum() == 4  # ten days touch two weeks


def test_a_pool_with_a_threshold_limits_what_it_would_decide(folder, truepool):
    words = "fit train.csv --cost-fn amount --set threshold=0.6 --pool mean -o t.pool"
    assert truepool(*words.split(), "--agents", "ada,bob,cy")[0] == 0
    found = []
    for limit in ([], ["--set", "capacity=3"]):
        assert truepool("score", "t.pool", "new.csv", "-o", "o.csv", *limit)[0] == 0
        found.append(pd.read_csv("o.csv").decision.fillna(0))
    every, some = found
    assert every.sum() > some.sum() == 3
    assert (some <= every).all()


def test_a_table_without_any_report_decides_nothing(folder, truepool):
    pd.read_csv("new.csv").assign(ada=None, bob=None, cy=None).to_csv("e.csv")
    words = ("score", "a.pool", "e.csv", "-o", "o.csv", "--set", "capacity=3")
    assert truepool(*words)[0] == 0
    assert pd.read_csv("o.csv").decision.isna().all()


def test_compare_and_audit_say_what_a_capacity_costs(folder, truepool):
    table = ("train.csv", "--agents", "ada,bob,cy", "--cost-fn", "3", "--ignore", "day")
    limit = ("--set", "capacity=10%", "--by", "region")
    words = ("compare", *table, *limit, "--pool", "vcg")
    code, out, err = truepool(*words, "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert found["capacity"] == "10% of cases"
    for row in found["rows"]:
        low, high = row["recall_interval"]
        assert low <= row["recall"] <= high
        assert row["recall"] * found["outcome_labels"]["cases"][1] <= 12.001
    assert [one["group"] for one in found["groups"]] == ["EU", "US"]
    _, out, _ = truepool(*words, "--markdown", "a.md")
    for text in (out, (folder / "a.md").read_text()):
        assert "10% of cases" in text
        assert "segments of region" in text
    code, out, err = truepool("audit", *table, *limit, "--json", "a.json")
    assert code == 0, err
    assert len(json.loads((folder / "a.json").read_text())["segments"]) == 2
    at = json.loads((folder / "a.json").read_text())["capacity"]
    assert at["decided"] == 12 < at["wanted"]
    assert at["recall"]["low"] <= at["recall"]["value"] <= at["recall"]["high"]
    assert at["cost"]["value"] > at["cost"]["value"] - at["rise"]["value"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("score a.pool new.csv --set capacity=0", "0"),
        ("score a.pool undated.csv --set capacity=3/day", "time"),
        ("score a.pool new.csv --set capacity=3/day --time amount", "amount"),
        ("score a.pool - --set capacity=3", "standard input"),
        ("compare train.csv --set capacity=3/dai", "did you mean '3/day'"),
        ("compare train.csv --ignore day --set capacity=3/day", "time"),
        ("audit train.csv --set capacity=-3", "'-3'"),
        ("pool train.csv undated.csv -o o.csv --set capacity=3/day", "time"),
        ("audit train.csv --by regions", "'regions'"),
        ("audit train.csv --by amount", "2 to 50"),
        ("compare three.csv --set capacity=3 --outcome label", "3"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    folder, refused, stdin, words, named
):
    stdin(b"ada,bob,cy\n")
    reports = np.random.default_rng(0).dirichlet([1, 1, 1], (60, 2)).reshape(60, 6)
    names = [f"{agent}:{k}" for agent in "ab" for k in range(3)]
    three = pd.DataFrame(reports, columns=names).assign(label=np.arange(60) % 3)
    three.to_csv("three.csv", index=False)
    pd.read_csv("new.csv").drop(columns="day").to_csv("undated.csv", index=False)
    agents = ["--agents", "ada,bob"] if " train.csv" in words else []
    assert named in refused(*words.split(), *agents)


def test_fit_says_that_the_capacity_of_a_config_file_is_not_saved(folder, truepool):
    (folder / "own.toml").write_text('capacity = "6/week"\ntime = "day"\n')
    words = "fit train.csv --agents ada,bob,cy --pool mean -o b.pool".split()
    _, out, _ = truepool(*words, "--config", "own.toml")
    command = out.splitlines()[-1].rpartition(": ")[2].split()
    assert command[:4] == ["truepool", "score", "b.pool", "NEW"]
    command[3] = "new.csv"
    code, out, err = truepool(*command[1:], "-o", "o.csv")
    assert (code, "6 cases per week" in out) == (0, True), err
    _, out, _ = truepool(*words)
    assert out.splitlines()[-1].endswith("truepool score b.pool NEW")
