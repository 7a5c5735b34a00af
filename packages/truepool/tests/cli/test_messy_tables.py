"""Tables as people export them go through the verbs with the answers to questions only."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import VERBS
from messy_tables import TABLES, write

from truepool.cli import compare
from truepool.panel.panel import Panel

KINDS = pytest.mark.parametrize("kind", TABLES)
BANK, _, _, FORECASTS, TRIAGE, EXPORT = TABLES


@KINDS
@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_every_messy_table_is_judged(tmp_path, truepool, kind, verb):
    path, table = write(tmp_path, kind), TABLES[kind]
    words = (path, *table.options, "--pool", "mean", "--json", "-")
    code, out, err = truepool(verb, *words)
    assert code == 0, err
    found = json.loads(out)
    agents = tuple(a["who"] if verb == "audit" else a for a in found["agents"])
    assert (found["cases"], agents) == (table.cases, table.agents)
    if kind == BANK:  # one line says how it was read
        assert re.fullmatch(
            r"read bank.csv: 300 cases, agents rf \(percent\), gbm \(percent\), vendor "
            r"\(percent\), outcome betrug \(positive: ja\), time datum \(\S+\), id konto\.\n",
            err,
        )


@KINDS
def test_what_a_pool_remembers_is_all_that_new_cases_need(tmp_path, truepool, kind):
    """Fit and score give the same file as both in one go, to the bit."""
    path, rule = write(tmp_path, kind), (*TABLES[kind].options, "--pool", "vcg")
    pooled, saved, scored = (tmp_path / name for name in ("p.csv", "a.pool", "s.csv"))
    assert truepool("pool", path, path, *rule, "-o", pooled)[0] == 0
    assert truepool("fit", path, *rule, "-o", saved)[0] == 0
    code, _, err = truepool("score", saved, path, "-o", scored)
    assert code == 0, err
    assert pooled.read_bytes() == scored.read_bytes()
    found = pd.read_csv(scored, dtype=str)
    assert len(found) == 300  # cases without any report too
    ids = {BANK: "konto", FORECASTS: "question", EXPORT: "account"}
    assert found.columns[0] == ids.get(kind, "id")


# New tables that differ a little from the old one


T = 40
RNG = np.random.default_rng(4)
Y = np.arange(T) % 2
AGENTS = ["rf", "gbm", "vendor"]
OLD = pd.DataFrame(
    {"id": [f"{t:03}" for t in range(T)]}
    | {
        n: np.clip(0.25 + 0.5 * Y + RNG.normal(0, 0.2, T), 0.02, 0.98).round(3)
        for n in AGENTS
    }
    | {"day": pd.date_range("2026-01-01", periods=T).astype(str), "y": Y}
)
NEW = OLD.drop(columns="y").head(20)


def text(form):
    """Reports of all agents as text."""
    return NEW.assign(**{n: [form(v) for v in NEW[n]] for n in AGENTS})


def only(rows, *agents):
    """Some agents report in some rows only."""
    return NEW.assign(**{n: NEW[n].where(NEW.index.isin(rows)) for n in agents})


NEWS = {
    "as it was": NEW,
    "with outcomes": OLD.head(20),
    "with empty outcomes": NEW.assign(y=""),
    "another order of columns": NEW[[*reversed(NEW.columns)]],
    "a text column more": NEW.assign(note="x"),
    "a numeric column more": NEW.assign(note=0.5),
    "amounts more": NEW.assign(note=[f"{t * 1000 + 7:,} €" for t in range(20)]),
    "votes more": NEW.assign(note=1),
    "times more": NEW.assign(note="2026-05-01"),
    "another agent": NEW.assign(note=NEW.rf),
    "an id of another name": NEW.rename(columns={"id": "note"}),
    "a case without reports": only(range(3, 20), *AGENTS),
    "most cases without reports": only(range(2), *AGENTS),
    "gaps": only(range(0, 20, 3), "gbm"),
    "words for nothing": NEW.assign(gbm=["NA", "n/a", *map(str, NEW.gbm[2:])]),
    "an agent that says nothing": only([], "gbm"),
    "an agent missing": NEW.drop(columns="gbm"),
    "two agents missing": NEW.drop(columns=["gbm", "rf"]),
    "an agent misspelt": NEW.rename(columns={"gbm": "gmb"}),
    "no id": NEW.drop(columns="id"),
    "ids twice": NEW.assign(id="7"),
    "ids that are empty": NEW.assign(id=""),
    "no time": NEW.drop(columns="day"),
    "times in another form": NEW.assign(day="01.02.2026"),
    "times that are none": NEW.assign(day="soon"),
    "one case": NEW.head(1),
    "decimal commas": text(lambda v: f"{v:.3f}".replace(".", ",")),
    "percent signs": text(lambda v: f"{100 * v:.1f}%"),
    "percent signs and decimal commas": text(lambda v: f"{100 * v:.1f} %".replace(".", ",")),
    "percent signs of one agent": NEW.assign(vendor=[f"{100 * v:.1f}%" for v in NEW.vendor]),
    "spaces around numbers": text(lambda v: f" {v} "),
    "row numbers of pandas": NEW.reset_index(),
    "percentages of one agent": NEW.assign(vendor=(100 * NEW.vendor).round(1)),
    "a word": NEW.assign(gbm=["huh", *map(str, NEW.gbm[1:])]),
    "no agent at all": NEW[["id", "day"]],
    "no rows": NEW.head(0),
}  # fmt: skip
REFUSED = [*NEWS][-4:]
WARNED = {"an agent missing", "two agents missing", "an agent misspelt", "ids twice",
          "an agent that says nothing", "an id of another name"}  # fmt: skip


def lay(table, kind):
    name = f"new.{kind}"
    if kind == "parquet":
        texts = {n: c.astype("string") for n, c in table.items() if c.dtype == object}
        table.assign(**texts).to_parquet(name)
    elif kind == "jsonl":  # an empty cell is a key that is not there
        rows = (
            table.astype(object).where(table.notna() & (table != "")).to_dict("records")
        )
        rows = [{k: v for k, v in row.items() if v == v} for row in rows]
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        table.to_csv(name, index=False, sep=";" if kind == "txt" else ",")
    return name


@pytest.mark.parametrize("case", NEWS)
@pytest.mark.parametrize("kind", ["csv", "txt", "parquet", "jsonl"])
def test_fit_and_score_are_pool_whatever_the_new_table_looks_like(
    tmp_path, monkeypatch, truepool, case, kind
):
    """With commas, semicolons, as Parquet or JSON lines: one answer."""
    monkeypatch.chdir(tmp_path)
    OLD.to_csv("old.csv", index=False)
    table, rule = NEWS[case], ("old.csv", "--pool", "mean")
    assert truepool("fit", *rule, "-o", "a.pool", "--quiet")[0] == 0
    name = lay(table, kind)
    one = truepool("pool", "old.csv", name, *rule[1:], "-o", "one.csv")
    two = truepool("score", "a.pool", name, "-o", "two.csv")
    assert (one[0], two[0]) == ((2, 2) if case in REFUSED else (0, 0)), (one, two)
    if case in REFUSED:
        assert {p.name for p in tmp_path.iterdir()} == {"old.csv", "a.pool", name}
        return
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    for _, _, err in (one, two):
        assert ("warning: " in err) == (case in WARNED), err
        assert ("ot used: note" in err) == ("note" in table)
    found = pd.read_csv("two.csv", dtype={"id": str})
    reports = NEW.loc[table.index, [name for name in AGENTS if name in table]]
    if table[reports.columns].isna().any(axis=None) or case == "words for nothing":
        reports = table[reports.columns].apply(pd.to_numeric, errors="coerce")
    np.testing.assert_allclose(found.pooled, reports.mean(axis=1), atol=6e-4)
    assert found.decision.isna().tolist() == reports.isna().all(axis=1).tolist()
    if "id" in table and case != "ids that are empty":
        assert found.id.tolist() == table.id.tolist()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_agent_misspelt_is_named_with_its_likely_name(
    tmp_path, monkeypatch, truepool, kind
):
    monkeypatch.chdir(tmp_path)
    OLD.to_csv("old.csv", index=False)
    assert truepool("fit", "old.csv", "--pool", "mean", "-o", "a.pool")[0] == 0
    words = ("score", "a.pool", lay(NEWS["an agent misspelt"], kind), "-o", "out.csv")
    (warning,) = re.findall("^warning: .*", truepool(*words)[2], re.MULTILINE)
    assert ("gbm" in warning, "'gmb'" in warning) == (True, True)
    assert truepool(*words, "--quiet")[2] == ""


@pytest.mark.parametrize("late", [20, 40_000], ids=["first batch", "later batch"])
@pytest.mark.parametrize(
    ("cells", "found"), [("0,5;1", "'0,5'"), ("5%;1", "'5%'"), ("0.5;lots", "'lots'")]
)
def test_a_cell_that_is_written_otherwise_is_named_with_its_row(
    truepool, tmp_path, monkeypatch, late, cells, found
):
    monkeypatch.chdir(tmp_path)
    rows = ["0.2;0.4;0.5;1;0", "0.9;0.6;0.5;1;1"] * 20
    Path("t.csv").write_text("\n".join(["a;b;c;cost;y", *rows]))
    words = ["t.csv", "--cost-fn", "cost", "--pool", "mean", "-o", "t.pool"]
    assert truepool("fit", *words, "--quiet")[0] == 0
    rows = "0.20000000;0.40000000;0.50000000;1\n" * late
    odd = f"0.9;{cells.replace(';', ';0.5;')}\n"
    Path("new.csv").write_text(f"a;b;c;cost\n{rows}{odd}")
    code, out, err = truepool("score", "t.pool", "new.csv", "-o", "out.csv")
    assert (code, out) == (2, "")
    assert (found in err, f"line {late + 2}" in err) == (True, True)
    assert not Path("out.csv").exists()


# Long tables


def test_a_pool_of_a_long_table_takes_wide_ones_too(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [write(tmp_path, FORECASTS), *TABLES[FORECASTS].options, "--pool", "mean"]
    assert truepool("fit", *words, "-o", "long.pool")[0] == 0
    Path("new.csv").write_text("question,rf,gbm,vendor\nQ1,.75,.5,.25\n")
    code, out, err = truepool("score", "long.pool", "new.csv", "--id", "question")
    assert code == 0, err
    name, pooled, _ = out.splitlines()[1].split(",")
    assert (name, float(pooled)) == ('"Q1"', pytest.approx(0.5))


def test_forecasts_are_scored_by_the_time_they_stood(truepool, tmp_path):
    words = [write(tmp_path, FORECASTS), *TABLES[FORECASTS].options, "--pool", "mean"]
    found = []
    for more in ([], ["--set", "updates=time-weighted"]):
        code, out, err = truepool("compare", *words, "--json", "-", *more)
        assert code == 0, err
        found.append(json.loads(out)["rows"][0]["brier"])
    assert "300 cases split into 600 intervals between updates" in err
    assert found[1] > found[0]  # the first forecasts were half noise


def test_a_long_wait_for_updates_is_announced(monkeypatch, capsys):
    panel = Panel([[0.1, 0.2], [0.8, 0.7]] * 2, [0, 0, 1, 1], questions=[1, 1, 2, 2])
    compare._print_size(panel)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(compare, "MANY_ROWS", 3)
    compare._print_size(panel)
    assert "2 cases have 4 rows" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["compare", "fit", "pool"])
def test_cases_are_counted_however_many_intervals_they_are_split_into(
    truepool, tmp_path, verb
):
    path = write(tmp_path, FORECASTS)
    table = pd.read_csv(path, dtype=str)
    table.loc[table.question == table.question[0], "resolved"] = None
    table.to_csv(path, index=False)
    more = {
        "fit": ["-o", tmp_path / "a.pool"],
        "pool": [path, "-o", tmp_path / "o.csv"],
    }
    words = [path, *more.get(verb, []), *TABLES[FORECASTS].options, "--pool", "mean"]
    code, out, err = truepool(verb, *words, "--set", "updates=time-weighted")
    assert code == 0, err
    said = " ".join((out + err).split())
    assert "Intervals of the same question (299 in all) stay in one fold" in said
    assert "1 case has no outcome yet: left out." in said
    positive = table.drop_duplicates("question").resolved.eq("1").sum()
    assert f"1 = positive ({positive} cases), 0 = negative ({299 - positive})" in said


def test_the_cure_for_reports_of_one_day_works_in_every_command(
    truepool, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rows = [f"q{q},{who},{p:.3f},2025-01-{1 + q % 28:02},{q % 2}" for q in range(40)
            for who in "abc" for p in (0.5, 0.2 + 0.5 * (q % 2) + 0.002 * q)]  # fmt: skip
    Path("days.csv").write_text("\n".join(["question,who,p,made,resolved", *rows]))
    table, cure = (
        ("days.csv", "--set", "long=question,who,p"),
        ("--set", "updates=last-row"),
    )
    fit = ("fit", *table, "--pool", "mean", "-o", "f.pool")
    code, _, err = truepool(*fit)
    assert (code, "120 such pairs" in err, " ".join(cure) in err) == (2, True, True)
    assert truepool(*fit, *cure)[0] == 0
    assert truepool("replay", *table, *cure)[0] == 0
    code, out, err = truepool("score", "f.pool", "days.csv")
    assert (code, len(out.splitlines())) == (0, 41), err
    code, _, err = truepool(
        "score", "f.pool", "days.csv", "--set", "updates=time-weighted"
    )
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize("verb", [v for v in ("replay", "game") if v in VERBS])
def test_verbs_that_count_every_case_once_refuse_other_rules(truepool, tmp_path, verb):
    path = write(tmp_path, FORECASTS)
    words = [path, *TABLES[FORECASTS].options, "--set", "updates=time-weighted"]
    code, _, err = truepool(verb, *words)
    assert (code, "updates=time-weighted" in err) == (2, True)
