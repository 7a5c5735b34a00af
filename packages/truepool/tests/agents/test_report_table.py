"""Saved agents asked about a table."""

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from training_data import features

from truepool import agents
from truepool.agents.report_table import report_columns
from truepool.core.errors import AgentError, OutcomeError

X, Y = features()
TABLE = pa.table({f"x{i}": X[:, i] for i in range(5)})


def saved(path, labels, positive=None):
    trained = agents.train(TABLE, labels, ["tree"], positive=positive, cache=False)
    agents.save(trained["tree"], path)
    return trained["tree"]


def test_the_columns_are_the_reports_of_the_agents(tmp_path):
    agent = saved(tmp_path / "a.joblib", Y)
    steps = []
    frame = nw.from_native(TABLE.append_column("y", pa.array(Y)), eager_only=True)
    columns, labels = report_columns(
        frame,
        [tmp_path / "a.joblib"],
        "y",
        {"id": "id"},
        lambda *s: steps.append(s),
        trust=True,
    )
    assert list(columns) == ["a", "y"]
    assert labels.names == (0, 1)
    assert_allclose(columns["a"], agent.predict_proba(TABLE)[:, 1])
    assert steps == [("a", 1, 1)]
    arguments = nw.from_native(TABLE), [tmp_path / "a.joblib"], "y", {"id": "id"}
    assert "y" not in report_columns(*arguments, trust=True)[0]


def test_agents_of_other_labels_are_not_asked_together(tmp_path):
    saved(tmp_path / "a.joblib", Y)
    saved(tmp_path / "b.joblib", np.where(Y == 1, "bad", "good"), "bad")
    files = [tmp_path / "a.joblib", tmp_path / "b.joblib"]
    with pytest.raises(AgentError, match="some know text, some numbers"):
        report_columns(nw.from_native(TABLE), files, "y", {"id": "id"}, trust=True)


def test_the_report_is_the_probability_of_the_positive_label(tmp_path):
    words = np.where(Y == 1, "bad", "good")
    frame = nw.from_native(TABLE.append_column("y", pa.array(words)), eager_only=True)
    plain = saved(tmp_path / "plain.joblib", Y).predict_proba(TABLE)
    for positive, outcomes, probabilities in (
        ("bad", Y, plain[:, 1]),
        ("good", 1 - Y, plain[:, 0]),
    ):
        saved(tmp_path / "a.joblib", words, positive)
        columns, labels = report_columns(
            frame, [tmp_path / "a.joblib"], "y", {"id": "id"}, trust=True
        )
        assert labels.positive == positive
        assert_allclose(columns["a"], probabilities)
        assert_array_equal(columns["y"], outcomes)


def test_agents_must_mean_the_same_by_positive(tmp_path):
    words = np.where(Y == 1, "bad", "good")
    saved(tmp_path / "a.joblib", words, "bad")
    saved(tmp_path / "b.joblib", words, "good")
    files = [tmp_path / "a.joblib", tmp_path / "b.joblib"]
    with pytest.raises(AgentError, match="'a' was trained with 'bad', 'b' with 'good'"):
        report_columns(nw.from_native(TABLE), files, "y", {"id": "id"}, trust=True)
    for positive, message in ("good", "'bad' for 'a'; got 'good'"), ("ugly", "'ugly'"):
        with pytest.raises((AgentError, OutcomeError), match=message):
            report_columns(
                nw.from_native(TABLE),
                files[:1],
                "y",
                {"id": "id"},
                positive=positive,
                trust=True,
            )
    labels = report_columns(
        nw.from_native(TABLE), files[:1], "y", {"id": "id"}, positive="bad", trust=True
    )[1]
    assert labels.names == ("good", "bad")


def test_agents_of_many_labels_know_no_positive_one(tmp_path):
    saved(
        tmp_path / "a.joblib",
        np.where(X[:, 0] > 1, "worse", np.where(Y == 1, "bad", "good")),
    )
    columns, labels = report_columns(
        nw.from_native(TABLE), [tmp_path / "a.joblib"], "y", {"id": "id"}, trust=True
    )
    assert list(columns) == ["a:0", "a:1", "a:2"]
    assert labels.names == ("bad", "good", "worse")


@pytest.mark.parametrize(
    ("names", "column"),
    [
        (["y"], "outcome"),
        (["id"], "id"),
        (["key"], "id"),
        (["time"], "time"),
        (["a", "a"], "agent"),
    ],
)
def test_names_of_other_columns_are_refused_before_any_work(names, column, tmp_path):
    files = [tmp_path / str(i) / f"{name}.onnx" for i, name in enumerate(names)]
    # Nothing is there to be read, so nothing was.
    with pytest.raises(AgentError, match=f"'{names[0]}' .* of the {column} column"):
        report_columns(nw.from_native(TABLE), files, "y", {"id": "key"})


def test_a_column_of_one_class_has_no_name_of_another(tmp_path):
    saved(tmp_path / "a.joblib", np.where(X[:, 0] > 1, 2, Y))
    with pytest.raises(AgentError, match="'a:1' is also the name of the id column"):
        report_columns(
            nw.from_native(TABLE),
            [tmp_path / "a.joblib"],
            "y",
            {"id": "a:1"},
            trust=True,
        )
