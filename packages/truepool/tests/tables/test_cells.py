"""From cells to numbers, amounts, times and labels: the one place, for every reader."""

import numpy as np
import pyarrow as pa
import pytest
from corpus import refusal
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import csv

from truepool import read_panel
from truepool.tables import cells

WIDE = {"ada": [0.9, 0.2, 0.5], "bob": [0.6, 0.4, 0.1], "y": [1, 0, 0]}


def wide(**more):
    return pa.table({**WIDE, **more})


# Numbers

SPELLINGS = {
    "0.5": 0.5, ".5": 0.5, "5.": 5, "+0.5": 0.5, "-0.5": -0.5, "5e-1": 0.5, "5E-1": 0.5,
    " 0.5": 0.5, "0.5\t": 0.5, "007": 7, "inf": np.inf, "-Infinity": -np.inf,
    "INF": np.inf, "NAN": None, "+nan": None,
    "5%": 5, "5 %": 5, "0.5%": 0.5, "": None, "NA": None, "null": None, " ": None,
}  # fmt: skip
ODD = ("1_0", "0x1F", "1 000", "5%%", "%", "five", "1,2,3", "--1", "1e", "½", "0,5")


@pytest.mark.parametrize("text", SPELLINGS)
def test_every_spelling_of_a_number_is_read(text):
    found = cells.numbers(pa.array([text, "x"]))
    expected = SPELLINGS[text]
    alone = cells.numbers(pa.array([text]))
    assert_array_equal(alone.values, found.values[:1])
    assert_array_equal(found.values[0], np.nan if expected is None else expected)
    assert found.odd.tolist() == [False, True]
    assert found.signed[0] == text.endswith("%")


@pytest.mark.parametrize("text", ODD)
def test_what_is_no_number_is_marked(text):
    found = cells.numbers(pa.array([text, "0.5"]))
    assert found.odd.tolist() == [True, False]
    assert np.isnan(found.values[0])


@given(
    st.lists(st.floats(allow_nan=False, width=64), min_size=1), st.sampled_from(".,")
)
def test_numbers_that_are_written_are_read_again(values, mark):
    text = pa.array([repr(v).replace(".", mark) for v in values])
    assert_array_equal(cells.numbers(text, mark).values, values)


@given(st.lists(st.text(), min_size=1), st.sampled_from(".,"))
def test_any_text_is_a_number_or_odd_or_nothing(texts, mark):
    column = pa.array(texts, pa.string())
    found = cells.numbers(column, mark)
    gone = cells.is_empty(column)
    odd = np.zeros(len(texts), bool) if found.odd is None else found.odd
    assert_array_equal(np.isnan(found.values), gone | odd)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([1, None], pa.int8()), [1, np.nan]),
        (pa.array([True, False]), [1, 0]),
        (pa.array(["true", "FALSE"]), [1, 0]),
        (pa.array([0.5, float("nan")], pa.float32()), [0.5, np.nan]),
        (pa.array([1, 2]).cast(pa.decimal128(20, 1)), [1, 2]),
        (pa.array(["0.5", "0.25"]).dictionary_encode(), [0.5, 0.25]),
        (pa.chunked_array([["0.5"], ["0.25"]], pa.large_string()), [0.5, 0.25]),
        (pa.chunked_array([], pa.string()), []),
    ],
)
def test_columns_of_any_type_have_numbers(column, values):
    assert_array_equal(cells.numbers(cells.plain(column)).values, values)


@pytest.mark.parametrize(
    ("texts", "mark", "odd"),
    [
        (["0,5", "0.5"], ",", [False, True]),  # two marks in one column
        (["0.125", "1"], ",", [False, False]),  # a column may have points throughout
        (["1.200", "2.400"], ",", [True, True]),  # unless they separate thousands
        (["1.000", "0.125"], ",", [False, False]),
        (["0,5", "0.5"], ".", [True, False]),
    ],
)
def test_a_column_has_one_decimal_mark(texts, mark, odd):
    found = cells.numbers(pa.array(texts), mark).odd
    assert (np.zeros(2, bool) if found is None else found).tolist() == odd


def test_the_words_for_missing_are_those_of_pyarrow():
    assert {*cells.MISSING} == {*csv.ConvertOptions().null_values}
    assert np.isnan(cells.numbers(pa.array(cells.MISSING)).values).all()


# Amounts


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["195,48 €", "1.234,50 €", "7 €"], [195.48, 1234.5, 7]),
        (["$1,200.00", "$12", "-$3.50"], [1200, 12, -3.5]),
        (["$1,200", "$12", "-$3"], [1200, 12, -3]),
        (["USD 1,200.00", "12 USD", "USD 3"], [1200, 12, 3]),
        (["1,234,567", "12", "3"], [1234567, 12, 3]),
        (["1,5", "1.234,50", "20"], [1.5, 1234.5, 20]),
        (["CHF 1'234.50", "CHF 12", "CHF 3.10"], [1234.5, 12, 3.1]),
        (["1 234,5", "12", "1\u202f234\u202f567"], [1234.5, 12, 1234567]),
        (["0,125", "12", "1"], [0.125, 12, 1]),
        (["07", "1", ""], [7, 1, np.nan]),
    ],
)
def test_amounts_are_read_as_people_write_them(texts, numbers):
    found = cells.amounts(pa.array(texts))
    assert_array_equal(found.values, numbers)
    panel = read_panel(wide(amount=texts), columns="amount")
    assert_array_equal(panel.columns["amount"], numbers)


@pytest.mark.parametrize(
    "texts",
    [
        ["$1.50", "2.50 €", "3.50"],  # two currencies
        ["1.50 €", "2.50", "3.50 €"],  # some without
        ["1.234,50", "1,234.50", "3"],  # two decimal marks
        ["12,34,567.00", "1", "2"],
        ["(12.50)", "1", "2"],
        ["07", "1", "x"],
    ],
)
def test_columns_that_are_no_amounts_stay_text(texts):
    panel = read_panel(wide(amount=texts), columns="amount")
    assert panel.columns["amount"].tolist() == texts
    (fault,) = refusal(wide(amount=texts), weight="amount").faults
    assert fault.code == "amount-odd"


@pytest.mark.parametrize(
    "texts",
    [["1,200", "12", "3"], ["1.200 €", "12 €", "3 €"], ["1,500", "20", "3,250"]],
)
def test_whether_a_mark_separates_thousands_is_not_guessed(texts):
    table = wide(amount=texts)
    (fault,) = refusal(table, columns="amount").faults
    assert (fault.code, fault.row, fault.found) == (
        "thousands-or-decimals",
        0,
        texts[0],
    )
    found = [read_panel(table, columns="amount", **{cure.key: cure.value}).columns["amount"][0]
             for cure in fault.cures]  # fmt: skip
    assert max(found) == 1000 * min(found)


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1),
    st.sampled_from([("", ""), ("$", ""), ("", " €"), ("CHF ", "")]),
    st.sampled_from([",.", ".,", "'.", " ,", "'."]),
)
def test_any_amounts_with_cents_are_read_again(values, currency, marks):
    before, after = currency
    texts = [
        f"{'-' * (v < 0)}{before}{abs(v) / 100:,.2f}{after}".translate(
            str.maketrans({",": marks[0], ".": marks[1]})
        )
        for v in values
    ]
    found = cells.amounts(pa.array(texts), marks[1])
    assert_array_equal(found.values, np.array(values) / 100)


# Times


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["2026-01-31", "2026-02-01"], ""),
        (["2026-01-31T12:00", "2026-02-01T13:30"], ""),
        (["31.01.2026", "13.02.2026"], "%d.%m.%Y"),
        (["31-Jan-2026", "13-Feb-2026"], "%d-%b-%Y"),
        (["06-Jan-25", "07-Jan-25"], "%d-%b-%y"),
        (["May 31, 2026", "May 13, 2026"], "%b %d, %Y"),
        (["January 31, 2026", "June 13, 2026"], "%b %d, %Y"),
        (["04/28/2026 09:14 PM", "04/02/2026 09:14 AM"], "%m/%d/%Y %I:%M %p"),
        (["06-Jan-2025 00:00", "07-Jan-2025 12:30"], "%d-%b-%Y %H:%M"),
    ],
)
def test_the_way_times_are_written_is_found_where_it_fits_every_cell(texts, written):
    assert cells.time_formats(texts) == (written,)
    panel = read_panel(wide(at=[*texts, texts[0]]))
    found = panel.times.astype("datetime64[D]")
    assert found[2] == found[0] != found[1]


@pytest.mark.parametrize("texts", [["03/04/2026", "05/06/2026"], ["03-04-2026 10:00"]])
def test_day_and_month_are_never_guessed(texts):
    assert len(cells.time_formats(texts)) == 2
    (question,) = refusal(wide(at=np.resize(texts, 3))).questions
    assert (question.code, question.key, question.column) == (
        "which-format",
        "time-format",
        "at",
    )
    for choice in question.choices:
        panel = read_panel(wide(at=np.resize(texts, 3)), time_format=choice)
        month = panel.times[0].astype("datetime64[M]").item().month
        assert month == (4 if choice.startswith("%d") else 3)


CLOCK = ["04/28/2026 09:14 PM", "04/02/2026 09:14 AM", "04/03/2026 12:30 AM"]


def test_am_and_pm_count_beside_the_hour_of_a_12_hour_clock():
    panel = read_panel(wide(at=CLOCK))
    assert [time.hour for time in panel.times.tolist()] == [21, 9, 0]


@pytest.mark.parametrize(
    "written",
    [
        "%m/%d/%Y %H:%M %p",
        "%d.%m.%Y | %m/%d/%Y %H:%M %p",
        "%m/%d/%Y %I:%M",
        "%d.%m.%Y %Z",
    ],
)
def test_a_format_that_cannot_tell_morning_from_evening_or_zones_is_refused(written):
    (fault,) = refusal(wide(at=CLOCK), time_format=written).faults
    assert (fault.code, fault.fields["key"]) == ("bad-setting", "time-format")


@pytest.mark.parametrize(
    ("texts", "keys", "code", "row", "cure"),
    [
        (["31.12.2025", "", "02.01.2026"], {}, "time-missing", 1, ("fill-in", None)),
        (["2026-01-02", "3.4.2026 12:00", "2026-01-04"], {}, "time-odd", 1, ("fix", None)),
        (["31-Jan-2026", "13-Feb-2026", "soon"], {}, "time-odd", 2, ("fix", None)),
        (["31/12/2025", "soon", "02/01/2026"], {"time_format": "%Y | %d/%m/%Y"}, "time-odd", 1, ("fix", None)),
        (["31.12.2025", "01.02.2026", "02.01.2026"], {"time_format": "%Y"}, "time-odd", 0, ("time-format", "%d.%m.%Y")),
        (["2026-01-31", "2026-02-01", "2026-02-02"], {"time_format": "%d/%m/%Y"}, "time-odd", 0, ("unset", None)),
        (["01-ene-2025", "02-feb-2025", "04-abr-2025"], {}, "time-odd", 0, ("time-format", "%d.%m.%Y %H:%M")),
        (["yes", "no", "yes"], {}, "time-odd", 0, ("time-format", "%d.%m.%Y %H:%M")),
        (["2026-02-01T01:00+01:00", "2026-02-01T01:23", "2026-02-01"], {}, "time-zones-mixed", 1, ("one-zone", None)),
        (["2026-02-01 01:00 CET"] * 3, {}, "time-zone-name", 0, ("offset", None)),
        (["2026-02-01T01:00+01:00[Europe/Berlin]"] * 3, {}, "time-zone-name", 0, ("offset", None)),
        ([3, None, 2], {}, "time-missing", 1, ("fill-in", None)),
    ],
)  # fmt: skip
def test_cells_that_are_no_times_are_named_with_their_row_and_a_cure(
    texts, keys, code, row, cure
):
    (fault,) = refusal(wide(at=texts), time="at", **keys).faults
    assert (fault.code, fault.column, fault.row) == (code, "at", row)
    assert (fault.cures[0].action, fault.cures[0].value) == cure


def test_times_with_an_offset_are_compared_in_utc():
    at = ["2026-02-01T01:00+01:00", "2026-02-01T00:30Z", "2026-02-01T00:15Z"]
    panel = read_panel(wide(at=at))
    assert panel.order.tolist() == [0, 2, 1]
    assert panel.times[0] == np.datetime64("2026-02-01T00:00")


# Labels


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["1", "0", "open"], (0, 1)),
        (["1 ", "0", ""], (0, 1)),
        (["True", "false", "TRUE"], (False, True)),
        (["1", "2", "1"], ("1", "2")),
        ([" Fraud", "OK\t", "OK"], ("OK", "Fraud")),
        ([1.0, 0.0, None], (0, 1)),
        ([True, False, None], (False, True)),
        ([1, 2, 1], (1, 2)),
    ],
)
def test_labels_are_what_people_mean(texts, names):
    positive = {} if names in ((0, 1), (False, True)) else {"positive": names[1]}
    panel = read_panel(wide(y=texts), missing="open", **positive)
    assert panel.labels.names == names
    unknown = sum(text in ("open", "", None) for text in texts)
    assert (panel.pending is None) == (unknown == 0)
