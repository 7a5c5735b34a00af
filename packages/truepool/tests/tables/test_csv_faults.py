"""Text tables that cannot be read: the line at fault is named, with a cure that works."""

import gzip

import pytest

from truepool.core.errors import SourceError
from truepool.panel.labels import Labels
from truepool.tables import TableFormat, read_panel
from truepool.tables.batches import read_batches

ROWS = [f"c{t};0,{t + 1};0,{9 - t};{t % 2}" for t in range(9)]
HEADER = "id;a;b;y"
WRITTEN = {"decimal": ","}


def refusal(path, text, **written):
    path.write_text(text)
    with pytest.raises(SourceError) as found:
        read_panel(path, **{**WRITTEN, **written})
    return str(found.value)


def lines(*rows):
    return "\n".join(rows) + "\n"


def test_a_line_with_too_many_cells_is_named(tmp_path):
    path = tmp_path / "t.csv"
    rows = [HEADER, *ROWS[:3], "", ROWS[3] + ";extra", *ROWS[4:]]
    assert refusal(path, lines(*rows)) == (
        f"every line must have as many cells as the header, 4; line 6 of {path} has 5: "
        "'c3;0,4;0,6;1;extra'. Correct it: put quotes around a cell that contains "
        "semicolons, or remove the line."
    )
    rows[5] = 'c3;0,4;0,6;"1"'
    path.write_text(lines(*rows))
    assert len(read_panel(path, **WRITTEN)) == 9


def test_a_line_with_too_few_cells_is_named(tmp_path):
    rows = [HEADER, *ROWS[:-1], ROWS[-1].rpartition(";")[0]]
    said = refusal(tmp_path / "t.csv", lines(*rows))
    assert "line 10 of" in said
    assert "has 3: 'c8;0,9;0,1'. Correct it: add the cells that it lacks" in said


def test_a_line_after_a_cell_of_two_lines_keeps_its_number(tmp_path):
    rows = [HEADER, '"c\n0";0,1;0,9;0', *ROWS[1:4], "x;y"]
    assert "line 7 of" in refusal(tmp_path / "t.csv", lines(*rows))


@pytest.mark.parametrize("sep", [None, ";"])
def test_lines_above_the_header_are_to_be_removed(tmp_path, sep):
    path = tmp_path / "t.csv"
    title = "Report generated 2026-11-01, by the nightly job of the bank"
    assert refusal(path, lines(title, "", HEADER, *ROWS), sep=sep).endswith(
        f"{path} begins with 'Report generated 2026-11-01, by the nigh...', and its "
        "header seems to be line 3. Remove the lines above it."
    )
    path.write_text(lines(HEADER, *ROWS))
    assert len(read_panel(path, **WRITTEN)) == 9


def test_a_packed_table_is_looked_at_too(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(lines("A title", HEADER, *ROWS).encode()))
    with pytest.raises(SourceError, match="header seems to be line 2"):
        read_panel(path)


def test_new_cases_that_are_read_in_batches_name_the_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines("id,a,b", "c0,0.5,0.4", "c1,0.5", "c2,0.1,0.2"))
    with pytest.raises(SourceError, match=r"line 3 of .* has 2: 'c1,0\.5'"):
        [*read_batches(path, ("a", "b"), Labels.from_count(2), TableFormat())]


def test_new_cases_below_a_title_are_told_of_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines("A title", "id,a,b", *["c0,0.5,0.4"] * 9))
    with pytest.raises(SourceError, match="header seems to be line 2"):
        [*read_batches(path, ("a", "b"), Labels.from_count(2), TableFormat())]


@pytest.mark.parametrize(("titles", "named"), [(19, True), (20, False)])
def test_a_header_far_down_is_none(tmp_path, titles, named):
    rows = [HEADER, *ROWS * 20]
    said = refusal(tmp_path / "t.csv", lines(*["A title"] * titles, *rows))
    assert ("header seems to be" in said) == named


def test_most_lines_must_be_like_the_header(tmp_path):
    said = refusal(tmp_path / "t.csv", lines(HEADER, *ROWS[:7], "x", "y", "z"))
    assert "header seems" not in said
    assert "line 9 of" in said
