"""Faults of a table: all at once, each with its line and a cure that works."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

T = 120
RNG = np.random.default_rng(8)
Y = (np.arange(T) % 4 == 0).astype(int)
TABLE = pd.DataFrame(
    {n: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
     for n in ("ann", "bob", "cyd")}
).assign(
    id=[f"TX{t}" for t in range(T)], amount=RNG.lognormal(3, 1, T).round(2),
    chance=0.5, day=pd.date_range("2026-01-01", periods=T).astype(str), y=Y.astype(object)
)  # fmt: skip
TABLE.loc[TABLE.index % 3 == 1, "y"] = None  # the first outcomes are not the first rows
PENDING, KNOWN, ALL = 7, 8, slice(None)
OPTIONS = ("--cost-fn", "amount", "--set", "propensity=chance", "--time", "day")
FIT = ("fit", "-o", "a.pool", "--pool", "mean")


@pytest.fixture
def run(tmp_path, monkeypatch, truepool):
    """Run a verb on the table, of which some cells are others."""
    monkeypatch.chdir(tmp_path)

    def call(verb, *words, options=OPTIONS, **cells):
        table = TABLE.copy().astype(object)
        for name, (rows, values) in cells.items():
            table.loc[rows, name] = values
        table.to_csv("t.csv", index=False)
        return truepool(verb, "t.csv", *options, *words)

    return call


def test_all_faults_come_together_and_their_cures_work(run):
    """Nobody is refused twice for one table."""
    cells = {
        "ann": ([3, 9], ["n/d", "n/d"]), "bob": (5, 1.2), "cyd": (11, -9),
        "y": ([KNOWN, PENDING], ["maybe", ""]),
    }  # fmt: skip
    code, out, err = run(*FIT, **cells)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    for found, line in (("'n/d'", 5), ("1.2", 7), ("-9", 13), ("maybe", None)):
        (one,) = (text for text in lines if found in text)
        assert line is None or f"in line {line}" in one
    assert not Path("a.pool").exists()
    cures = dict.fromkeys(re.findall(r"--set missing=\S+?(?=[;.,] )", err))
    code, _, err = run(*FIT, *(w for cure in cures for w in shlex.split(cure)), **cells)
    assert code == 0, err


@pytest.mark.parametrize("count", [5, 30])
def test_many_faults_are_counted(truepool, tmp_path, monkeypatch, count):
    monkeypatch.chdir(tmp_path)
    agents = {f"a{i}": [*TABLE.ann[:-1], 7.5 + i] for i in range(count)}
    pd.DataFrame({**agents, "y": Y}).to_csv("t.csv", index=False)
    code, _, err = truepool("audit", "t.csv")
    assert (code, len(err.splitlines())) == (2, min(count, 21))
    assert ("and 10 other faults" in err) == (count == 30)


@pytest.mark.parametrize("odd", ["n/d", "-", "1234.50 €", "3,00 $"])
def test_of_amounts_the_one_that_is_written_differently_is_named(run, odd):
    euros = [f"1.{n:03d},50 €" if n % 3 else f"{n} €" for n in range(T)]
    euros[KNOWN] = odd
    code, _, err = run(*FIT, amount=(ALL, euros))
    assert (code, repr(odd) in err, "line 10" in err) == (2, True, True)


def test_amounts_with_a_currency_are_read_alike_by_fit_and_score(run, truepool):
    euros = [f"{1000 + 7.5 * t:,.2f} €".translate({44: 46, 46: 44}) for t in range(T)]
    for name, amounts in (("plain", [*(1000 + 7.5 * np.arange(T))]), ("euros", euros)):
        shown = [run(*FIT, amount=(ALL, amounts))]
        shown.append(truepool("score", "a.pool", "t.csv", "-o", f"{name}.csv"))
        for code, _, err in shown:
            assert (code, "'1.000,00 €' as 1000" in err) == (0, name == "euros")
    assert Path("plain.csv").read_text() == Path("euros.csv").read_text()


def test_a_case_needs_a_cost_where_it_is_decided(run, truepool):
    code, _, err = run("audit", "--json", "-", amount=(PENDING, None))
    assert (code, "line 9" in err) == (2, True)
    assert run(*FIT, amount=(PENDING, None))[0] == 0
    assert run("audit", "--json", "-")[0] == 0
    new = TABLE.astype(object).drop(columns="y")
    new.loc[3, "amount"] = None
    new.to_csv("new.csv", index=False)
    words = ("new.csv", "-o", "out.csv")
    for verb in (("score", "a.pool"), ("pool", "t.csv", *OPTIONS, "--pool", "mean")):
        code, _, err = truepool(*verb[:2], *words, *verb[2:])
        assert (code, "line 5" in err, "amount" in err) == (2, True, True)
        assert not Path("out.csv").exists()


def test_a_false_alarm_that_costs_less_than_nothing_is_named_by_its_line(run):
    words = ("--cost-fn", "50", "--cost-fp", "amount", "--set", "cost-tn=10")
    row = int(np.argmax((TABLE.amount < 10) & TABLE.y.notna()))
    code, _, err = run(*FIT, *words, options=OPTIONS[2:])
    assert (code, f"line {row + 2} " in err) == (2, True)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("chance", None),
        ("chance", 0),
        ("chance", 50),
        ("day", "2026-02-31"),
        ("day", None),
    ],
)
def test_one_wrong_cell_of_a_role_is_named(run, column, value):
    code, _, err = run(*FIT, **{column: (KNOWN, value)})
    assert (code, err.count("\n")) == (2, 1)
    assert (column in err, "line 10" in err) == (True, True)


@pytest.mark.parametrize(
    "key", ["propensity", "weight", "group", "cost-fn", "id", "time"]
)
def test_a_column_has_one_role(run, key):
    """A group, a weight or a cost is no agent, though it looks like one."""
    words = ("--set", f"{key}=ann", "--agents", "ann,bob")
    code, _, err = run(*FIT, *words, options=())
    assert (code, err.count("\n")) == (2, 1)
    assert all(word in err for word in ("'ann'", key, "agents"))
    if key in ("weight", "propensity", "cost-fn"):
        code, _, err = run(*FIT, *words[:2], options=())
        assert (code, "agents bob, cyd, chance" in err) == (0, True)


def test_rows_that_were_entered_twice_are_told_from_repeated_ids(run, truepool):
    run(*FIT)
    copies, update = TABLE.iloc[[3, 5]], TABLE.iloc[[9]].assign(ann=0.123)
    words = ("fit", "t.csv", *FIT[1:], *OPTIONS)
    pd.concat([TABLE, copies, update]).to_csv("t.csv", index=False)
    code, _, err = truepool(*words)
    assert code == 0
    assert re.search("^warning: 2 rows are identical", err, re.MULTILINE)
    assert re.search("^warning: 1 case repeats", err, re.MULTILINE)
    pd.concat([TABLE, update]).to_csv("t.csv", index=False)
    assert "identical" not in truepool(*words)[2]


def test_a_column_with_few_values_that_knows_nothing_is_named_with_a_cure(run):
    words = (*FIT, "--agents", "ann,bob,cyd,chance")
    discount = np.resize([0, 0.05, 0.1], T)
    code, _, err = run(*words, options=(), chance=(ALL, discount))
    (warning,) = re.findall("^warning: .*", err, re.MULTILINE)
    (cure,) = re.findall(r"--ignore \S+(?=\.$)", warning)
    code, _, err = run(*FIT, *cure.split(), options=(), chance=(ALL, discount))
    assert (code, "warning" in err) == (0, False)


@pytest.mark.parametrize("pool", ["mean", "auto", "simplest"])
def test_a_fit_on_one_class_warns_first(run, truepool, pool):
    words = ("--pool", pool, "--ignore", "chance,amount,day", "-o", "a.pool")
    genuine = np.where(TABLE.y.isna(), "", "Genuine")
    which = ("--positive", "Fraud", "--json", "-")
    code, out, err = run("fit", *words, *which, options=(), y=(ALL, genuine))
    assert code == 0, err
    assert err.startswith("warning: every outcome is 'Genuine'")
    assert json.loads(out)["training"]["cases"] == (genuine != "").sum()
    for verb in (("audit", "t.csv", *which), ("fit", "t.csv", *words)):
        assert truepool(*verb)[0] == 2
