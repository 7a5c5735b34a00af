"""`truepool agent`, from a table of features to a table that can be pooled."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from training_data import features

from truepool import read_panel


def write(path, seed, classes=2, **extra):
    X, y = features(120, classes, seed=seed)
    flags = np.array(["SF", "REJ", "S0", "RSTO"])[X[:, 4].astype(int)]
    columns = {"id": np.arange(120), "size": X[:, 0], "rate": X[:, 1], "flag": flags, "y": y}  # fmt: skip
    csv.write_csv(pa.table({**columns, **extra}), path)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("train.csv", 0)
    write("new.csv", 1)
    return tmp_path


@pytest.fixture
def agent(truepool):
    """Run a verb of `truepool agent`; what it prints."""

    def run(*words):
        code, out, err = truepool("agent", *words)
        assert (code, err) == (0, "")
        return out

    return run


@pytest.fixture
def trained(tables, agent):
    agent("train", "train.csv", "--model", "tree", "-o", "tree.joblib")


REPORT = ("report", "new.csv", "tree.joblib", "--trust", "-o")


def test_from_features_to_a_table_that_can_be_compared(truepool, tables, agent):
    models = ("--model", "tree", "--model", "logistic")
    out = agent("train", "train.csv", *models, "-o", "team", "--features", 0.6)
    assert "Trained tree, logistic on 120 cases" in out
    files = [tables / "team" / f"{name}.joblib" for name in ("tree", "logistic")]
    out = agent("report", "new.csv", *files, "-o", "reports.csv", "--trust")
    assert "2 agents reported on 120 cases" in out
    panel = read_panel("reports.csv")
    assert panel.agents == ("tree", "logistic")
    assert panel.ids[5] == "5"
    assert truepool("compare", "reports.csv", "--pool", "vcg")[0] == 0


def test_training_again_replaces_its_own_files_and_nobody_elses(tables, agent, refused):
    words = ["train", "train.csv", "--model", "tree", "-o"]
    agent(*words, "team")
    agent(*words, "team")
    mine = tables / "team" / "tree.joblib"
    mine.write_text("a model of my own")
    assert "--force" in refused("agent", *words, "team")
    agent(*words, "team", "--force")
    agent(*words, mine)  # a file that is named is replaced


def test_ids_and_times_stay_as_the_table_has_them(tables, agent, refused):
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-03"]).repeat(40)
    write("train.csv", 0, time=days)
    write("new.csv", 1, day=days)
    write("dated.csv", 1, time=days)
    train = ("--model", "tree", "--ignore", "flag", "-o", "tree.joblib")
    agent("train", "train.csv", *train)
    agent(*REPORT, "reports.csv", "--time", "day", "--id", "id")
    written = csv.read_csv("reports.csv").to_pydict()
    assert list(written) == ["id", "day", "tree", "y"]
    assert [str(day) for day in written["day"]] == days.tolist()
    assert written["id"] == list(range(120))
    agent("report", "dated.csv", *REPORT[2:], "reports.csv")
    assert csv.read_csv("reports.csv").column_names == ["id", "time", "tree", "y"]
    said = refused("agent", *REPORT, "x.csv", "--time", "dya")
    assert "--set time=day" in said


def test_reports_go_to_standard_output_and_nothing_else_does(trained, tables, agent):
    agent(*REPORT, "reports.csv")
    assert agent(*REPORT, "-") == (tables / "reports.csv").read_text()


def test_export_tells_how_close_it_is_and_is_an_agent(truepool, tables, agent):
    words = ("--model", "random-forest", "-o", "agent.joblib", "--json", "-")
    labels = {"positive": 1, "negative": 0, "labels": [0, 1], "cases": [68, 52]}
    assert json.loads(agent("train", "train.csv", *words)) == {
        "cases": 120,
        "classes": [0, 1],
        "agents": {"random-forest": "agent.joblib"},
        "outcome_labels": labels,
    }
    words = ("export", "agent.joblib", "-o", "agent.onnx", "--check-on", "new.csv")
    out = agent(*words, "--trust")
    assert "on 1,120 cases" in out
    assert "with missing values." in out
    result = json.loads(agent(*words, "--trust", "--json", "-"))
    assert result["gap"] < 1e-6
    assert result["missing_gap"] < 1e-6
    words = ["report", "new.csv", "agent.joblib", "agent.onnx", "-o", "out.csv"]
    words += ["--json", "-", "--trust"]
    assert truepool("agent", *words)[0] == 2  # both files are called agent
    (tables / "agent.onnx").rename("copy.onnx")
    words[3] = "copy.onnx"
    assert json.loads(agent(*words))["agents"] == 2
    written = csv.read_csv("out.csv")
    np.testing.assert_allclose(written["agent"], written["copy"], atol=1e-6)


def test_three_classes_have_three_columns_an_agent(tables, agent):
    write("train.csv", 0, classes=3)
    words = ("--model", "tree", "--disjoint", "--calibration", "temperature")
    agent("train", "train.csv", *words, "-o", "tree.joblib")
    bare = csv.read_csv("new.csv").drop_columns(["id", "y"])
    csv.write_csv(bare, "new.csv")
    agent(*REPORT, "out.csv")
    written = csv.read_csv("out.csv")
    assert written.column_names == ["tree:0", "tree:1", "tree:2"]
    np.testing.assert_allclose(sum(np.asarray(c) for c in written.columns), 1)


def test_an_agent_without_gaps_says_so(tables, agent):
    from sklearn.naive_bayes import GaussianNB

    from truepool import agents

    trained = agents.train(*features(), {"bayes": GaussianNB()}, cache=False)
    agents.save(trained["bayes"], "bayes.joblib")
    words = ("export", "bayes.joblib", "-o", "bayes.onnx", "--trust", "--json", "-")
    assert json.loads(agent(*words, "--tolerance", 1e-3))["missing_gap"] is None


def test_the_five_of_the_paper_have_a_name():
    from truepool.cli.agent import _kinds

    assert _kinds(["paper", "tree", "mlp"]) == [
        "lightgbm", "catboost", "xgboost", "random-forest", "mlp", "tree",
    ]  # fmt: skip
    assert _kinds(None) == ["lightgbm"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("train train.csv -o a.joblib --outcome z", "'z'"),
        ("train none.csv -o a.joblib", "none.csv"),
        ("train train.csv -o a.joblib --model lightgmb", "did you mean 'lightgbm'"),
        ("train train.csv -o a.joblib --model paper", "5 agents need a folder"),
        ("train train.csv -o no/where", "no folder"),
        ("train train.csv -o new.csv", "is a file"),
        ("train train.csv -o a.joblib --ignore sizes", "--ignore size."),
        ("train train.csv -o a.joblib --features 2", "(0, 1]"),
        ("train train.csv -o a.joblib --set unseen=guess", "'refuse' or 'missing'"),
        ("report new.csv a.joblib -o new.csv", "twice"),
        ("report new.csv a.joblib -o out.csv", "a.joblib"),
        ("report new.csv y.joblib -o out.csv", "'y'"),
        ("export a.joblib -o a.onnx", "a.joblib"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(refused, tables, words, named):
    assert named in refused("agent", *words.split())


@pytest.mark.parametrize(
    ("columns", "named"),
    [({"y": np.full(120, 7)}, "7"), ({"flag": ["SF"] * 119 + ["XX"]}, "'XX'")],
)
def test_a_category_and_an_outcome_that_are_new_are_named(
    refused, trained, columns, named
):
    write("new.csv", 1, **columns)
    assert named in refused("agent", *REPORT, "out.csv")


def test_a_file_that_can_run_code_needs_a_word_of_trust(refused, trained, agent):
    for words in (
        ("report", "new.csv", "tree.joblib", "-o", "out.csv"),
        ("export", "tree.joblib", "-o", "tree.onnx"),
    ):
        assert "trust" in refused("agent", *words)
        agent(*words, "--trust")
