"""A row is named as a person finds it: a line of a text file, a row of a sheet."""

import gzip
import io
import threading

import pandas as pd
import pyarrow as pa
import pytest

from truepool.core.errors import PanelError, ReportError, SourceError
from truepool.core.prefetch import prefetch
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.panel.row_names import case_name, named_rows, row_name
from truepool.pools.mean import Mean
from truepool.pools.scorer import pool_batch
from truepool.tables import TableFormat, load_panel, read_panel
from truepool.tables.batches import read_batches
from truepool.tables.summary import GUESSED_ENCODING

ROWS = {"a": [0.1, 0.3, 0.2], "b": [0.2, 0.9, 87.0], "y": [0, 1, 1]}
TEXT = "a,b,y\n.1,.2,0\n\n.3,.9,1\n.2,87,1\n"  # 87 is on line 5


def write(folder, name):
    path, frame = folder / name, pd.DataFrame(ROWS)
    if name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(TEXT.encode()))
    elif name.endswith(".csv"):
        path.write_text(TEXT)
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".jsonl"):
        lines = frame.to_json(orient="records", lines=True).splitlines()
        path.write_text("\n".join([*lines[:2], "", lines[2]]))
    else:
        blank = pd.DataFrame({name: [None] for name in ROWS})
        pd.concat([frame[:2], blank, frame[2:]]).to_excel(path, index=False)
    return path


NAMES = {
    "t.csv": "line 5 of the file",
    "t.csv.gz": "line 5 of the file",
    "t.jsonl": "line 4 of the file",
    "t.xlsx": "row 5 of the sheet",
    "t.parquet": "zero-based row 2",
}


@pytest.mark.parametrize(("name", "place"), NAMES.items())
def test_a_report_outside_its_range_is_found_where_the_error_says(
    tmp_path, name, place
):
    with pytest.raises(ReportError, match=rf"agent 'b' has 87 in {place} \(all"):
        read_panel(write(tmp_path, name))


def pool():
    return Mean().fit_panel(Panel([[0.1, 0.2], [0.9, 0.8]], [0, 1], ("a", "b")))


def score(source):
    for batch in read_batches(source, ("a", "b"), Labels((0, 1)), TableFormat()):
        pool_batch(pool(), batch)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.xlsx", "t.parquet"])
def test_batches_name_their_rows_as_whole_tables_do(tmp_path, name):
    with pytest.raises(ReportError, match=rf"has 87 in {NAMES[name]} \(all"):
        score(write(tmp_path, name))


def test_rows_of_standard_input_are_counted_from_the_header():
    stream = io.BufferedReader(io.BytesIO(TEXT.encode()))
    with pytest.raises(ReportError, match=r"has 87 in row 3 below the header \(all"):
        score(stream)
    lines = io.BufferedReader(io.BytesIO(b'{"a": 0.1, "b": 0.2}\n{"a": 0.2, "b": 7}\n'))
    with pytest.raises(ReportError, match=r"has 7 in line 2 \(all"):
        score(lines)


def test_a_row_of_a_later_batch_is_counted_from_the_top_of_the_table():
    rows = "0.1,0.2\n" * 300_000
    text = f"a,b\n{rows}0.1,x\n".encode()
    with pytest.raises(ReportError, match="'x' in row 300001 below the header"):
        score(io.BufferedReader(io.BytesIO(text)))


def test_a_percentage_of_a_later_batch_is_counted_from_the_top_too():
    text = f"a,b\n{'10,20' + chr(10)}".encode() + b"10,20\n" * 300_000 + b"10,200\n"
    stream = io.BufferedReader(io.BytesIO(text))
    written = TableFormat(percent=True)
    with pytest.raises(ReportError, match="has 200 in row 300002 below the header"):
        list(read_batches(stream, ("a", "b"), Labels((0, 1)), written))


def test_rows_that_are_left_out_still_count():
    """The panel's third case is the fifth row: one has no outcome, one no report."""
    table = {"a": [0.1, 0.2, None, 0.3, 0.4], "b": [0.1, 0.2, None, 0.3, 1.4]}
    frame = pa.table({**table, "y": [0, None, 1, 1, 0]})
    with pytest.raises(ReportError, match="'b' has 1.4 in zero-based row 4"):
        read_panel(frame)
    pending = pa.table({**table, "y": [0, 1, 1, 1, None]})
    with pytest.raises(ReportError, match="'b' has 1.4 in zero-based row 4"):
        read_panel(pending)


def test_a_quoted_line_feed_is_part_of_its_row(tmp_path):
    (tmp_path / "t.csv").write_text('note,a,b,y\n"two\nlines",.1,.2,0\nx,.3,huh,1\n')
    with pytest.raises(ReportError, match="'huh' in line 4 of the file"):
        read_panel(tmp_path / "t.csv", ignore=["note"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q,w,p,y\nq1,a,.2,0\nq1,b,x,0\n", "has 'x' in line 3 of the file"),
        ("q,w,p,y\nq1,a,.2,0\nq1,b,.2,1\n", "in line 3 of the file, 1"),
        ("q,w,p,y\nq1,a,.2,0\nq1,,.2,0\n", "'w' is empty in line 3 of the file"),
        ("q,w,p,y\nq1,a,.2,0\nq1,b,.2,0\nq2,a,7,1\nq2,b,.1,1\n", "has 7 in case 'q2'"),
    ],
)
def test_a_long_table_names_its_lines_and_cases(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(PanelError, match=words):
        read_panel(tmp_path / "t.csv", long=("q", "w", "p"))


def test_arrays_have_cases_and_no_rows(tmp_path):
    with pytest.raises(ReportError):
        read_panel(write(tmp_path, "t.csv"))
    with pytest.raises(ReportError, match="has 87 in case 1"):
        Panel([[0.1, 0.2], [0.2, 87.0]], [0, 1])
    assert (case_name(4), row_name(4)) == ("case 4", "zero-based row 4")


# Encodings


def test_a_guessed_encoding_is_said_where_a_guessed_separator_is(tmp_path):
    (tmp_path / "t.csv").write_bytes("a;Süd;y\n.1;.2;0\n.3;.4;1\n".encode("cp1252"))
    panel, summary = load_panel(tmp_path / "t.csv", TableFormat())
    assert panel.agents == ("a", "Süd")
    assert summary.notes() == [
        "Columns are separated by semicolons (detected).",
        GUESSED_ENCODING,
    ]
    assert "guessed" in GUESSED_ENCODING
    (tmp_path / "t.csv").write_text("a;Süd;y\n.1;.2;0\n.3;.4;1\n", encoding="utf-8")
    assert len(load_panel(tmp_path / "t.csv", TableFormat())[1].notes()) == 1


@pytest.mark.parametrize(
    "text", [b"a,b\x81,y\n.1,.2,0\n", b"id,a,b,y\nx,.1,.2,0\n\x81,.1,.2,1\n"]
)
def test_text_in_an_unknown_encoding_is_refused_with_the_cure(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text)
    sentence = (
        r"a text table must be written as UTF-8 or Windows-1252; .* is in neither\. "
        r"Save it as CSV UTF-8\."
    )
    with pytest.raises(SourceError, match=f"^{sentence}$"):
        read_panel(tmp_path / "t.csv")
    with pytest.raises(SourceError, match=f"^{sentence}$"):
        score(io.BufferedReader(io.BytesIO(text)))


@pytest.mark.parametrize("header", ["id,a,b", "Schlüssel,a,b"])
def test_new_cases_may_have_the_encoding_of_spreadsheets(header):
    text = f"{header}\nMüller,.1,.2\nGroß,.3,.4\n".encode("cp1252")
    stream = io.BufferedReader(io.BytesIO(text))
    written = TableFormat(id=header.split(",")[0])
    (batch,) = read_batches(stream, ("a", "b"), Labels((0, 1)), written)
    assert batch.ids.to_pylist() == ["Müller", "Groß"]
    assert batch.encoding == "cp1252"


def test_rows_that_are_checked_in_another_thread_keep_their_names():
    def checked():
        for row in range(3):
            yield threading.current_thread().name, row_name(row)

    with named_rows(lambda row: f"line {row + 2} of the file"):
        found = list(prefetch(prefetch(checked())))
    assert threading.current_thread().name not in {thread for thread, _ in found}
    assert [name for _, name in found] == [f"line {n} of the file" for n in (2, 3, 4)]
