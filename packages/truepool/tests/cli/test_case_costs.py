"""Costs by column and in a currency, from the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import needs_verb
from panels import random_panel

import truepool as tp

COSTS = ("--cost-fn", "amount", "--cost-fp", 5, "--cost-tp", -2, "--currency", "EUR")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train.csv", 1), ("new.csv", 2)):
        panel = random_panel(seed, cases=90)
        table = pd.DataFrame(panel.reports, columns=["a", "b", "c", "d"])
        amounts = np.random.default_rng(seed).gamma(1.0, 30.0, 90).round(2)
        table = table.assign(amount=amounts, y=panel.outcomes)
        table.insert(0, "id", [f"k{t}" for t in range(90)])
        table.to_csv(name, index=False)
    return tmp_path


def costs_of(table):
    return tp.Costs(fn=table["amount"].to_numpy(), fp=5, tp=-2)


def test_a_saved_pool_decides_new_cases_by_their_amounts(folder, truepool):
    code, out, err = truepool(
        "fit", "train.csv", *COSTS, "--pool", "mean", "-o", "m.pool"
    )
    assert code == 0, err
    costs = "costs its 'amount', a false alarm 5 EUR, a hit -2 EUR"
    assert costs in " ".join(out.split())
    assert "Agents: a, b, c, d." in err
    code, _, err = truepool("score", "m.pool", "new.csv", "-o", "out.csv", "--quiet")
    assert code == 0, err
    new, out = pd.read_csv("new.csv"), pd.read_csv("out.csv")
    p = new[["a", "b", "c", "d"]].mean(axis=1)
    assert out["decision"].tolist() == tp.decide(p, costs_of(new)).tolist()
    assert len(set((p > 0.5).tolist())) == 2
    code, _, err = truepool(
        "pool", "train.csv", "new.csv", *COSTS, "--pool", "mean", "-o", "b.csv"
    )
    assert code == 0, err
    assert pd.read_csv("b.csv")["decision"].tolist() == out["decision"].tolist()


@pytest.mark.parametrize("kind", ["new.parquet", "new.jsonl", "new.xlsx"])
def test_every_kind_of_new_cases_has_amounts(folder, truepool, kind):
    truepool("fit", "train.csv", *COSTS, "--pool", "mean", "-o", "m.pool")
    new = pd.read_csv("new.csv")
    if kind.endswith("parquet"):
        new.to_parquet(kind)
    elif kind.endswith("xlsx"):
        pytest.importorskip("openpyxl")
        new.to_excel(kind, index=False)
    else:
        new.to_json(kind, orient="records", lines=True)
    code, _, err = truepool("score", "m.pool", kind, "-o", "out.csv", "--quiet")
    assert code == 0, err
    p = new[["a", "b", "c", "d"]].mean(axis=1)
    wanted = tp.decide(p, costs_of(new)).tolist()
    assert pd.read_csv("out.csv")["decision"].tolist() == wanted


def test_what_a_saved_pool_needs_is_shown(folder, truepool):
    truepool("fit", "train.csv", *COSTS, "--pool", "mean", "-o", "m.pool")
    code, out, _ = truepool("show", "m.pool", "--json")
    card = json.loads(out)
    assert code == 0
    assert card["costs"]["fn"] == "amount"
    assert card["costs"]["currency"] == "EUR"
    assert card["threshold"] is None


def test_a_comparison_is_labelled_with_the_currency(folder, truepool):
    words = ("compare", "train.csv", *COSTS, "--pool", "median", "--folds", 3)
    code, out, err = truepool(*words, "--json=c.json", "--markdown", "c.md")
    assert code == 0, err
    for shown in (out, (folder / "c.md").read_text()):
        text = " ".join(shown.split())
        assert "cost per case (EUR)" in text
        assert "positive is decided where that costs less in the case at hand" in text
    result = json.loads((folder / "c.json").read_text())
    assert result["costs"]["currency"] == "EUR"
    table = pd.read_csv("train.csv")
    p = table[["a", "b", "c", "d"]].median(axis=1)
    paid = tp.losses.cost(p, table["y"], costs_of(table)).mean()
    row = next(row for row in result["rows"] if row["pool"] == "median")
    assert row["cost"] == pytest.approx(paid)
    code, out, err = truepool(*words, "--threshold", 0.3)
    assert "above 0.300 (the costs imply one for each case)" in " ".join(out.split())


def test_an_audit_costs_what_its_cases_cost(folder, truepool):
    words = ("audit", "train.csv", *COSTS, "--threshold", 0.5, "--json=a.json")
    code, out, err = truepool(*words, "--html", "a.html", "--markdown", "a.md")
    assert code == 0, err
    result = json.loads((folder / "a.json").read_text())
    table = pd.read_csv("train.csv")
    p = table[["a", "b", "c", "d"]].mean(axis=1)
    paid = tp.losses.cost(p, table["y"], costs_of(table), threshold=0.5).mean()
    assert result["recommendation"]["cost_in_use"] == pytest.approx(paid)
    assert result["costs"]["fn"] == "amount"
    sentences = [f["sentence"] for f in result["findings"] if "threshold" in f["code"]]
    assert "each case's own threshold" in sentences[0]
    page, text = (folder / "a.html").read_text(), (folder / "a.md").read_text()
    for shown in (page, text, out):
        assert "its &#39;amount&#39;" in shown or "its 'amount'" in " ".join(
            shown.split()
        )
    assert "Costs are in EUR." in page
    for said in (page, text, out):
        flat = " ".join(said.split())
        assert "savings per case if fixed (EUR)" in flat
    own = json.loads(truepool("audit", "train.csv", *COSTS, "--json")[1])
    assert own["threshold"] is None
    least = tp.losses.cost(p, table["y"], costs_of(table)).mean()
    assert own["recommendation"]["cost_in_use"] == pytest.approx(least)


def spoil(column, row, value):
    table = pd.read_csv("train.csv").astype({column: object})
    table.loc[row, column] = value
    table.to_csv("train.csv", index=False)


@pytest.mark.parametrize("verb", ["audit", "compare", "fit", "pool"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-3, "must not be negative; line 9 of the file (id 'k7') has -3"),
        ("", "must be a number; line 9 of the file (id 'k7') has none"),
        ("lots", "must be a number; line 9 of the file (id 'k7') has 'lots'"),
        ("5%", "has '5%'. Write 0.05, without the percent sign."),
    ],
)
def test_amounts_that_are_none_are_refused(folder, truepool, verb, value, words):
    spoil("amount", 7, value)
    tables = ["train.csv", "new.csv"] if verb == "pool" else ["train.csv"]
    output = ["-o", "out.csv"] if verb in ("fit", "pool") else ["--json=out.csv"]
    code, out, err = truepool(verb, *tables, *COSTS, *output)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare", "train.csv", "--cost-fn", "amoun"), "of them (--cost-fn).\n"),
        (("audit", "train.csv", "--by", "war"), "Name one of them (--by).\n"),
        (
            ("audit", "train.csv", "--by", "war", "--cost-fp", "amount"),
            "Name one of them (--by).\n",
        ),
        (("compare", "train.csv", "--cost-fp", "-1"), "a positive number; got -1"),
        (("compare", "train.csv", "--cost-tp", "3"), "fn=1 and tp=3"),
        (("compare", "--cost-fn", "amount"), "options that describe a table need one"),
        pytest.param(
            ("game", "--cost-fn", "amount"),
            "the cases of a game share their costs",
            marks=needs_verb("game"),
        ),
        (
            ("compare", "train.csv", "--cost-tn", "1", "--cost-matrix", "0,1;1,0"),
            "not both",
        ),
    ],
)
def test_costs_that_a_verb_cannot_use_are_refused(folder, truepool, words, message):
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_single_costs_beside_a_matrix_are_refused_with_where_each_was_given(
    folder, truepool
):
    (folder / "costs.toml").write_text('cost-matrix = "0,1; 5,0"\n')
    words = ("compare", "train.csv", "--config", "costs.toml", "--cost-fn", "10")
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    assert err == (
        "error: costs are given one by one or as a matrix, not both; got --cost-fn 10 "
        "and cost-matrix of the config file. With more than two classes only a matrix "
        "works: leave out --cost-fn. With two, do that or remove cost-matrix from the "
        "config file.\n"
    )
    (folder / "costs.toml").write_text("cost-fn = 5\n")
    words = (*words[:4], "--cost-matrix", "0,1; 5,0")
    code, out, err = truepool(*words)
    assert "got cost-fn of the config file and --cost-matrix '0,1; 5,0'." in err
    assert "works: remove cost-fn from the config file. With two, do that or" in err


@pytest.mark.parametrize("loss", ["brier", "cost"])
def test_a_replay_ignores_no_costs_of_each_case_in_silence(folder, truepool, loss):
    words = ("replay", "train.csv", "--cost-fn", "amount", "--loss", loss)
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    assert err == (
        "error: online weights are the same for all cases, so a cost must be one "
        "number; --cost-fn names the column 'amount'. Pass --cost-fn 10, with your own "
        "numbers; in a config file, costs per case belong in the sections of commands "
        "that take them, such as [audit] and [fit] (docs/config.md).\n"
    )


def test_a_replay_takes_numbers_where_a_config_file_names_columns(folder, truepool):
    lines = (
        'agents = ["a", "b", "c", "d"]',
        'cost-fn = "amount"',
        'cost-tp = "amount"',
    )
    Path("c.toml").write_text("\n".join(lines))
    code, _, err = truepool("replay", "train.csv", "--config", "c.toml")
    assert code == 2
    numbers = re.search(r"Pass (--cost-fn 10 --cost-tp 0), ", err)[1].split()
    code, _, err = truepool("replay", "train.csv", "--config", "c.toml", *numbers)
    assert code == 0, err


def test_new_cases_without_their_amounts_are_refused(folder, truepool):
    truepool("fit", "train.csv", *COSTS, "--pool", "mean", "-o", "m.pool")
    new = pd.read_csv("new.csv")
    new.drop(columns="amount").to_csv("bare.csv", index=False)
    code, out, err = truepool("score", "m.pool", "bare.csv", "-o", "out.csv")
    assert (code, out) == (2, "")
    assert "must have the column 'amount'. Add the column, or fit the pool wi" in err
    named = new.rename(columns={"amount": "transaction_amount"})
    named.to_csv("named.csv", index=False)
    named.to_json("named.jsonl", orient="records", lines=True)
    agents = ["a", "b", "c", "d"]
    rows = named.reset_index(names="case")
    rows = rows.melt(["case", "transaction_amount"], agents, "agent", "p")
    rows.to_csv("rows.csv", index=False)
    long = ("--long", "case", "agent", "p")
    for table in (("named.csv",), ("named.jsonl",), ("rows.csv", *long)):
        code, out, err = truepool("score", "m.pool", *table, "-o", "out.csv")
        assert (code, out) == (2, "")
        assert (
            "the table must have the column 'amount'; columns without a use: "
            "transaction_amount. Rename 'transaction_amount' to 'amount', add the "
        ) in err
    new.loc[4, "amount"] = -1.0
    new.to_csv("bad.csv", index=False)
    code, out, err = truepool("score", "m.pool", "bad.csv", "-o", "out.csv")
    assert (code, out) == (2, "")
    assert "must not be negative; line 6 of the file has -1" in err
    assert not (folder / "out.csv").exists()


def test_json_lines_of_the_fit_are_scored_as_they_are(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [
        {
            "rf": f"{p}",
            "vendor": f"{100 * p:g}%",
            "loss": f"{9 * p:g}",
            "y": int(p > 0.4),
        }
        for p in (0.125, 0.25, 0.5, 0.75, 0.875, 0.375)
    ]
    lines = [json.dumps(row) + "\n" for row in texts]
    (tmp_path / "old.jsonl").write_text("".join(lines))
    words = ["--percent=vendor", "--cost-fn", "loss", "--pool", "mean"]
    code, _, err = truepool("fit", "old.jsonl", *words, "-o", "a.pool")
    assert code == 0, err
    (tmp_path / "new.jsonl").write_text("".join(lines[:2]))
    code, out, err = truepool("score", "a.pool", "new.jsonl")
    assert code == 0, err
    assert [json.loads(line)["pooled"] for line in out.splitlines()] == [0.125, 0.25]
