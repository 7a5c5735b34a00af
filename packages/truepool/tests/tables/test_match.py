"""New cases beside the table that was learned from: one answer, whoever reads them."""

import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus import refusal
from numpy.testing import assert_array_equal

from truepool import read_reports
from truepool.tables import Declared, Schema, TableWarning, Unit, match
from truepool.tables.read import load_reports, read_blocks

KNOWN = Schema(
    ("ada", "bob"),
    {"ada": ("ada",), "bob": ("bob",)},
    outcome="y",
    labels=(0, 1),
    id="case",
)
REPORTS = {"ada": [0.9, 0.2], "bob": [0.6, None]}
VALUES = [[0.9, 0.6], [0.2, np.nan]]
READERS = ("blocks", "whole", "names")
KINDS = ("frame", "csv", "jsonl", "parquet", "xlsx")


@pytest.fixture(params=KINDS)
def given(request, tmp_path):
    """Write columns in some kind of table."""

    def write(columns):
        path = tmp_path / f"new.{request.param}"
        frame = pd.DataFrame(
            {
                n: pd.Series(v, dtype=object) if None in v else v
                for n, v in columns.items()
            }
        )
        if path.suffix == ".frame":
            return frame
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        elif path.suffix == ".parquet":
            frame.to_parquet(path)
        elif path.suffix == ".xlsx":
            frame.to_excel(path, index=False)
        else:
            rows = frame.to_dict("records")
            path.write_text(
                "\n".join(
                    json.dumps({k: v for k, v in row.items() if v is not None})
                    for row in rows
                )
            )
        return path

    return write


def read(source, reader="blocks", known=KNOWN, columns=(), **keys):
    """Values, ids and notes of new cases."""
    declared = Declared(**keys)
    if reader == "blocks":
        found = match(source, known, declared, columns)
        every = [*read_blocks(found, declared=declared)]
        ids = [
            id
            for block in every
            if block.ids is not None
            for id in block.ids.to_pylist()
        ]
        values = np.concatenate([block.values[:, :, 0] for block in every])
        return values, ids, {n.code: n.fields for n in found.notes}
    if reader == "whole":
        found = load_reports(source, known, declared, columns)
    else:
        with warnings.catch_warnings(action="ignore", category=TableWarning):
            found = read_reports(source, known.agents, **keys)
    ids = [] if found.ids is None else found.ids.tolist()
    return found.values, ids, {n.code: n.fields for n in found.notes}


# The six differences, decided


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("column", [["x", "y"], [40, 50], [0.5, 0.7], [None, "z"]])
def test_a_column_that_the_pool_does_not_know_is_left_out_and_named_once(
    given, reader, column
):
    values, _, notes = read(given(REPORTS | {"more": column}), reader)
    assert_array_equal(values, VALUES)
    notes.pop("no-ids", None)  # this column may have them
    assert notes == {"not-used": {"names": ("more",)}}


@pytest.mark.parametrize("reader", READERS)
def test_a_case_without_reports_keeps_its_row_empty(given, reader):
    columns = {name: [*values, None, 0.5] for name, values in REPORTS.items()}
    columns["id"] = [1, 2, 3, 4]  # a sheet has no row without any value
    values, _, _ = read(given(columns), reader)
    assert_array_equal(values, [*VALUES, [np.nan, np.nan], [0.5, 0.5]])


def test_cases_without_reports_are_counted():
    columns = {name: [*values, None] for name, values in REPORTS.items()}
    (block,) = read_blocks(match(pa.table(columns), KNOWN, Declared()))
    assert block.blank.tolist() == [False, False, True]


@pytest.mark.parametrize("reader", READERS)
def test_an_agent_that_is_missing_is_named_and_the_others_count(given, reader):
    values, _, notes = read(given({"ada": [0.9, 0.2]}), reader)
    assert_array_equal(values, [[0.9, np.nan], [0.2, np.nan]])
    assert notes["agents-missing"]["names"] == ["bob"]
    _, _, notes = read(given({"ada": [0.9, 0.2], "bbo": [0.6, 0.1]}), reader)
    assert notes["agents-misspelled"] == {"names": ["bob"], "close": "bbo"}
    assert notes["not-used"]["names"] == ("bbo",)


def test_whoever_calls_python_is_warned_of_a_missing_agent():
    with pytest.warns(TableWarning):
        read_reports(pa.table({"ada": [0.9]}), KNOWN.agents)


def test_json_lines_may_leave_an_agent_out_of_some_lines(tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text('{"ada": 0.5, "bob": 0.1}\n{"ada": 0.4}\n{"bob": 0.2, "eve": 3}\n')
    for reader in READERS:
        values, _, notes = read(path, reader)
        assert_array_equal(values, [[0.5, 0.1], [0.4, np.nan], [np.nan, 0.2]])
        assert notes["not-used"] == {"names": ("eve",)}


@pytest.mark.parametrize("reader", READERS[:2])
@pytest.mark.parametrize(
    ("name", "keys", "found"),
    [
        ("case", {}, True),
        ("id", {}, True),
        ("nr", {"id": "nr"}, True),
        ("nr", {}, False),
    ],
)
def test_ids_are_those_of_the_fit_or_those_that_are_named(
    given, reader, name, keys, found
):
    columns = {name: ["c1", "c2"], **REPORTS}
    values, ids, notes = read(given(columns), reader, **keys)
    assert_array_equal(values, VALUES)
    assert ids == (["c1", "c2"] if found else [])
    assert {*notes} == ({*()} if found else {"not-used", "no-ids"})


@pytest.mark.parametrize("reader", READERS)
def test_a_table_without_any_agent_is_refused(given, reader):
    source = given({"adda": [0.9, 0.2], "bbo": [0.6, 0.1]})
    (fault,) = refusal(source, read=lambda s: read(s, reader)).faults
    assert (fault.code, fault.fields["agents"]) == ("no-agents", ("ada", "bob"))
    assert fault.cures[0].value == ("adda", "ada")


# Columns that the pool needs


@pytest.mark.parametrize("reader", READERS[:2])
def test_the_columns_of_costs_must_be_there(given, reader):
    known = Schema(
        ("ada", "bob"), {"ada": ("ada",), "bob": ("bob",)}, weight="w", kept=("amount",)
    )
    with_costs = REPORTS | {"amount": [5.0, 7.5], "w": [1, 2]}
    _, _, notes = read(given(with_costs), reader, known, ("amount",))
    assert notes == {}
    (fault,) = refusal(
        given(REPORTS | {"amont": [5.0, 7.5]}),
        read=lambda s: read(s, reader, known, ("amount",)),
    ).faults
    assert (fault.code, fault.column, fault.cures[0].value) == (
        "no-cost-column",
        "amount",
        ("amont", "amount"),
    )


def test_amounts_of_new_cases_are_read_by_the_marks_of_the_fit(tmp_path):
    """1.234 was 1.234 in one batch, and 1234 in the next, beside 12,50."""
    path = tmp_path / "new.csv"

    def amounts(*cells, decimal=None):
        path.write_text(
            "\n".join(["ada;bob;amount", *(f"0.2;0.4;{cell}" for cell in cells)])
        )
        found = match(path, KNOWN, Declared(decimal=decimal), ("amount",))
        (block,) = read_blocks(found, declared=Declared(decimal=decimal))
        return block.columns["amount"].tolist()

    assert amounts("1.234", "5.5") == [1.234, 5.5]
    assert amounts("1.234", "5") == [1.234, 5]
    assert amounts("12,50", "1.234", decimal=",") == [12.5, 1234]


@pytest.mark.parametrize(
    ("keys", "code"),
    [({"id": "nr"}, "no-column"), ({"time": "at"}, "no-column"),
     ({"decision_time": "end"}, "no-column"), ({"updates": "time-weighted"}, "new-intervals")],
)  # fmt: skip
def test_what_is_declared_of_new_cases_must_be_there(keys, code):
    assert refusal(pa.table(REPORTS), read=lambda s: read(s, **keys)).codes == (code,)


# Units of the fit


@pytest.mark.parametrize("reader", READERS[:2])
def test_new_cases_are_in_the_unit_of_the_fit_unless_they_say_another(given, reader):
    known = Schema(
        **{**vars(KNOWN), "units": {"ada": Unit(0, 100), "bob": Unit(850, 300)}}
    )
    source = given({"ada": [90.0, 20.0], "bob": [410.0, 740.0]})
    values, _, _ = read(source, reader, known)
    assert_array_equal(values, [[0.9, 0.8], [0.2, 0.2]])
    source = given({"ada": [0.9, 0.2], "bob": [0.6, 0.1]})
    values, _, _ = read(source, reader, known, percent=False)
    assert_array_equal(values, [[0.9, 0.6], [0.2, 0.1]])
    (fault, _) = refusal(
        given({"ada": [190.0, 20.0], "bob": [41.0, 74.0]}),
        read=lambda s: read(s, reader, known),
    ).faults
    assert (fault.code, fault.agent) == ("number-outside", "ada")
    assert float(fault.found) == 190


@pytest.mark.parametrize("reader", READERS)
def test_percent_signs_of_new_cases_are_seen(given, reader):
    values, _, _ = read(given({"ada": ["90%", "20%"], "bob": [0.6, 0.1]}), reader)
    assert_array_equal(values, [[0.9, 0.6], [0.2, 0.1]])


def test_percent_signs_are_all_or_none_also_from_batch_to_batch(tmp_path):
    path = tmp_path / "new.csv"
    for late, first in (("5%", "0.20000000"), ("5", "20.000000%")):
        path.write_text("ada,bob\n" + f"{first},0.4\n" * 150_000 + f"{late},0.4\n")
        (fault,) = refusal(path, read=read).faults
        assert (fault.code, fault.agent) == ("percent-signs-mixed", "ada")
        assert fault.place.number == 150_002


def test_a_fault_of_a_later_batch_is_counted_from_the_top(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("ada,bob\n" + "0.20000000,0.4\n" * 150_000 + "0.2,1.4\n0.2,x\n")
    faults = refusal(path, read=read).faults
    assert [(f.code, f.place.number) for f in faults] == [
        ("report-not-number", 150_003),
        ("report-outside", 150_002),
    ]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_later_batches_have_times_like_the_first(tmp_path, kind):
    known = Schema(**{**vars(KNOWN), "time": "at"})
    zones = [""] * 90_000 + ["+01:00"] * 10_000
    frame = pd.DataFrame(
        {"at": [f"2026-02-01T01:23:00{zone}" for zone in zones], "ada": 0.5, "bob": 0.5}
    )
    path = tmp_path / f"new.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=20_000)
    else:
        frame.to_json(path, orient="records", lines=True)
    (fault,) = refusal(path, read=lambda s: read(s, known=known)).faults
    assert (fault.code, fault.column) == ("time-zones-mixed", "at")


# A long table


ROWS = {"q": ["x", "x", "y"], "who": ["ada", "bob", "ada"], "p": [0.9, 0.6, 0.2]}


@pytest.mark.parametrize("reader", READERS)
def test_new_cases_may_have_one_row_per_report(given, reader):
    source = given(ROWS)
    values, ids, _ = read(source, reader, long=("q", "who", "p"))
    assert_array_equal(values, VALUES)
    assert ids == ["x", "y"]
    (fault,) = refusal(
        given(ROWS | {"p": [0.9, 1.6, 0.2]}),
        read=lambda s: read(s, reader, long=("q", "who", "p")),
    ).faults
    assert (fault.code, fault.agent) == ("report-outside", "bob")


def test_a_pool_of_a_long_table_takes_wide_ones_too(given):
    known = Schema(("ada", "bob"), long=("q", "who", "p"), labels=(0, 1))
    assert_array_equal(read(given(ROWS), known=known)[0], VALUES)
    values, ids, _ = read(given({"q": ["x", "y"], **REPORTS}), known=known)
    assert_array_equal(values, VALUES)
    assert ids == ["x", "y"]


def test_agents_of_a_long_table_that_the_pool_does_not_know_are_left_out():
    source = pa.table(ROWS | {"who": ["ada", "eve", "ada"]})
    found = load_reports(source, KNOWN, Declared(long=("q", "who", "p")))
    assert_array_equal(found.values, [[0.9, np.nan], [0.2, np.nan]])
    assert {n.code: n.fields for n in found.notes}["agents-unknown"] == {
        "names": ["eve"]
    }
