"""Numbers that are kept make the same answers as the run they are from."""

import json
from dataclasses import replace

import pytest

from truepool_lab.paper import Answer, reproduce
from truepool_lab.paper.archive import add, from_jsonl, to_jsonl
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.interface import Reading

LABELS = ["tab:hyperparams", "tab:drift_regret", "fig:drift_regret"]


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
    labels = [answer.label for answer in again.answers if not answer.variant]
    assert labels == list(paper_tables())
    assert again.environment == run.environment
    for label in LABELS:
        before, after = run[label], again[label]
        assert (before.status, before.reading) == (after.status, after.reading)
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
    assert set(head) == {"size", "environment", "pending", "added", "runs"}
    assert {tuple(row) for row in rows} == {("table", "key", "column", "values")}


def test_a_repeat_that_gave_nothing_is_kept_as_such(run):
    answer = run["tab:drift_regret"]
    place, cell = next((p, c) for p, c in answer.cells.items() if c.measured)
    odd = replace(cell, measured=replace(cell.measured, values=(1.23456789, None)))
    changed = replace(answer, cells={place: odd})
    text = to_jsonl(replace(run, answers=(changed,)))
    assert json.loads(text.splitlines()[1])["values"] == [1.23457, None]


def test_a_later_run_replaces_its_own_tables_and_says_so(run):
    answer = run["tab:drift_regret"]
    place, cell = next((p, c) for p, c in answer.cells.items() if c.measured)
    later = replace(cell, measured=replace(cell.measured, values=(7.0, 9.0)))
    second = replace(run, answers=(replace(answer, cells={place: later}),))
    before, again = from_jsonl(to_jsonl(run)), from_jsonl(add(to_jsonl(run), second))
    assert again.added == ("tab:drift_regret",)
    assert again["tab:drift_regret"].cells[place].measured.value == 8.0
    assert again["tab:hyperparams"].cells == before["tab:hyperparams"].cells
    assert again.environment == before.environment


def test_another_reading_is_stored_beside_the_first(run):
    first = run["tab:drift_regret"]
    other = replace(first, table=paper_tables()["tab:adversarial"], variant="inferred")
    text = add(to_jsonl(run), replace(run, answers=(other,)))
    found = from_jsonl(text)["tab:adversarial@inferred"]
    assert found.reading.basis == "inferred"
    assert from_jsonl(text)["tab:adversarial"].status == "pending"


def test_what_a_later_run_answers_is_no_longer_pending(run):
    figure = replace(run["fig:drift_regret"], table=paper_tables()["fig:adversarial"])
    text = add(to_jsonl(run), replace(run, answers=(figure,)))
    assert from_jsonl(text)["fig:adversarial"].status == "drawn"
    assert json.loads(text.splitlines()[0])["pending"].keys() == (
        {a.label for a in run.answers if a.status == "pending"} - {"fig:adversarial"}
    )
