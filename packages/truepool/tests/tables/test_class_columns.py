"""One probability per class: columns agent:class, joined otherwise, or in one cell."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus import A, P, Y, read_table, refusal
from numpy.testing import assert_allclose

from truepool import read_panel
from truepool.tables import Declared, TableFaults, match
from truepool.tables.class_columns import class_columns
from truepool.tables.dataset import open_dataset
from truepool.tables.read import read_blocks
from truepool.tables.stream import open_panels

CLASSES = ("Deferred", "Urgent", "Non Urgent")
AGENTS = ("Logit 2019", "rf_v2")
JOINTS = (":", ": ", " :", " : ", " ", "_", ".", "-")
TWO = [("no", "yes"), (0, 1)]
NAMED = {
    "rf:legit": [0.1, 0.7, 0.6], "rf:fraud": [0.9, 0.3, 0.4],
    "gbm:fraud": [0.8, 0.2, 0.1], "gbm:legit": [0.2, 0.8, 0.9],
    "y": ["fraud", "legit", "legit"],
}  # fmt: skip


def table(joint, classes=CLASSES, agents=AGENTS, T=60):
    rng = np.random.default_rng(3)
    reports = rng.dirichlet(np.ones(len(classes)), (T, len(agents)))
    columns = {
        f"{agent}{joint}{label}": reports[:, i, k]
        for i, agent in enumerate(agents)
        for k, label in enumerate(classes)
    }
    return pd.DataFrame({**columns, "triage": rng.choice(classes, T)})


def shares(header, p=0.5, y=(0, 1)):
    return pa.table({name: [p, p] for name in header.split(",")} | {"y": list(y)})


def write(frame, folder, kind):
    path = folder / f"new.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    return path


def keys_of(classes):
    return {"positive": "yes"} if "yes" in classes else {}


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("named", [True, False])
def test_an_agent_and_a_class_may_be_joined_in_many_ways(joint, named):
    keys = {"outcome": "triage"} if named else {}
    panel, found = read_table(table(joint), **keys)
    assert panel.agents == AGENTS
    assert panel.labels.names == CLASSES
    assert_allclose(panel.reports, read_panel(table(":")).reports)
    notes = {note.code: note.fields for note in found.notes}
    if ":" in joint:
        assert "class-columns" not in notes
    else:
        assert notes["class-columns"] == {
            "column": f"Logit 2019{joint}Deferred",
            "agent": "Logit 2019",
            "label": "Deferred",
        }


@pytest.mark.parametrize("joint", JOINTS[:4])
@pytest.mark.parametrize("classes", TWO)
def test_two_classes_are_read_like_any_other(joint, classes):
    expected = read_panel(table(":", classes), **keys_of(classes))
    panel = read_panel(table(joint, classes), **keys_of(classes))
    assert (panel.agents, panel.labels) == (AGENTS, expected.labels)
    assert_allclose(panel.reports, expected.reports)


def test_of_two_named_classes_the_positive_one_is_asked_for():
    panel = read_panel(pa.table(NAMED), positive="fraud")
    assert_allclose(panel.reports, [[0.9, 0.8], [0.3, 0.2], [0.4, 0.1]])
    assert (panel.labels.names, panel.outcomes.tolist()) == (
        ("legit", "fraud"),
        [1, 0, 0],
    )
    other = read_panel(pa.table(NAMED), positive="legit")
    assert_allclose(other.reports, 1 - panel.reports)
    (question,) = refusal(pa.table(NAMED)).questions
    assert (question.code, question.choices) == ("which-positive", ("legit", "fraud"))
    assert refusal(table(":"), positive="Urgent").codes == ("positive-of-many",)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_new_cases_may_be_joined_in_another_way_than_those_of_the_fit(
    tmp_path, joint, kind
):
    panel, found = read_table(table(":"))
    path = write(table(joint).drop(columns="triage"), tmp_path, kind)
    (block,) = read_blocks(match(path, found.schema, Declared()))
    assert_allclose(block.values, panel.reports)


@pytest.mark.parametrize("classes", TWO)
def test_new_cases_have_their_classes_in_the_order_of_the_labels(classes):
    panel, found = read_table(table(":", classes), **keys_of(classes))
    rows = table(": ", classes)[[*reversed(table(": ", classes).columns)]]
    (block,) = read_blocks(match(rows, found.schema, Declared()))
    assert_allclose(block.values[:, :, 0], panel.reports)


@pytest.mark.parametrize("joint", ["_", ": "])
def test_a_data_set_may_have_such_columns(tmp_path, joint):
    table(joint).to_parquet(tmp_path / "train.parquet")
    stream = open_panels(open_dataset(tmp_path / "train.parquet"), Declared())
    (panel,) = stream.in_order()
    assert_allclose(panel.reports, read_panel(table(":")).reports)
    assert ("class-columns" in [note.code for note in stream.notes]) == (joint == "_")


def test_json_lines_may_leave_agents_out(tmp_path):
    _, found = read_table(table("_"))
    path = tmp_path / "new.jsonl"
    path.write_text(
        '{"rf_v2_Deferred": 20, "rf_v2_Urgent": 30, "rf_v2_Non Urgent": 50}'
    )
    declared = Declared(percent="rf_v2")
    (block,) = read_blocks(match(path, found.schema, declared), declared=declared)
    assert_allclose(block.values[0], [[np.nan] * 3, [0.2, 0.3, 0.5]])


@pytest.mark.parametrize("joint", [":", ": ", "_"])
def test_agents_of_classes_are_called_by_their_own_names(joint):
    frame = table(joint, agents=(*AGENTS, "nb")).assign(age=40.0)
    frame[[f"nb{joint}{label}" for label in CLASSES]] *= 100
    named = read_panel(frame, "triage", agents=["rf_v2", "nb"], percent="nb")
    assert named.agents == ("rf_v2", "nb")
    ignored = read_panel(frame, "triage", ignore=["Logit 2019", "age"], percent="nb")
    assert_allclose(ignored.reports, named.reports)
    for key in ("agents", "ignore"):
        (fault,) = refusal(table(joint), outcome="triage", **{key: "rf_v3"}).faults
        assert (fault.code, fault.fields["key"]) == ("no-column", key)
        assert fault.cures[0].value == ["rf_v2"]


def test_an_agent_may_be_the_beginning_of_another():
    assert read_panel(table("_", agents=("rf", "rf_v2"))).agents == ("rf", "rf_v2")


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        pytest.param([f"m{i}_{k}" for i in "ab" for k in "012"], "012", id="numbers"),
        pytest.param([f"m{i}_{k}" for i in "ab" for k in "xy"], "xy", id="two labels"),
        pytest.param(["a_x", "a_y", "a_z"], "xyz", id="one agent"),
        pytest.param(["a_x", "a_y", "a_z", "b_x", "b_y"], "xyz", id="one lacks a class"),
        pytest.param(["a_x", "a_y", "a_z", "b x", "b y", "b z"], "xyz", id="two joints"),
        pytest.param([f"{i}:{k}" for i in "ab" for k in "xyz"], "xyz", id="colons"),
        pytest.param([f"{i}{j}{k}" for j in "_-" for i in "ab" for k in "xyz"], "xyz", id="both"),
    ],
)  # fmt: skip
def test_nothing_is_guessed_where_names_may_mean_something_else(names, labels):
    assert class_columns(names, labels) == {}


def test_names_with_a_colon_are_no_classes_unless_agents_share_them():
    assert len(read_panel(shares("xa:b,xa:c,yc:d,yc:e")).agents) == 4
    two = pd.DataFrame({"flu": P, "net:a": A, "net:b": A[::-1], "y": Y})
    assert read_panel(two).agents == ("flu", "net:a", "net:b")


@pytest.mark.parametrize(
    ("header", "agent", "own"),
    [
        ("a:low,a:mid,a:high,b:low,b:mid,b:high,d:low,d:mid,d:hgh", "d", "d:hgh"),
        ("a:low,a:mid,b:low,b:mid,b:high,c:low,c:mid,c:high", "a", "a:mid"),
        ("a:legit,a:fraud,b:legit,b:frau", "b", "b:frau"),
    ],
)
def test_a_class_that_is_misspelt_or_missing_is_named(header, agent, own):
    fault = refusal(shares(header, y=("low", "mid"))).faults[0]
    assert (fault.code, fault.agent, fault.fields["own"][-1]) == (
        "classes-differ",
        agent,
        own,
    )


@pytest.mark.parametrize("colon", [":", ": "])
def test_two_classes_of_one_agent_beside_single_columns_are_not_two_agents(colon):
    """They were two agents, one of which reports the opposite."""
    columns = {"flu": P, f"net{colon}yes": A, f"net{colon}no": 1 - A}
    frame = pd.DataFrame(columns | {"y": np.where(Y, "yes", "no")})
    (fault,) = refusal(frame, positive="yes").faults
    assert (fault.code, fault.agent, fault.fields["other"]) == (
        "one-or-classes",
        "net",
        "flu",
    )
    cured = read_panel(
        frame, positive="yes", **{fault.cures[0].key: fault.cures[0].value}
    )
    assert cured.agents == ("flu", f"net{colon}yes")


def test_numbered_classes_start_at_0():
    (fault,) = refusal(shares("ada:1,ada:2,bob:1,bob:2", y=(1, 2))).faults
    assert (fault.code, fault.found) == ("classes-not-numbered", ["1", "2"])
    three = {"ada:2": [0.2, 0.5], "ada:0": [0.5, 0.2], "ada:1": [0.3, 0.3],
             "bob:0": [0.1, 0.2], "bob:2": [0.1, 0.4], "bob:1": [0.8, 0.4], "y": [0, 2]}  # fmt: skip
    panel = read_panel(pa.table(three))
    assert panel.reports[0].tolist() == [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    ("total", "fine"), [(0.99, True), (1.01, True), (0.985, False)]
)
def test_sums_within_one_percent_are_rescaled(total, fine):
    """Rounding explains that much, and a class that was left out does not."""
    columns = {
        f"{a}:{k}": [p] * 3
        for a in "ab"
        for k, p in enumerate((0.5, 0.25, total - 0.75))
    }
    rows = pa.table(columns | {"y": [0, 1, 2]})
    if fine:
        panel, found = read_table(rows)
        assert_allclose(panel.reports.sum(axis=2), 1)
        assert {n.code: n.fields for n in found.notes}["rescaled"] == {"count": 6}
    else:
        first, _ = refusal(rows).faults
        assert (first.code, first.agent, first.count) == ("class-sum", "a", 3)
        assert first.found == pytest.approx(0.985)


@pytest.mark.parametrize(
    ("first", "fine"), [(48, True), (52, True), (47, False), (47.9, False)]
)
def test_whole_percents_of_four_classes_may_be_two_off(first, fine):
    columns = {
        f"{a}:{k}": [p] * 4 for a in "ab" for k, p in enumerate((first, 25, 15, 10))
    }
    rows = pa.table(columns | {"y": [0, 1, 2, 3]})
    if fine:
        assert_allclose(read_panel(rows, percent=True).reports.sum(axis=2), 1)
    else:
        assert refusal(rows, percent=True).codes == ("class-sum",) * 2


def test_classes_hold_probabilities():
    columns = {f"{a}:{k}": [p, p] for a in "ab" for k, p in enumerate((-0.5, 1.5))}
    codes = refusal(pa.table(columns | {"y": [0, 1]})).codes
    assert {*codes} == {"report-outside"}


@pytest.mark.parametrize("joint", [":", "_"])
def test_an_outcome_that_is_no_class_is_named_with_its_row_and_cure(tmp_path, joint):
    frame = table(joint)
    frame.loc[[20, 30], "triage"] = "LWBS"
    (fault,) = refusal(write(frame, tmp_path, "csv")).faults
    assert (fault.code, fault.found, fault.count, fault.place.number) == (
        "label-unknown",
        "LWBS",
        2,
        22,
    )
    assert (fault.cures[0].key, fault.cures[0].value) == ("missing", ["LWBS"])
    panel = read_panel(frame, missing="LWBS")
    assert (len(panel), len(panel.pending)) == (58, 2)
    path = write(frame, tmp_path, "parquet")
    with pytest.raises(TableFaults) as refused:
        open_panels(open_dataset(path), Declared(outcome="triage"))
    assert refused.value.codes == ("label-unknown",)


def test_a_column_of_kinds_is_no_outcome_because_it_shares_some_words():
    kinds = ["Urgent", "Deferred", "Paid", "Free", "Other"] * 12
    frame = table(":").assign(triage=kinds)
    assert refusal(frame).codes == ("no-outcome",)


def test_three_labels_without_class_columns_say_what_these_are_called():
    (asked,) = refusal(table("/").rename(columns={"triage": "y"})).questions
    assert asked.code == "which-labels"
    assert "agent:class" in asked.text()


def test_a_cell_may_hold_one_number_per_class():
    labels = ["x", "y", "z"]
    rows = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8], None]
    found = read_panel(pa.table({"a": rows, "b": rows[::-1], "y": labels})).reports
    assert_allclose(found[0], [[0.2, 0.3, 0.5], [np.nan] * 3])
    named = [dict(zip("zxy", (0.5, 0.2, 0.3), strict=True))] * 3
    found = read_panel(pa.table({"a": named, "b": named, "y": labels})).reports
    assert_allclose(found[0, 0], [0.2, 0.3, 0.5])
    short = [[0.2, 0.3, 0.5], [0.2, 0.8], [0.2, 0.3, 0.5]]
    (fault,) = refusal(pa.table({"a": short, "b": rows, "y": labels})).faults
    assert (fault.code, fault.agent, fault.row) == ("report-classes", "a", 1)
