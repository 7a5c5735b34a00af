from multiprocessing import get_context

import pytest

from truepool.core.engine import Cell, RowFile
from truepool.core.errors import SourceError

ONE, OTHER = Cell("x", (("n", 2),), 0), Cell("x", (("n", 5),), 0)
ROWS = [{"table": "t", "key": [1], "column": "c", "value": 0.1}]


def test_rows_are_found_again(tmp_path):
    path = tmp_path / "deep" / "rows.jsonl"
    RowFile(path, "1").add(ONE, ROWS)
    again = RowFile(path, "1")
    assert again[ONE] == ROWS
    assert ONE in again
    assert OTHER not in again


def test_rows_of_another_version_stay_but_are_not_used(tmp_path):
    path = tmp_path / "rows.jsonl"
    RowFile(path, "1").add(ONE, ROWS)
    newer = RowFile(path, "2")
    assert ONE not in newer
    newer.add(ONE, [])
    assert RowFile(path, "1")[ONE] == ROWS
    assert RowFile(path, "2")[ONE] == []


@pytest.mark.parametrize("end", [1, 10, -1])
def test_an_incomplete_line_is_dropped_and_the_next_run_continues(tmp_path, end):
    path = tmp_path / "rows.jsonl"
    file = RowFile(path, "1")
    file.add(ONE, ROWS)
    whole = path.read_text()
    path.write_text(whole + whole[:end])
    resumed = RowFile(path, "1")
    resumed.add(OTHER, ROWS)
    assert set(RowFile(path, "1").rows) == {ONE.key, OTHER.key}


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "{}",
        "3",
        "[1]",
        '{"version": "1", "cell": 3, "rows": []}',
        '{"version": "1", "cell": "a", "rows": {"b": 1}}',
        '{"version": "1", "cell": "a", "rows": [1]}',
        '{"version": "1", "cell": "a", "rows": [{"value": "a"}]}',
        "[" * 100_000,
        "9" * 5_000,
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(SourceError, match="line 1 of .* is not a row of an experiment"):
        RowFile(path, "1", lambda row: row["value"] == 0.1)


def test_rows_of_another_version_may_be_of_any_kind(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"version": "0", "cell": "a", "rows": [{"value": "a"}]}\n')
    assert RowFile(path, "1", lambda row: False).rows == {}


@pytest.mark.parametrize("made", [lambda p: p.mkdir(), lambda p: p.write_bytes(b"\xff\n")])  # fmt: skip
def test_a_file_that_is_not_text_is_refused(tmp_path, made):
    path = tmp_path / "rows.jsonl"
    made(path)
    with pytest.raises(SourceError, match="remove it to measure them again"):
        RowFile(path, "1")


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    file = RowFile(tmp_path / "file" / "rows.jsonl", "1")
    with pytest.raises(SourceError, match=r"cannot be written: .* another folder"):
        file.claim()


def test_two_runs_that_share_a_file_store_every_cell_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    first, second = RowFile(path, "1"), RowFile(path, "1")
    first.add(ONE, ROWS)
    second.add(OTHER, ROWS)
    second.add(ONE, [])
    first.add(OTHER, [])
    assert len(path.read_text().splitlines()) == 2
    assert first[OTHER] == second[ONE] == ROWS


def _write(path, start, count):
    file = RowFile(path, "1")
    for n in range(start, start + count):
        file.add(Cell("x", (("n", n),), 0), ROWS * 50)


def test_processes_that_write_at_once_lose_and_cut_nothing(tmp_path):
    path = tmp_path / "rows.jsonl"
    context = get_context("fork")
    runs = [context.Process(target=_write, args=(path, n, 60)) for n in (0, 30)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    assert len(path.read_text().splitlines()) == 90
    assert len(RowFile(path, "1").rows) == 90
