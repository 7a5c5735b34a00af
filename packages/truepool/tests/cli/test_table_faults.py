"""Faults of a table: the line, what is wrong with it, and a cure that works."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

T = 120
RNG = np.random.default_rng(8)
Y = (np.arange(T) % 4 == 0).astype(int)
TABLE = pd.DataFrame(
    {n: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
     for n in ("ann", "bob")}
).assign(
    id=[f"TX{t}" for t in range(T)], amount=RNG.lognormal(3, 1, T).round(2),
    chance=0.5, day=pd.date_range("2026-01-01", periods=T).astype(str), y=Y.astype(object)
)  # fmt: skip
TABLE.loc[TABLE.index % 3 == 1, "y"] = None  # the first outcomes are not the first rows
PENDING, KNOWN = 7, 8
OPTIONS = ("--cost-fn", "amount", "--propensity", "chance", "--time", "day")


@pytest.fixture
def run(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)

    def call(verb, *words, options=OPTIONS, **cells):
        table = TABLE.copy().astype(object)
        for name, (row, value) in cells.items():
            table.loc[row, name] = value
        table.to_csv("t.csv", index=False)
        return truepool(verb, "t.csv", *options, *words)

    return call


FIT = ("fit", "-o", "a.pool", "--pool", "mean", "--quiet")
COMPARE = ("compare", "--pool", "mean", "--json")


@pytest.mark.parametrize(
    "verb", [FIT, COMPARE, ("audit", "--json")], ids=lambda v: v[0]
)
def test_a_cost_that_is_missing_or_negative_is_named_by_its_line(run, verb):
    code, _, err = run(*verb, amount=(KNOWN, None))
    assert code == 2
    assert err == (
        "error: column 'amount', the cost fn (--cost-fn), must be a number; line 10 of "
        "the file (id 'TX8') has none. Fill it in, or leave the case out.\n"
    )
    code, _, err = run(*verb, amount=(KNOWN, -5.0))
    assert code == 2
    assert "must not be negative; line 10 of the file (id 'TX8') has -5." in err


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["", "", ""], "has none, the first of 3 such cases in 80. Fill it in, or"),
        (["?", "tbd", "?"], "has '?', the first of 3 such cases in 80. Correct it, or"),
        (["-1", "-2", "-3"], "has -1, the first of 3 such cases in 80. Correct it, or"),
        (["3 €", "4 €", "5 €"], "has '3 €', the first of 3 such cases in 80. Write the "
         "same currency in every cell, or in none, "),
    ],
)  # fmt: skip
def test_bad_amounts_are_counted(tmp_path, monkeypatch, truepool, cells, said):
    monkeypatch.chdir(tmp_path)
    table = TABLE.astype(object)
    table.loc[[KNOWN, 9, 11], "amount"] = cells
    table.to_csv("t.csv", index=False)
    code, _, err = truepool(FIT[0], "t.csv", *OPTIONS, *FIT[1:])
    assert code == 2
    assert f"line 10 of the file (id 'TX8') {said}" in err


@pytest.mark.parametrize("odd", ["n/d", "-", "100,00", "100", "1234.50 €", "3,00 $"])
def test_of_amounts_the_one_that_is_written_differently_is_named(
    tmp_path, monkeypatch, truepool, odd
):
    monkeypatch.chdir(tmp_path)
    table = TABLE.astype(object)
    table["amount"] = [
        f"1.{n:03d},50 €" if n % 3 else f"{n} €" for n in range(len(table))
    ]
    table.loc[KNOWN, "amount"] = odd
    table.to_csv("t.csv", index=False)
    code, _, err = truepool(FIT[0], "t.csv", *OPTIONS, *FIT[1:])
    assert code == 2
    assert err.endswith(
        "must be written alike in every case; line 10 of the file (id 'TX8') has "
        f"{odd!r}, and most are written as '1.002,50 €'. Correct it, or leave the case "
        "out.\n"
    )


def test_score_names_the_amount_that_is_written_differently(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    table = TABLE.astype(object)
    table["amount"] = [f"$11,{100 + n}" for n in range(len(table))]
    table.to_csv("t.csv", index=False)
    assert truepool(FIT[0], "t.csv", *OPTIONS, *FIT[1:])[0] == 0
    table.loc[KNOWN, "amount"] = "($300)"
    table.to_csv("new.csv", index=False)
    code, _, err = truepool("score", FIT[FIT.index("-o") + 1], "new.csv")
    assert code == 2
    assert "has '($300)' in line 10 of the file, and most are written as '$11,1" in err


def test_amounts_with_a_currency_are_read_alike_by_fit_and_score(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    euros = [f"{1000 + 7.5 * t:,.2f} €".translate({44: 46, 46: 44}) for t in range(T)]
    for name, cells in (("plain", 1000 + 7.5 * np.arange(T)), ("euros", euros)):
        TABLE.assign(amount=cells).to_csv(f"{name}.csv", index=False)
        fit = (f"{name}.csv", *OPTIONS, "--pool", "mean", "-o", f"{name}.pool")
        code, _, err = truepool("fit", *fit)
        assert (code, "'1.000,00 €' as 1000." in err) == (0, name == "euros")
        score = ("score", f"{name}.pool", f"{name}.csv", "-o", f"{name}_scored.csv")
        code, _, err = truepool(*score)
        assert (code, "'1.000,00 €' as 1000." in err) == (0, name == "euros")
    assert Path("plain_scored.csv").read_text() == Path("euros_scored.csv").read_text()


def test_a_pending_case_needs_a_cost_where_it_is_decided(run):
    code, _, err = run("audit", "--json", amount=(PENDING, None))
    assert code == 2
    assert "must be a number; line 9 of the file (id 'TX7') has none." in err
    assert run(*FIT, amount=(PENDING, None))[0] == 0
    assert run("audit", "--json")[0] == 0


def test_a_new_case_without_its_cost_is_named_by_its_line(run, truepool):
    run(*FIT)
    new = TABLE.astype(object).assign(y=None)
    new.loc[3, "amount"] = None
    new.drop(columns="y").to_csv("new.csv", index=False)
    words = ("--ignore", "chance", "--cost-fn", "amount", "--pool", "mean")
    code, _, err = truepool("pool", "t.csv", "new.csv", "-o", "out.csv", *words,
                            "--time", "day")  # fmt: skip
    assert code == 2
    assert "must be a number; line 5 of the file (id 'TX3') has none" in err


def test_a_false_alarm_that_costs_less_than_nothing_is_named_by_its_line(run):
    words = ("--cost-fn", "50", "--cost-fp", "amount", "--cost-tn", "10")
    row = int(np.argmax((TABLE.amount < 10) & TABLE.y.notna()))
    code, _, err = run(*FIT, *words, options=OPTIONS[2:])
    assert code == 2
    assert f"; line {row + 2} of the file has a cost fp below its cost tn" in err


def test_a_propensity_that_is_missing_is_to_be_filled_in(run):
    code, _, err = run(*FIT, chance=(KNOWN, None))
    assert code == 2
    assert err == (
        "error: the propensity of a case must be a number; line 10 of the file (id "
        "'TX8') has none. Fill it in, or leave the case out.\n"
    )


def test_one_wrong_date_is_to_be_corrected(run):
    code, _, err = run(*FIT, day=(KNOWN, "2026-02-31"))
    assert code == 2
    assert err.endswith(
        "column 'day' has '2026-02-31' in line 10 of the file. Correct it; 119 of 120 "
        "cells fit.\n"
    )
    code, _, err = run(*FIT, "--time-format", "%Y-%m-%d", day=(KNOWN, "2026-02-31"))
    assert err.endswith("Correct it; 119 of 120 cells fit.\n")
    code, _, err = run(*FIT, "--time-format", "%d.%m.%Y", day=(KNOWN, "2026-02-31"))
    assert err.endswith(
        "Pass --time-format '%Y-%m-%d', which fits 119 of 120 cells, and correct the "
        "others, such as '2026-02-31'.\n"
    )


@pytest.mark.parametrize(("option", "role"), [
    ("--propensity", "the propensity column (--propensity)"),
    ("--weight", "the weight column (--weight)"),
    ("--group", "the group column (--group)"),
    ("--cost-fn", "a column of the cases (--cost-fn, --cost-fp, --cost-tp, --cost-tn "
     "or --by)"),
])  # fmt: skip
def test_a_column_has_one_role(run, option, role):
    words = (option, "ann", "--agents", "ann,bob")
    code, _, err = run(*FIT, *words, options=())
    assert code == 2
    assert err.endswith(
        "a column must have one role; 'ann' is both an agent (--agents) and "
        f"{role}. If it is not an agent, pass --agents with other columns; if it is "
        "one, name another column with the other option.\n"
    )


@pytest.mark.parametrize(
    ("agents", "rest"), [("ann,bob,day", "ann,bob"), ("day,[ab][no]*", "'[ab][no]*'")]
)
def test_the_cure_of_two_roles_works_when_it_is_pasted(run, agents, rest):
    words = ("--group", "day", "--agents")
    code, _, err = run(*FIT, *words, agents, options=())
    assert (code, f"If it is not an agent, pass --agents {rest};" in err) == (2, True)
    assert run(*FIT, *words, rest.strip("'"), options=())[0] == 0
    code, _, err = run(*FIT, *words, agents, "--percent=day", options=())
    assert (code, f"If it is not an agent, pass --agents {rest};" in err) == (2, True)


def test_rows_that_were_entered_twice_are_told_from_repeated_ids(run, truepool):
    run(*FIT)
    copies = TABLE.iloc[[3, 5]]
    update = TABLE.iloc[[9]].assign(ann=0.123)
    pd.concat([TABLE, copies, update]).to_csv("t.csv", index=False)
    code, _, err = truepool("fit", "t.csv", *FIT[1:-1], *OPTIONS)
    assert code == 0
    assert (
        "warning: 2 rows are identical to an earlier one, the id included. Remove what "
        "was entered twice; until then each row counts as a case of its own.\n"
    ) in err
    assert "warning: 1 case repeats the id of an earlier one; each counts" in err
    pd.concat([TABLE, update]).to_csv("t.csv", index=False)
    _, _, err = truepool("fit", "t.csv", *FIT[1:-1], *OPTIONS)
    assert "identical" not in err


@pytest.mark.parametrize("pool", ["mean", "auto", "simplest"])
def test_a_fit_on_one_class_warns_first(run, truepool, pool):
    table = TABLE.assign(y=np.where(TABLE.y.isna(), "", "Genuine"))
    Path("t.csv").unlink(missing_ok=True)
    table.to_csv("t.csv", index=False)
    words = ("--positive", "Fraud", "--pool", pool, "--ignore", "amount")
    words += ("--ignore", "chance", "--ignore", "day")
    code, out, err = truepool("fit", "t.csv", *words, "-o", "a.pool", "--json")
    assert code == 0
    assert err.startswith(
        "warning: every outcome is 'Genuine', so nothing can be learned about the "
        "others, and an audit would refuse this table. Add cases with another outcome."
    )
    assert not str(json.loads(out)["explanation"]["why"]).endswith(".")
    assert "another outcome.." not in truepool("show", "a.pool")[1]
    assert truepool("audit", "t.csv", *words[:2], *words[4:])[0] == 2
