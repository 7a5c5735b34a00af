"""What else is known about each case: columns, weights, groups, propensities."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from corpus import refusal
from numpy.testing import assert_array_equal

from truepool.core.errors import PanelError
from truepool.panel.panel import Panel
from truepool.tables import Declared, Schema, load_reports, read_panel, write_table

NAN = float("nan")
REPORTS = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.1]]
OUTCOMES = [1, 0, 1]
ROWS = {
    "id": ["a", "b", "c", "d"],
    "rf": [0.9, 0.2, 0.7, 0.5],
    "gbm": [0.6, 0.4, 0.1, 0.5],
    "amount": [120.5, 80.0, 15.0, 99.0],
    "region": ["EU", "US", "EU", "US"],
    "w": [1.0, 2.0, 3.0, 4.0],
    "customer": ["007", "7", "007", "9"],
    "p": [1.0, 0.5, 0.25, 0.1],
    "y": [1, 0, 1, None],
}
NAMED = {
    "columns": ("amount", "region"),
    "weight": "w",
    "group": "customer",
    "propensity": "p",
}


def panel():
    return Panel(
        REPORTS,
        OUTCOMES,
        times=[3, 1, 2],
        columns={"amount": [10.0, 20.0, 30.0], "region": ["EU", "US", "EU"]},
        weights=[1, 2, 3],
        groups=["x", "y", "x"],
        propensity=[1.0, 0.5, 0.25],
    )


def test_a_part_of_a_panel_has_the_columns_of_its_cases():
    part = panel().take(np.array([2, 0]))
    assert part.columns["amount"].tolist() == [30.0, 10.0]
    assert part.columns["region"].tolist() == ["EU", "EU"]
    assert part.weights.tolist() == [3.0, 1.0]
    assert part.groups.tolist() == ["x", "x"]
    assert part.propensity.tolist() == [0.25, 1.0]


def test_cases_keep_their_columns_when_they_are_sorted_or_reported_on_anew():
    ordered = panel().sort_by_time()
    assert ordered.columns["amount"].tolist() == [20.0, 30.0, 10.0]
    assert ordered.weights.tolist() == [2.0, 3.0, 1.0]
    other = panel().with_reports(np.full((3, 2), 0.5))
    assert_array_equal(other.columns["region"], panel().columns["region"])
    assert_array_equal(other.groups, panel().groups)


def test_a_panel_without_columns_has_none():
    plain = Panel(REPORTS, OUTCOMES)
    assert dict(plain.columns) == {}
    assert plain.weights is plain.groups is plain.propensity is None
    assert dict(plain.take(np.array([0, 1])).columns) == {}


def test_columns_of_a_panel_are_its_own_and_cannot_be_written_to():
    amounts = np.array([10.0, 20.0, 30.0])
    own = Panel(REPORTS, OUTCOMES, columns={"amount": amounts}, weights=amounts)
    amounts[:] = 0.0
    assert own.columns["amount"].tolist() == own.weights.tolist() == [10.0, 20.0, 30.0]
    for column in (own.columns["amount"], own.weights):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1.0
    with pytest.raises(TypeError):
        own.columns["amount"] = amounts


def test_a_panel_with_columns_survives_pickling():
    copy = pickle.loads(pickle.dumps(panel()))
    assert copy.columns["region"].tolist() == ["EU", "US", "EU"]
    assert repr(copy.columns) == "CaseColumns(amount, region)"
    assert len(copy.columns) == 2


def test_pending_cases_have_columns_too():
    later = Panel(REPORTS, OUTCOMES).with_pending(
        [[0.5, 0.5]], columns={"amount": [7.0]}
    )
    assert later.pending.columns["amount"].tolist() == [7.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"columns": {"amount": [1.0]}}, "amount must hold one value per case, 3"),
        ({"weights": [1, 2]}, "one value per case, 3; got"),
        ({"weights": [1, 0, 2]}, r"must be positive; case 1 \(id 'b'\) has 0"),
        ({"weights": [1, -1, 2]}, r"must be positive; case 1 \(id 'b'\) has -1"),
        ({"weights": [1, NAN, 2]}, "must be a number; case 1 .* has none"),
        ({"weights": [1, "much", 2]}, "must be a number; case 1 .* has 'much'"),
        ({"weights": [1, None, 2]}, "must be a number; case 1 .* has none"),
        ({"weights": [1, np.inf, 2]}, "must be a number; case 1 .* has inf"),
        ({"groups": ["x", None, "x"]}, "every case needs a group; case 1 .* has none"),
        ({"groups": [1.0, NAN, 2.0]}, "every case needs a group; case 1 .* has none"),
        (
            {"propensity": [1, 0, 1]},
            "case 1 .* has 0. A case that could not be reviewed",
        ),
        ({"propensity": [1, 50, 1]}, "case 1 .* has 50. If these are percentages"),
        ({"propensity": [1, NAN, 1]}, "must be a number; case 1 .* has none"),
    ],
)
def test_what_a_case_cannot_have_is_refused(given, words):
    with pytest.raises(PanelError, match=words):
        Panel(REPORTS, OUTCOMES, ids=["a", "b", "c"], **given)


def test_a_column_that_is_not_there_is_named_with_what_it_is_for():
    with pytest.raises(PanelError, match=r"costs needs the column 'amounts'.*'amount'"):
        panel().columns.find("amounts", "the costs")
    assert panel().columns.find("amount", "the costs").tolist() == [10.0, 20.0, 30.0]


def check(read):
    assert read.agents == ("rf", "gbm")
    assert read.columns["amount"].tolist() == [120.5, 80.0, 15.0]
    assert read.columns["region"].tolist() == ["EU", "US", "EU"]
    assert set(read.columns) == {"amount", "region"}
    assert read.weights.tolist() == [1.0, 2.0, 3.0]
    assert len(set(read.groups.tolist())) == 2
    assert read.propensity.tolist() == [1.0, 0.5, 0.25]
    assert read.pending.columns["amount"].tolist() == [99.0]
    assert read.pending.columns["region"].tolist() == ["US"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_read_with_their_columns(frame):
    check(read_panel(frame(ROWS), **NAMED))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_files_are_read_with_their_columns(tmp_path, name):
    write_table(tmp_path / name, ROWS)
    check(read_panel(tmp_path / name, **NAMED))


def test_tsv_and_excel_files_are_read_with_their_columns(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame(ROWS).to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    pd.DataFrame(ROWS).to_excel(tmp_path / "t.xlsx", index=False)
    check(read_panel(tmp_path / "t.tsv", **NAMED))
    check(read_panel(tmp_path / "t.xlsx", **NAMED))


def test_a_group_in_a_text_file_is_a_label_not_a_number(tmp_path):
    write_table(tmp_path / "t.csv", ROWS)
    assert read_panel(tmp_path / "t.csv", **NAMED).groups.tolist() == [
        "007",
        "7",
        "007",
    ]


def test_amounts_with_a_decimal_comma_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;amount;y\n0,9;0,6;120,50;1\n0,2;0,1;80;0\n")
    read = read_panel(tmp_path / "t.csv", decimal=",", columns=["amount"])
    assert read.columns["amount"].tolist() == [120.5, 80.0]


def test_an_empty_cell_of_text_is_no_value(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,region,y\n0.9,0.6,,1\n0.2,0.1,EU,0\n")
    read = read_panel(tmp_path / "t.csv", columns=["region"])
    assert read.columns["region"].tolist() == [None, "EU"]
    (fault,) = refusal(tmp_path / "t.csv", group="region").faults
    assert (fault.code, fault.column, fault.place.number) == (
        "group-missing",
        "region",
        2,
    )


LONG = {
    "q": ["1", "1", "2", "2"],
    "who": ["ann", "bob", "ann", "bob"],
    "p": [0.9, 0.6, 0.2, 0.4],
    "amount": [5.0, 5.0, 7.0, None],
    "note": ["x", "x", None, None],
    "y": [1, 1, 0, 0],
}


def test_a_long_table_has_one_value_per_case():
    read = read_panel(
        pl.DataFrame(LONG), long=("q", "who", "p"), columns=["amount", "note"]
    )
    assert read.columns["amount"].tolist() == [5.0, 7.0]
    assert read.columns["amount"].dtype == np.float64
    assert read.columns["note"].tolist() == ["x", None]


@pytest.mark.parametrize("role", ["weight", "group", "propensity", "columns"])
def test_a_role_without_its_column_is_refused(role):
    (fault,) = refusal(pd.DataFrame(ROWS), **{role: "amounts"}).faults
    assert (fault.code, fault.column, fault.fields["key"]) == (
        "no-column",
        "amounts",
        role,
    )
    assert fault.cures[0].value == "amount"


@pytest.mark.parametrize(
    ("role", "cells", "code", "row", "found"),
    [
        ("weight", ["1", "", "lots"], "amount-odd", 2, "lots"),
        ("weight", ["1", "2", "5%"], "amount-odd", 2, "5%"),
        ("weight", ["1", "2", "1,234.5.0"], "amount-odd", 2, "1,234.5.0"),
        ("weight", ["1", "2", "1,234"], "thousands-or-decimals", 2, "1,234"),
        ("weight", [1, None, 2], "amount-missing", 1, None),
        ("weight", [1, 0, 2], "weight-range", 1, 0),
        ("weight", [1, -1, 2], "weight-range", 1, -1),
        ("propensity", [1, None, 0.5], "amount-missing", 1, None),
        ("propensity", [1, 0, 0.5], "propensity-range", 1, 0),
        ("propensity", [1, 50, 0.5], "propensity-range", 1, 50),
        ("propensity", ["1", "1", "12,5 %"], "percent-signs-mixed", 0, "1"),
        ("group", ["a", None, "b"], "group-missing", 1, None),
        ("columns", [[1], [2], [3]], "plain-values", None, None),
    ],
)
def test_a_cell_that_says_nothing_of_its_case_is_named(role, cells, code, row, found):
    table = pa.table(
        {"a": [0.9, 0.2, 0.5], "b": [0.6, 0.4, 0.1], "y": [1, 0, 0], "w": cells}
    )
    fault = refusal(table, **{role: "w"}).faults[0]
    assert (fault.code, fault.column, fault.row, fault.found) == (code, "w", row, found)


def test_propensities_may_carry_percent_signs():
    table = {"a": [0.9, 0.2], "b": [0.8, 0.1], "y": [1, 0], "p": ["100 %", "12,5 %"]}
    assert_array_equal(
        read_panel(pa.table(table), propensity="p").propensity, [1, 0.125]
    )


def test_a_column_with_decimal_points_may_stand_beside_decimal_commas(tmp_path):
    """Propensities that a command wrote, joined to a spreadsheet's table."""
    path = tmp_path / "t.csv"
    path.write_text("a;b;p;y\n0,1;0,2;0.125;0\n0,3;0,4;1;1\n")
    assert read_panel(path, propensity="p").propensity.tolist() == [0.125, 1.0]
    path.write_text("a;b;w;y\n0,1;0,2;1.567,71;0\n0,3;0,4;2.970;1\n0,3;0,4;7,5;1\n")
    assert read_panel(path, weight="w").weights.tolist() == [1567.71, 2970.0, 7.5]


def test_new_cases_need_the_columns_but_not_what_only_learning_uses():
    known = Schema(
        ("rf", "gbm"), {"rf": ("rf",), "gbm": ("gbm",)}, weight="w", group="customer"
    )
    rows = {name: ROWS[name] for name in ("rf", "gbm", "amount", "region")}
    costs = ("amount", "region")
    reports = load_reports(pd.DataFrame(rows), known, Declared(), costs)
    assert reports.columns["amount"].tolist() == ROWS["amount"]
    assert set(reports.columns) == {*costs}
    less = pd.DataFrame(rows).drop(columns="amount")
    (fault,) = refusal(
        less, read=lambda s: load_reports(s, known, Declared(), costs)
    ).faults
    assert (fault.code, fault.column) == ("no-cost-column", "amount")
