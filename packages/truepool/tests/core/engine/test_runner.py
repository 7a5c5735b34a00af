import os
import time

import pytest

from truepool.core.engine import Batch, RowFile, cells, run
from truepool.core.errors import SourceError


def squares(cell):
    return [{"value": cell["n"] ** 2, "process": os.getpid()}]


def fails(cell):
    if cell["n"] == 2:
        raise RuntimeError("interrupted")
    return squares(cell)


def fails_late(cell):
    if cell["n"] == 900:
        time.sleep(1.0)
        raise RuntimeError("interrupted")
    return squares(cell)


def batch(path, measure=squares, **settings):
    made = cells("x", 2, {"n": [1, 2, 3]})
    return Batch(measure, made, RowFile(path / "rows.jsonl", "1"), **settings)


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_are_in_the_order_of_their_cells(tmp_path, jobs):
    work = batch(tmp_path)
    run([work], jobs=jobs)
    assert [row["value"] for row in work.rows] == [1, 4, 9, 1, 4, 9]


def test_finished_cells_are_not_measured_again_after_an_interruption(tmp_path):
    with pytest.raises(RuntimeError):
        run([batch(tmp_path, fails)])
    again = batch(tmp_path)
    assert [cell["n"] for cell in again.missing] == [2, 3, 1, 2, 3]
    run([again])
    assert [row["value"] for row in again.rows] == [1, 4, 9, 1, 4, 9]
    assert again.missing == []


def test_nothing_is_measured_for_a_file_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    started = []
    work = batch(tmp_path / "file", started.append)
    with pytest.raises(SourceError, match="cannot be written"):
        run([work])
    assert started == []


def test_many_quick_cells_do_not_wait_for_a_slow_one(tmp_path):
    quick = cells("x", 1, {"n": range(1000)})
    file = RowFile(tmp_path / "rows.jsonl", "1")
    with pytest.raises(RuntimeError):
        run([Batch(fails_late, quick, file)], jobs=2)
    assert all(cell in file for cell in quick[:900])


def test_cells_that_measure_time_run_alone_in_this_process_after_the_rest(tmp_path):
    timed = batch(tmp_path / "timed", alone=True)
    rest = batch(tmp_path / "rest")
    seen = []
    run(
        [timed, rest],
        jobs=2,
        progress=lambda name, done, total: seen.append(len(timed.missing)),
    )
    assert {row["process"] for row in timed.rows} == {os.getpid()}
    assert os.getpid() not in {row["process"] for row in rest.rows}
    assert seen == [6] * 6 + [5, 4, 3, 2, 1, 0]


def test_progress_counts_effort_with_rows_in_the_file_as_done(tmp_path):
    settings = {"effort": lambda cell: float(cell["n"])}
    with pytest.raises(RuntimeError):
        run([batch(tmp_path, fails, **settings)])
    seen = []
    run([batch(tmp_path, **settings)], progress=lambda *steps: seen.append(steps))
    assert seen[0] == ("x", 3.0, 12.0)
    assert seen[-1] == ("x", 12.0, 12.0)


def test_a_run_without_missing_cells_measures_nothing(tmp_path):
    run([])
    assert not (tmp_path / "rows.jsonl").exists()
