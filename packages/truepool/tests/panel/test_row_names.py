"""A row is named as a person finds it; a case that was read from one, by its row."""

import io
import threading

import pytest
from corpus import refusal

from truepool.core.errors import PanelError, ReportError
from truepool.core.prefetch import prefetch
from truepool.panel.panel import Panel
from truepool.panel.row_names import case_name, named_cases
from truepool.tables import Declared, Schema, load_panel, match, read_panel
from truepool.tables.read import read_blocks

KNOWN = Schema(("a", "b"), {"a": ("a",), "b": ("b",)})


@pytest.mark.parametrize(
    ("text", "code", "unit", "number"),
    [
        ("q,w,p,y\nq1,a,.2,0\nq1,b,x,0\n", "report-not-number", "line", 3),
        ("q,w,p,y\nq1,a,.2,0\nq1,b,.2,1\n", "values-differ", "line", 3),
        ("q,w,p,y\nq1,a,.2,0\nq1,,.2,0\n", "key-missing", "line", 3),
        (
            "q,w,p,y\nq1,a,.2,0\nq1,b,.2,0\nq2,a,7,1\nq2,b,.1,1\n",
            "report-outside",
            "line",
            4,
        ),
    ],
)
def test_a_long_table_names_its_lines(tmp_path, text, code, unit, number):
    (tmp_path / "t.csv").write_text(text)
    fault = refusal(tmp_path / "t.csv", long=("q", "w", "p")).faults[0]
    assert (fault.code, fault.place.unit, fault.place.number) == (code, unit, number)


def test_a_check_of_cases_names_the_rows_of_their_table(tmp_path):
    """The second case of the panel is the third line: the first has no outcome."""
    (tmp_path / "t.csv").write_text("a,b,y\n.1,.2,\n.3,.4,0\n.2,.1,1\n")

    def check(columns, ids, *, pending):
        if not pending:
            raise PanelError(case_name(1))

    with pytest.raises(PanelError, match=r"^line 4$"):
        load_panel(tmp_path / "t.csv", Declared(), check=check)


def test_arrays_have_cases_and_no_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n.1,.2,0\n.2,87,1\n")
    refusal(tmp_path / "t.csv")
    with pytest.raises(ReportError, match="has 87 in case 1"):
        Panel([[0.1, 0.2], [0.2, 87.0]], [0, 1])
    assert case_name(4) == "case 4"


def test_text_in_an_unknown_encoding_is_refused_in_every_reader(tmp_path):
    for text in (b"a,b\x81,y\n.1,.2,0\n", b"id,a,b,y\nx,.1,.2,0\n\x81,.1,.2,1\n"):
        (tmp_path / "t.csv").write_bytes(text)
        assert refusal(tmp_path / "t.csv").codes == ("not-utf8",)
        stream = io.BufferedReader(io.BytesIO(text))
        read = lambda source: [*read_blocks(match(source, KNOWN, Declared()))]  # noqa: E731
        assert refusal(stream, read=read).codes == ("not-utf8",)


@pytest.mark.parametrize("header", ["id,a,b", "Schlüssel,a,b"])
def test_new_cases_may_have_the_encoding_of_spreadsheets(header):
    text = f"{header}\nMüller,.1,.2\nGroß,.3,.4\n".encode("cp1252")
    stream = io.BufferedReader(io.BytesIO(text))
    table = match(stream, KNOWN, Declared(id=header.split(",")[0]))
    (block,) = read_blocks(table)
    assert block.ids.to_pylist() == ["Müller", "Groß"]
    assert [note.code for note in table.source.notes] == ["encoding"]


def test_the_panel_of_a_table_is_checked_like_any_other(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n.1,.2,0\n")
    with pytest.raises(PanelError):
        read_panel(tmp_path / "t.csv")


def test_cases_that_are_checked_in_another_thread_keep_their_names():
    def checked():
        for t in range(3):
            yield threading.current_thread().name, case_name(t)

    with named_cases(lambda t: f"line {t + 2} of the file"):
        found = list(prefetch(prefetch(checked())))
    assert threading.current_thread().name not in {thread for thread, _ in found}
    assert [name for _, name in found] == [f"line {n} of the file" for n in (2, 3, 4)]
