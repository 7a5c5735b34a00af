"""Tables as people export them go through the verbs with options only."""

import json
from pathlib import Path

import pandas as pd
import pytest
from command import VERBS
from messy_tables import TABLES, write
from numpy.testing import assert_allclose

from truepool.cli import compare, config
from truepool.panel.panel import Panel
from truepool.tables import read_column_names

KINDS = pytest.mark.parametrize("kind", TABLES)


@KINDS
def test_every_messy_table_is_audited(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    code, out, err = truepool("audit", path, *table.options, "--json")
    assert code == 0, err
    assert f"Agents: {', '.join(table.agents)}." in err
    assert json.loads(out)["cases"] == table.cases


@KINDS
def test_every_messy_table_is_compared(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    code, out, err = truepool(
        "compare", path, *table.options, "--pool", "mean", "--pool", "vcg", "--json"
    )
    assert code == 0, err
    assert json.loads(out)["cases"] == table.cases


@KINDS
def test_every_messy_table_is_pooled(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    output = tmp_path / "pooled.csv"
    code, _, err = truepool(
        "pool", path, path, *table.options, "-o", output, "--pool", "mean"
    )
    assert code == 0, err
    assert "decision" in read_column_names(output)


def options_of_new(kind):
    """Options of the table that new cases need too: the pool knows the others."""
    words, remaining = list(TABLES[kind].options), []
    while words:
        size = next((i for i, w in enumerate(words[1:]) if w.startswith("--")), None)
        option = words[: len(words) if size is None else size + 1]
        words = words[len(option) :]
        if option[0].removeprefix("--") in config.VERBS["score"]:
            remaining += option
    return remaining


@KINDS
def test_every_messy_table_is_fitted_and_scored_as_it_is_pooled(
    tmp_path, truepool, kind
):
    path, table = write(tmp_path, kind), TABLES[kind]
    pooled, scored = tmp_path / "pooled.csv", tmp_path / "scored.csv"
    rule = ("--pool", "vcg")
    assert truepool("pool", path, path, *table.options, *rule, "-o", pooled)[0] == 0
    saved = tmp_path / "a.pool"
    assert truepool("fit", path, *table.options, *rule, "-o", saved)[0] == 0
    code, _, err = truepool(
        "score", saved, path, *options_of_new(kind), "-o", scored, "--quiet"
    )
    assert code == 0, err
    found = pd.read_csv(scored, dtype=str)
    reported = found[found.decision.notna()].reset_index(drop=True)
    expected = pd.read_csv(pooled, dtype=str)
    assert list(found.columns) == list(expected.columns)
    numbers = [name for name in found.columns if name.startswith("pooled")]
    # Batches are pooled column by column, whole tables row by row: the order of a sum.
    assert_allclose(
        reported[numbers].astype(float), expected[numbers].astype(float), rtol=1e-14
    )
    others = expected.columns.drop(numbers)
    pd.testing.assert_frame_equal(reported[others], expected[others])


@KINDS
def test_a_saved_pool_remembers_how_its_table_was_written(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    saved, pooled, scored = tmp_path / "a.pool", tmp_path / "b.csv", tmp_path / "c.csv"
    truepool("fit", path, *table.options, "--pool", "vcg", "-o", saved)
    assert truepool("score", saved, path, *options_of_new(kind), "-o", pooled)[0] == 0
    code, _, err = truepool("score", saved, path, "-o", scored)
    assert code == 0, err
    assert scored.read_bytes() == pooled.read_bytes()


BANK = "semicolons and decimal commas, in percent"


@pytest.fixture
def bank(tmp_path, truepool, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [write(tmp_path, BANK), *TABLES[BANK].options, "--pool", "mean"]
    assert truepool("fit", *words, "-o", "bank.pool")[0] == 0


def test_what_the_options_say_wins(bank, truepool, tmp_path):
    rows = "rf,gbm,vendor\n.61,.5,.3\n.1,,.5\n"
    (tmp_path / "new.csv").write_text(rows)
    words = ["--no-percent", "--decimal", ".", "--json"]
    code, out, err = truepool("score", "bank.pool", "new.csv", *words)
    assert code == 0, err
    first, second = map(json.loads, out.splitlines())
    assert first == {"pooled": pytest.approx(0.47), "decision": 0}
    assert second["pooled"] == pytest.approx(0.3)


def test_a_config_file_may_say_that_new_cases_are_probabilities(
    bank, truepool, tmp_path
):
    (tmp_path / "new.csv").write_text("rf,gbm,vendor\n.61,.5,.3\n")
    (tmp_path / "pool.toml").write_text('[score]\npercent = false\ndecimal = "."\n')
    words = ["bank.pool", "new.csv", "--config", "pool.toml", "--quiet"]
    code, out, err = truepool("score", *words)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("0.47")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("new.csv", "rf;gbm;vendor\n0,61;0,5;0,3\n;0,5;0,9\n"),
        ("new.jsonl", '{"rf": 0.61, "gbm": 1}\n'),
    ],
)
def test_probabilities_are_not_taken_for_percentages(
    bank, truepool, tmp_path, name, text
):
    (tmp_path / name).write_text(text)
    code, out, err = truepool("score", "bank.pool", name)
    assert (code, out) == (2, "")
    assert "may be probabilities. Pass --percent" in err
    assert truepool("score", "bank.pool", name, "--percent")[0] == 0


def test_new_cases_need_no_id_because_the_old_ones_had_one(bank, truepool, tmp_path):
    (tmp_path / "new.csv").write_text("rf;gbm;vendor\n61%;50%;30%\n")
    code, out, _ = truepool("score", "bank.pool", "new.csv", "--quiet")
    assert code == 0
    assert out.splitlines()[0] == '"pooled","decision"'


def test_a_pool_of_a_long_table_takes_wide_ones_too(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind = "long forecasts with updates"
    words = [write(tmp_path, kind), *TABLES[kind].options, "--pool", "mean"]
    assert truepool("fit", *words, "-o", "long.pool")[0] == 0
    (tmp_path / "new.csv").write_text("question,rf,gbm,vendor\nQ1,.75,.5,.25\n")
    code, out, err = truepool("score", "long.pool", "new.csv", "--id", "question")
    assert code == 0, err
    assert out.splitlines()[1].startswith('"Q1",0.')
    (tmp_path / "new.jsonl").write_text('{"rf": 0.6, "gbm": 0.4}\n')
    assert truepool("score", "long.pool", "new.jsonl")[0] == 0


def test_the_card_of_a_pool_shows_how_its_table_was_written(bank, truepool):
    out = truepool("show", "bank.pool")[1]
    assert "--time-format %d.%m.%Y" in " ".join(out.split())
    known = json.loads(truepool("show", "bank.pool", "--json")[1])["table"]
    assert (known["decimal"], known["percent"], known["id"]) == (",", True, "konto")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [("--no-percent", "--percent"), ("--decimal .", "--decimal")],
)
def test_new_cases_written_otherwise_are_refused_with_the_cure(
    bank, truepool, words, sentence
):
    code, out, err = truepool("score", "bank.pool", "bank.csv", *words.split())
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("late", [1, 40_000], ids=["first batch", "later batch"])
@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ("0,5;1", "column 'b' has '0,5' in line {} of the file. It also has '0.4"),
        ("5%;1", "column 'b' has '5%' in line {} of the file. Write 0.05, without"),
        ("0.5;1,500", "the cost of a case must be a number; column 'cost' has '1,500'"),
    ],
)
def test_a_cell_that_is_written_otherwise_is_named_with_row_and_cure(
    truepool, tmp_path, monkeypatch, late, cells, sentence
):
    monkeypatch.chdir(tmp_path)
    rows = ["0.2;0.4;0.5;1;0", "0.9;0.6;0.5;1;1"] * 20
    Path("t.csv").write_text("\n".join(["a;b;c;cost;y", *rows]))
    words = ["t.csv", "--cost-fn", "cost", "--pool", "mean", "-o", "t.pool"]
    assert truepool("fit", *words, "--quiet")[0] == 0
    Path("new.csv").write_text(
        "a;b;c;cost\n" + "0.20000000;0.40000000;0.50000000;1\n" * late
        + f"0.9;{cells.replace(';', ';0.5;')}\n"
    )  # fmt: skip
    code, out, err = truepool("score", "t.pool", "new.csv", "-o", "out.csv")
    assert (code, out) == (2, "")
    assert sentence.format(late + 2) in err
    assert not Path("out.csv").exists()


def test_another_separator_than_at_the_fit_is_named(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["0.2;0.4;0", "0.9;0.6;1"] * 20
    Path("t.csv").write_text("\n".join(["a;b;y", *rows]))
    words = ["t.csv", "--sep", ";", "--pool", "mean", "-o", "t.pool"]
    assert truepool("fit", *words, "--quiet")[0] == 0
    Path("new.csv").write_text("a,b\n0.2,0.4\n")
    code, out, err = truepool("score", "t.pool", "new.csv")
    assert (code, out) == (2, "")
    assert err.endswith("the first line has none, but commas. Pass --sep ,.\n")
    assert truepool("score", "t.pool", "new.csv", "--sep", ",")[0] == 0


def test_an_agent_misspelt_in_json_lines_is_counted_once(bank, truepool, tmp_path):
    lines = ['{"rf": 61, "gbm": 50, "vndor": 30, "note": "x"}'] * 2
    (tmp_path / "new.jsonl").write_text("\n".join([*lines, '{"rf": 20, "gbm": 4}']))
    code, out, err = truepool("score", "bank.pool", "new.jsonl")
    assert (code, len(out.splitlines())) == (0, 3)
    assert err.splitlines()[1:] == [
        "warning: no case has a report of 'vendor'.",
        "warning: 2 lines have 'vndor', which is not an agent of the pool (did you mean "
        "'vendor'?).",
    ]
    assert truepool("score", "bank.pool", "new.jsonl", "--quiet")[2] == ""
    (tmp_path / "new.jsonl").write_text('{"rf": 1, "gbm": 5, "vendor": 3, "vndor": 4}')
    assert "warning" not in truepool("score", "bank.pool", "new.jsonl")[2]


FORECASTS = "long forecasts with updates"


def test_forecasts_are_scored_by_the_time_they_stood(truepool, tmp_path):
    words = [write(tmp_path, FORECASTS), *TABLES[FORECASTS].options, "--pool", "mean"]
    code, out, err = truepool("compare", *words, "--json")
    last = json.loads(out)["rows"][0]["brier"]
    code, out, err = truepool("compare", *words, "--json", "--updates", "time-weighted")
    assert code == 0
    assert "300 cases split into 600 intervals between updates" in err
    stood = json.loads(out)["rows"][0]["brier"]
    assert stood > last  # the first forecasts were half noise


def test_a_long_wait_for_updates_is_announced(monkeypatch, capsys):
    panel = Panel([[0.1, 0.2], [0.8, 0.7]] * 2, [0, 0, 1, 1], questions=[1, 1, 2, 2])
    compare._print_size(panel)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(compare, "MANY_ROWS", 3)
    compare._print_size(panel)
    assert "2 cases have 4 rows, one for each time" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["compare", "fit", "pool"])
def test_cases_are_counted_however_many_intervals_they_are_split_into(
    truepool, tmp_path, verb
):
    path = write(tmp_path, FORECASTS)
    table = pd.read_csv(path, dtype=str)
    table.loc[table.question == table.question[0], "resolved"] = None
    table.to_csv(path, index=False)
    saved = [] if verb == "compare" else ["-o", tmp_path / f"out.{SUFFIX[verb]}"]
    words = [
        verb,
        path,
        *([path] if verb == "pool" else []),
        *TABLES[FORECASTS].options,
    ]
    more = ["--pool", "mean", "--updates", "time-weighted", *saved]
    code, out, err = truepool(*words, *more)
    assert code == 0, err
    said = " ".join((out + err).split())
    assert "None" not in said
    assert "Intervals of the same question (299 in all) stay in one fold" in said
    assert (
        "Each interval counts by its share of the time that the case was open." in said
    )
    assert "1 case has no outcome yet: left out." in said
    positive = table.drop_duplicates("question").resolved.eq("1").sum()
    assert f"1 = positive ({positive} cases), 0 = negative ({299 - positive})" in said


SUFFIX = {"fit": "pool", "pool": "csv"}


@pytest.fixture
def same_day(tmp_path, monkeypatch):
    """Forecasts of which some agents made two on one day."""
    monkeypatch.chdir(tmp_path)
    rows = ["question,who,p,made,resolved"]
    for q in range(40):
        for who in "abc":
            for p in (0.5, 0.2 + 0.5 * (q % 2) + 0.002 * q):
                rows.append(f"q{q},{who},{p:.3f},2025-01-{1 + q % 28:02},{q % 2}")
    Path("days.csv").write_text("\n".join(rows) + "\n")
    return ["days.csv", "--config", "c.toml"]


def test_the_cure_for_reports_of_one_day_works_in_every_command(truepool, same_day):
    code, out, _ = truepool("init", "days.csv", "-o", "c.toml")
    said = " ".join(out.split())
    assert "(120 such pairs in all)" in said
    assert "Next:" not in said
    assert "Once it can be read: truepool audit days.csv --config c.toml" in said
    fit = ["fit", *same_day, "--pool", "mean", "-o", "f.pool"]
    assert truepool(*fit)[0] == 2
    assert truepool(*fit, "--updates", "last-row")[0] == 0
    code, out, err = truepool("score", "f.pool", "days.csv")
    assert (code, len(out.splitlines())) == (0, 41), err
    assert truepool("replay", *same_day, "--updates", "last-row")[0] == 0
    code, _, err = truepool("score", "f.pool", "days.csv", "--updates", "time-weighted")
    assert code == 2
    assert "new cases are decided by the last report of each agent" in err
    assert truepool("score", "f.pool", "days.csv", "--updates", "last")[0] == 2


@pytest.mark.parametrize("verb", [v for v in ("replay", "game") if v in VERBS])
def test_verbs_that_count_every_case_once_refuse_other_rules(truepool, tmp_path, verb):
    path = write(tmp_path, FORECASTS)
    words = [*TABLES[FORECASTS].options, "--updates", "time-weighted"]
    code, _, err = truepool(verb, *([path] if verb == "replay" else []), *words)
    assert code == 2
    assert "got --updates time-weighted. Leave it out." in err


def test_a_long_table_with_a_column_per_class_is_refused_with_the_way_out(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"{i},{who},0.{i}2,0.{9 - i}8,{'ny'[i > 4]}\n" for i in range(9) for who in "ab"
    )
    Path("t.csv").write_text(f"case,agent,p_n,p_y,y\n{rows}")
    way = "Of two classes, name the column of the positive one; of more, write one row"
    for columns in ("case agent p", "case agent p_n p_y"):
        code, _, err = truepool("audit", "t.csv", "--long", *columns.split())
        assert code == 2
        assert way in err
    words = "--long case agent p_y --positive y --pool mean -o t.pool".split()
    assert truepool("fit", "t.csv", *words)[0] == 0
    code, _, err = truepool(
        "audit", "t.csv", "u.csv", "--long", *"case agent p".split()
    )
    assert (code, way in err) == (2, False)
