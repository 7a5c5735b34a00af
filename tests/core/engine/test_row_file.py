import pytest

from truepool.errors import SourceError
from truepool.lab import Cell, Kept

ONE, OTHER = Cell("x", (("n", 2),), 0), Cell("x", (("n", 5),), 0)
ROWS = [{"table": "t", "key": [1], "column": "c", "value": 0.1}]


def test_rows_are_found_again(tmp_path):
    path = tmp_path / "deep" / "rows.jsonl"
    Kept(path, "1").add(ONE, ROWS)
    again = Kept(path, "1")
    assert again[ONE] == ROWS
    assert ONE in again
    assert OTHER not in again


def test_rows_of_another_version_stay_but_are_not_used(tmp_path):
    path = tmp_path / "rows.jsonl"
    Kept(path, "1").add(ONE, ROWS)
    newer = Kept(path, "2")
    assert ONE not in newer
    newer.add(ONE, [])
    assert Kept(path, "1")[ONE] == ROWS
    assert Kept(path, "2")[ONE] == []


@pytest.mark.parametrize("end", [1, 10, -1])
def test_a_line_cut_short_is_dropped_and_the_next_run_goes_on(tmp_path, end):
    path = tmp_path / "rows.jsonl"
    kept = Kept(path, "1")
    kept.add(ONE, ROWS)
    whole = path.read_text()
    path.write_text(whole + whole[:end])
    resumed = Kept(path, "1")
    resumed.add(OTHER, ROWS)
    assert set(Kept(path, "1").rows) == {ONE.key, OTHER.key}


@pytest.mark.parametrize("line", ["{", "{}", "3", "[1]"])
def test_a_file_of_something_else_is_refused(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(SourceError, match="line 1 of .* is no row of an experiment"):
        Kept(path, "1")


@pytest.mark.parametrize("made", [lambda p: p.mkdir(), lambda p: p.write_bytes(b"\xff\n")])  # fmt: skip
def test_what_is_no_text_is_refused_in_one_sentence(tmp_path, made):
    path = tmp_path / "rows.jsonl"
    made(path)
    with pytest.raises(SourceError, match="remove it to measure anew"):
        Kept(path, "1")


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "rows.jsonl", "1")
    with pytest.raises(SourceError, match=r"cannot be written: .* another folder"):
        kept.claim()
