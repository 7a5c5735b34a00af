"""Columns of classes that are not joined by a colon alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from truepool.core.errors import OutcomeError, ReportError, TruepoolError
from truepool.panel.labels import Labels
from truepool.tables import TableFormat, load_panel, read_panel
from truepool.tables.batches import read_batches
from truepool.tables.class_columns import class_columns
from truepool.tables.dataset import open_dataset
from truepool.tables.panel_stream import open_panels
from truepool.tables.profile import profile_table
from truepool.tables.reader import load_reports

CLASSES = ("Deferred", "Urgent", "Non Urgent")
AGENTS = ("Logit 2019", "rf_v2")
JOINTS = pytest.mark.parametrize("joint", [" ", "_", ".", "-"])
COLONS = pytest.mark.parametrize("colon", [": ", " :", " : "])


def table(joint, classes=CLASSES, agents=AGENTS, T=60):
    rng = np.random.default_rng(3)
    reports = rng.dirichlet(np.ones(len(classes)), (T, len(agents)))
    columns = {
        f"{agent}{joint}{label}": reports[:, i, k]
        for i, agent in enumerate(agents)
        for k, label in enumerate(classes)
    }
    return pd.DataFrame({**columns, "triage": rng.choice(classes, T)})


@JOINTS
def test_any_of_four_characters_may_join_agent_and_class(joint):
    expected = read_panel(table(":"), "triage")
    panel, summary = load_panel(table(joint), TableFormat("triage"))
    assert panel.agents == AGENTS
    assert panel.labels == expected.labels
    assert_allclose(panel.reports, expected.reports)
    (note,) = [note for note in summary.notes() if "such as" in note]
    assert note == (
        f"Columns such as 'Logit 2019{joint}Deferred' are read as the class 'Deferred' "
        "of the agent 'Logit 2019'."
    )


@COLONS
@pytest.mark.parametrize("classes", [("no", "yes"), CLASSES, (0, 1), (0, 1, 2)])
def test_spaces_around_a_colon_are_no_part_of_agent_or_class(colon, classes):
    options = {"positive": "yes"} if "yes" in classes else {}
    expected = read_panel(table(":", classes), "triage", **options)
    panel = read_panel(table(colon, classes), "triage", **options)
    assert (panel.agents, panel.labels) == (AGENTS, expected.labels)
    assert_allclose(panel.reports, expected.reports)


def test_agents_with_a_colon_and_a_space_are_called_by_their_own_names():
    frame = table(": ", agents=(*AGENTS, "nb"))
    named = read_panel(frame, "triage", agents="rf_v2,nb")
    assert named.agents == ("rf_v2", "nb")
    ignored = read_panel(frame, "triage", ignore=["Logit 2019"])
    assert_allclose(ignored.reports, named.reports)


@pytest.mark.parametrize("joint", [":", ": ", "_"])
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"agents": "rf_v3"}, "no agent matches 'rf_v3'"),
        ({"ignore": "rf_v3"}, "there is no ignored column 'rf_v3'"),
    ],
)
def test_an_agent_that_is_not_there_is_refused_with_the_names_of_agents(
    joint, option, said
):
    with pytest.raises(TruepoolError) as refusal:
        read_panel(table(joint), "triage", **option)
    assert f"{said} (did you mean 'rf_v2'?); columns" in str(refusal.value)
    assert ": Logit 2019, rf_v2" in str(refusal.value)
    assert "Urgent" not in str(refusal.value)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["a: yes", "b: yes"], id="one number per agent"),
        pytest.param(["LLM: small", "LLM: large"], id="no labels"),
        pytest.param(["a: no", "a:no", "a:yes"], id="two of one name"),
    ],
)
def test_spaces_around_a_colon_stay_where_columns_are_of_no_classes(names):
    assert class_columns(names, ["no", "yes"]) == {}


@COLONS
@pytest.mark.parametrize("classes", [("no", "yes"), CLASSES])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_new_cases_may_have_spaces_around_the_colon(tmp_path, colon, classes, kind):
    path = write(table(colon, classes).drop(columns="triage"), tmp_path, kind)
    labels = Labels(classes)
    (batch,) = read_batches(path, AGENTS, labels, TableFormat())
    options = {"positive": "yes"} if "yes" in classes else {}
    expected = read_panel(table(":", classes), "triage", **options).reports
    assert_allclose(batch.values.squeeze(), expected)
    whole = load_reports(path, AGENTS, TableFormat(), labels)
    assert_allclose(whole.values, expected)


@pytest.mark.parametrize("classes", [("no", "yes"), CLASSES, (0, 1)])
def test_init_leaves_spaces_around_a_colon_out(tmp_path, classes):
    path = write(table(": ", classes), tmp_path, "csv")
    profile = profile_table(path)
    assert profile.options["agents"] == [*AGENTS]
    assert f"'Logit 2019: {classes[0]}' are read as" in profile.reasons["agents"]


def write(frame, folder, kind):
    path = folder / f"new.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    return path


def test_agents_of_such_columns_are_called_by_their_own_names():
    frame = table("_", agents=(*AGENTS, "nb")).assign(age=40.0)
    frame[[f"nb_{label}" for label in CLASSES]] *= 100
    named = read_panel(frame, "triage", agents="rf_v2,nb", percent="nb")
    assert named.agents == ("rf_v2", "nb")
    ignored = read_panel(frame, "triage", ignore=["Logit 2019", "age"], percent="nb")
    assert_allclose(ignored.reports, named.reports)


def test_an_agent_may_be_the_beginning_of_another():
    panel = read_panel(table("_", agents=("rf", "rf_v2")), "triage")
    assert panel.agents == ("rf", "rf_v2")


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        pytest.param([f"m{i}_{k}" for i in "ab" for k in "012"], "012", id="numbers"),
        pytest.param([f"m{i}_{k}" for i in "ab" for k in "xy"], "xy", id="two labels"),
        pytest.param(["a_x", "a_y", "a_z"], "xyz", id="one agent"),
        pytest.param(
            ["a_x", "a_y", "a_z", "b_x", "b_y"], "xyz", id="one lacks a class"
        ),
        pytest.param(
            ["a_x", "a_y", "a_z", "b x", "b y", "b z"], "xyz", id="two joints"
        ),
        pytest.param([f"{i}:{k}" for i in "ab" for k in "xyz"], "xyz", id="colons"),
        pytest.param(
            [f"{i}{j}{k}" for j in "_-" for i in "ab" for k in "xyz"], "xyz", id="both"
        ),
    ],
)
def test_nothing_is_guessed_where_names_may_mean_something_else(names, labels):
    assert class_columns(names, labels) == {}


def test_three_labels_without_such_columns_are_told_what_they_are_called():
    frame = table("/").rename(columns={"triage": "y"})
    with pytest.raises(
        TruepoolError, match=r"per class \(columns agent:class, one row per case\)"
    ):
        read_panel(frame)


@JOINTS
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_new_cases_are_read_either_way(tmp_path, joint, kind):
    path = write(table(joint).drop(columns="triage"), tmp_path, kind)
    labels = Labels(CLASSES)
    (batch,) = read_batches(path, AGENTS, labels, TableFormat())
    assert_allclose(batch.values, read_panel(table(":"), "triage").reports)
    whole = load_reports(path, AGENTS, TableFormat(), labels)
    assert_allclose(whole.values, batch.values)


def test_json_lines_may_leave_agents_out(tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text(
        '{"rf_v2_Deferred": 20, "rf_v2_Urgent": 30, "rf_v2_Non Urgent": 50}'
    )
    written = TableFormat(percent="rf_v2")
    (batch,) = read_batches(path, AGENTS, Labels(CLASSES), written)
    assert_allclose(batch.values[0], [[np.nan] * 3, [0.2, 0.3, 0.5]])


@pytest.mark.parametrize("joint", ["_", ": "])
def test_a_data_set_may_have_such_columns(tmp_path, joint):
    table(joint).to_parquet(tmp_path / "train.parquet")
    written = TableFormat("triage")
    stream = open_panels(open_dataset(tmp_path / "train.parquet"), written)
    (panel,) = stream.in_order()
    assert_allclose(panel.reports, read_panel(table(":"), "triage").reports)
    name = f"Logit 2019{joint}Deferred"
    assert any(f"such as {name!r}" in note for note in stream.summary.notes())


def with_word(joint):
    frame = table(joint)
    frame.loc[[20, 30], "triage"] = "LWBS"
    return frame


@pytest.mark.parametrize("joint", [":", "_"])
def test_an_outcome_that_is_no_class_is_refused_with_its_column_and_cure(
    tmp_path, joint
):
    frame = with_word(joint)
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(OutcomeError) as refusal:
        read_panel(tmp_path / "t.csv", "triage")
    assert str(refusal.value) == (
        "an outcome must be one of the classes Deferred, Urgent, Non Urgent; column "
        "'triage' has 'LWBS' in line 22 of the file. If it means that there is no "
        "outcome (yet), pass --missing LWBS; else correct it, or give each agent a "
        "column for it, such as 'Logit 2019:LWBS'."
    )
    panel = read_panel(tmp_path / "t.csv", "triage", missing="LWBS")
    assert (len(panel), len(panel.pending)) == (58, 2)
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(OutcomeError, match=r"'triage' has 'LWBS'\. If it means"):
        open_panels(open_dataset(tmp_path / "t.parquet"), TableFormat("triage"))


@pytest.mark.parametrize("joint", [":", "_"])
def test_a_look_asks_what_a_label_that_is_no_class_means(tmp_path, joint):
    with_word(joint).to_csv(tmp_path / "t.csv", index=False)
    profile = profile_table(tmp_path / "t.csv")
    assert profile.options["outcome"] == "triage"
    (question,) = profile.questions
    assert question.choices == (("LWBS", "no outcome (2 rows of 'triage')"),)
    assert profile.problem is None


def test_a_column_of_kinds_is_no_outcome_because_it_shares_a_word(tmp_path):
    kinds = ["Urgent", "Deferred", "Paid", "Free", "Other"] * 12
    frame = table(":").drop(columns="triage").assign(kind=kinds)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "outcome" not in profile_table(tmp_path / "t.csv").options


@pytest.mark.parametrize(
    ("agents", "percent"), [(AGENTS[:1], ["Logit 2019"]), (AGENTS, True)]
)
def test_a_look_asks_about_columns_of_classes_in_percent(tmp_path, agents, percent):
    frame = table(":")
    frame[[f"{agent}:{label}" for agent in agents for label in CLASSES]] *= 100
    frame.to_csv(tmp_path / "t.csv", index=False)
    profile = profile_table(tmp_path / "t.csv")
    (question,) = profile.questions
    assert (question.option, question.choices[0][0]) == ("percent", percent)
    assert "numbers up to 100" in profile.reasons["agents"]
    assert profile.problem is None


@JOINTS
def test_a_look_at_a_table_finds_them(tmp_path, joint):
    path = tmp_path / "new.csv"
    table(joint).assign(age=40.5).to_csv(path, index=False)
    profile = profile_table(path)
    assert profile.options["agents"] == [*AGENTS]
    assert profile.options["outcome"] == "triage"
    assert profile.classes == CLASSES
    assert f"'Logit 2019{joint}Deferred' are read as" in profile.reasons["agents"]
    assert profile.problem is None


@pytest.mark.parametrize("colon", [":", ": "])
def test_two_classes_of_one_agent_beside_single_columns_are_not_two_agents(
    tmp_path, colon
):
    """They were two agents, one of which reports the opposite."""
    rng = np.random.default_rng(4)
    p, q = rng.random((2, 80)).round(3)
    columns = {"flu": p, f"net{colon}yes": q, f"net{colon}no": 1 - q}
    frame = pd.DataFrame(columns | {"y": np.where(rng.random(80) < p, "yes", "no")})
    with pytest.raises(ReportError, match="'net:yes' and 'net:no' are of two classes"):
        read_panel(frame, positive="yes")
    written = TableFormat("y", positive="yes", ignore="net:no")
    panel, _ = load_panel(frame, written)
    assert panel.agents == ("flu", "net:yes")
    path = tmp_path / "new.csv"
    frame.to_csv(path, index=False)
    (batch,) = read_batches(path, panel.agents, panel.labels, TableFormat())
    assert_allclose(np.column_stack(batch.reports), panel.reports)


def test_two_columns_of_one_prefix_that_do_not_sum_to_one_are_two_agents():
    rng = np.random.default_rng(5)
    columns = {name: rng.random(40) for name in ("flu", "net:a", "net:b")}
    frame = pd.DataFrame(columns | {"y": np.arange(40) % 2})
    assert read_panel(frame).agents == ("flu", "net:a", "net:b")
