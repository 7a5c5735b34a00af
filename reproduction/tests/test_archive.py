"""Numbers that are kept make the same answers as the run they are from."""

import json
from dataclasses import replace

import pytest

from truepool_paper import Answer, reproduce
from truepool_paper.archive import from_jsonl, to_jsonl
from truepool_paper.expected import paper_tables
from truepool_paper.interface import Reading

LABELS = ["tab:hyperparams", "tab:drift_regret", "fig:drift_regret", "tab:jetson_rtt"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A whole run of which most is pending."""
    done = reproduce(LABELS, out=tmp_path_factory.mktemp("run"))
    left_out = Reading("", "left out")
    answers = tuple(
        done[label] if label in LABELS else Answer(table, left_out, {}, "pending")
        for label, table in paper_tables().items()
    )
    return replace(done, answers=answers)


def test_judged_anew_they_come_out_the_same(run):
    again = from_jsonl(to_jsonl(run))
    assert [answer.table.label for answer in again.answers] == list(paper_tables())
    assert again.environment == run.environment
    for label in LABELS:
        before, after = run[label], again[label]
        assert (before.verdict, before.reading) == (after.verdict, after.reading)
        assert before.cells.keys() == after.cells.keys()
        for place, cell in before.cells.items():
            assert cell.verdict == after.cells[place].verdict
            if cell.measured and not isinstance(cell.measured.value, str):
                got = after.cells[place].measured
                assert got.value == pytest.approx(cell.measured.value, rel=1e-4, abs=1e-9)  # fmt: skip
                assert got.repeats == cell.measured.repeats
    assert again["tab:poa"].reading.cause == "left out"


def test_no_verdict_and_no_printed_number_is_kept(run):
    head, *rows = map(json.loads, to_jsonl(run).splitlines())
    assert set(head) == {"size", "environment", "pending"}
    assert {tuple(row) for row in rows} == {("table", "key", "column", "values")}


def test_a_repeat_that_gave_nothing_is_kept_as_such(run):
    answer = run["tab:drift_regret"]
    place, cell = next((p, c) for p, c in answer.cells.items() if c.measured)
    odd = replace(cell, measured=replace(cell.measured, values=(1.23456789, None)))
    changed = replace(answer, cells={place: odd})
    text = to_jsonl(replace(run, answers=(changed,)))
    assert json.loads(text.splitlines()[1])["values"] == [1.23457, None]
