"""The command, as a user runs it."""

import json
import re
import subprocess
import sys
from functools import partial
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from command import EXAMPLE_NOTE
from panels import random_panel
from pyarrow import csv

from truepool import learners, pools
from truepool.cli import verbs
from truepool.core import kernels
from truepool.tables import write_table

EXAMPLE = str(files("truepool.datasets") / "example.csv")
QUICK = ["--pool", "vcg", "--pool", "platt"]


@pytest.fixture
def tables(tmp_path):
    """A settled table and a new one with its columns in another order."""
    panel = random_panel(1, cases=100, silent=0.1)
    columns = {f"m{i}": panel.reports[:, i] for i in range(4)}
    settled = {"id": np.arange(100), **columns, "y": panel.outcomes}
    write_table(tmp_path / "train.csv", settled)
    fresh = {name: column[:10] for name, column in reversed(columns.items())}
    write_table(tmp_path / "new.csv", {"id": np.arange(1000, 1010), **fresh})
    return tmp_path


def test_compare_prints_a_table_a_stranger_can_read(truepool):
    code, out, err = truepool("compare", "--cost-fn", 10, *QUICK)
    assert (code, err) == (0, EXAMPLE_NOTE)
    assert "4 pools of 5 agents on 569 cases" in out
    assert (
        "A missed case costs 10, a false alarm 1; positive is decided above 0.0909"
        in out
    )
    assert re.search(r"^vcg +0\.\d+ \[", out, re.MULTILINE)
    assert "Lowest:" in out


def test_compare_says_which_pools_must_be_named(truepool):
    every = pools.every()
    named = ("attention", "crowd", "deep-sets", "mlp-2", "mlp-4")
    words = f"Only compared if named: {', '.join(n for n in named if n in every)}."
    _, out, _ = truepool("compare")
    assert words in " ".join(out.split())
    assert words not in " ".join(truepool("compare", "--pool", "vcg")[1].split())


def test_compare_reads_a_table(truepool):
    code, out, _ = truepool("compare", EXAMPLE, "--outcome", "malignant", *QUICK)
    assert code == 0
    assert "569 cases" in out


def test_compare_tells_machines_in_json(truepool):
    code, out, _ = truepool("compare", "--json", "--loss", "brier", *QUICK)
    result = json.loads(out)
    assert code == 0
    assert result["loss"] == "brier"
    assert {row["pool"] for row in result["rows"]} == {
        "vcg",
        "platt",
        "mean",
        "best-agent",
    }
    assert result["rows"][0]["loss"]["low"] <= result["rows"][0]["loss"]["value"]


def test_compare_writes_markdown(truepool, tmp_path):
    path = tmp_path / "pools.md"
    code, out, _ = truepool("compare", "--markdown", path, "--threshold", 0.5, *QUICK)
    assert code == 0
    assert "4 pools of 5 agents" in out
    text = path.read_text()
    assert "| pool | cost per case |" in text
    assert text.count("\n| ") == 5


def test_compare_says_when_the_threshold_is_not_what_the_costs_ask_for(truepool):
    _, out, _ = truepool("compare", "--threshold", 0.5, "--cost-fn", 10, *QUICK)
    assert "decided above 0.500 (the threshold for these costs is 0.0909)" in out


def test_compare_knows_classes_and_cost_matrices(truepool, tmp_path):
    panel = random_panel(1, classes=3)
    columns = {f"m{i}:{k}": panel.reports[:, i, k] for i in range(4) for k in range(3)}
    write_table(tmp_path / "panel.csv", {**columns, "y": panel.outcomes})
    matrix = "0,1,1; 10,0,1; 10,1,0"
    code, out, _ = truepool(
        "compare", tmp_path / "panel.csv", "--cost-matrix", matrix, *QUICK
    )
    assert code == 0
    assert "errors cost 1 to 10 by the cost matrix, most of all deciding class 0" in out


def test_pool_learns_on_one_table_and_pools_another(truepool, tables):
    out_file = tables / "out.csv"
    code, out, err = truepool(
        "pool", tables / "train.csv", tables / "new.csv", "-o", out_file,
        "--pool", "vcg", "--cost-fn", 10,
    )  # fmt: skip
    assert (code, err) == (0, "Agents: m0, m1, m2, m3.\n")
    written = csv.read_csv(out_file).to_pydict()
    assert written["id"] == list(range(1000, 1010))
    assert set(written) == {"id", "pooled", "decision"}
    decided = (np.array(written["pooled"]) > 1 / 11).astype(int)
    assert written["decision"] == decided.tolist()
    assert re.search(r"^m0 +\d+\.\d %", out, re.MULTILINE)
    assert "Pooled 10 cases with vcg" in out


def test_pool_chooses_by_itself_and_says_why(truepool, tables):
    code, out, _ = truepool(
        "pool", tables / "train.csv", tables / "new.csv", "-o", tables / "out.parquet"
    )
    assert code == 0
    assert "candidates are combined" in out
    assert pq.read_table(tables / "out.parquet").num_rows == 10


def test_pool_tells_machines_in_json(truepool, tables):
    code, out, _ = truepool(
        "pool", tables / "train.csv", tables / "new.csv", "-o", tables / "out.csv",
        "--pool", "brier", "--json",
    )  # fmt: skip
    result = json.loads(out)
    assert code == 0
    assert result["pool"] == "brier"
    assert sum(result["weights"].values()) == pytest.approx(1)
    assert sum(result["decisions"].values()) == 10


@pytest.mark.parametrize("verb", ["audit", "compare", "fit", "pool", "replay"])
def test_which_of_three_classes_is_negative_is_not_guessed(truepool, tmp_path, verb):
    panel = random_panel(1, classes=3)
    names = np.array(["sepsis", "flu", "none"])
    columns = {
        f"m{i}:{name}": panel.reports[:, i, k]
        for i in range(len(panel.agents))
        for k, name in enumerate(names)
    }
    table = pa.table(columns | {"y": names[panel.outcomes]})
    csv.write_csv(table, tmp_path / "k.csv")
    more = {"fit": ["-o", tmp_path / "k.pool"]}.get(verb, [])
    if verb == "pool":
        more = [tmp_path / "k.csv", "-o", tmp_path / "out.csv"]
    words = [verb, tmp_path / "k.csv", *more]
    code, out, err = truepool(*words, "--cost-fn", 10)
    assert (code, out) == (2, "")
    assert err == (
        "error: --cost-fn is for two classes, of which one is positive; there are 3. "
        "Give one row of costs per true class and one column per decision, in the "
        "order sepsis, flu, none: --cost-matrix '0,10,10; 1,0,1; 1,1,0' if missing "
        "sepsis costs 10 and any other error 1.\n"
    )
    assert "--cost-tn is for two classes" in truepool(*words, "--cost-tn", -1)[2]
    code, out, err = truepool(*words, "--cost-matrix", "0,1; 1,0")
    assert (code, out) == (2, "")
    assert err == (
        "error: a cost matrix must have one row of costs per true class and one column "
        "per decision, in the order sepsis, flu, none; got 2 x 2 for 3 classes. For "
        "example: --cost-matrix '0,1,1; 1,0,1; 1,1,0'.\n"
    )
    if verb == "fit":  # every error costs as much: nothing to guess
        assert truepool(*words, "--cost-fn", 5, "--cost-fp", 5)[0] == 0


def test_pool_of_classes_writes_a_column_a_class(truepool, tmp_path):
    panel = random_panel(1, classes=3)
    columns = {f"m{i}:{k}": panel.reports[:, i, k] for i in range(4) for k in range(3)}
    write_table(tmp_path / "train.csv", {**columns, "y": panel.outcomes})
    code, _, _ = truepool(
        "pool", tmp_path / "train.csv", tmp_path / "train.csv", "-o", tmp_path / "out.csv",
        "--pool", "log-odds",
    )  # fmt: skip
    assert code == 0
    names = csv.read_csv(tmp_path / "out.csv").column_names
    assert names == ["pooled:0", "pooled:1", "pooled:2", "decision"]


def test_replay_shows_regret_and_weights(truepool, tmp_path):
    code, out, err = truepool("replay", "--plot", tmp_path / "weights.svg")
    assert (code, err) == (0, EXAMPLE_NOTE)
    assert "569 cases replayed in order, 5 agents" in out
    assert re.search(r"^gradient +0\.\d+ +[+-]\d", out, re.MULTILINE)
    assert "best in hindsight" in out
    assert (tmp_path / "weights.svg").read_text().startswith("<?xml")


def test_replay_sets_all_learners_side_by_side(truepool):
    code, out, _ = truepool(
        "replay", EXAMPLE, "--outcome", "malignant", "--all", "--delay", 20
    )
    assert code == 0
    for name in learners.every():
        assert re.search(rf"^{name} ", out, re.MULTILINE), name
    assert "20 outcomes still unknown at the end" in out


def test_replay_of_all_draws_the_learner_asked_for(truepool, tmp_path):
    code, _, _ = truepool(
        "replay", "--all", "--learner", "wsu", "--plot", tmp_path / "w.svg"
    )
    assert code == 0
    assert "wsu" in (tmp_path / "w.svg").read_text()


def test_replay_of_decisions_leaves_out_learners_that_need_slopes(
    truepool, monkeypatch
):
    monkeypatch.setattr(kernels, "online", None)  # nothing is compiled for this loss
    code, out, _ = truepool("replay", "--all", "--loss", "cost", "--cost-fn", 10)
    assert code == 0
    assert "hedge" in out
    assert "gradient" not in out
    code, _, err = truepool("replay", "--loss", "cost")
    assert code == 2
    assert "convex" in err


def test_replay_tells_machines_in_json(truepool):
    code, out, _ = truepool("replay", "--json", "--learner", "boa", "--recalibrate")
    result = json.loads(out)
    assert code == 0
    assert result["learner"] == "boa"
    assert sum(result["weights"].values()) == pytest.approx(1)
    assert isinstance(json.loads(truepool("replay", "--json", "--all")[1]), list)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--learner", "gradeint"], "did you mean 'gradient'?"),
        (["--delay", -1], "whole number of cases"),
        (["--plot", "weights.txt"], "is written as .svg, .png, .pdf"),
        (["--plot", "nowhere/weights.svg"], "no folder"),
        (["--plot", "."], "is a folder"),
        (["--all", "--loss", "cost", "--delay", -1], "whole number of cases"),
        (["--all", "--loss", "cost", "--plot", "weights.svg"], "convex"),
    ],
)
def test_bad_replays_get_one_sentence(truepool, words, expected):
    code, out, err = truepool("replay", *words)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1


def settled(text):
    return lambda folder: (folder / "train.csv").write_text(text)


GOOD = "m0,m1,m2,m3,y\n.9,.6,.5,.5,1\n.2,.4,.5,.5,0\n"
BAD = {
    "percentages": (settled(GOOD.replace(".9", "90")), "percentages"),
    "logits": (settled(GOOD.replace(".9", "-2.5")), "logits"),
    "outcome 2": (settled(GOOD.replace("5,1\n", "5,2\n")), "of, 0 or 2? Pass positive=0 (--positive 0) or positive=2 (--positive 2)."),
    "text": (settled(GOOD.replace(".9", "high")), "'high' in line 2 of the file"),
    "infinity": (settled(GOOD.replace(".9", "inf")), "Infinity"),
    "one text label": (settled(GOOD.replace("5,1\n", "5,a\n").replace("5,0\n", "5,a\n")), "every outcome is 'a'"),
    "one case": (settled("m0,m1,m2,m3,y\n.9,.6,.5,.5,1\n"), "at least 2 cases"),
    "one agent": (settled("m0,y\n.9,1\n.2,0\n"), "at least 2 agents"),
    "names twice": (settled(GOOD.replace("m1", "m0")), "got 'm0' more than once"),
    "no outcome": (settled(GOOD.replace(",y", ",Y")), "no 'y'"),
    "other agents": (settled(GOOD.replace("m3", "m9")), "missing: 'm9' (rename a column"),
    "empty": (settled(""), "is empty"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "warning"),
    [
        (
            "m0,m1,m2,m3,y\n.9,.6,.5,,1\n.2,.4,.5,,0\n",
            "warning: m3 never reported. Have its feed fixed, or leave m3 out "
            "(--ignore m3); truepool audit says what that costs or saves.\n",
        ),
        (GOOD.replace("5,1\n", "5,0\n"), ""),
    ],
    ids=["an agent without reports", "one class"],
)
def test_a_pool_learns_from_what_there_is(truepool, tables, table, warning):
    settled(table)(tables)
    code, _, err = truepool(
        "pool", tables / "train.csv", tables / "new.csv", "-o", tables / "out.csv"
    )
    assert (code, err) == (0, f"Agents: m0, m1, m2, m3.\n{warning}")


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_nothing_is_written(truepool, tables, case):
    spoil, expected = BAD[case]
    spoil(tables)
    before = sorted(path.name for path in tables.iterdir())
    code, out, err = truepool(
        "pool", tables / "train.csv", tables / "new.csv", "-o", tables / "out.csv"
    )
    assert code == 2
    assert out == ""
    assert expected in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert sorted(path.name for path in tables.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--cost-fn", 0], "got 0 for fn (--cost-fn)"),
        (["--cost-fp", -1], "got -1.0 for fp (--cost-fp)"),
        (["--cost-matrix", "0,1,1;1,0,1;1,1,0"], "for 2 classes"),
        (["--cost-matrix", "0,x;1,0"], "rows of numbers"),
        (["--cost-matrix", "0,1;1"], "equally long"),
        (["--threshold", 1.5], "threshold must lie in"),
        (["--pool", "vgc"], "did you mean 'vcg'?"),
        (["--loss", "brir"], "did you mean 'brier'?"),
        (["--folds", 1], "at least 2 folds"),
        (["--level", 2], "between 0 and 1"),
        (["--outcome", "malignnt"], "did you mean 'malignant'?"),
    ],
)
def test_bad_options_get_one_sentence(truepool, words, expected):
    code, out, err = truepool("compare", EXAMPLE, "--outcome", "malignant", *words)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1


def test_an_unreadable_parquet_file_gets_one_sentence(truepool, tmp_path):
    (tmp_path / "panel.parquet").write_bytes(b"PAR1 but not really")
    code, _, err = truepool("compare", tmp_path / "panel.parquet")
    assert code == 2
    assert "cannot be read as parquet" in err
    assert err.count("\n") == 1


def test_a_bad_new_table_leaves_an_old_result_alone(truepool, tables):
    (tables / "out.csv").write_text("precious")
    write_table(tables / "new.csv", {f"m{i}": np.array([50.0]) for i in range(4)})
    code, _, err = truepool(
        "pool", tables / "train.csv", tables / "new.csv", "-o", tables / "out.csv",
        "--pool", "mean",
    )  # fmt: skip
    assert code == 2
    assert "percentages" in err
    assert (tables / "out.csv").read_text() == "precious"


def test_usage_errors_exit_with_2(truepool):
    assert truepool("pool", "train.csv")[0] == 2
    assert truepool("nonsense")[0] == 2


def test_the_installed_command_runs_without_a_traceback():
    answer = subprocess.run(
        [sys.executable, "-c", "from truepool.cli import main; main()", "compare", "no.csv"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stderr == "error: there is no file 'no.csv'\n"


def test_help_needs_nothing_heavy():
    code = (
        "import sys; sys.argv = ['truepool', '--help']\n"
        "from truepool.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "compare" in answer.stdout
    assert answer.stderr.strip() == "[]"


def test_progress_is_shown_to_those_who_look(monkeypatch):
    import io

    from truepool.cli import screen

    shown = io.StringIO()
    terminal = partial(screen.Screen, file=shown, force_terminal=True, width=100)
    monkeypatch.setattr(screen, "Screen", lambda **options: terminal())
    with screen.progress_bar("Comparing") as step:
        step("vcg", 1, 2)
    assert "Comparing" in shown.getvalue()
    with screen.clock("Fitting", "shrunk"):
        pass
    assert "Fitting" in shown.getvalue()
    assert "shrunk" in shown.getvalue()
    assert screen.console().is_terminal


@pytest.mark.parametrize("verb", ["fit", "pool"])
def test_learning_a_pool_is_not_silent(truepool, tables, monkeypatch, verb):
    from contextlib import contextmanager

    from truepool.cli import screen

    shown = []

    @contextmanager
    def clock(*words):
        shown.append(words)
        yield

    monkeypatch.setattr(screen, "clock", clock)
    new = [tables / "new.csv"] if verb == "pool" else []
    output = tables / ("out.csv" if verb == "pool" else "out.pool")
    code, _, err = truepool(
        verb, tables / "train.csv", *new, "-o", output, "--pool", "mean"
    )
    assert code == 0, err
    assert shown == [("Fitting", "mean")]


@pytest.mark.parametrize("verb", ["compare", "replay"])
def test_columns_without_a_table_are_refused(truepool, verb):
    code, _, err = truepool(verb, "--outcome", "fraud")
    assert code == 2
    assert "name the table as well" in err


def test_a_column_of_one_table_only_can_be_ignored(truepool, tables):
    new = csv.read_csv(tables / "new.csv").append_column("note", pa.array(["x"] * 10))
    csv.write_csv(new, tables / "new.csv")
    words = ["pool", tables / "train.csv", tables / "new.csv", "-o", tables / "out.csv"]
    code, _, err = truepool(*words, "--pool", "mean")
    assert code == 2
    assert "'note'" in err
    assert truepool(*words, "--pool", "mean", "--ignore", "note")[0] == 0
    code, _, err = truepool(*words, "--pool", "mean", "--ignore", "nots")
    assert code == 2
    assert "neither table has a column 'nots' (did you mean 'note'?)" in err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-o", "{tables}/train.csv"], "twice. Name another file"),
        (["-o", "{tables}"], "is a folder; name a file in it"),
        (["-o", "{tables}/out.txt"], "is written as"),
        (["-o", "{tables}/out.xlsx"], "Name a file with one of these endings."),
        (["-o", "{tables}/out.csv", "--id", "pooled"], "rename the id column"),
        (["-o", "{tables}/out.csv", "--pool", "median", "--loss", "log"], "no setting of median is called 'loss'"),
    ],
)  # fmt: skip
def test_results_that_would_do_harm_are_refused_before_learning(
    truepool, tables, words, expected
):
    filled = [str(word).format(tables=tables) for word in words]
    code, _, err = truepool("pool", tables / "train.csv", tables / "new.csv", *filled)
    assert code == 2
    assert expected in err
    assert err.count("\n") == 1


def test_pool_learns_by_the_loss_asked_for(truepool, tables):
    words = [
        "pool",
        tables / "train.csv",
        tables / "new.csv",
        "-o",
        tables / "out.csv",
        "--json",
    ]
    by = [
        json.loads(truepool(*words, "--pool", "vcg", "--loss", loss)[1])["weights"]
        for loss in ("brier", "log")
    ]
    assert by[0] != by[1]


@pytest.mark.parametrize("cases", [2, 3, 4, 6, 8])
def test_a_handful_of_cases_is_enough_to_pool(truepool, tables, cases):
    train = csv.read_csv(tables / "train.csv").slice(0, cases)
    csv.write_csv(train, tables / "few.csv")
    code, out, err = truepool(
        "pool", tables / "few.csv", tables / "new.csv", "-o", tables / "out.csv"
    )
    assert (code, err) == (0, "Agents: m0, m1, m2, m3.\n")
    assert "Pooled 10 cases" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("demo --out x", "error: no such option: --out"),
        ("fit", "error: missing argument 'PANEL'; see truepool fit --help"),
        (
            "compare --folds many",
            "error: --folds must be a whole number, such as 5; got",
        ),
        (
            "score new.csv f.pool",
            "the saved pool comes first; try truepool score f.pool",
        ),
        ("compare .", "'.' has none. Name a folder with some, or a file."),
    ],
)
def test_words_that_are_not_understood_get_one_line(truepool, words, sentence):
    code, out, err = truepool(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_without_a_verb_the_help_is_shown(truepool):
    code, _, err = truepool()
    assert code == 2
    assert err.startswith("Usage: truepool")


def test_an_interrupted_question_ends_the_command(truepool, monkeypatch):
    def stop(**settings):
        raise typer.Abort

    monkeypatch.setattr(verbs, "app", stop)
    assert truepool("demo") == (2, "", "error: stopped\n")


@pytest.mark.parametrize("words", [("data", "list"), ("--version",)])
def test_standard_output_that_is_full_is_one_sentence(words):
    command = [sys.executable, "-c", "from truepool.cli import main; main()", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")
