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
def tables(tmp_path):
    write(tmp_path / "train.csv", 0)
    write(tmp_path / "new.csv", 1)
    return tmp_path


def test_from_features_to_a_table_that_can_be_compared(truepool, tables):
    code, out, err = truepool(
        "agent", "train", tables / "train.csv", "--model", "tree", "--model", "logistic",
        "-o", tables / "team", "--features", 0.6,
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Trained tree, logistic on 120 cases" in out
    files = [tables / "team" / f"{name}.joblib" for name in ("tree", "logistic")]
    code, out, err = truepool(
        "agent",
        "report",
        tables / "new.csv",
        *files,
        "-o",
        tables / "reports.csv",
        "--trust",
    )
    assert (code, err) == (0, "")
    assert "2 agents reported on 120 cases" in out
    words = ("agent", "report", tables / "new.csv", files[0], "--trust")
    _, out, _ = truepool(*words, "-o", tables / "one.csv")
    assert "1 agent reported on 120 cases" in out
    panel = read_panel(tables / "reports.csv")
    assert panel.agents == ("tree", "logistic")
    assert panel.ids[5] == "5"
    assert truepool("compare", tables / "reports.csv", "--pool", "vcg")[0] == 0


def test_training_again_replaces_its_own_files_and_nobody_elses(truepool, tables):
    words = ["agent", "train", tables / "train.csv", "--model", "tree", "-o"]
    assert [truepool(*words, tables / "team")[0] for _ in range(2)] == [0, 0]
    mine = tables / "team" / "tree.joblib"
    mine.write_text("a model of my own")
    code, out, err = truepool(*words, tables / "team")
    assert (code, out) == (2, "")
    assert "a file that truepool did not write is not replaced" in err
    assert mine.read_text() == "a model of my own"
    assert truepool(*words, tables / "team", "--force")[0] == 0
    assert truepool(*words, mine)[0] == 0  # a file that is named is replaced


def test_ids_and_times_stay_as_the_table_has_them(truepool, tables):
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-03"]).repeat(40)
    write(tables / "train.csv", 0, time=days)
    write(tables / "new.csv", 1, day=days)
    agent, reports = tables / "tree.joblib", tables / "reports.csv"
    words = [tables / "train.csv", "--model", "tree", "--ignore", "flag", "-o", agent]
    assert truepool("agent", "train", *words)[0] == 0
    words = [agent, "-o", reports, "--trust", "--time", "day", "--id", "id"]
    assert truepool("agent", "report", tables / "new.csv", *words)[0] == 0
    written = csv.read_csv(reports).to_pydict()
    assert list(written) == ["id", "day", "tree", "y"]
    assert [str(day) for day in written["day"]] == days.tolist()
    assert written["id"] == list(range(120))
    write(tables / "dated.csv", 1, time=days)
    words = [agent, "-o", reports, "--trust"]
    assert truepool("agent", "report", tables / "dated.csv", *words)[0] == 0
    assert list(csv.read_csv(reports).to_pydict()) == ["id", "time", "tree", "y"]
    words = [agent, "-o", tables / "x.csv", "--trust", "--time", "dya"]
    code, _, err = truepool("agent", "report", tables / "new.csv", *words)
    assert (code, "no column 'dya' (did you mean 'day'?)" in err) == (2, True)
    assert not (tables / "x.csv").exists()


def test_reports_go_to_standard_output_and_nothing_else_does(truepool, tables):
    agent = tables / "tree.joblib"
    assert (
        truepool(
            "agent", "train", tables / "train.csv", "--model", "tree", "-o", agent
        )[0]
        == 0
    )
    words = ["agent", "report", tables / "new.csv", agent, "--trust"]
    assert truepool(*words, "-o", tables / "reports.csv")[0] == 0
    code, out, err = truepool(*words, "-o", "-")
    assert (code, err) == (0, "")
    assert out == (tables / "reports.csv").read_text()


def test_export_tells_how_close_it_is_and_is_an_agent(truepool, tables):
    agent, onnx = tables / "agent.joblib", tables / "agent.onnx"
    words = ["--model", "random-forest", "-o", agent, "--json"]
    code, out, _ = truepool("agent", "train", tables / "train.csv", *words)
    labels = {"positive": 1, "negative": 0, "labels": [0, 1], "cases": [68, 52]}
    assert json.loads(out) == {
        "cases": 120,
        "classes": [0, 1],
        "agents": {"random-forest": str(agent)},
        "outcome_labels": labels,
    }
    words = ["export", agent, "-o", onnx, "--check-on", tables / "new.csv", "--trust"]
    code, out, err = truepool("agent", *words)
    assert (code, err) == (0, "")
    assert "on 1,120 cases" in out
    assert "with missing values." in out
    result = json.loads(truepool("agent", *words, "--json")[1])
    assert result["gap"] < 1e-6
    assert result["missing_gap"] < 1e-6
    words = [
        "report",
        tables / "new.csv",
        agent,
        onnx,
        "-o",
        tables / "out.csv",
        "--json",
        "--trust",
    ]
    assert truepool("agent", *words)[0] == 2  # both files are called agent
    onnx.rename(tables / "copy.onnx")
    words[3] = tables / "copy.onnx"
    assert json.loads(truepool("agent", *words)[1])["agents"] == 2
    written = csv.read_csv(tables / "out.csv")
    np.testing.assert_allclose(written["agent"], written["copy"], atol=1e-6)


def test_three_classes_have_three_columns_an_agent(truepool, tables):
    write(tables / "train.csv", 0, classes=3)
    agent = tables / "tree.joblib"
    words = [
        "train",
        tables / "train.csv",
        "--model",
        "tree",
        "-o",
        agent,
        "--disjoint",
    ]
    assert truepool("agent", *words, "--calibration", "temperature")[0] == 0
    csv.write_csv(csv.read_csv(tables / "new.csv").drop_columns(["id", "y"]), tables / "new.csv")  # fmt: skip
    truepool(
        "agent",
        "report",
        tables / "new.csv",
        agent,
        "-o",
        tables / "out.csv",
        "--trust",
    )
    written = csv.read_csv(tables / "out.csv")
    assert written.column_names == ["tree:0", "tree:1", "tree:2"]
    np.testing.assert_allclose(sum(np.asarray(c) for c in written.columns), 1)


def test_an_agent_without_gaps_says_so(truepool, tables, tmp_path):
    from sklearn.naive_bayes import GaussianNB

    from truepool import agents

    X, y = features()
    trained = agents.train(X, y, {"bayes": GaussianNB()}, cache=False)
    agents.save(trained["bayes"], tmp_path / "bayes.joblib")
    words = [
        "export",
        tmp_path / "bayes.joblib",
        "-o",
        tmp_path / "bayes.onnx",
        "--trust",
    ]
    _, out, _ = truepool("agent", *words, "--tolerance", 1e-3)
    assert "takes no missing values." in out


def test_the_five_of_the_paper_have_a_name():
    from truepool.cli.agent import _kinds

    assert _kinds(["paper", "tree", "mlp"]) == [
        "lightgbm", "catboost", "xgboost", "random-forest", "mlp", "tree",
    ]  # fmt: skip
    assert _kinds(None) == ["lightgbm"]


BAD = {
    "no outcome": (["train", "{}/train.csv", "-o", "{}/a.joblib", "--outcome", "z"], "there is no 'z'"),
    "no table": (["train", "{}/none.csv", "-o", "{}/a.joblib"], "there is no file"),
    "model": (["train", "{}/train.csv", "-o", "{}/a.joblib", "--model", "lightgmb"], "did you mean 'lightgbm'"),
    "one file": (["train", "{}/train.csv", "-o", "{}/a.joblib", "--model", "paper"], "5 agents need a folder"),
    "no folder": (["train", "{}/train.csv", "-o", "{}/no/where"], "there is no folder"),
    "a file": (["train", "{}/train.csv", "-o", "{}/new.csv"], "is a file; name a folder"),
    "ignore": (["train", "{}/train.csv", "-o", "{}/a.joblib", "--ignore", "sizes"], "did you mean 'size'"),
    "share": (["train", "{}/train.csv", "-o", "{}/a.joblib", "--features", "2"], "must lie in (0, 1]"),
    "unseen": (["train", "{}/train.csv", "-o", "{}/a.joblib", "--unseen", "guess"], "'refuse' or 'missing'"),
    "report onto": (["report", "{}/new.csv", "{}/a.joblib", "-o", "{}/new.csv"], "twice. Name another file"),
    "no agent": (["report", "{}/new.csv", "{}/a.joblib", "-o", "{}/out.csv"], "there is no file"),
    "own name": (["report", "{}/new.csv", "{}/y.joblib", "-o", "{}/out.csv"], "'y' is also the name of the outcome column"),
    "export": (["export", "{}/a.joblib", "-o", "{}/a.onnx"], "there is no file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_nothing_is_written(truepool, tables, case):
    words, expected = BAD[case]
    before = sorted(path.name for path in tables.iterdir())
    code, out, err = truepool("agent", *(word.format(tables) for word in words))
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tables.iterdir()) == before


def test_a_category_and_an_outcome_that_are_new_are_named(truepool, tables):
    agent = tables / "tree.joblib"
    truepool("agent", "train", tables / "train.csv", "--model", "tree", "-o", agent)
    write(tables / "new.csv", 1, y=np.full(120, 7))
    words = [
        "agent",
        "report",
        tables / "new.csv",
        agent,
        "-o",
        tables / "out.csv",
        "--trust",
    ]
    code, _, err = truepool(*words)
    assert code == 2
    assert "a label must be 0 or 1; got 7 in case 0" in err
    write(tables / "new.csv", 1, flag=["SF"] * 119 + ["XX"])
    code, _, err = truepool(*words)
    assert code == 2
    assert "column 'flag' says 'XX' in zero-based row 119" in err
    assert not (tables / "out.csv").exists()


def test_a_file_that_can_run_code_needs_a_word_of_trust(truepool, tables):
    agent = tables / "tree.joblib"
    truepool("agent", "train", tables / "train.csv", "--model", "tree", "-o", agent)
    for words in (
        ["report", tables / "new.csv", agent, "-o", tables / "out.csv"],
        ["export", agent, "-o", tables / "tree.onnx"],
    ):
        code, out, err = truepool("agent", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "pass --trust" in err
        assert truepool("agent", *words, "--trust")[0] == 0
