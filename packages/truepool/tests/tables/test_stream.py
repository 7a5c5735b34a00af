"""Data sets that are read in parts: the panels, their sums, and what is wrong."""

import numpy as np
import pyarrow as pa
import pytest
from corpus import A, P, Y, long, refusal
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet

from truepool import read_panel
from truepool.tables import Declared, stream
from truepool.tables.checkpoint import Checkpoint
from truepool.tables.dataset import open_dataset
from truepool.tables.sample import (
    BLOCK_ROWS,
    BLOCKS,
    read_sample,
    sample_rows,
    spaced_rows,
)
from truepool.tables.stream import open_panels

DAYS = np.datetime64("2026-01-01") + np.arange(60)


def write(folder, columns, parts=3, groups=1):
    rows = pa.table(columns)
    for n in range(parts):
        part = rows.slice(n * len(rows) // parts, len(rows) // parts)
        parquet.write_table(
            part, folder / f"{n}.parquet", row_group_size=len(part) // groups
        )
    return open_dataset(folder)


def panels(dataset, **keys):
    return open_panels(dataset, Declared(**keys))


SOUND = {"a": P, "b": A, "y": Y}


def test_the_panels_are_those_of_the_table(tmp_path):
    columns = SOUND | {"w": 1 + P, "amount": 100 * P, "y": np.where(Y, "ja", "nein")}
    found = panels(
        write(tmp_path, columns), positive="ja", weight="w", columns="amount"
    )
    whole = read_panel(pa.table(columns), positive="ja", weight="w", columns="amount")
    every = [*found.in_order()]
    assert (found.agents, found.labels, found.cases) == (
        whole.agents,
        whole.labels,
        int(whole.weights.sum()),
    )
    assert_allclose(np.concatenate([p.reports for p in every]), whole.reports)
    assert_allclose(np.concatenate([p.weights for p in every]), whole.weights)
    assert_array_equal(np.concatenate([p.columns["amount"] for p in every]), 100 * P)
    assert_allclose(found.prior, [whole.weights[Y == 1].sum() / whole.weights.sum()])


def test_sums_over_parts_are_the_sum_over_the_table_to_the_last_bit(tmp_path):
    dataset = write(tmp_path, SOUND)

    def sums(panel):
        return panel.reports.sum(axis=0)

    found = panels(dataset).sum(sums)
    assert_allclose(found, [P.sum(), A.sum()])
    assert_array_equal(panels(dataset).sum(sums), found)
    other = panels(write(tmp_path, SOUND, groups=4)).sum(sums)
    assert_allclose(other, found)


def test_an_interrupted_sum_goes_on_where_it_stopped(tmp_path):
    dataset, output = write(tmp_path, SOUND), tmp_path / "out.pool"
    whole = panels(dataset).sum(lambda panel: panel.reports.sum(axis=0))
    calls = []

    def until(stop):
        def sums(panel):
            if len(calls) == stop:
                raise KeyboardInterrupt
            calls.append(len(panel))
            return panel.reports.sum(axis=0)

        return sums

    def resume(stop):
        one = Checkpoint(output)
        every = open_panels(dataset, Declared(), checkpoint=one)
        return one, every.sum(until(stop))

    with pytest.raises(KeyboardInterrupt):
        resume(2)
    calls.clear()
    checkpoint, found = resume(-1)
    assert (checkpoint.resumed, len(calls)) == (2, 1)
    assert_array_equal(found, whole)
    checkpoint.remove()
    assert not checkpoint.path.exists()


def test_cases_are_counted_by_what_they_lack(tmp_path):
    outcomes = [None if t < 5 else int(y) for t, y in enumerate(Y)]
    values = [None if t in (3, 9) else p for t, p in enumerate(P)]
    dataset = write(
        tmp_path,
        {
            "a": values,
            "b": [None if t in (3, 9) else v for t, v in enumerate(A)],
            "y": outcomes,
        },
    )
    found = panels(dataset)
    counts = found.sum(lambda panel: np.array(panel.counts, float))
    assert (found.totals.pending, found.totals.empty, found.totals.cases) == (4, 2, 54)
    assert counts.sum() == 54
    assert found.totals.reported.tolist() == [54, 54]


def test_a_part_in_which_an_agent_never_reports_has_no_type(tmp_path):
    write(tmp_path, SOUND)
    parquet.write_table(
        pa.table({"a": pa.nulls(4), "b": A[:4], "y": Y[:4]}), tmp_path / "3.parquet"
    )
    every = [*panels(open_dataset(tmp_path)).in_order()]
    assert np.isnan(every[-1].reports[:, 0]).all()


def test_labels_of_all_parts_count(tmp_path):
    """The label of one part alone is none that the first rows show."""
    kinds = np.where(Y, "ja", "nein").astype(object)
    kinds[-1] = "offen"
    dataset = write(tmp_path, SOUND | {"y": kinds.tolist()})
    assert refusal(dataset, read=panels, positive="ja").codes == ("which-labels",)
    found = panels(dataset, positive="ja", missing="offen")
    assert found.sum(lambda panel: np.array(panel.counts, float)).sum() == 59
    kinds[-1] = "Ja"
    dataset = write(tmp_path, SOUND | {"y": kinds.tolist()})
    found = panels(dataset, positive="ja")
    assert found.sum(lambda panel: np.array(panel.counts, float)).sum() == 60


def test_times_put_the_parts_in_order_and_not_the_cases(tmp_path):
    order = np.concatenate([np.arange(20, 40), np.arange(20), np.arange(40, 60)])
    columns = {name: np.asarray(values)[order] for name, values in SOUND.items()}
    dataset = write(tmp_path, columns | {"time": DAYS[order]})
    found = np.concatenate([p.times for p in panels(dataset).in_order()])
    assert_array_equal(found.astype("datetime64[D]"), DAYS)
    late = DAYS.copy()
    late[7] = DAYS[40]
    dataset = write(tmp_path, SOUND | {"time": late})
    (fault,) = refusal(panels(dataset), read=lambda s: [*s.in_order()]).faults
    assert (fault.code, fault.column, fault.place.number[0]) == (
        "time-order",
        "time",
        8,
    )


def test_a_fault_is_named_by_its_part_and_row(tmp_path):
    values = P.copy()
    values[47] = 1.2
    dataset = write(tmp_path, SOUND | {"a": values})
    (fault,) = refusal(panels(dataset), read=lambda s: [*s.in_order()]).faults
    assert (fault.code, fault.agent, fault.found) == ("report-outside", "a", 1.2)
    assert (fault.place.unit, fault.place.number) == ("part-row", (7, "2.parquet"))


def test_a_long_table_is_not_read_in_parts(tmp_path):
    dataset = write(tmp_path, long({"rf": P, "gbm": A}))
    assert refusal(dataset, read=panels).codes == ("long-stream",)


@pytest.mark.parametrize(
    "keys", [{"agents": "aa"}, {"percent": ["aa"]}, {"weight": "w"}, {"outcome": "z"}]
)
def test_what_is_declared_must_be_there(tmp_path, keys):
    assert "no-column" in refusal(write(tmp_path, SOUND), read=panels, **keys).codes


def test_questions_are_answered_by_whoever_is_asked(tmp_path):
    dataset = write(tmp_path, SOUND | {"y": np.where(Y, "ja", "nein")})
    asked = []

    def answer(questions):
        asked.extend(question.code for question in questions)
        return {"positive": "ja"}

    found = open_panels(dataset, Declared(), answer=answer)
    assert (asked, found.labels.names) == (["which-positive"], ("nein", "ja"))


# Samples


def test_every_set_of_rows_is_as_likely_however_the_parts_are_cut(tmp_path):
    (tmp_path / "x").mkdir()
    rows = pa.table({"n": np.arange(60)})
    found = read_sample(write(tmp_path, {"n": np.arange(60)}), most=20, seed=1)
    parquet.write_table(rows, tmp_path / "x" / "one.parquet")
    one = read_sample(open_dataset(tmp_path / "x"), most=20, seed=1)
    assert (
        found["n"].to_pylist()
        == one["n"].to_pylist()
        == sample_rows(60, 20, 1).tolist()
    )
    drawn = np.bincount(
        np.concatenate([sample_rows(60, 20, seed) for seed in range(300)])
    )
    assert drawn.min() > 60
    assert drawn.max() < 140
    assert len(sample_rows(20, 60, 0)) == 20


def test_blocks_of_rows_are_spread_from_the_first_to_the_last():
    places = spaced_rows(10**6)
    assert len(places) == BLOCKS * BLOCK_ROWS
    assert (places[0], places[-1]) == (0, 10**6 - 1)
    assert (np.diff(places) == 1).sum() == BLOCKS * (BLOCK_ROWS - 1)


def test_columns_that_the_first_rows_do_not_show_are_still_read(tmp_path, monkeypatch):
    """Only some rows say what the columns are; all are decoded by it."""
    monkeypatch.setattr(stream, "spaced_rows", lambda rows: np.arange(30))
    values = P.copy()
    values[50] = 1.2
    dataset = write(tmp_path, SOUND | {"a": values})
    (fault,) = refusal(panels(dataset), read=lambda s: [*s.in_order()]).faults
    assert (fault.code, fault.place.number[0]) == ("report-outside", 10)
