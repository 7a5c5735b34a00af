"""Tables written and read again; ids that repeat."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus import outcome_of, read_table, refusal
from hypothesis import example, given, note
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from truepool import read_panel
from truepool.core.errors import OutcomeError, PanelError, ReportError, SourceError
from truepool.tables import write, write_table
from truepool.tables.write import RepeatedIds, file_format, open_writer

COLUMNS = {
    "ada": np.array([0.9, 0.2, 0.5]),
    "bob": np.array([0.6, np.nan, 0.1]),
    "y": np.array([1, 0, 0]),
}
REPORTS = [[0.9, 0.6], [0.2, np.nan], [0.5, 0.1]]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.pq"])
def test_what_is_written_can_be_read(tmp_path, name):
    write_table(tmp_path / name, COLUMNS)
    assert_array_equal(read_panel(tmp_path / name).reports, REPORTS)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "name", ["out.csv", "out.csv.gz", "out.parquet", "out.jsonl", "out.xlsx"]
)
def test_some_cases_may_be_written_at_a_time(tmp_path, name):
    with open_writer(tmp_path / name) as put:
        for rows in (slice(0, 2), slice(2, 3)):
            part = {n: pa.array(v[rows], from_pandas=True) for n, v in COLUMNS.items()}
            put(part | {"id": [f"c{t}" for t in range(3)[rows]]})
    panel = read_panel(tmp_path / name)
    assert_array_equal(panel.reports, REPORTS)
    assert panel.ids.tolist() == ["c0", "c1", "c2"]


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx"])
def test_nothing_is_written_where_something_fails(tmp_path, name):
    (tmp_path / name).write_text("what was there")
    with suppress(RuntimeError), open_writer(tmp_path / name) as put:
        put({"x": [1]})
        raise RuntimeError
    assert (tmp_path / name).read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("what was there")

    def fail(*arguments, **options):
        raise OSError(28, "what a library says of it")

    monkeypatch.setattr(write.csv, "write_csv", fail)
    with pytest.raises(SourceError):
        write_table(path, COLUMNS)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("path", ["no/out.csv", "folder.csv", "/proc/nowhere.csv"])
def test_places_that_cannot_be_written_to_are_refused(tmp_path, path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(SourceError):
        write_table(tmp_path / path, COLUMNS)


def test_a_folder_that_may_not_be_written_into_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("truepool.core.files.os.access", lambda path, mode: False)
    with pytest.raises(SourceError):
        write_table(tmp_path / "out.csv", COLUMNS)


def test_the_name_of_a_file_says_what_it_is(tmp_path):
    assert file_format(tmp_path / "a.csv.gz") == "csv"
    assert file_format(tmp_path / "a.XLSX", batches=True) == "excel"
    for name in ("out.txt", "out.xlsx", "out"):
        assert refusal(
            tmp_path / name, read=lambda path: write_table(path, COLUMNS)
        ).codes == ("written-kind",)


def test_a_sheet_has_a_last_row_and_no_control_characters(tmp_path, monkeypatch):
    def put(columns):
        with open_writer(tmp_path / "t.xlsx") as write_rows:
            write_rows(columns)

    assert refusal({"x": ["a\x07"]}, read=put).codes == ("control-characters",)
    monkeypatch.setattr(write, "SHEET_ROWS", 3)
    put({"x": [1, 2]})
    assert refusal({"x": [1, 2, 3]}, read=put).codes == ("sheet-full",)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@a", "\tx"])
def test_no_text_is_a_formula_of_a_spreadsheet(tmp_path, text):
    write_table(
        tmp_path / "t.csv", {text: np.array([text, "b"])}, spreadsheet_safe=True
    )
    found = pd.read_csv(tmp_path / "t.csv", dtype=str)
    assert found.columns[0] == found.iloc[0, 0] == f"'{text}"


# Any table is read as it was written

SHARES = st.sampled_from([*np.arange(0, 10001) / 10000])
MISSING = st.sampled_from(["", "NA", "null", "n/d"])


@st.composite
def written(draw):
    """A table as text, in any way of writing it; and what is declared of it."""
    T, N = draw(st.integers(4, 12)), draw(st.integers(2, 4))
    values = np.array(draw(st.lists(SHARES, min_size=T * N, max_size=T * N))).reshape(
        T, N
    )
    values[0] = 0.25 + 0.1 * np.arange(N)  # somebody reports some share
    silent = np.array(
        draw(st.lists(st.booleans(), min_size=T * N, max_size=T * N))
    ).reshape(T, N)
    silent[0], silent[:, 0] = False, False
    y = np.array(
        [0, 1, *draw(st.lists(st.sampled_from([0, 1]), min_size=T - 2, max_size=T - 2))]
    )
    sep, mark = draw(
        st.sampled_from([(",", "."), (";", ","), ("\t", ","), ("|", "."), (";", ".")])
    )
    unit = draw(st.sampled_from(["", "%", " %", "declared"]))
    word, labels = (
        draw(MISSING),
        draw(st.sampled_from([("0", "1"), ("nein", "ja"), ("False", "True")])),
    )

    def cell(value):
        number = f"{value:.4f}" if not unit else f"{100 * value:.2f}"
        return number.replace(".", mark) + unit.replace("declared", "")

    cells = [
        [word if silent[t, i] else cell(values[t, i]) for i in range(N)]
        for t in range(T)
    ]
    long = draw(st.booleans())
    agents = [f"m{i}" for i in range(N)]
    if long:
        header = ["case", "agent", "report", "y"]
        rows = [
            [f"q{t}", agents[i], cells[t][i], labels[y[t]]]
            for t in range(T)
            for i in range(N)
        ]
    else:
        header = [*agents, "y"]
        rows = [[*cells[t], labels[y[t]]] for t in range(T)]
    keys = {"outcome": "y"}
    keys |= {"missing": word} if word == "n/d" else {}
    keys |= {"positive": "ja"} if labels[1] == "ja" else {}
    keys |= {"percent": agents} if unit == "declared" else {}
    text = "\n".join(sep.join(row) for row in [header, *rows]) + "\n"
    return text, keys, np.where(silent, np.nan, values), y, long


@given(written())
def test_a_table_is_read_however_it_is_written(tmp_path_factory, table):
    text, keys, values, y, long = table
    note(f"{text}{keys}")
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(text)
    if long:
        keys["long"] = ("case", "agent", "report")
    found = outcome_of(lambda: read_table(path, **keys)[0])
    if isinstance(found, tuple):  # percentages up to 1 alone cannot be told from shares
        assert {*found} <= {"percent-up-to-one", "units-mixed"}
        return
    np.testing.assert_allclose(found.reports, values, atol=1e-12)
    assert found.outcomes.tolist() == y.tolist()


@given(
    st.lists(st.floats(0, 1), min_size=4, max_size=9),
    st.sampled_from(["t.csv", "t.csv.gz", "t.parquet"]),
)
def test_numbers_keep_all_their_digits(tmp_path_factory, values, name):
    path = tmp_path_factory.mktemp("t") / name
    columns = {"a": np.array(values), "b": np.full(len(values), 0.5)}
    write_table(path, columns | {"y": np.arange(len(values)) % 2})
    panel, _ = read_table(path, agents=["a", "b"], outcome="y")
    assert panel.reports[:, 0].tolist() == values


GARBAGE = st.one_of(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters='\r\n",;|\t\x00'),
        max_size=6,
    ),
    st.sampled_from(
        [
            "0.5",
            "12",
            "61%",
            "-1",
            "1e400",
            "NA",
            "ja",
            "01.02.2026",
            "1.234,5",
            "nan",
            "∞",
            "%",
        ]
    ),
)


@given(st.lists(st.lists(GARBAGE, min_size=4, max_size=4), min_size=1, max_size=8))
@example([["0.5", "1.2", "huh", "1"], ["2", "x", "0.1", "0"]])
def test_whatever_the_cells_hold_is_a_panel_or_a_list_of_faults(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(
        "\n".join(map(",".join, [["a", "b", "c", "y"], *rows])), encoding="utf-8"
    )
    for keys in ({}, {"outcome": "y", "agents": ["a", "b", "c"]}, {"percent": True}):
        with suppress(
            OutcomeError, PanelError, ReportError
        ):  # of panels, such as of one case
            assert outcome_of(lambda: read_table(path, **keys)) != ()  # noqa: B023


def test_all_that_is_wrong_with_the_cells_is_said_at_once():
    faults = refusal(
        pa.table({"a": ["0.5", "huh", "1.5"], "b": ["0.1", "7%", "2"], "y": [0, 1, 0]}),
        agents=["a", "b"],
    ).faults
    assert [(fault.agent, fault.code) for fault in faults] == [
        ("a", "report-not-number"), ("a", "report-outside"), ("b", "percent-signs-mixed"),
    ]  # fmt: skip


# Ids that repeat


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([5, 7, 5, None, None]), pa.array([-1, -2, -1, None, None], pa.int8()),
        pa.array(["x", None, "x", "y", ""]), pa.array(["x", None, "x", "y", None]).dictionary_encode(),
        pa.array([[1], [2], [1], None, None]), [{"k": 1}, {"k": 2}, {"k": 1}, None, None],
    ],
)  # fmt: skip
def test_ids_of_any_type_are_compared(ids):
    seen = RepeatedIds()
    seen.add(ids)
    seen.add(None)
    assert seen.count() == 1


def test_millions_of_cases_take_the_memory_of_a_million():
    seen = RepeatedIds()
    for start in range(0, 3_000_000, 500_000):
        seen.add(pa.array(np.arange(start, start + 500_000) % 900_000))
    assert (seen.count(), seen.left_out) == (100_000, 2_000_000)
    assert sum(part.nbytes for part in seen._parts) == 8 * write.MOST_IDS
