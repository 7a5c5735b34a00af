"""Audits of the corpus answer as they did when it was recorded.

The sample is audited by every run of the tests, all tables by `make corpus`.
"""

import pytest

from audit_corpus.answers import answers
from audit_corpus.record import differences, drawn, is_meant, load
from audit_corpus.tables import TABLES

RECORD = load()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if table.fast else pytest.mark.slow)
        for name, table in TABLES.items()
    ],
)
def test_an_audit_answers_as_recorded(name):
    table, expected = TABLES[name], RECORD["tables"][name]
    assert drawn(table) == pytest.approx(expected["drawn"], abs=1e-5)
    found = differences(expected, answers(table.audit(), table.names))
    assert [one for one in found if not is_meant(one, name, RECORD["meant"])] == []


def test_every_table_is_recorded_and_what_was_planted_has_not_moved():
    planted = {name: [one.code for one in t.planted] for name, t in TABLES.items()}
    recorded = {
        name: [code for code, _, _ in one["planted"]]
        for name, one in RECORD["tables"].items()
    }
    assert planted == recorded


RECORDED = {
    "trust": "no", "pool": "auto", "outcome": None, "over": {},
    "first": ["copy", "error", ["b", "a"], None],
    "findings": [
        ["copy", "error", ["b", "a"], None],
        ["drifted", "warning", ["c"], [500, 460, 540]],
    ],
    "agents": {
        "a": ["sound", None], "b": ["copy", None], "c": ["drifted", [500, 460, 540]]
    },
}  # fmt: skip


def answer(**changes):
    """What was recorded, as an audit answers it, with changes."""
    drift = ["drifted", "warning", ["c"], 500]
    agents = {"a": ["sound", None], "b": ["copy", None], "c": ["drifted", 500]}
    same = {"findings": [RECORDED["findings"][0], drift], "agents": agents}
    return RECORDED | same | changes


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"pool": None}, [("pool", "", "auto", None)]),
        ({"first": None}, [("first", "", "copy b a", None)]),
        ({"outcome": ["late-outcomes", 9]}, [("outcome", "", None, "late-outcomes")]),
        ({"over": {"a": ["gap", 3]}}, [("over", "a", None, "gap")]),
        ({"findings": None}, []),
        (
            {"findings": [RECORDED["findings"][0]]},
            [("findings", "drifted c", "warning", None)],
        ),
        (
            {"agents": {"a": ["harmful", None], "b": ["copy", None]}},
            [("agents", "a", "sound", "harmful"), ("agents", "c", "drifted", None)],
        ),
    ],
    ids=[
        "same",
        "pool",
        "first",
        "outcome",
        "over",
        "no evidence",
        "finding",
        "agents",
    ],
)
def test_every_change_of_an_answer_is_a_difference(changes, expected):
    assert list(differences(RECORDED, answer(**changes))) == expected


@pytest.mark.parametrize(
    ("since", "count"), [(460, 0), (540, 0), (459, 1), (541, 1), (None, 1)]
)
def test_a_date_may_move_between_its_limits(since, count):
    agents = {"a": ["sound", None], "b": ["copy", None], "c": ["drifted", since]}
    found = list(differences(RECORDED, answer(agents=agents)))
    assert found == [("agents", "c since", [500, 460, 540], since)] * count


def test_what_is_meant_may_be_about_any_table_and_nothing_else():
    one = {"table": "*", "field": "agents", "key": "*", "was": "drifted",
           "now": "changed-feed", "why": "a broken feed comes first"}  # fmt: skip
    assert is_meant(("agents", "c", "drifted", "changed-feed"), "noise-1", [one])
    assert not is_meant(("agents", "c", "copy", "changed-feed"), "noise-1", [one])
    assert not is_meant(("first", "", "drifted", "changed-feed"), "noise-1", [one])
