"""init writes a file of keys with which the other verbs read the table."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy_tables import CASES, TABLES, write

KINDS = pytest.mark.parametrize("kind", TABLES)
BANK, SOC, CLINIC, LONG, TRIAGE, EXPORT = TABLES
ANSWERS = {
    BANK: ['positive = "ja"'],
    SOC: ['positive = "yes"'],
    EXPORT: ['outcome = "fraud"'],
}
"""What a user fills in: the one thing that these tables cannot say."""
MORE = {
    LONG: 'decision-time = "closes"\n',
    EXPORT: 'agents = ["score_*"]\nid = "account"\n',
}
"""What only a user can know of them."""
T = 90
RNG = np.random.default_rng(3)
Y = (np.arange(T) % 3 == 0).astype(int)
P = {n: np.clip(0.25 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
     for n in ("Alpha", "Beta 2", "Gamma")}  # fmt: skip
LABEL = np.where(Y, "yes", "no").astype(object)


@pytest.fixture
def start(tmp_path, monkeypatch, truepool):
    """Write a table and its file of keys; return its name and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(table, *words):
        name = write(tmp_path, table).name if isinstance(table, str) else "t.csv"
        if not isinstance(table, str):
            pd.DataFrame(table).to_csv(name, index=False)
        code, out, err = truepool("init", name, *words)
        assert (code, err) == (0, "")
        return name, out

    return run


def fill_in(*lines, more="", place="pool.toml"):
    """Remove the # of some lines, each of which is there once; add some."""
    text = Path(place).read_text()
    for line in lines:
        (found,) = re.findall(rf"^# ({re.escape(line)}(?:  #.*)?)$", text, re.MULTILINE)
        text = text.replace(f"# {found}", found, 1)
    Path(place).write_text(more + text)
    return tomllib.loads(more + text)


def value(truepool, *words):
    code, out, err = truepool(*words, "--json", "-")
    assert code == 0, err
    return json.loads(out)


def compare(truepool, *words):
    return value(truepool, "compare", *words, "--pool", "mean", "--pool", "vcg")


@KINDS
def test_after_init_the_other_verbs_need_no_option(start, truepool, kind):
    name, _ = start(kind)
    fill_in(*ANSWERS.get(kind, ()), more=MORE.get(kind, ""))
    by_file = compare(truepool, name)
    value(truepool, "fit", name, "--pool", "vcg", "-o", "a.pool")
    code, out, err = truepool("score", "a.pool", name)
    assert (code, len(out.splitlines())) == (0, 1 + CASES), err
    Path("pool.toml").unlink()
    assert compare(truepool, name, *TABLES[kind].options) == by_file


@pytest.mark.parametrize(
    ("kind", "place"),
    [(BANK, "pool.toml"), (SOC, "keys/mine.toml"), (CLINIC, "pool.toml")],
)
def test_the_command_that_init_prints_works_when_it_is_pasted(
    start, truepool, kind, place, tmp_path
):
    (tmp_path / "keys").mkdir()
    _, out = start(kind, *(["-o", place] * (place != "pool.toml")))
    (command,) = re.findall(r"^Next: truepool (.+)$", out, re.MULTILINE)
    assert ("To fill in: " in out) == (kind in ANSWERS)
    if kind in ANSWERS:
        code, _, err = truepool(*shlex.split(command))
        assert (code, "--positive " in err) == (2, True)  # what is left open is asked
    fill_in(*ANSWERS.get(kind, ()), place=place)
    assert value(truepool, *shlex.split(command))["cases"] == TABLES[kind].cases


def test_the_columns_that_may_be_the_outcome_are_no_agents_yet(start, truepool):
    name, _ = start(EXPORT)
    assert "agents" not in tomllib.loads(Path("pool.toml").read_text())
    fill_in('outcome = "fraud"')
    assert "score_rf" in compare(truepool, name)["agents"]


def test_a_file_that_was_not_named_is_not_overwritten(start, truepool):
    name, _ = start(BANK)
    fill_in('positive = "ja"')
    before = Path("pool.toml").read_text()
    code, out, err = truepool("init", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "-o pool.toml" in err
    assert Path("pool.toml").read_text() == before
    words = ("init", name, "-o", "pool.toml", "--ignore", "vendor", "--quiet")
    assert truepool(*words) == (0, "", "")
    found = tomllib.loads(Path("pool.toml").read_text())  # what it said stays
    assert (found["positive"], found["agents"]) == ("ja", ["rf", "gbm"])


def test_a_file_can_be_printed(start, truepool):
    name, _ = start(CLINIC)
    code, out, err = truepool("init", name, "-o", "-")
    assert (code, out) == (0, Path("pool.toml").read_text())
    assert ("relapse" in err, "Next" in err) == (True, False)


def test_numbers_that_are_not_used_are_offered_as_scores_and_as_costs(start, truepool):
    """No column of scores is dropped silently, or taken for an amount."""
    scores = (999 * P["Alpha"]).astype(int)
    name, out = start({**P, "bureau": scores, "country": "DE", "y": Y})
    assert "not used: bureau, country" in out
    given = fill_in(f'scores.bureau = "{scores.min()}-{scores.max()}"')
    words = ("--agents", ",".join([*given["agents"], "bureau"]))
    assert "bureau" in compare(truepool, name, *words)["agents"]
    fill_in('cost-fn = "bureau"', more="")
    Path("pool.toml").write_text(Path("pool.toml").read_text().replace("scores.", "# "))
    assert compare(truepool, name)["costs"]["fn"] == "bureau"


def test_the_costs_of_several_classes_are_a_matrix(start, truepool):
    name, _ = start(TRIAGE)
    fill_in('cost-matrix = "0,1,1; 1,0,1; 1,1,0"')
    assert compare(truepool, name)["costs"]["matrix"][0] == [0, 1, 1]


def test_what_is_wrong_is_said_with_what_is_open(start, truepool):
    words = {n: [*map(str, p)] for n, p in P.items()}
    for column in words.values():
        column[::9] = ["not run"] * 10
    name, out = start({**words, "label": LABEL})
    assert out.count("--set 'missing=not run'") == 3
    assert "To fill in: " in out
    fill_in('positive = "yes"')
    assert truepool("audit", name)[0] == 2
    found = value(truepool, "audit", name, "--set", "missing=not run")
    assert found["cases"] == T - 10


def test_a_long_table_is_found_with_the_time_of_its_reports(start, truepool):
    """Of two dates one is the same in all reports on a case."""
    closes = pd.Timestamp("2026-03-20") + pd.to_timedelta(np.arange(T), "D")
    case = {"question": [f"Q-{t:02}" for t in range(T)], "sort": np.arange(T) % 4,
            "closes": closes.strftime("%d %b %Y"), "result": LABEL}  # fmt: skip
    made = (closes - pd.Timedelta("4D")).strftime("%Y-%m-%d")
    late = [pd.DataFrame(case | {"who": n, "p": p, "made": made}) for n, p in P.items()]
    early = [each.assign(made="2026-01-01", p=0.5) for each in late]
    name, _ = start(pd.concat([*early, *late]))
    found = fill_in('positive = "yes"')
    assert (found["long"], found["time"]) == (["question", "who", "p"], "made")
    decided = (
        "--set",
        "decision-time=closes",
        "--set",
        "time-format=%d %b %Y|%Y-%m-%d",
    )
    for more in ((), decided):
        assert compare(truepool, name, *more)["cases"] == T


def test_whole_percents_of_a_long_table_are_asked_about(start, truepool):
    name, _ = start(
        [{"q": f"Q{t}", "who": n, "p": round(100 * p[t]), "y": Y[t]}
         for t in range(T) for n, p in P.items()]
    )  # fmt: skip
    assert fill_in('scores = "0-100"')["long"] == ["q", "who", "p"]
    assert compare(truepool, name)["cases"] == T


@pytest.mark.parametrize("word", ["split", "pending"])
def test_a_third_label_may_mean_no_outcome(start, truepool, word):
    labels = [*LABEL]
    labels[::10] = [word] * 9
    name, out = start({**P, "gender": ["F", "M"] * 45, "outcome": labels})
    assert re.search("To fill in: |To correct: ", out)
    words = ("--outcome", "outcome", "--positive", "yes", "--set", f"missing={word}")
    assert compare(truepool, name, *words)["cases"] == T - 9


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("none.csv", "none.csv"),
        ("twcie.csv", "twice.csv"),
        ("t.csv -o t.csv", "'t.csv' twice"),
        ("t.csv -o none/pool.toml", "no folder"),
        ("twice.csv", "'a'"),
        ("empty.csv", "empty.csv"),
        ("t.csv --set threshold=0.2", "'threshold'"),
    ],
)
def test_bad_input_is_one_sentence(truepool, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,y\n.1,.2,0\n")
    Path("twice.csv").write_text("a,a,y\n.1,.2,0\n")
    Path("empty.csv").touch()
    before = sorted(tmp_path.iterdir())
    code, out, err = truepool("init", *words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert sorted(tmp_path.iterdir()) == before
