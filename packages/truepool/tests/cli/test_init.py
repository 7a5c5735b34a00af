"""init writes a config file with which the other verbs read the table."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy_tables import CASES, TABLES, write

KINDS = pytest.mark.parametrize("kind", TABLES)
POSITIVE = {"bank.csv": "ja", "soc.tsv": "yes"}
"""What a user fills in: the one thing that these tables cannot say."""


@pytest.fixture
def start(tmp_path, monkeypatch, truepool):
    """Write a table and its config file; return its name and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(kind):
        name = write(tmp_path, kind).name
        code, out, err = truepool("init", name)
        assert (code, err) == (0, "")
        return name, out

    return run


def fill_in(name):
    """Remove the # of the one line that is to be filled in, if there is one."""
    file = Path("pool.toml")
    text = file.read_text()
    if name in POSITIVE:
        line = f'# positive = "{POSITIVE[name]}"'
        assert line in text
        text = text.replace(line, line[2:])
    file.write_text(text)


@KINDS
def test_after_init_the_other_verbs_need_the_config_file_only(start, truepool, kind):
    name, _ = start(kind)
    fill_in(name)
    by_file = ("--config", "pool.toml")
    pools = ("--pool", "mean", "--pool", "vcg", "--json")
    code, found, err = truepool("compare", name, *by_file, *pools)
    assert code == 0, err
    by_options = truepool("compare", name, *TABLES[kind].options, *pools)[1]
    assert found == by_options
    code, _, err = truepool("fit", name, *by_file, "--pool", "vcg", "-o", "a.pool")
    assert code == 0, err
    code, out, err = truepool("score", "a.pool", name, *by_file)
    assert code == 0, err
    assert len(out.splitlines()) == 1 + CASES


@KINDS
def test_the_command_that_init_prints_works_when_it_is_pasted(start, truepool, kind):
    name, out = start(kind)
    (command,) = re.findall(r"^Next: truepool (.+)$", out, re.MULTILINE)
    if name in POSITIVE:
        assert "To fill in: which label are the reports probabilities of?" in out
        assert command.endswith(" --positive LABEL")
        command = command.replace("LABEL", POSITIVE[name])
    else:
        assert "To fill in" not in out
    code, shown, err = truepool(*shlex.split(command), "--json")
    assert code == 0, err
    assert json.loads(shown)["cases"] == TABLES[kind].cases


def test_a_label_that_is_not_filled_in_is_asked_for(start, truepool):
    name, _ = start("tabs, yes and no, newest outcomes missing")
    code, out, err = truepool("compare", name, "--config", "pool.toml")
    assert (code, out) == (2, "")
    assert "Which label do the reports give the probability of" in err


def test_a_file_that_was_not_named_is_not_overwritten(start, truepool):
    name, _ = start("a sheet of Excel")
    Path("pool.toml").write_text("mine")
    code, out, err = truepool("init", name)
    assert (code, out) == (2, "")
    assert err == (
        "error: 'pool.toml' already exists; to overwrite it, name it (-o pool.toml)\n"
    )
    assert Path("pool.toml").read_text() == "mine"
    assert truepool("init", name, "-o", "pool.toml", "--quiet") == (0, "", "")
    assert 'outcome = "relapse"' in Path("pool.toml").read_text()


def test_amounts_are_offered_as_costs_of_each_case(start, truepool):
    name, _ = start("ids and other columns, agents by pattern")
    file = Path("pool.toml")
    line = '# cost-fn = "amount"  # or the amount of each case'
    assert line in file.read_text()
    file.write_text(file.read_text().replace(line, line[2:]))
    words = ("--config", "pool.toml", "--pool", "mean", "--json")
    code, out, err = truepool("compare", name, *words)
    assert code == 0, err
    assert json.loads(out)["costs"]["fn"] == "amount"


def test_a_config_file_can_be_printed(start, truepool):
    name, _ = start("a sheet of Excel")
    code, out, err = truepool("init", name, "-o", "-")
    assert code == 0
    assert out == Path("pool.toml").read_text()
    assert "outcome: relapse" in err
    assert "Next" not in err


def test_what_a_table_cannot_say_is_one_line_each(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = np.arange(40) % 2
    days = pd.date_range("2026-01-01", periods=40).astype(str)
    table = {"a": 30.5 + y, "b": 20.5 + y, "seen": y, "kept": y, "d": days, "e": days}
    table["a"][0], table["b"][0] = 99.0, 1.0
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, _ = truepool("init", "t.csv")
    assert code == 0
    assert "To fill in: are the reports percentages?\n" in out
    assert "To fill in: which column holds the outcome? 'seen', 'kept'.\n" in out
    assert "Optional: which column dates the cases? 'd', 'e'.\n" in out
    assert (
        "To fill in: which columns hold the reports of agents? 'a', 'b'. Leave out "
        "those that are none.\n"
    ) in out
    end = "--config pool.toml --agents a,b --percent --outcome COLUMN\n"
    assert out.endswith(end)
    words = "--agents a,b --percent --outcome seen --pool mean --json".split()
    assert truepool("compare", "t.csv", "--config", "pool.toml", *words)[0] == 0


def test_a_column_that_may_be_no_agent_is_asked_about_with_the_cure(
    truepool, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    table = {n: rng.beta(2 + 2 * y, 4 - 2 * y).round(3) for n in ("a", "b")}
    table |= {"list discount": rng.choice([0, 0.05, 0.1], 400), "y": y}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, _ = truepool("init", "t.csv")
    assert code == 0
    assert "To check: is 'list discount' an agent? It has only 3 different" in out
    assert "If not, add --ignore 'list discount', or remove the # of the" in out
    fit = ("fit", "t.csv", "--pool", "mean", "-o", "a.pool")
    code, _, err = truepool(*fit)
    assert code == 0
    assert "warning: column 'list discount' may be no agent: it has only 3" in err
    words = ("--config", "pool.toml", "--ignore", "list discount")
    code, _, err = truepool(*fit, *words)
    assert (code, err) == (0, "Agents: a, b.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.csv"], "there is no file 'none.csv'"),
        (["twcie.csv"], "there is no file 'twcie.csv' (did you mean 'twice.csv'?)"),
        (["t.csv", "-o", "t.csv"], "got 't.csv' twice"),
        (["t.csv", "-o", "none/pool.toml"], "there is no folder"),
        (["twice.csv"], "column names must be unique; got 'a' more than once"),
    ],
)
def test_bad_input_is_one_sentence(truepool, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,y\n.1,.2,0\n")
    Path("twice.csv").write_text("a,a,y\n.1,.2,0\n")
    code, out, err = truepool("init", *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "twice.csv"]


def test_a_missing_table_is_said_before_a_config_file_that_is_there(
    truepool, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("pool.toml").touch()
    code, _, err = truepool("init", "none.csv")
    assert (code, err) == (2, "error: there is no file 'none.csv'\n")


def test_a_table_that_cannot_be_read_yet_says_why(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{t % 7 / 10}{'%' * (t > 3)},{t % 5 / 10},{t % 2}" for t in range(20)]
    Path("t.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    code, out, _ = truepool("init", "t.csv")
    assert code == 0
    assert "The table cannot be read yet: with --percent either all reports" in out


def test_the_mean_report_of_percentages_is_one(tmp_path, truepool, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{i},{20 + 6 * i} %,{25 + 5 * i} %,{'no yes'.split()[i > 4]}"
        for i in range(10)
    ]
    Path("t.csv").write_text("id,a,b,label\n" + "\n".join(rows) + "\n")
    _, out, _ = truepool("init", "t.csv")
    assert "'yes' (5 rows; the mean report there is 61 %)" in out


def test_the_costs_of_several_classes_are_asked_for_on_screen(
    tmp_path, truepool, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    names = ("low", "mid", "high")
    header = [f"{agent}:{name}" for agent in ("a", "b") for name in names]
    rows = [
        f"0.{30 + i},0.{50 - 2 * i},0.{20 + i},"
        f"0.{20 + i},0.{50 - 2 * i},0.{30 + i},{names[i % 3]}"
        for i in range(12)
    ]
    Path("t.csv").write_text(
        ",".join([*header, "level"]) + "\n" + "\n".join(rows) + "\n"
    )
    _, out, _ = truepool("init", "t.csv")
    assert (
        "in the order low, mid, high, as in --cost-matrix '0,1,1; 1,0,1; 1,1,0'."
        in (" ".join(out.split()))
    )


def test_each_column_that_may_be_the_outcome_has_its_labels(truepool, folder_of_two):
    text = Path("pool.toml").read_text()
    lines = [line.partition("  #")[0] for line in text.splitlines()]
    at = lines.index('# outcome = "first"')
    assert {*lines[at + 1 : at + 3]} == {'# positive = "bad"', '# positive = "good"'}
    assert lines[lines.index('# outcome = "second"') + 1].startswith("# positive = ")
    assert '# by = "first"' not in lines
    assert '# by = "country"' in lines
    for line in ('# outcome = "first"', '# positive = "bad"'):
        text = text.replace(line, line[2:], 1)
    code, _, err = truepool("compare", folder_of_two, "--config", "pool.toml")
    assert code == 2
    Path("pool.toml").write_text(text)
    assert "answer the question about it in the config file" in err
    code, _, err = truepool("compare", folder_of_two, "--config", "pool.toml")
    assert code == 0, err


@pytest.fixture
def folder_of_two(tmp_path, monkeypatch, truepool):
    """A table with two columns that may be the outcome, after init."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    bad = rng.random(200) < 0.4
    table = {
        "ann": rng.random(200).round(3), "bob": (0.3 * bad + 0.6 * rng.random(200)).round(3),
        "first": np.where(bad, "bad", "good"),
        "second": rng.choice(["left", "right"], 200),
        "country": rng.choice(["CH", "DE", "FR"], 200),
    }  # fmt: skip
    pd.DataFrame(table).to_csv("two.csv", index=False)
    assert truepool("init", "two.csv")[0] == 0
    return "two.csv"
