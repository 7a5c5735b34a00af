"""Files, streams and frames: their rows, and where a person finds each of them."""

import gzip
import io
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from corpus import read_table, refusal
from numpy.testing import assert_array_equal
from pyarrow import parquet

from truepool import read_panel
from truepool.core.errors import MissingExtraError
from truepool.tables import Declared, Schema, TableFaults, match, open_source
from truepool.tables.read import read_blocks

KNOWN = Schema(("ada", "bob"), {"ada": ("ada",), "bob": ("bob",)})
REPORTS = [[0.9, 0.6], [0.2, 0.4], [0.5, 0.1]]


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(*rows):
    return "\n".join(rows) + "\n"


# Ways to write a table


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ada;bob;y\n.9;.6;1\n.2;.4;0\n.5;.1;0\n", {}),
        ("ada\tbob\ty\n.9\t.6\t1\n.2\t.4\t0\n.5\t.1\t0\n", {}),
        ("ada|bob|y\n.9|.6|1\n.2|.4|0\n.5|.1|0\n", {}),
        ("ada:bob:y\n.9:.6:1\n.2:.4:0\n.5:.1:0\n", {"sep": ":"}),
        ("ada,bob,y\n.9,.6,1\n.2,.4,0\n.5,.1,0\n", {}),
        (" ada , bob,y \n.9,.6,1\n.2,.4,0\n.5,.1,0\n", {}),
        ("y,ada,bob\n1,.9,.6\n\n0,.2,.4\n0,.5,.1\n", {}),
        ("ada;bob;y\n0,9;0,6;1\n0,2;0,4;0\n0,5;0,1;0\n", {}),
        ("ada;bob;y\n0,9;0.6;1\n0,2;0.4;0\n0,5;0.1;0\n", {}),
        ("ada;bob;y\n90%;60 %;1\n20%;40%;0\n50%;10%;0\n", {}),
        ("ada,bob,y\n90,60,1\n20,40,0\n50,10,0\n", {"percent": True}),
        ("ada\tbob\ty\n90,0%\t60%\t1\n20%\t40%\t0\n50%\t10%\t0\n", {"sep": "tab"}),
        ('ada,bob,y\n"0,9","0,6",1\n"0,2","0,4",0\n"0,5","0,1",0\n', {}),
        ('ada,bob,y\n"0,9",0.6,1\n"0,2",.4,0\n"0,5",.1,0\n', {"sep": ","}),
        ("\ufeffada,bob,y\n.9,.6,1\n.2,.4,0\n.5,.1,0\n", {}),
        (",ada,bob,y\n0,.9,.6,1\n1,.2,.4,0\n2,.5,.1,0\n", {}),
        ("Unnamed: 0,ada,bob,y\n0,.9,.6,1\n1,.2,.4,0\n2,.5,.1,0\n", {}),
    ],
)
def test_one_panel_may_be_written_in_many_ways(tmp_path, text, keys):
    panel = read_panel(write(tmp_path, text), **keys)
    assert panel.agents == ("ada", "bob")
    assert_array_equal(panel.reports.round(15), REPORTS)
    assert panel.outcomes.tolist() == [1, 0, 0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_frames_keep_their_values(frame):
    columns = {"ada": [0.9, 0.2], "bob": [0.6, None], "y": [1, 0], "id": ["a", "b"],
               "time": [date(2026, 1, 3), date(2026, 1, 1)], "amount": [120.5, 80.0]}  # fmt: skip
    panel = read_panel(frame(columns), columns="amount")
    assert_array_equal(panel.reports, [[0.9, 0.6], [0.2, np.nan]])
    assert panel.sort_by_time().ids.tolist() == ["b", "a"]
    assert panel.columns["amount"].tolist() == [120.5, 80.0]


def test_columns_of_pandas_may_have_any_names_and_words_among_numbers():
    frame = pd.DataFrame({0: [0.9, "x"], ("a", 1): [0.1, 0.2], "y": [1, 0]})
    (fault,) = refusal(frame).faults
    assert (fault.code, fault.agent, fault.found) == ("report-not-number", "0", "x")


def test_ids_stay_what_they_are(tmp_path):
    path = write(tmp_path, "id,ada,bob,y\n007,.9,.6,1\n9007199254740993,.2,.1,0\n")
    assert read_panel(path).ids.tolist() == ["007", "9007199254740993"]
    path = write(tmp_path, "nr,ada,bob,g,y\n007,.9,.6,07,1\n008,.2,.1,7,0\n")
    panel = read_panel(path, id="nr", group="g")
    assert (panel.ids.tolist(), panel.groups.tolist()) == (["007", "008"], ["07", "7"])


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig"])
def test_a_table_of_a_western_spreadsheet_is_read_with_its_accents(tmp_path, encoding):
    text = "prüfer;land;a;b;y\nJosé;ÖS;0,1;0,2;0\nZoë;DE;0,3;0,4;1\n"
    path = write(tmp_path, text.encode(encoding))
    panel, found = read_table(path, id="prüfer", columns="land")
    assert [*panel.ids, *panel.columns["land"]] == ["José", "Zoë", "ÖS", "DE"]
    assert ("encoding" in [note.code for note in found.notes]) == (encoding == "cp1252")
    path = write(tmp_path, "a;b;betrüg\n0,1;0,2;0\n0,3;0,4;1\n".encode(encoding))
    assert read_panel(path, "betrüg").agents == ("a", "b")


# What is no table


@pytest.mark.parametrize(
    ("name", "content", "code", "cure"),
    [
        ("t.csv", "", "no-rows", None),
        ("t.csv", "\n\n", "no-rows", None),
        ("t.csv", "ada,bob,y\n", "no-rows", None),
        ("t.csv", "ada,ada,y\n.9,.6,1\n", "column-twice", "rename"),
        ("t.csv", "ada, ada,y\n.9,.6,1\n", "column-twice", "rename"),
        ("t.csv", "ada,bob\n1,2\n3", "uneven-line", "add-cells"),
        ("t.csv", "ada,bob,y\n0,9,0,6,1\n0,2,0,4,0\n", "uneven-line", "quote-cell"),
        ("t.csv", "\ufeffid;rf\n1;0.5\n".encode("utf-16-le"), "not-utf8", "save-utf8"),
        ("t.csv", "\ufeffid;rf\n1;0.5\n".encode("utf-16-be"), "not-utf8", "save-utf8"),
        ("t.csv", b"zo\x81,bob,y\n.9,.6,1\n.2,.1,0\n", "not-utf8", "save-utf8"),
        ("t.csv", b"bo,y\n.9,\x81\n.2,x\n", "not-utf8", "save-utf8"),
        ("t.csv", b"rf,y\r0.5,1\r0.4,0\r", "no-header", "add-header"),
        ("t.csv.gz", b"no zip", "unreadable", None),
        ("t.parquet", "no parquet", "unreadable", None),
        ("t.xlsx", "no zip", "unreadable", None),
        ("t.doc", "x", "file-kind", None),
        ("t.jsonl", "\n\n", "no-rows", None),
        ("t.jsonl", '{"a": 1}\n[2]\n3\n', "not-an-object", "one-object"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_cure(
    tmp_path, name, content, code, cure
):
    (fault,) = refusal(write(tmp_path, content, name)).faults
    assert fault.code == code
    assert [each.action for each in fault.cures] == ([cure] if cure else [])


@pytest.mark.parametrize("source", ["nowhere.csv", np.zeros((2, 2)), 42, None])
def test_what_is_neither_file_nor_frame_is_refused(source):
    code = "no-file" if isinstance(source, str) else "no-table"
    assert refusal(source).codes == (code,)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_has_rows(frame):
    assert refusal(frame({"a": [], "b": [], "y": []})).codes == ("no-rows",)


@pytest.mark.parametrize(("sep", "cure"), [(",", ","), ("\t", "tab"), ("|", "|")])
def test_another_separator_than_was_said_is_named(tmp_path, sep, cure):
    path = write(tmp_path, f"ada{sep}bob{sep}y\n.1{sep}.2{sep}1\n")
    (fault,) = refusal(path, sep=";").faults
    assert (fault.code, fault.cures[0].key, fault.cures[0].value) == (
        "other-separator",
        "sep",
        cure,
    )


# Lines of a text file

ROWS = [f"c{t};0,{t + 1};0,{9 - t};{t % 2}" for t in range(9)]
HEADER = "id;a;b;y"


@pytest.mark.parametrize(
    ("rows", "line", "count"),
    [
        ([HEADER, *ROWS[:3], "", ROWS[3] + ";extra", *ROWS[4:]], 6, 1),
        ([HEADER, *ROWS[:-1], ROWS[-1].rpartition(";")[0]], 10, 1),
        ([HEADER, '"c\n0";0,1;0,9;0', *ROWS[1:4], "x;y"], 7, 1),
        ([HEADER, *ROWS[:7], "x", "y", "z"], 9, 3),
    ],
)
def test_a_line_with_too_many_or_too_few_cells_is_named(tmp_path, rows, line, count):
    (fault,) = refusal(write(tmp_path, lines(*rows))).faults
    assert (fault.code, fault.place.unit, fault.place.number) == (
        "uneven-line",
        "line",
        line,
    )
    assert (fault.count, fault.fields["expected"]) == (count, 4)


@pytest.mark.parametrize(("titles", "found"), [(1, True), (18, True), (20, False)])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_lines_above_the_header_are_left_out(tmp_path, titles, found, name):
    title = "Report of March, by the nightly job of the bank"
    text = lines(*[title] * titles, "", HEADER, *ROWS * 20, "c9;0,5;1,2;0")
    packed = gzip.compress(text.encode()) if name.endswith("gz") else text
    path = write(tmp_path, packed, name)
    if not found:
        assert refusal(path).codes == ("uneven-line",)
        return
    opened = open_source(path)
    note = opened.notes[0]
    assert (note.code, note.fields["count"]) == ("title", titles + 1)
    (fault,) = refusal(path).faults  # at once, and in the line of the file
    rows = len(text.splitlines())
    assert (fault.code, fault.place.number) == ("report-outside", rows)
    new = match(path, Schema(("a", "b"), {"a": ("a",), "b": ("b",)}), Declared())
    with pytest.raises(TableFaults) as refused:
        [*read_blocks(new)]
    assert refused.value.faults[0].place == fault.place


@pytest.mark.parametrize("header", [HEADER.replace("id", ""), "c;0,5;1;0"])
def test_lines_above_what_may_be_no_header_are_to_be_removed(tmp_path, header):
    (fault,) = refusal(write(tmp_path, lines("March", header, *ROWS * 20))).faults
    assert (fault.code, fault.fields["header"]) == ("lines-above-header", 2)
    assert fault.cures[0].action == "remove-lines"


def read_new(source, **keys):
    """Codes for which new cases are refused, none if they can be read."""
    try:
        [*read_blocks(match(source, KNOWN, Declared(**keys)))]
    except TableFaults as faults:
        return faults.codes
    return ()


# Where a person finds a row

TEXT = "ada,bob,y\n.1,.2,0\n\n.3,.9,1\n.2,87,1\n"  # 87 is on line 5


def table(folder, name):
    path = folder / name
    frame = pd.DataFrame(
        {"ada": [0.1, 0.3, 0.2], "bob": [0.2, 0.9, 87.0], "y": [0, 1, 1]}
    )
    if name.endswith(".csv.gz"):
        return write(folder, gzip.compress(TEXT.encode()), name)
    if name.endswith(".csv"):
        return write(folder, TEXT, name)
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".jsonl"):
        rows = frame.to_json(orient="records", lines=True).splitlines()
        write(folder, lines(*rows[:2], "", rows[2]), name)
    elif name == "parts":
        path.mkdir()
        parquet.write_table(pa.table(dict(frame[:2])), path / "1.parquet")
        parquet.write_table(pa.table(dict(frame[2:])), path / "2.parquet")
    else:
        blank = pd.DataFrame({name: [None] for name in frame})
        pd.concat([frame[:2], blank, frame[2:]]).to_excel(path, index=False)
    return path


PLACES = {
    "t.csv": ("line", 5), "t.csv.gz": ("line", 5), "t.jsonl": ("line", 4),
    "t.xlsx": ("sheet-row", 5), "t.parquet": ("row", 2), "parts": ("part-row", (0, "2.parquet")),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("new", [False, True])
def test_a_row_is_named_as_a_person_finds_it(tmp_path, name, new):
    path = table(tmp_path, name)
    if new:
        read = lambda source: [*read_blocks(match(source, KNOWN, Declared()))]  # noqa: E731
        (fault,) = refusal(path, read=read).faults
    else:
        (fault,) = refusal(path).faults
    assert (fault.code, fault.agent, float(fault.found)) == (
        "report-outside",
        "bob",
        87,
    )
    assert (fault.place.unit, fault.place.number) == PLACES[name]


def test_rows_of_a_stream_are_counted_from_the_header():
    def read(text):
        stream = io.BufferedReader(io.BytesIO(text))
        found = match(stream, KNOWN, Declared())
        return [*read_blocks(found)]

    (fault,) = refusal(TEXT.encode(), read=read).faults
    assert (fault.place.unit, fault.place.number) == ("below-header", 3)
    (fault,) = refusal(
        b'{"ada": 0.1, "bob": 0.2}\n{"ada": 0.2, "bob": 7}\n', read=read
    ).faults
    assert (fault.place.unit, fault.place.number) == ("line", 2)
    many = b"ada,bob\n" + b"0.1,0.2\n" * 300_000 + b"0.1,x\n"
    (fault,) = refusal(many, read=read).faults
    assert (fault.code, fault.place.number) == ("report-not-number", 300_001)


def test_rows_that_are_left_out_still_count():
    columns = {"a": [0.1, 0.2, None, 0.3, 0.4], "b": [0.1, 0.2, None, 0.3, 1.4]}
    for outcomes in ([0, None, 1, 1, 0], [0, 1, 1, 1, None]):
        (fault,) = refusal(pa.table({**columns, "y": outcomes})).faults
        assert (fault.agent, fault.row, fault.place.number) == ("b", 4, 4)


def test_a_quoted_line_feed_is_part_of_its_row(tmp_path):
    text = 'note,a,b,y\n"two\nlines",.1,.2,0\nx,.3,huh,1\n'
    (fault,) = refusal(write(tmp_path, text)).faults
    assert (fault.place.number, fault.found) == (4, "huh")


def test_numbers_in_json_may_be_text_beside_numbers(tmp_path):
    path = write(
        tmp_path,
        '{"ada": "0,5", "bob": "61%"}\n{"ada": "0,25", "bob": "7 %"}\n',
        "n.jsonl",
    )
    (block,) = read_blocks(match(path, KNOWN, Declared(decimal=",")))
    assert_array_equal(block.values[:, :, 0], [[0.5, 0.61], [0.25, 0.07]])


@pytest.mark.parametrize(
    ("value", "code"),
    [("true", "report-not-number"), ("[0.5]", "report-not-number"),
     ('{"p": 0.5}', "report-not-number"), ("1" + "0" * 400, "report-outside")],
)  # fmt: skip
def test_a_line_of_json_has_numbers(tmp_path, value, code):
    path = write(
        tmp_path,
        f'{{"ada": 0.5, "bob": 0.4}}\n{{"ada": {value}, "bob": 0.4}}\n',
        "n.jsonl",
    )
    assert read_new(path) == (code,)


# Sheets of Excel


def book(path, *sheets):
    from openpyxl import Workbook

    found = Workbook()
    found.remove(found.active)
    for title, rows in sheets:
        sheet = found.create_sheet(title)
        for row in rows:
            sheet.append(row)
    found.save(path)
    return path


SHEET = [("ada", "bob", "y"), (0.9, 0.4, 1), (0.2, 0.3, 0)]


def test_of_a_workbook_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    path = book(tmp_path / "t.xlsx", ("March", SHEET), ("April", [["ada"]]))
    panel, found = read_table(path)
    assert len(panel) == 2
    (note,) = (note for note in found.notes if note.code == "sheets")
    assert (note.fields["sheet"], note.fields["others"]) == ("March", ("April",))


def test_a_first_sheet_without_rows_names_the_others(tmp_path):
    path = book(tmp_path / "t.xlsx", ("Cover", [["Read me"]]), ("Cases", SHEET))
    (fault,) = refusal(path).faults
    assert (fault.code, fault.cures[0].action, fault.cures[0].value) == (
        "no-rows",
        "move-sheet",
        ("Cases",),
    )
    assert refusal(book(tmp_path / "e.xlsx", ("Empty", []))).codes == ("no-rows",)


@pytest.mark.parametrize("title", [["Export of March"], ["Export", "2026-03"]])
def test_rows_above_the_header_of_a_sheet_are_left_out(tmp_path, title):
    """The sheet was refused for its title first, and for its cells after."""
    head = ("id", "ada", "bob", "cy", "y")
    rows = [(1, 0.9, 0.4, 0.3, 1), (2, 0.2, 0.3, None, 0)]
    path = tmp_path / "t.xlsx"
    panel, found = read_table(book(path, ("S", [title, [], head, *rows])))
    assert panel.agents == ("ada", "bob", "cy")
    note = {note.code: note.fields for note in found.notes}["title"]
    assert (note["count"], note["found"]) == (2, title[0])
    wrong = [(1, 1.9, "huh", 0.3, 1), *rows]
    faults = refusal(book(path, ("S", [title, [], head, *wrong]))).faults
    assert [fault.place.number for fault in faults] == [4, 4]
    for unclear in (("id", "ada", None, "cy", "y"), ("id", "ada", 3, "cy", "y")):
        (fault,) = refusal(book(path, ("S", [title, unclear, *rows]))).faults
        assert (fault.code, fault.fields["header"]) == ("lines-above-header", 2)


def test_excel_needs_its_extra(tmp_path, monkeypatch):
    path = book(tmp_path / "t.xlsx", ("S", SHEET))
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError):
        open_source(path)
