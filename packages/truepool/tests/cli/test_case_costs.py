"""Costs by column and in a currency, from the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import needs_verb
from panels import random_panel

import truepool as tp

AGENTS = ["a", "b", "c", "d"]
COSTS = (
    "--cost-fn",
    "amount",
    "--cost-fp",
    5,
    "--set",
    "cost-tp=-2",
    "--set",
    "currency=EUR",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train.csv", 1), ("new.csv", 2)):
        panel = random_panel(seed, cases=90)
        table = pd.DataFrame(panel.reports, columns=AGENTS)
        amounts = np.random.default_rng(seed).gamma(1.0, 30.0, 90).round(2)
        table = table.assign(amount=amounts, y=panel.outcomes)
        table.insert(0, "id", [f"k{t}" for t in range(90)])
        table.to_csv(name, index=False)
    return tmp_path


@pytest.fixture
def pool(folder, truepool):
    words = (*COSTS, "--pool", "mean", "-o", "m.pool", "--quiet")
    code, _, err = truepool("fit", "train.csv", *words)
    assert code == 0, err
    return "m.pool"


def said(text):
    return " ".join(text.split())


def costs_of(table):
    return tp.Costs(fn=table["amount"].to_numpy(), fp=5, tp=-2)


def paid(table, p, **how):
    return tp.losses.cost(p, table["y"], costs_of(table), **how).mean()


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "xlsx"])
def test_a_saved_pool_decides_new_cases_by_their_amounts(pool, truepool, kind):
    new, name = pd.read_csv("new.csv"), f"new.{kind}"
    if kind == "parquet":
        new.to_parquet(name)
    elif kind == "xlsx":
        new.to_excel(name, index=False)
    elif kind == "jsonl":
        new.to_json(name, orient="records", lines=True)
    code, _, err = truepool("score", pool, name, "-o", "out.csv", "--quiet")
    assert code == 0, err
    found, p = pd.read_csv("out.csv").decision.tolist(), new[AGENTS].mean(axis=1)
    assert (
        found == tp.decide(p, costs_of(new)).tolist() != (p > 0.5).astype(int).tolist()
    )
    words = ("pool", "train.csv", name, *COSTS, "--pool", "mean", "-o", "b.csv")
    assert truepool(*words)[0] == 0
    assert Path("b.csv").read_text() == Path("out.csv").read_text()


def test_what_a_saved_pool_needs_is_shown(pool, truepool):
    card = json.loads(truepool("show", pool, "--json", "-")[1])
    assert (card["costs"]["fn"], card["costs"]["currency"]) == ("amount", "EUR")
    assert card["threshold"] is None
    costs = "costs its 'amount', a false alarm 5 EUR, a hit -2 EUR"
    assert costs in said(truepool("show", pool)[1])


def test_a_comparison_is_in_the_currency(folder, truepool):
    words = ("compare", "train.csv", *COSTS, "--pool", "median", "--set", "folds=3")
    code, out, err = truepool(*words, "--json", "c.json", "--markdown", "c.md")
    assert code == 0, err
    for text in (out, Path("c.md").read_text()):
        assert "cost per case (EUR)" in said(text)
        assert "where that costs less in the case at hand" in said(text)
    result, table = json.loads(Path("c.json").read_text()), pd.read_csv("train.csv")
    (row,) = (row for row in result["rows"] if row["pool"] == "median")
    assert row["cost"] == pytest.approx(paid(table, table[AGENTS].median(axis=1)))
    _, out, _ = truepool(*words, "--set", "threshold=0.3")
    assert "above 0.300 (the costs imply one for each case)" in said(out)


def test_an_audit_costs_what_its_cases_cost(folder, truepool):
    words = ("audit", "train.csv", *COSTS)
    outputs = ("--json", "a.json", "--html", "a.html", "--markdown", "a.md")
    code, out, err = truepool(*words, "--set", "threshold=0.5", *outputs)
    assert code == 0, err
    result, table = json.loads(Path("a.json").read_text()), pd.read_csv("train.csv")
    p = table[AGENTS].mean(axis=1)
    cost = paid(table, p, threshold=0.5)
    in_use = result["operations"][0]
    assert in_use["cost"]["value"] == pytest.approx(1000 * cost)
    assert any("threshold" in each["code"] for each in result["findings"])
    for text in (Path("a.html").read_text(), Path("a.md").read_text(), out):
        assert "EUR" in said(text)
    own = json.loads(truepool(*words, "--json", "-")[1])
    assert (own["threshold"], own["costs"]["fn"]) == (None, "amount")
    cost = own["operations"][0]["cost"]["value"]
    assert cost == pytest.approx(1000 * paid(table, p))


@pytest.mark.parametrize("verb", ["audit", "compare", "fit", "pool"])
@pytest.mark.parametrize("cell", [-3, "", "lots", "5%"])
def test_amounts_that_are_none_are_refused(folder, truepool, verb, cell):
    table = pd.read_csv("train.csv").astype({"amount": object})
    table.loc[7, "amount"] = cell
    table.to_csv("train.csv", index=False)
    tables = ["train.csv", "new.csv"] if verb == "pool" else ["train.csv"]
    output = ["-o", "out.csv"] if verb in ("fit", "pool") else ["--json", "out.csv"]
    code, out, err = truepool(verb, *tables, *COSTS, *output)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(word in err for word in ("amount", "line 9", "cost-fn", str(cell)))
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare train.csv --cost-fn amoun", "cost-fn=amount"),
        ("audit train.csv --by war", "(by)"),
        ("audit train.csv --by war --cost-fp amount", "(by)"),
        ("compare train.csv --cost-fp -1", "got -1"),
        ("compare train.csv --set cost-tp=3", "fn=1 and tp=3"),
        ("compare --cost-fn amount", "amount"),
        pytest.param("game --cost-fn amount", "'amount'", marks=needs_verb("game")),
        ("compare train.csv --set cost-tn=1 --set cost-matrix=0,1;1,0", "not both"),
        ("compare train.csv --cost-fn 10 --set cost-matrix=0,1;5,0", "not both"),
        # Online weights are the same for all cases.
        ("replay train.csv --cost-fn amount", "'amount'"),
        ("replay train.csv --cost-fn amount --set loss=cost", "'amount'"),
    ],
)  # fmt: skip
def test_costs_that_a_verb_cannot_use_are_refused(folder, truepool, words, message):
    code, out, err = truepool(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_replay_takes_numbers_where_a_file_names_columns(folder, truepool):
    Path("pool.toml").write_text('cost-fn = "amount"\n')
    assert truepool("replay", "train.csv")[0] == 2
    code, _, err = truepool("replay", "train.csv", "--cost-fn", 10)
    assert code == 0, err


def test_new_cases_without_their_amounts_are_refused(pool, truepool):
    new = pd.read_csv("new.csv")
    new.drop(columns="amount").to_csv("bare.csv", index=False)
    named = new.rename(columns={"amount": "transaction_amount"})
    named.to_csv("named.csv", index=False)
    named.to_json("named.jsonl", orient="records", lines=True)
    rows = named.reset_index(names="case")
    rows = rows.melt(["case", "transaction_amount"], AGENTS, "agent", "p")
    rows.to_csv("rows.csv", index=False)
    new.assign(amount=[*new.amount[:4], -1, *new.amount[5:]]).to_csv(
        "bad.csv", index=False
    )
    long = ("--set", "long=case,agent,p")
    for words in (
        ("bare.csv",),
        ("named.csv",),
        ("named.jsonl",),
        ("rows.csv", *long),
        ("bad.csv",),
    ):
        code, out, err = truepool("score", pool, *words, "-o", "out.csv")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "'amount'" in err
        assert ("ename 'transaction_amount'" in err) == (
            words[0] in ("named.csv", "named.jsonl", "rows.csv")
        )
        assert ("line 6" in err) == (words[0] == "bad.csv")
        assert not Path("out.csv").exists()
