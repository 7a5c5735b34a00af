"""What every experiment owes. They are found by folder: a new one is tested by being there."""

import json
import pickle
from dataclasses import replace
from importlib.util import find_spec

import pytest
import stand_in
from dataset_requirements import needs

from truepool import datasets
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import every
from truepool_lab.paper.interface import MODEL_VARIABLE
from truepool_lab.paper.verdicts import kind

EVERY = every()
SIZES = ("quick", "full")


def installed(packages):
    """Skip a test where a package is not installed."""
    missing = [package for package in packages if find_spec(package) is None]
    return pytest.mark.skipif(
        bool(missing), reason=f"{', '.join(missing)} not installed"
    )


MARKS = {
    name: pytest.param(name, marks=[needs(*e.needs), installed(e.packages)])
    for name, e in EVERY.items()
}

each = pytest.mark.parametrize("name", list(EVERY))
each_run = pytest.mark.parametrize("name", list(MARKS.values()))


@pytest.fixture(scope="module", autouse=True)
def model():
    """A model for those who ask one: the stand-in."""
    with stand_in.serve() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", stand_in.KEY)
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.setenv(MODEL_VARIABLE, stand_in.MODEL)
        yield


@pytest.fixture(scope="module")
def measured():
    """Rows of the first quick cell of each experiment, measured once."""
    cache = {}

    def rows(name):
        if name not in cache:
            cache[name] = EVERY[name].measure(EVERY[name]().cells("quick")[0])
        return cache[name]

    return rows


@each
def test_it_answers_what_is_printed(name):
    assert EVERY[name].readings
    for label in EVERY[name].readings:
        assert label.partition("@")[0] in paper_tables()


def test_every_table_is_answered_once():
    labels = [label for e in EVERY.values() for label in e.readings]
    assert len(labels) == len(set(labels))
    assert {label for label in labels if "@" not in label} == set(paper_tables())


@each
def test_it_says_how_it_reads_and_which_way_methods_lie(name):
    for reading in EVERY[name].readings.values():
        assert reading.reading.endswith(".")
        assert not reading.cause or reading.cause.endswith(".")
        assert reading.methods in ("rows", "columns", "none")
        assert reading.basis in ("stated", "inferred", "ours")


@each
def test_another_reading_is_inferred_and_says_how(name):
    for label, reading in EVERY[name].readings.items():
        if "@" in label and not reading.title:
            assert label.endswith("@inferred")
            assert reading.basis == "inferred"
            assert "tried" in reading.reading


@each
def test_a_table_of_our_own_stands_beside_a_printed_one(name):
    for label, reading in EVERY[name].readings.items():
        if reading.title:
            assert "@" in label
            assert reading.basis == "ours"


@each
def test_patterns_of_cells_that_are_no_evidence_meet_printed_cells(name):
    for label, reading in EVERY[name].readings.items():
        patterns = (*reading.fitted, *reading.constructed, *reading.timed)
        for pattern in (*patterns, *reading.elsewhere):
            alone = replace(reading, fitted=(pattern,), constructed=(), timed=())
            table = paper_tables()[label.partition("@")[0]]
            kinds = [kind(place, alone) for place in table.numbers]
            assert "fitted" in kinds, (label, pattern)


@each
def test_it_needs_only_what_there_is(name):
    assert set(EVERY[name].needs) <= set(datasets.every())


@each
@pytest.mark.parametrize("size", SIZES)
def test_cells_are_values_of_their_own(name, size):
    made = EVERY[name]().cells(size)
    assert made
    assert len({cell.key for cell in made}) == len(made)
    assert {cell.experiment for cell in made} == {name}
    assert pickle.loads(pickle.dumps(made)) == made
    assert made == EVERY[name]().cells(size)


@each
def test_quick_is_quick_and_no_more_work_than_full(name):
    experiment = EVERY[name]()
    quick, full = (
        sum(experiment.effort(cell) for cell in experiment.cells(size))
        for size in SIZES
    )
    assert 0 < quick <= min(full, 60.0)


@each
def test_what_measures_can_go_to_another_process(name):
    measure = EVERY[name].measure
    assert pickle.loads(pickle.dumps(measure)) is measure


@each_run
def test_rows_say_where_in_the_paper_they_belong(name, measured):
    rows = measured(name)
    assert rows
    for row in rows:
        assert set(row) == {"table", "key", "column", "value"}
        assert row["table"] in EVERY[name].readings
        table = paper_tables()[row["table"].partition("@")[0]]
        if table.kind == "table":
            assert len(row["key"]) == len(table.row_key)
        assert isinstance(row["column"], str)
        assert row["value"] is None or isinstance(row["value"], float | int | str)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


@pytest.mark.parametrize(
    "name",  # times, which are measured alone, differ from run to run
    [MARKS[name] for name, experiment in EVERY.items() if not experiment.alone],
)
def test_the_same_cell_gives_the_same_rows(name, measured):
    again = EVERY[name].measure(EVERY[name]().cells("quick")[0])
    assert again == measured(name)
