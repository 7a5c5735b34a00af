"""One table, one answer: every reader gives the same numbers or the same faults."""

import numpy as np
import polars as pl
import pytest
from corpus import (
    TABLES,
    blocks_of,
    check,
    frame,
    outcome_of,
    panel_of,
    parts_of,
    reports_of,
    write,
)

FILES = (
    "t.csv",
    "semicolons.csv",
    "t.csv.gz",
    "t.tsv",
    "t.parquet",
    "t.jsonl",
    "t.xlsx",
)
FRAMES = {
    "pyarrow": lambda case: frame(case),
    "pandas": lambda case: frame(case).to_pandas(),
    "categories": lambda case: frame(case).to_pandas().astype({"y": "category"}),
    "polars": lambda case: pl.from_arrow(frame(case)),
}


@pytest.fixture(params=TABLES)
def case(request):
    return TABLES[request.param]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_any_kind_is_read_alike(tmp_path, case, name):
    if name.endswith("xlsx") and case is TABLES["infinity"]:
        pytest.skip("a sheet has no infinity")
    path = write(case, tmp_path / name)
    check(outcome_of(panel_of, path, case), case.codes, case.reports)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_kind_is_read_alike(case, kind):
    if kind == "categories" and "y" not in case.columns:
        pytest.skip("the table has no such column")
    check(outcome_of(panel_of, FRAMES[kind](case), case), case.codes, case.reports)


def test_parts_that_are_read_as_a_stream_are_read_alike(tmp_path, case):
    if case.known.long:
        pytest.skip("a stream has one row per case")
    reports = case.reports
    if reports is not None:
        outcomes = np.asarray(case.columns.get("y", np.zeros(len(reports))))
        reports = reports[[y is not None for y in outcomes.tolist()]]
    check(outcome_of(parts_of, case, tmp_path), case.codes, reports)


@pytest.mark.parametrize("name", [*FILES, "frame"])
def test_new_cases_are_read_alike_in_batches(tmp_path, case, name):
    if name.endswith("xlsx") and case is TABLES["infinity"]:
        pytest.skip("a sheet has no infinity")
    source = frame(case) if name == "frame" else write(case, tmp_path / name)
    check(outcome_of(blocks_of, source, case), case.new, case.reports)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "frame"])
def test_new_cases_are_read_alike_by_the_names_of_their_agents(tmp_path, case, name):
    if case.known.classes:
        pytest.skip("a column per class has no name of its own")
    source = frame(case) if name == "frame" else write(case, tmp_path / name)
    check(outcome_of(reports_of, source, case), case.new, case.reports)
