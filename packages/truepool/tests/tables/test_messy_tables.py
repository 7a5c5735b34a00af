"""Each way of writing a table, one at a time, and each way of getting it wrong."""

import datetime
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from messy_tables import TABLES, write
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import csv

from truepool import read_panel, read_reports
from truepool.core.errors import (
    AgentError,
    MissingExtraError,
    OutcomeError,
    PanelError,
    ReportError,
    SettingError,
    SourceError,
    TruepoolError,
)
from truepool.panel.labels import Labels
from truepool.tables import (
    TableFormat,
    TableWarning,
    agent_columns,
    load_panel,
    numbers,
    read_column_names,
)
from truepool.tables.batches import read_batches
from truepool.tables.reader import load_reports

WIDE = {"ada": [0.9, 0.2, 0.5], "bob": [0.6, 0.4, 0.1], "y": [1, 0, 0]}
REPORTS = [[0.9, 0.6], [0.2, 0.4], [0.5, 0.1]]
LONG = {
    "question": ["q1", "q1", "q2", "q2", "q1"],
    "who": ["ada", "bob", "ada", "bob", "ada"],
    "p": [0.5, 0.6, 0.2, 0.4, 0.9],
    "made": [1, 1, 1, 1, 2],
    "y": [1, 1, 0, 0, 1],
}
COLUMNS = ("question", "who", "p")


def file(tmp_path, text, name="panel.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "name", "settings", "separator"),
    [
        ("ada;bob;y\n.9;.6;1\n.2;.4;0\n.5;.1;0\n", "a.csv", {}, ";"),
        ("ada\tbob\ty\n.9\t.6\t1\n.2\t.4\t0\n.5\t.1\t0\n", "a.tsv", {}, "\t"),
        ("ada|bob|y\n.9|.6|1\n.2|.4|0\n.5|.1|0\n", "a.txt", {}, "|"),
        ("ada:bob:y\n.9:.6:1\n.2:.4:0\n.5:.1:0\n", "a.txt", {"sep": ":"}, None),
        ("ada,bob,y\n.9,.6,1\n.2,.4,0\n.5,.1,0\n", "a.csv", {}, None),
        ("ada;bob;y\n0,9;0,6;1\n0,2;0,4;0\n0,5;0,1;0\n", "a.csv", {"decimal": ","}, ";"),
        ("ada;bob;y\n90%;60 %;1\n20%;40%;0\n50%;10%;0\n", "a.csv", {"percent": True}, ";"),
        ("ada,bob,y\n90,60,1\n20,40,0\n50,10,0\n", "a.csv", {"percent": True}, None),
        ("ada\tbob\ty\n90,0%\t60%\t1\n20%\t40%\t0\n50%\t10%\t0\n", "a.csv",
         {"percent": True, "decimal": ",", "sep": "tab"}, None),
    ],
)  # fmt: skip
def test_one_panel_may_be_written_in_many_ways(
    tmp_path, text, name, settings, separator
):
    path = file(tmp_path, text, name)
    panel, found = load_panel(path, TableFormat(**settings))
    assert_allclose(panel.reports, REPORTS, rtol=1e-15)
    assert panel.outcomes.tolist() == [1, 0, 0]
    assert found.origin.separator == separator
    assert bool(found.notes()) == (separator is not None)


def test_times_are_read_by_their_format():
    table = pa.table({**WIDE, "time": ["31.12.2025", "01.02.2026", "02.01.2026"]})
    panel = read_panel(table, time_format="%d.%m.%Y")
    assert panel.order.tolist() == [0, 2, 1]
    assert panel.times[0] == np.datetime64(datetime.datetime(2025, 12, 31))
    with pytest.raises(
        PanelError, match=r"'%Y'; column 'time' has '31.12.2025' in zero-based row 0"
    ):
        read_panel(table, time_format="%Y")


@pytest.mark.parametrize(
    ("cells", "cure"),
    [
        (("2026-01-31", "2026-02-01"), "Pass --time-format '%Y-%m-%d'."),
        (
            ("2026-01-31T12:00", "2026-02-01T13:30"),
            "Pass --time-format '%Y-%m-%dT%H:%M'.",
        ),
        (("31.01.2026", "13.02.2026"), "Pass --time-format '%d.%m.%Y'."),
        (("31-Jan-2026", "13-Feb-2026"), "Pass --time-format '%d-%b-%Y'."),
        (("May 31, 2026", "May 13, 2026"), "Pass --time-format '%b %d, %Y'."),
        (("May 31, 2026", "June 13, 2026"), "Pass --time-format '%B %d, %Y'."),
        (
            ("31-Jan-2026", "13-Feb-2026", "soon"),
            "Pass --time-format '%d-%b-%Y', which fits 2 of 3 cells, and correct the "
            "others, such as 'soon'.",
        ),
        (("end of 2026", "mid 2027"), "Change --time-format."),
    ],
)
def test_dates_of_a_text_file_must_be_written_as_the_format_says(tmp_path, cells, cure):
    rows = (f'"{t}",0.{i}1,0.{i}2,{i % 2}\n' for i, t in enumerate(cells))
    path = file(tmp_path, "time,a,b,y\n" + "".join(rows), "a.csv")
    with pytest.raises(PanelError) as refusal:
        read_panel(path, time_format="%d/%m/%Y")
    assert str(refusal.value) == (
        f"a time must be written as '%d/%m/%Y'; column 'time' has {cells[0]!r} in "
        f"line 2 of the file. {cure}"
    )


@pytest.mark.parametrize("written", ["%d/%m/%Y", "%Y | %d/%m/%Y"])
def test_a_format_that_fits_most_cells_is_kept(written):
    table = pa.table({**WIDE, "time": ["31/12/2025", "soon", "02/01/2026"]})
    with pytest.raises(PanelError, match=r"Correct it; 2 of 3 cells fit\.$"):
        read_panel(table, time_format=written)


CLOCK = ["04/01/2026 09:14 PM", "04/02/2026 09:14 AM", "04/03/2026 12:30 AM"]


def test_am_and_pm_count_only_beside_the_hour_of_a_12_hour_clock():
    table = pa.table({**WIDE, "time": CLOCK})
    panel = read_panel(table, time_format="%m/%d/%Y %I:%M %p")
    assert [time.hour for time in panel.times.tolist()] == [21, 9, 0]
    with pytest.raises(PanelError, match=r"Pass --time-format '%m/%d/%Y %I:%M %p'"):
        read_panel(table, time_format="%m/%d/%Y %H:%M %p")
    with pytest.raises(PanelError, match="the hour must be %I"):
        read_panel(table, time_format="%d.%m.%Y | %m/%d/%Y %H:%M %p")


def test_a_12_hour_clock_without_am_and_pm_is_refused():
    table = pa.table({**WIDE, "time": [cell[:16] for cell in CLOCK]})
    with pytest.raises(PanelError, match="does not tell morning from afternoon") as no:
        read_panel(table, time_format="%m/%d/%Y %I:%M")
    assert "pass --time-format '%m/%d/%Y %H:%M'" in str(no.value)
    panel = read_panel(table, time_format="%m/%d/%Y %H:%M")
    assert [time.hour for time in panel.times.tolist()] == [9, 9, 12]


@pytest.mark.parametrize("cells", [["yes", "no", "yes"], [0, 1, 1], [0.25, 1.5, 2.75]])
@pytest.mark.parametrize("option", ["time", "decision_time"])
def test_a_column_without_any_date_is_no_column_of_times(cells, option):
    days = ["01.01.2026", "02.01.2026", "03.01.2026"]
    names = {"time": "at", "decision_time": "end"}
    columns = {"at": days, "end": days, names[option]: cells}
    table = pa.table(
        {"q": ["a", "b", "c"], "who": ["x"] * 3, "p": [0.1, 0.2, 0.3], **columns}
    )
    with pytest.raises(PanelError) as refusal:
        load_panel(
            table.append_column("y", pa.array([0, 1, 1])),
            TableFormat(long=("q", "who", "p"), time_format="%d.%m.%Y", **names),
        )
    assert f"column {names[option]!r} holds none" in str(refusal.value)
    assert f"(--{option.replace('_', '-')})" in str(refusal.value)


def test_a_format_that_fits_iso_dates_is_accepted(tmp_path):
    text = "time,a,b,y\n2026-01-31,0.1,0.2,0\n2026-02-01,0.9,0.8,1\n"
    path = file(tmp_path, text, "a.csv")
    panel = read_panel(path, time_format="%Y-%m-%d")
    assert_array_equal(panel.times, read_panel(path).times)


def test_cells_that_hold_dates_need_no_format():
    days = [datetime.date(2025, 12, 31), datetime.date(2026, 2, 1), None]
    for whole in (days[:2], [datetime.datetime(d.year, d.month, 3) for d in days[:2]]):
        table = pa.table({"a": [0.9, 0.1], "b": [0.8, 0.3], "time": whole, "y": [1, 0]})
        panel = read_panel(table, time_format="%d.%m.%Y")
        assert panel.times.tolist() == read_panel(table).times.tolist()
    with pytest.raises(
        PanelError, match="every case needs a time; zero-based row 2 has none"
    ):
        read_panel(pa.table({**WIDE, "time": days}), time_format="%d.%m.%Y")


@pytest.mark.parametrize(
    ("times", "cure"),
    [
        (["31.12.2025", "", "02.01.2026"], "row 0. Pass --time-format '%d.%m.%Y'."),
        (["2026-01-02", "3.4.2026 12:00", "2026-01-04"], "row 1. Correct it; 2 of 3 cells fit."),
        (["31.12.2025", "soon", "02.01.2026"],
         "row 0. Pass --time-format '%d.%m.%Y', which fits 2 of 3 cells, and correct the "
         "others, such as 'soon'."),
        (["31.12.2025", "soon", "later 26"], "row 0. Say how times are written"),
        (["1/2/2026", "3/4/2026", "3/5/2026"],
         "Pass --time-format '%d/%m/%Y' or '%m/%d/%Y'."),
        (["2026-01-02", "", "2026-01-04"], "every case needs a time; zero-based row 1 has none"),
    ],
)  # fmt: skip
def test_times_that_are_written_otherwise_are_refused_with_their_format(times, cure):
    with pytest.raises(PanelError, match=re.escape(cure)):
        read_panel(pa.table({**WIDE, "when": times}), time="when")


@pytest.mark.parametrize("role", ["weight", "propensity"])
@pytest.mark.parametrize(
    ("cell", "cure"),
    [
        ("5%", "column 'w' has '5%' in zero-based row 2. Write 0.05, without the percent sign."),
        ("1,234", "Pass --decimal ',' if the comma is the decimal mark, else leave it out."),
        ("1,234.5.0", "Leave out what separates the thousands."),
        ("lots", "column 'w' has 'lots' in zero-based row 2. Correct it, or name another column."),
    ],
)  # fmt: skip
def test_what_is_no_number_is_named_with_its_column_row_and_cure(role, cell, cure):
    table = pa.table({**WIDE, "w": ["1", "", cell]})
    message = f"the {role} of a case must be a number; .*{re.escape(cure)}"
    with pytest.raises(PanelError, match=message):
        read_panel(table, **{role: "w"})


def test_text_with_decimal_commas_is_numbers_where_that_is_the_mark():
    table = pa.table(
        {**WIDE, "amount": ["1,5", "20", "3,25"], "code": ["07", "1", "x"]}
    )
    panel = read_panel(table, decimal=",", columns=("amount", "code"))
    assert panel.columns["amount"].tolist() == [1.5, 20.0, 3.25]
    assert panel.columns["code"].tolist() == ["07", "1", "x"]
    doubtful = pa.table({**WIDE, "amount": ["1,500", "20", "3,250"]})
    panel = read_panel(doubtful, columns=("amount",))
    assert panel.columns["amount"].tolist() == ["1,500", "20", "3,250"]
    panel = read_panel(doubtful, decimal=",", columns=("amount",))
    assert panel.columns["amount"].tolist() == [1.5, 20.0, 3.25]


@pytest.mark.parametrize(
    ("cells", "numbers", "said"),
    [
        (["195,48 €", "1.234,50 €", "7 €"], [195.48, 1234.5, 7], "'195,48 €' as 195.48"),
        (["$1,200.00", "$12", "-$3.50"], [1200, 12, -3.5], "'$1,200.00' as 1200"),
        (["$1,200", "$12", "-$3"], [1200, 12, -3], "'$1,200' as 1200"),
        (["USD 1,200.00", "12 USD", "USD 3"], [1200, 12, 3], "'USD 1,200.00' as 1200"),
        (["1,234,567", "12", "3"], [1234567, 12, 3], "'1,234,567' as 1234567"),
        (["1,5", "1.234,50", "20"], [1.5, 1234.5, 20], "'1,5' as 1.5"),
        (["CHF 1'234.50", "CHF 12", "CHF 3.10"], [1234.5, 12, 3.1], "\"CHF 1'234.50\" as 1234.5"),
        (["1 234,5", "12", "1\u202f234\u202f567"], [1234.5, 12, 1234567], "'1 234,5' as 1234.5"),
        (["0,125", "12", "1"], [0.125, 12, 1], "'0,125' as 0.125"),
    ],
)  # fmt: skip
def test_amounts_are_read_as_people_write_them_and_said_so(cells, numbers, said):
    long = {name: np.repeat(column, 2) for name, column in WIDE.items() if name == "y"}
    long |= {"q": list("aabbcc"), "who": ["ada", "bob"] * 3, "p": [0.2, 0.4] * 3}
    tables = [
        (pa.table({**WIDE, "amount": cells}), None),
        (pa.table({**long, "amount": np.repeat(cells, 2)}), ("q", "who", "p")),
    ]
    for table, columns in tables:
        panel, found = load_panel(table, TableFormat(columns="amount", long=columns))
        assert panel.columns["amount"].tolist() == numbers
        assert f"Column 'amount' is read as amounts: {said}." in found.notes()


@pytest.mark.parametrize(
    "cells",
    [
        ["$1.50", "2.50 €", "3.50"],  # two currencies
        ["1.50 €", "2.50", "3.50 €"],  # some without
        ["1,200", "12", "3"],  # thousands, or a decimal comma
        ["1.200 €", "12 €", "3 €"],
        ["$1,200", "$1.250", "$3"],
        ["1.234,50", "1,234.50", "3"],  # two decimal marks
        ["12,34,567.00", "1", "2"],
        ["(12.50)", "1", "2"],
    ],
)
def test_amounts_in_doubt_stay_text(cells):
    table = pa.table({**WIDE, "amount": cells})
    panel, found = load_panel(table, TableFormat(columns="amount"))
    assert panel.columns["amount"].tolist() == cells
    assert found.amounts == {}


def test_with_a_decimal_comma_a_point_in_an_amount_with_a_currency_is_of_thousands():
    table = pa.table({**WIDE, "amount": ["1.200 €", "12 €", "3 €"]})
    panel = read_panel(table, decimal=",", columns="amount")
    assert panel.columns["amount"].tolist() == [1200, 12, 3]


def test_a_number_that_only_python_reads_is_refused_as_text():
    table = pa.table({**WIDE, "ada": ["0.9", "1_0", "0.5"]})
    with pytest.raises(ReportError, match="column 'ada' has '1_0' in zero-based row 1"):
        read_panel(table)


@pytest.mark.parametrize(("sep", "cure"), [(",", ","), ("\t", "tab"), ("|", "'|'")])
def test_another_separator_than_was_said_is_named(tmp_path, sep, cure):
    path = file(tmp_path, f"ada{sep}bob{sep}y\n")
    with pytest.raises(SourceError, match=re.escape(f"Pass --sep {cure}.")):
        read_panel(path, sep=";")


@pytest.mark.parametrize(
    ("agents", "found"),
    [
        ("m_*", ("m_a", "m_b")),
        ("m_a, z", ("m_a", "z")),
        (("z", "m_b"), ("m_b", "z")),
        (None, ("m_a", "m_b", "z")),
    ],
)
def test_agents_are_chosen_by_name_or_pattern(agents, found):
    table = {name: [0.4, 0.6] for name in ("m_a", "m_b", "z")}
    assert read_panel(pa.table({**table, "y": [1, 0]}), agents=agents).agents == found


def test_agents_of_classes_and_of_long_tables_are_chosen_too():
    names = [f"{a}:{k}" for a in ("m_a", "m_b", "z") for k in range(3)]
    table = {name: [1 / 3, 1 / 3, 1 / 3] for name in names}
    panel = read_panel(pa.table({**table, "y": [0, 1, 2]}), agents="m_*")
    assert panel.agents == ("m_a", "m_b")
    three = {**LONG, "who": ["ada", "bob", "ada", "bob", "eve"]}
    panel = read_panel(pa.table(three), long=COLUMNS, agents="ada,bob")
    assert panel.agents == ("ada", "bob")


def test_columns_that_look_like_no_agents_are_pointed_out():
    flags = {**WIDE, "reviewed": [0, 1, 0]}
    with pytest.warns(TableWarning, match="'reviewed' holds only 0 and 1.*--ignore"):
        read_panel(pa.table(flags))
    ids = {n: np.linspace(5, 95, 40) + 0.5 for n in ("ada", "bob")}
    table = pa.table({**ids, "row": np.arange(40), "y": [0, 1] * 20})
    with pytest.warns(TableWarning, match="'row' holds different whole numbers"):
        read_panel(table, percent=True)
    shares = {n: v / 100 for n, v in ids.items()}
    with pytest.raises(ReportError, match="'row' holds .* like an id. Pass --id row"):
        read_panel(pa.table({**shares, "row": np.arange(40), "y": [0, 1] * 20}))


def test_a_name_in_a_cure_can_be_pasted_into_a_shell():
    row = "row (of 40)"
    shares = {n: np.linspace(0.1, 0.9, 40) for n in ("ada", "bob")}
    table = {**shares, row: np.arange(40), "y": [0, 1] * 20}
    with pytest.raises(ReportError) as refused:
        read_panel(pa.table(table))
    assert "Pass --id 'row (of 40)' or --ignore 'row (of 40)'," in str(refused.value)
    with pytest.raises(ReportError) as refused:
        read_panel(pa.table({**WIDE, "direct (m)": [20, 300, 40]}), percent=True)
    assert "(--ignore 'direct (m)'; of a saved pool" in str(refused.value)


@pytest.mark.parametrize(("cases", "like"), [(9, False), (10, True)])
def test_ten_different_whole_numbers_look_like_an_id(cases, like):
    assert agent_columns.looks_like_id(np.arange(cases) + 5.0) == like
    assert not agent_columns.looks_like_id(np.repeat(np.arange(10.0), 2))
    assert agent_columns.ID_CASES == 10


def test_all_agents_may_report_0_or_1():
    table = {"ada": [0, 1, 1], "bob": [1, 0, None], "y": [0, 1, 1]}
    assert load_panel(pa.table(table), TableFormat())[1].warnings() == []


def test_repeated_ids_are_counted():
    table = pa.table({**WIDE, "id": ["a", "b", "a"]})
    with pytest.warns(TableWarning, match="1 case repeats the id of an earlier one"):
        read_panel(table)


def test_cases_without_a_report_are_left_out_and_counted():
    table = pa.table({"ada": [0.9, None, 0.5, 0.1, None], "bob": [None, None, 0.1, 0.3, None], "y": [1, 0, 0, None, None]})  # fmt: skip
    panel, found = load_panel(table, TableFormat())
    assert (len(panel), len(panel.pending), found.empty_cases) == (2, 1, 2)
    assert "2 cases have no report at all: left out." in found.notes()
    assert panel.pending.position.tolist() == [2]
    with_empty, _ = load_panel(table, TableFormat(), allow_empty_cases=True)
    assert (len(with_empty), len(with_empty.pending)) == (3, 2)
    new = load_reports(table, ("ada", "bob"), TableFormat())
    assert (len(new.values), new.summary.empty_cases) == (3, 2)
    with pytest.raises(ReportError, match="every case needs at least one report"):
        read_reports(pa.table({"ada": [None], "bob": [None]}), ("ada", "bob"))


def test_pending_cases_without_a_report_are_no_pending_cases():
    table = pa.table({**{n: [*v, None] for n, v in WIDE.items()}})
    panel, found = load_panel(table, TableFormat())
    assert (panel.pending, found.empty_cases) == (None, 1)


def test_the_latest_report_of_a_long_table_counts():
    panel, found = load_panel(pa.table(LONG), TableFormat(long=COLUMNS, time="made"))
    assert panel.agents == ("ada", "bob")
    assert_array_equal(panel.reports, [[0.9, 0.6], [0.2, 0.4]])
    assert panel.ids.tolist() == ["q1", "q2"]
    assert panel.times.tolist() == [2, 1]
    assert panel.outcomes.tolist() == [1, 0]
    assert found.replaced == 1
    assert "1 report replaced by a later one" in found.notes()[0]


def test_only_reports_before_the_decision_count():
    table = pa.table({**LONG, "closes": [2, 2, 3, 3, 2]})
    written = TableFormat(long=COLUMNS, time="made", decision_time="closes")
    panel, found = load_panel(table, written)
    assert_array_equal(panel.reports, [[0.5, 0.6], [0.2, 0.4]])
    assert panel.times.tolist() == [2, 3]
    assert (found.late, found.replaced) == (1, 0)
    assert "1 report made at or after the decision time" in found.notes()[0]


def test_a_case_has_one_decision_time():
    """Where a deadline was edited, reports that know the outcome would count."""
    table = pa.table({**LONG, "closes": [2, 2, 3, 3, 9]})
    written = TableFormat(long=COLUMNS, time="made", decision_time="closes")
    message = "has 2 in zero-based row 0 and 9 in zero-based row 4 for case 'q1'"
    with pytest.raises(SourceError, match=f"one decision time; .* {message}"):
        load_panel(table, written)


def test_days_that_cannot_be_told_apart_do_not_let_the_outcome_leak_in():
    days = {"made": ["2025-02-08", "2025-02-09"] * 2, "closes": ["2025-02-09"] * 4}
    rows = {"question": ["q1", "q1", "q2", "q2"], "who": ["ada", "bob"] * 2}
    rows |= {"p": [0.6, 1.0, 0.5, 0.0], "y": [1, 1, 0, 0]} | days
    written = TableFormat(
        long=("question", "who", "p"), time="made", decision_time="closes"
    )
    panel, found = load_panel(pa.table(rows), written)
    assert_array_equal(panel.reports, [[0.6, np.nan], [0.5, np.nan]])
    assert found.late == 2


def test_reports_at_the_same_time_are_counted_and_the_cure_that_is_named_works():
    rows = {"question": ["q1", "q1", "q1", "q2", "q2", "q2"], "y": [1, 1, 1, 0, 0, 0]}
    rows |= {"who": ["ada", "ada", "bob"] * 2, "made": [1, 1, 1] * 2}
    table = pa.table(rows | {"p": [0.6, 0.9, 0.5, 0.3, 0.2, 0.4]})
    given = {"long": ("question", "who", "p"), "time": "made"}
    cure = "pass --updates last-row if the later report is further down"
    with pytest.raises(ReportError, match=rf"\(2 such pairs in all\).*{cure}"):
        load_panel(table, TableFormat(**given))
    with pytest.raises(ReportError, match=f"no time says.*{cure}"):
        load_panel(table.drop_columns("made"), TableFormat(long=given["long"]))
    panel, found = load_panel(table, TableFormat(**given, updates="last-row"))
    assert_array_equal(panel.reports, [[0.9, 0.5], [0.2, 0.4]])
    assert found.replaced == 2
    ends = table.append_column("end", pa.array([2] * 6))
    weighted = TableFormat(**given, decision_time="end", updates="time-weighted")
    with pytest.raises(ReportError, match="or remove all but one"):
        load_panel(ends, weighted)


def test_a_long_table_is_the_wide_one_that_it_was_made_from(tmp_path):
    rng = np.random.default_rng(3)
    reports = rng.random((40, 4)).round(3)
    reports[rng.random(reports.shape) < 0.4] = np.nan
    reports[:, 0] = 0.25
    outcomes = np.arange(40) % 2
    rows = [
        f"c{t:02},a{i},{reports[t, i]},{outcomes[t]}"
        for t, i in rng.permutation(np.argwhere(~np.isnan(reports)))
    ]
    path = file(tmp_path, "case,agent,p,y\n" + "\n".join(rows) + "\n")
    panel = read_panel(path, long=("case", "agent", "p"))
    order = np.argsort(panel.ids.astype(str))
    assert_array_equal(panel.reports[order], reports)
    assert_array_equal(panel.outcomes[order], outcomes)
    new = read_reports(path, panel.agents, long=("case", "agent", "p"))
    assert_array_equal(new.values, panel.reports)
    blind = pa.table({"case": ["x", "x"], "agent": ["ada", "bob"], "p": [0.2, 0.4]})
    new = read_reports(blind, ("ada", "bob"), long=("case", "agent", "p"))
    assert_array_equal(new.values, [[0.2, 0.4]])


def test_cases_of_a_long_table_may_lack_an_outcome():
    table = pa.table({**LONG, "question": ["q1", "q1", "q2", "q2", "q3"], "y": [1, None, 0, 0, None]})  # fmt: skip
    panel = read_panel(table, long=COLUMNS)
    assert panel.ids.tolist() == ["q1", "q2"]
    assert panel.pending.ids.tolist() == ["q3"]


NAMED = {
    "rf:legit": [0.1, 0.7, 0.6], "rf:fraud": [0.9, 0.3, 0.4],
    "gbm:fraud": [0.8, 0.2, 0.1], "gbm:legit": [0.2, 0.8, 0.9],
    "y": ["fraud", "legit", "legit"],
}  # fmt: skip


def test_classes_may_be_called_by_name():
    panel = read_panel(pa.table(NAMED), positive="fraud")
    assert_allclose(panel.reports, [[0.9, 0.8], [0.3, 0.2], [0.4, 0.1]], rtol=1e-12)
    assert panel.labels.names == ("legit", "fraud")
    assert panel.outcomes.tolist() == [1, 0, 0]
    asked = "Which label is the positive one, the one whose misses cost --cost-fn, "
    with pytest.raises(OutcomeError, match=f"{asked}'legit' or 'fraud'. Pass pos"):
        read_panel(pa.table(NAMED))
    with pytest.raises(
        OutcomeError, match="classes legit, fraud; column 'y' has 'theft'"
    ):
        read_panel(
            pa.table({**NAMED, "y": ["theft", "legit", "legit"]}), positive="fraud"
        )


def test_new_reports_have_their_classes_in_the_order_of_the_labels():
    panel = read_panel(pa.table(NAMED), positive="fraud")
    again = load_reports(pa.table(NAMED), panel.agents, TableFormat(), panel.labels)
    assert_array_equal(again.values, panel.reports)
    with pytest.raises(ReportError, match="classes of the new table.*legit, fraud"):
        load_reports(pa.table(NAMED), panel.agents, TableFormat())


def test_three_classes_by_name_keep_their_names(tmp_path):
    kind = "classes by name, rounded"
    panel, found = load_panel(write(tmp_path, kind), TableFormat("label"))
    assert panel.labels.names == ("low", "middle", "high")
    assert found.renormalized > 0
    assert_allclose(panel.reports.sum(axis=2), 1, rtol=1e-12)
    assert "positive" not in repr(panel)
    assert "rescaled" in found.notes()[0]
    with pytest.raises(OutcomeError, match="a positive label requires two classes"):
        read_panel(write(tmp_path, kind), "label", positive="high")


@pytest.mark.parametrize(
    ("total", "fine"), [(0.99, True), (1.01, True), (0.985, False)]
)
def test_sums_within_one_percent_are_rescaled(total, fine):
    table = {f"{a}:{k}": [p] * 3 for a in "ab" for k, p in enumerate((0.5, 0.25, total - 0.75))}  # fmt: skip
    table = pa.table({**table, "y": [0, 1, 2]})
    assert agent_columns.SUM_TOLERANCE == 0.01
    if fine:
        assert load_panel(table, TableFormat())[1].renormalized == 6
    else:
        with pytest.raises(ReportError, match="within 1 % .*; agent 'a' sums to 0.985"):
            read_panel(table)


@pytest.mark.parametrize(
    ("first", "fine"), [(48, True), (52, True), (47, False), (47.9, False)]
)
def test_whole_percents_of_four_classes_may_be_two_off(first, fine):
    shares = {f"{a}:{k}": [p] * 4 for a in "ab" for k, p in enumerate((first, 25, 15, 10))}  # fmt: skip
    table, percent = pa.table({**shares, "y": [0, 1, 2, 3]}), TableFormat(percent=True)
    if fine:
        panel, found = load_panel(table, percent)
        assert found.renormalized == 8
        assert_allclose(panel.reports.sum(axis=2), 1, rtol=1e-12)
    else:
        with pytest.raises(ReportError, match=r"agent 'a' sums to 0\.97"):
            load_panel(table, percent)


def test_a_sheet_of_excel_is_read(tmp_path):
    path = write(tmp_path, "a sheet of Excel")
    panel = read_panel(path, "relapse")
    assert (len(panel), panel.agents) == (300, ("rf", "gbm", "vendor"))


def test_excel_needs_its_extra_and_a_sound_file(tmp_path, monkeypatch):
    with pytest.raises(SourceError, match="cannot be read as excel"):
        read_panel(file(tmp_path, "no zip", "a.xlsx"))
    from openpyxl import Workbook

    book = Workbook()
    book.save(tmp_path / "empty.xlsx")
    with pytest.raises(SourceError, match="at least one row"):
        read_panel(tmp_path / "empty.xlsx")
    book.active.append(["ada", None, "y"])
    for row in ((0.9, 0.4, 1), ("x", 0.3, 0)):
        book.active.append(row)
    book.save(tmp_path / "mixed.xlsx")
    with pytest.raises(ReportError, match="'ada' has 'x' in row 3 of the sheet"):
        read_panel(tmp_path / "mixed.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"truepool\[excel\]"):
        read_panel(tmp_path / "mixed.xlsx")


def test_of_a_workbook_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    from openpyxl import Workbook

    book, rows = Workbook(), [("ada", "bob", "y"), (0.9, 0.4, 1), (0.2, 0.3, 0)]
    book.active.title = "March"
    for row in rows:
        book.active.append(row)
    book.create_sheet("April").append(["ada"])
    book.create_sheet("Lists").sheet_state = "hidden"
    book.save(tmp_path / "months.xlsx")
    panel, found = load_panel(tmp_path / "months.xlsx", TableFormat())
    assert len(panel) == 2
    note = (
        "The first sheet, 'March', was read; not read: 'April'. If the table is in "
        "another sheet, move that to the front."
    )
    assert note in found.notes()
    for fault in ({"outcome": "z"}, {"group": "z"}, {"agents": "z"}):
        with pytest.raises(PanelError) as refusal:
            read_panel(tmp_path / "months.xlsx", **fault)
        assert str(refusal.value).endswith(note)
    new = tmp_path / "months.xlsx", ("ada", "eve"), Labels((0, 1)), TableFormat()
    with pytest.raises(AgentError, match="1 of 2 missing: 'eve'.*not read: 'April'"):
        list(read_batches(*new))
    cover = Workbook()
    cover.active.append(["Read me"])
    cases = cover.create_sheet("Cases")
    for row in rows:
        cases.append(row)
    cover.save(tmp_path / "cover.xlsx")
    with pytest.raises(SourceError, match="'Sheet' of .* has not. If the table is in "
                       r"another one \('Cases'\), move that to the front"):  # fmt: skip
        read_panel(tmp_path / "cover.xlsx")


@pytest.mark.parametrize("title", [["Export of March"], ["Export", "2026-03"]])
def test_rows_above_the_header_of_a_sheet_are_named(tmp_path, title):
    from openpyxl import Workbook

    book = Workbook()
    names = ("id", "ada", "bob", "cy", "y")
    for row in (title, [], names, (1, 0.9, 0.4, 0.3, 1), (2, 0.2, 0.3, None, 0)):
        book.active.append(row)
    book.save(tmp_path / "titled.xlsx")
    with pytest.raises(SourceError, match="its header seems to be row 3. Remove the"):
        read_panel(tmp_path / "titled.xlsx")
    book.active.delete_rows(1, 2)
    book.save(tmp_path / "plain.xlsx")
    assert read_panel(tmp_path / "plain.xlsx").agents == ("ada", "bob", "cy")


@pytest.mark.parametrize(
    ("settings", "kind", "match"),
    [
        ({"decimal": ";"}, SettingError, "a decimal mark must be '.' or ','; got ';'"),
        ({"decimal": ".", "sep": "."}, SettingError, "must differ; both are '.'"),
        ({"sep": "::"}, SettingError, "must be one ASCII character, or tab; got '::'"),
        ({"agents": "a,,b"}, SettingError, "names or patterns; got 'a, , b'"),
        ({"long": ("a", "b")}, SettingError, "needs three columns"),
        ({"long": ("a", "b", "b")}, SettingError, "needs three columns"),
        ({"decision_time": "t"}, SettingError, "belongs to a long table"),
        ({"agents": "adda"}, AgentError, "no agent matches 'adda' .did you mean 'ada'"),
        ({"long": ("who", "ada", "y")}, SourceError, "no long column 'who'"),
    ],
)
def test_a_format_that_cannot_be_is_refused(settings, kind, match):
    with pytest.raises(kind, match=match) as refusal:
        read_panel(pa.table(WIDE), **settings)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("change", "settings", "kind", "match"),
    [
        ({"made": [1, 1, 1, 1, 1]}, {"time": "made"}, ReportError, "'ada' has 0.5 and 0.9 on case 'q1', and both have the same time"),
        ({}, {}, ReportError, "no time says which is later .1 such pair in all.. Name the column"),
        ({"y": [1, 0, 0, 0, 1]}, {"time": "made"}, OutcomeError, "case 'q1' has 1 and, in zero-based row 1, 0"),
        ({"who": ["ada", None, "ada", "bob", "ada"]}, {}, SourceError, "column 'who' is empty in zero-based row 1"),
        ({}, {"decision_time": "made"}, SourceError, "needs the times of the reports"),
    ],
)  # fmt: skip
def test_a_long_table_that_contradicts_itself_is_refused(change, settings, kind, match):
    with pytest.raises(kind, match=match):
        read_panel(pa.table({**LONG, **change}), long=COLUMNS, **settings)


@pytest.mark.parametrize(
    ("cells", "settings", "match"),
    [
        (["90%", "20%"], {}, "'ada' has '90%' in zero-based row 0. Pass --percent"),
        (["0,9", "0,2"], {}, "'ada' has '0,9' in zero-based row 0. Pass --decimal ','"),
        (["9,5%", "20%"], {}, "Pass --decimal ',' and --percent"),
        (["90%", "0.2"], {"percent": True}, "'ada' has '90%' in zero-based row 0 and '0.2' in"),
        (["90%", "20%"], {"percent": True},
         "'bob' has none and goes only up to 0.6. If it reports fractions, pass --percent=ada;"),
    ],
)  # fmt: skip
def test_units_are_named_and_never_mixed(cells, settings, match):
    with pytest.raises(ReportError, match=match):
        read_panel(pa.table({"ada": cells, "bob": [0.6, 0.1], "y": [1, 0]}), **settings)


@pytest.mark.parametrize("settings", [{}, {"sep": ","}])
@pytest.mark.parametrize(
    "text",
    [
        'ada,bob,y\n"0,9","0,6",1\n"0,2","0,4",0\n"0,5","0,1",0\n',
        'ada,bob,y\n"0,9",0.6,1\n"0,2",.4,0\n"0,5",.1,0\n',
        "ada,bob,y\n.9,.6,1\n.2,.4,0\n.5,.1,0\n",
    ],
)
def test_quoted_decimal_commas_may_stand_between_commas(tmp_path, text, settings):
    panel = read_panel(file(tmp_path, text), decimal=",", **settings)
    assert_array_equal(panel.reports, REPORTS)


def test_bare_decimal_commas_between_commas_are_named_with_their_line(tmp_path):
    path = file(tmp_path, "ada,bob,y\n0,9,0,6,1\n0,2,0,4,0\n")
    with pytest.raises(SourceError, match="line 2 of .* has 5: .* put quotes around a"):
        read_panel(path, decimal=",")


def test_each_agent_may_have_its_own_decimal_mark(tmp_path):
    wide = "ada;bob;y\n0,9;0.6;1\n0,2;0.4;0\n0,5;0.1;0\n"
    panel = read_panel(file(tmp_path, wide), decimal=",")
    assert_array_equal(panel.reports, REPORTS)
    rows = (
        "1;ada;0,9;1\n1;bob;0.6;1\n2;ada;0,2;0\n2;bob;0.4;0\n3;ada;0,5;0\n3;bob;0.1;0\n"
    )
    path = file(tmp_path, f"case;who;p;y\n{rows}")
    panel = read_panel(path, decimal=",", long=("case", "who", "p"))
    assert_array_equal(panel.reports, REPORTS)


@pytest.mark.parametrize(
    ("decimal", "said"),
    [
        (",", "'ada' has '0.2' in line 3 of the file. It also has '0,9': write all"),
        (".", "'ada' has '0,9' in line 2 of the file. It also has '0.2': write all"),
    ],
)
def test_two_decimal_marks_of_one_agent_are_refused_with_both(tmp_path, decimal, said):
    path = file(tmp_path, "ada;bob;y\n0,9;0,6;1\n0.2;0,4;0\n")
    with pytest.raises(ReportError, match=said):
        read_panel(path, decimal=decimal, ignore="bob" if decimal == "." else None)


def test_points_that_could_separate_thousands_are_no_decimal_points(tmp_path):
    path = file(tmp_path, "ada;bob;y\n0,9;1.200;1\n0,2;400;0\n")
    with pytest.raises(ReportError, match="'bob' has '1.200' in line 2 of the file"):
        read_panel(path, decimal=",", scores="bob=0-2000")


@pytest.mark.parametrize("kind", TABLES)
def test_a_messy_table_without_its_options_is_refused_in_one_sentence(tmp_path, kind):
    with pytest.raises(TruepoolError) as refusal:
        read_panel(write(tmp_path, kind))
    assert "\n" not in str(refusal.value)


def test_numbered_classes_start_at_0_and_hold_probabilities():
    names = ("ada:1", "ada:2", "bob:1", "bob:2")
    table = {name: [0.5, 0.5] for name in names}
    with pytest.raises(ReportError, match="needs the columns name:0 to name:1; 'ada'"):
        read_panel(pa.table({**table, "y": [0, 1]}))
    table = {f"{a}:{k}": [p, p] for a in "ab" for k, p in enumerate((-0.5, 1.5))}
    with pytest.raises(ReportError, match=r"must lie in \[0, 1\]; agent 'a' has -0.5"):
        read_panel(pa.table({**table, "y": [0, 1]}))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"rf": [0.9, 0.2], "vendor": [91.0, 7.5]},
         "'vendor' goes up to 91, column 'rf' only to 0.9. If only 'vendor' is in percent"),
        ({"rf": [0.9, 0.2], "gbm": [0.8, 0.1], "vendor": [91.0, 7.5]},
         "If only 'vendor' is in percent, pass --percent=vendor"),
        ({"rf": [0.9, 0.2], "vote": [1, 0]},
         "some report must be above 1; the largest is 1 in column 'vote'. Leave out"),
        ({"rf": [90.0, 20.0], "vote": [1, 0]}, "column 'vote' only to 1"),
    ],
)  # fmt: skip
def test_fractions_are_not_taken_for_percentages(columns, sentence):
    frame = pa.table({**columns, "y": [1, 0]})
    with pytest.raises(ReportError, match=sentence):
        read_panel(frame, percent=True)


def by_row(rng, cases, rate):
    """Reports of three informed agents in percent, and the outcomes."""
    y = (rng.random(cases) < rate).astype(int)
    log_odds = np.log(rate / (1 - rate)) + 4.0 * y + rng.normal(0, 1, (3, cases)) - 2
    return 100 / (1 + np.exp(-log_odds)), y


def test_percentages_and_fractions_in_one_column_are_told_apart_by_the_outcomes():
    reports, y = by_row(np.random.default_rng(0), 200, 0.4)
    mixed = dict(zip("abc", reports.copy(), strict=True)) | {"y": y}
    mixed["b"][:40] /= 100
    sentence = (
        r"agent 'b' has \d+ numbers up to 1, such as .* in zero-based row 0, that fit"
    )
    with pytest.raises(ReportError, match=sentence):
        read_panel(pa.table(mixed), percent=True)
    long = pa.table({
        "case": np.repeat(np.arange(200), 3), "agent": np.tile(list("abc"), 200),
        "report": np.stack([mixed[k] for k in "abc"], axis=1).ravel(),
        "y": np.repeat(y, 3),
    })  # fmt: skip
    with pytest.raises(ReportError, match=sentence.replace("zero-based row", "case")):
        read_panel(long, percent=True, long=("case", "agent", "report"))


@pytest.mark.parametrize("rate", [0.002, 0.05, 0.4])
def test_small_percentages_of_rare_events_are_percentages(rate):
    reports, y = by_row(np.random.default_rng(1), 3000, rate)
    table = pa.table(dict(zip("abc", reports, strict=True)) | {"y": y})
    assert_allclose(read_panel(table, percent=True).reports, reports.T / 100)


def test_agents_that_are_wrong_on_purpose_keep_their_percentages():
    reports, y = by_row(np.random.default_rng(2), 1000, 0.3)
    noise = np.random.default_rng(3).uniform(0, 100, 1000)
    table = pa.table({"a": reports[0], "b": 100 - reports[1], "c": noise, "y": y})
    assert len(read_panel(table, percent=True)) == 1000


def test_percent_signs_and_columns_of_zeros_leave_no_doubt():
    signed = pa.table({"rf": ["0.9%", "0.2%"], "gbm": ["0.5%", "0.1%"], "y": [1, 0]})
    assert_allclose(read_panel(signed, percent=True).reports[0], [0.009, 0.005])
    dead = pa.table({"rf": [90.0, 20.0], "feed": [0.0, 0.0], "y": [1, 0]})
    with pytest.warns(TableWarning, match="'feed' holds only 0 and 1"):
        panel = read_panel(dead, percent=True)
    assert_allclose(panel.reports[0], [0.9, 0.0])


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_unicode_text_of_a_spreadsheet_is_refused_with_its_cure(tmp_path, order):
    path = tmp_path / "export.csv"
    path.write_bytes("\ufeffid;rf;y\n1;0.5;1\n".encode(order))
    with pytest.raises(SourceError, match="this one is UTF-16.*Save it as CSV UTF-8"):
        read_panel(path)
    with pytest.raises(SourceError, match="this one is UTF-16"):
        read_column_names(path)


def test_a_header_that_no_line_feed_ends_is_refused(tmp_path):
    path = tmp_path / "mac.csv"
    path.write_bytes(b"rf,y\r0.5,1\r0.4,0\r")
    with pytest.raises(SourceError, match="must name its columns.*a line feed"):
        read_panel(path)


def test_more_than_a_hundred_percent_is_named_as_the_table_has_it():
    table = pa.table({"ada": [91.0, 150.0], "bob": [20.0, 30.0], "y": [1, 0]})
    message = "a percentage must lie between 0 and 100; column 'ada' has 150 in zero-based row 1"
    with pytest.raises(ReportError, match=message):
        read_panel(table, percent=True)


def test_points_between_thousands_are_left_out_beside_a_decimal_comma(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "a;b;amount;y\n0,1;0,2;1.567,71;0\n0,3;0,4;2.970;1\n0,3;0,4;7,5;1\n"
    )
    panel = read_panel(path, decimal=",", weight="amount", agents="a,b")
    assert panel.weights.tolist() == [1567.71, 2970.0, 7.5]
    written = TableFormat("y", decimal=",", agents="a,b", columns=("amount",))
    panel, _ = load_panel(path, written)
    assert panel.columns["amount"].tolist() == [1567.71, 2970.0, 7.5]


def test_points_between_thousands_are_not_decimal_points(tmp_path):
    """Whole amounts written as 2.970 were read as 2.97, without a word."""
    path, amount = tmp_path / "t.csv", "2.970"
    path.write_text(f"a;b;amount;y\n0,1;0,2;{amount};0\n0,3;0,4;{amount};1\n")
    written = TableFormat("y", decimal=",", agents="a,b", columns=("amount",))
    with pytest.raises(
        PanelError, match=f"'{amount}' in line 2 of the file.*separates the thou"
    ):
        load_panel(path, written)
    with pytest.raises(PanelError, match=f"'{amount}'.*thousands"):
        read_panel(path, decimal=",", weight="amount", agents="a,b")
    path.write_text("a;b;y\n0,1;1.200;0\n0,3;2.400;1\n")
    with pytest.raises(
        ReportError, match="'1.200' in line 2 of the file. Pass --decimal '.' if"
    ):
        read_panel(path, decimal=",")


def test_a_column_with_decimal_points_may_stand_beside_decimal_commas(tmp_path):
    """Propensities that `score --explore` wrote, joined to a spreadsheet's table."""
    path = tmp_path / "t.csv"
    path.write_text("a;b;p;y\n0,1;0,2;0.125;0\n0,3;0,4;1;1\n")
    panel = read_panel(path, decimal=",", propensity="p", agents="a,b")
    assert panel.propensity.tolist() == [0.125, 1.0]


def test_a_table_of_a_western_spreadsheet_is_read_with_its_accents(tmp_path):
    """Words came as bytes, b'\\xd6S', and `truepool init` passed over their column."""
    path = tmp_path / "t.csv"
    text = "prüfer;land;a;b;y\nJosé;ÖS;0,1;0,2;0\nZoë;DE;0,3;0,4;1\n"
    path.write_bytes("a;b;betrüg\n0,1;0,2;0\n0,3;0,4;1\n".encode("cp1252"))
    assert read_panel(path, "betrüg", decimal=",").agents == ("a", "b")
    for encoding in ("cp1252", "utf-8", "utf-8-sig"):
        path.write_bytes(text.encode(encoding))
        written = TableFormat("y", decimal=",", id="prüfer", columns=("land",))
        panel, _ = load_panel(path, written)
        assert list(panel.ids) == ["José", "Zoë"]
        assert list(panel.columns["land"]) == ["ÖS", "DE"]
        assert panel.agents == ("a", "b")


# Agents that are ignored by their names


def test_an_agent_with_a_column_per_class_is_ignored_by_its_name():
    names = ("rf:no", "rf:yes", "nb:no", "nb:yes", "gp:no", "gp:yes")
    table = pd.DataFrame(
        {name: [0.75, 0.25] if "no" in name else [0.25, 0.75] for name in names}
    ).assign(y=["no", "yes"])
    panel = read_panel(table, positive="yes", ignore=["nb"])
    assert panel.agents == ("rf", "gp")
    with pytest.raises(SourceError, match="there is no ignored column 'xx'"):
        read_panel(table, positive="yes", ignore=["xx"])


def test_an_agent_of_a_long_table_is_ignored_by_its_name():
    rows = [(c, a, 0.2 + 0.5 * c, c) for c in (0, 1) for a in ("ada", "bob", "cy")]
    table = pd.DataFrame(rows, columns=["q", "who", "p", "y"])
    long = ("q", "who", "p")
    assert read_panel(table, long=long, ignore=["bob"]).agents == ("ada", "cy")
    named = read_panel(table, long=long, agents="ada,bob,cy", ignore=["bob"])
    assert named.agents == ("ada", "cy")
    with pytest.raises(SourceError, match="no agent or column 'bub' to ignore .did"):
        read_panel(table, long=long, ignore=["bub"])


def test_names_of_months_in_another_language_are_refused_as_such():
    days = ["01-ene-2025", "02-feb-2025", "03-mar-2025", "04-abr-2025", "05-jun-2025"]
    table = pd.DataFrame({"a": 0.2, "b": 0.3, "day": days, "y": [0, 1, 0, 1, 0]})
    with pytest.raises(PanelError, match="months must be English, and '01-ene-2025'"):
        read_panel(table, time="day")


def test_rows_at_hand_do_not_decide_what_separates_thousands(tmp_path):
    """1.234 was 1.234 in one batch of `score`, and 1234 in the next, beside 12,50."""
    path, written = tmp_path / "new.csv", TableFormat(columns=("amount",))
    wanted = ("a", "b"), Labels((0, 1)), written
    for amounts in (["1.234", "5.5"], ["1.234", "5"]):
        rows = [f"0.2;0.4;{amount}" for amount in amounts]
        path.write_text("\n".join(["a;b;amount", *rows]))
        (batch,) = read_batches(path, *wanted)
        assert batch.columns["amount"][0] == 1.234
    for amount in ("12,50", "2.000,10"):
        path.write_text(f"a;b;amount\n0.2;0.4;{amount}\n0.2;0.4;1.234\n")
        said = f"has '{amount}' in line 2 of the file. Pass --decimal ',' if"
        with pytest.raises(PanelError, match=said):
            list(read_batches(path, *wanted))
        (batch,) = read_batches(path, *wanted[:2], replace(written, decimal=","))
        assert batch.columns["amount"][1] == 1234


def test_a_report_of_1_with_three_decimals_is_no_thousand(tmp_path):
    path = file(tmp_path, "ada;bob;y\n0,9;1.000;1\n0,2;0.125;0\n")
    assert read_panel(path, decimal=",").reports.tolist() == [[0.9, 1], [0.2, 0.125]]


def test_the_words_for_missing_are_those_of_the_docs_and_of_pyarrow():
    assert {*numbers.MISSING} == {*csv.ConvertOptions().null_values}
    page = Path(__file__).parents[4] / "docs" / "messy_tables.md"
    _, found, rest = page.read_text().partition("so do these words, spelled like this:")
    assert found
    words = re.findall("`(.*?)`", rest.partition(". If your table")[0])
    assert sorted(["", *words]) == sorted(numbers.MISSING)
    cells = [*words, "0.5"]
    table = {"a": cells, "b": [0.2] * len(cells), "y": [0, 1] * (len(cells) // 2) + [1]}
    assert np.isnan(read_panel(pa.table(table)).reports[:, 0]).sum() == len(words)


def test_a_comma_in_the_name_of_an_agent_is_explained():
    table = pa.table({"llama, 70b": [0.2, 0.9], "rf": [0.1, 0.8], "y": [0, 1]})
    said = "'llama, 70b' has one. Write a question mark for it: 'llama. 70b' .--agents."
    with pytest.raises(AgentError, match=said):
        read_panel(table, agents="rf,llama, 70b")
    assert read_panel(table, agents="rf,llama? 70b").agents == ("llama, 70b", "rf")
