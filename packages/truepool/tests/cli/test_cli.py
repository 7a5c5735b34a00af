"""The command, as a user runs it: compare, pool and replay."""

import io
import json
import subprocess
import sys
from functools import partial
from importlib.resources import files

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer
from command import EXAMPLE_NOTE
from panels import random_panel
from pyarrow import csv

from truepool import learners, pools
from truepool.cli import screen, verbs
from truepool.core import kernels
from truepool.tables import write_table

EXAMPLE = str(files("truepool.datasets") / "example.csv")
QUICK = ["--pool", "vcg", "--pool", "platt"]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A settled table and a new one with its columns in another order."""
    monkeypatch.chdir(tmp_path)
    panel = random_panel(1, cases=100, silent=0.1)
    columns = {f"m{i}": panel.reports[:, i] for i in range(4)}
    write_table("train.csv", {"id": np.arange(100), **columns, "y": panel.outcomes})
    fresh = {name: column[:10] for name, column in reversed(columns.items())}
    write_table("new.csv", {"id": np.arange(1000, 1010), **fresh})
    return tmp_path


@pytest.fixture
def classes(tables):
    """A table of three classes by name."""
    panel = random_panel(1, classes=3)
    names = np.array(["sepsis", "flu", "none"])
    columns = {f"m{i}:{name}": panel.reports[:, i, k] for i in range(4)
               for k, name in enumerate(names)}  # fmt: skip
    write_table("k.csv", {**columns, "y": names[panel.outcomes]})
    return tables


def said(text):
    return " ".join(text.split())


def value(truepool, *words):
    code, out, err = truepool(*words, "--json", "-")
    assert code == 0, err
    return json.loads(out)


def refused(truepool, *words):
    code, out, err = truepool(*words)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


POOL = ("pool", "train.csv", "new.csv", "-o", "out.csv")


# compare


def test_compare_prints_a_table_a_stranger_can_read(truepool, tmp_path):
    words = ("--cost-fn", 10, *QUICK, "--markdown", tmp_path / "pools.md")
    code, out, err = truepool("compare", *words)
    assert (code, err) == (0, EXAMPLE_NOTE)
    assert "4 pools of 5 agents on 569 cases" in out
    assert "positive is decided above 0.0909" in said(out)
    assert (tmp_path / "pools.md").read_text().count("\n| ") == 5
    out = truepool("compare", *words, "--set", "threshold=.5")[1]
    assert "0.500 (the threshold for these costs is 0.0909)" in said(out)


def test_compare_says_which_pools_must_be_named(truepool):
    names = ("attention", "crowd", "deep-sets", "mlp-2", "mlp-4")
    words = (
        f"Only compared if named: {', '.join(n for n in names if n in pools.every())}."
    )
    assert words in said(truepool("compare")[1])
    assert words not in said(truepool("compare", "--pool", "vcg")[1])


def test_compare_ranks_by_the_loss_that_is_asked_for(truepool):
    found = value(truepool, "compare", EXAMPLE, "--set", "loss=brier", *QUICK)
    assert (found["loss"], found["cases"]) == ("brier", 569)
    losses = [row["loss"]["value"] for row in found["rows"]]
    assert losses == sorted(losses)
    assert {row["pool"] for row in found["rows"]} == {
        "vcg",
        "platt",
        "mean",
        "best-agent",
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--cost-fn 0", "got 0 for fn"),
        ("--cost-fp -1", "got -1.0 for fp"),
        ("--set cost-matrix=0,1,1;1,0,1;1,1,0", "for 2 classes"),
        ("--set cost-matrix=0,x;1,0", "rows of numbers"),
        ("--set cost-matrix=0,1;1", "equally long"),
        ("--set threshold=1.5", "threshold must lie in"),
        ("--pool vgc", "'vcg'?"),
        ("--set loss=brir", "'brier'?"),
        ("--set folds=1", "at least 2 folds"),
        ("--set level=2", "between 0 and 1"),
        ("--outcome malignnt", "--outcome malignant"),
        ("--ignore forst", "--ignore forest"),
    ],
)
def test_bad_options_get_one_sentence(truepool, words, expected):
    assert expected in refused(truepool, "compare", EXAMPLE, *words.split())


def test_a_file_that_is_no_table_gets_one_sentence(truepool, tmp_path):
    (tmp_path / "panel.parquet").write_bytes(b"PAR1 but not really")
    for place in (tmp_path / "panel.parquet", tmp_path):
        assert place.name in refused(truepool, "compare", place)


@pytest.mark.parametrize("verb", ["audit", "compare", "fit", "pool", "replay"])
def test_which_of_three_classes_is_negative_is_not_guessed(truepool, classes, verb):
    more = {"fit": ["-o", "k.pool"], "pool": ["k.csv", "-o", "k.out.csv"]}
    words = [verb, "k.csv", *more.get(verb, [])]
    err = refused(truepool, *words, "--cost-fn", 10)
    assert "sepsis, flu, none" in err
    assert "--set cost-matrix='0,10,10; 1,0,1; 1,1,0'" in err
    assert "cost-tn" in refused(truepool, *words, "--set", "cost-tn=-1")
    matrix = "cost-matrix=0,1,1; 1,0,1; 1,1,0"
    err = refused(truepool, *words, "--set", "cost-matrix=0,1; 1,0")
    assert matrix.replace("=", "='") in err
    if verb == "fit":  # every error costs as much: nothing to guess
        assert truepool(*words, "--cost-fn", 5, "--cost-fp", 5)[0] == 0
        assert truepool(*words, "--set", matrix)[0] == 0


# pool


def test_pool_learns_on_one_table_and_pools_another(truepool, tables):
    code, out, err = truepool(*POOL, "--pool", "vcg", "--cost-fn", 10)
    assert code == 0
    assert (
        err == "read train.csv: 100 cases, agents m0, m1, m2, m3, outcome y, id id.\n"
    )
    written = csv.read_csv("out.csv").to_pydict()
    assert [*written] == ["id", "pooled", "decision"]
    assert written["id"] == list(range(1000, 1010))
    decided = (np.array(written["pooled"]) > 1 / 11).astype(int)
    assert written["decision"] == decided.tolist()
    assert "Scored 10 cases with vcg" in out


def test_pool_chooses_by_itself_and_says_why(truepool, tables):
    code, out, _ = truepool(*POOL[:-1], "out.parquet")
    assert (code, "candidates are combined" in out) == (0, True)
    assert pq.read_table("out.parquet").num_rows == 10


def test_pool_learns_by_the_loss_asked_for(truepool, tables):
    words = (*POOL, "--pool", "vcg", "--set")
    found = [value(truepool, *words, f"loss={loss}") for loss in ("brier", "log")]
    assert found[0]["weights"] != found[1]["weights"]
    assert sum(found[0]["weights"].values()) == pytest.approx(1)
    assert sum(found[0]["decisions"].values()) == found[0]["cases"] == 10


def test_pool_of_classes_writes_a_column_a_class(truepool, classes):
    words = ("pool", "k.csv", "k.csv", "-o", "out.csv", "--pool", "log-odds")
    assert truepool(*words)[0] == 0
    names = csv.read_csv("out.csv").column_names
    assert names == ["pooled:sepsis", "pooled:flu", "pooled:none", "decision"]


@pytest.mark.parametrize("cases", [2, 3, 4, 6, 8])
def test_a_handful_of_cases_is_enough_to_pool(truepool, tables, cases):
    csv.write_csv(csv.read_csv("train.csv").slice(0, cases), "few.csv")
    code, _, err = truepool("pool", "few.csv", *POOL[2:])
    assert code == 0, err
    assert csv.read_csv("out.csv").num_rows == 10


GOOD = "m0,m1,m2,m3,y\n.9,.6,.5,.5,1\n.2,.4,.5,.5,0\n"
BAD = {
    "percentages": (GOOD.replace(".9", "90"), "in line 2"),
    "logits": (GOOD.replace(".9", "-2.5"), "-2.5 in line 2"),
    "outcome 2": (GOOD.replace("5,1\n", "5,2\n"), "--positive 2"),
    "text": (GOOD.replace(".9", "high"), "'high' in line 2"),
    "infinity": (GOOD.replace(".9", "inf"), "inf in line 2"),
    "one text label": (GOOD.replace("5,1\n", "5,a\n").replace("5,0\n", "5,a\n"), "'a'"),
    "one case": ("m0,m1,m2,m3,y\n.9,.6,.5,.5,1\n", "at least 2 cases"),
    "one agent": ("m0,y\n.9,1\n.2,0\n", "at least two agents"),
    "names twice": (GOOD.replace("m1", "m0"), "'m0'"),
    "no outcome": (GOOD.replace(",y", ",x").replace("5,1\n", "5,.1\n"), "--outcome"),
    "other agents": (GOOD.replace("m", "n"), "m0"),
    "empty": ("", "train.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_and_nothing_is_written(truepool, tables, case):
    text, expected = BAD[case]
    (tables / "train.csv").write_text(text)
    (tables / "out.csv").write_text("precious")
    before = sorted(path.name for path in tables.iterdir())
    code, out, err = truepool(*POOL)
    assert (code, out) == (2, "")
    assert expected in err
    assert all(line.startswith("error: ") for line in err.splitlines())
    assert sorted(path.name for path in tables.iterdir()) == before
    assert (tables / "out.csv").read_text() == "precious"


def test_a_bad_new_table_leaves_an_old_result_alone(truepool, tables):
    (tables / "out.csv").write_text("precious")
    write_table("new.csv", {f"m{i}": np.array([50.0]) for i in range(4)})
    code, _, err = truepool(*POOL, "--pool", "mean")
    assert (code, err.count("error: ")) == (2, 4)
    assert (tables / "out.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("m0,m1,m2,m3,y\n.9,.6,.5,,1\n.2,.4,.5,,0\n", "(--ignore m3)"),
        (GOOD.replace("5,1\n", "5,0\n"), "every outcome is 0"),
    ],
    ids=["an agent without reports", "one class"],
)
def test_a_pool_learns_from_what_there_is(truepool, tables, text, warning):
    (tables / "train.csv").write_text(text)
    code, _, err = truepool(*POOL, "--agents", "m*")
    assert code == 0, err
    assert any("warning: " in line and warning in line for line in err.splitlines())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-o train.csv", "twice. Name another file"),
        ("-o .", "is a folder; name a file in it"),
        ("-o out.txt", ".parquet"),
        ("-o out.csv --pool median --set loss=log", "'loss'"),
        ("-o out.csv --id idd", "--set id=id"),
    ],
)
def test_results_that_would_do_harm_are_refused_before_learning(
    truepool, tables, words, expected
):
    before = {path: path.read_bytes() for path in tables.iterdir()}
    assert expected in refused(truepool, *POOL[:3], *words.split())
    assert before == {path: path.read_bytes() for path in tables.iterdir()}


# replay


def test_replay_shows_regret_and_weights(truepool, tmp_path):
    code, out, err = truepool("replay", "--plot", tmp_path / "weights.svg")
    assert (code, err) == (0, EXAMPLE_NOTE)
    assert "569 cases replayed in order, 5 agents" in out
    assert "best in hindsight" in out
    assert (tmp_path / "weights.svg").read_text().startswith("<?xml")


def test_replay_sets_all_learners_side_by_side(truepool, tmp_path):
    words = ("--learner", "wsu", "--plot", tmp_path / "w.svg", "--set", "delay=20")
    code, out, _ = truepool("replay", EXAMPLE, "--all", *words)
    assert (code, "20 outcomes still unknown at the end" in out) == (0, True)
    assert "wsu" in (tmp_path / "w.svg").read_text()
    rows = value(truepool, "replay", EXAMPLE, "--all")
    assert {row["learner"] for row in rows} == {*learners.every()}
    one = value(truepool, "replay", "--learner", "boa", "--set", "recalibrate=true")
    assert (one["learner"], sum(one["weights"].values())) == ("boa", pytest.approx(1))


def test_replay_of_decisions_leaves_out_learners_that_need_slopes(
    truepool, monkeypatch
):
    monkeypatch.setattr(kernels, "online", None)  # nothing is compiled for this loss
    words = ("replay", "--set", "loss=cost", "--cost-fn", 10)
    names = {row["learner"] for row in value(truepool, *words, "--all")}
    assert ("hedge" in names, "gradient" in names) == (True, False)
    assert "convex" in refused(truepool, *words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--learner gradeint", "'gradient'?"),
        ("--set delay=-1", "whole number of cases"),
        ("--plot weights.txt", ".svg, .png, .pdf"),
        ("--plot nowhere/weights.svg", "no folder"),
        ("--plot .", "is a folder"),
        ("--all --set loss=cost --set delay=-1", "whole number of cases"),
        ("--all --set loss=cost --plot weights.svg", "convex"),
    ],
)
def test_bad_replays_get_one_sentence(truepool, words, expected):
    assert expected in refused(truepool, "replay", *words.split())


# The process


def test_help_needs_nothing_heavy():
    code = (
        "import sys; sys.argv = ['truepool', 'fit', '--help']\n"
        "from truepool.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--cost-fn" in answer.stdout
    assert answer.stderr.strip() == "[]"


@pytest.mark.parametrize("verb", ["fit", "pool"])
def test_those_who_look_see_progress(truepool, tables, monkeypatch, verb):
    shown = io.StringIO()
    terminal = partial(screen.Screen, file=shown, force_terminal=True, width=100)
    monkeypatch.setattr(screen, "Screen", lambda **options: terminal())
    words = ("fit", "train.csv", "-o", "a.pool") if verb == "fit" else POOL
    assert truepool(*words, "--pool", "mean")[0] == 0
    assert all(word in shown.getvalue() for word in ("Fitting", "mean"))


def test_an_interrupted_question_ends_the_command(truepool, monkeypatch):
    def stop(**settings):
        raise typer.Abort

    monkeypatch.setattr(verbs, "app", stop)
    assert truepool("demo") == (2, "", "error: stopped\n")
