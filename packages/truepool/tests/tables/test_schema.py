"""What is declared of a table, and what was found: values that are stored and compared."""

import tomllib
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pytest
from corpus import TABLES, read_table, refusal
from numpy.testing import assert_array_equal

from truepool.core.errors import UnknownNameError
from truepool.tables import Declared, Schema, Unit
from truepool.tables.schema import PERCENT, is_chosen

READ = [name for name, case in TABLES.items() if not case.codes]


@pytest.mark.parametrize("name", READ)
def test_a_schema_is_stored_and_read_again(name):
    schema = read_table(pa.table(TABLES[name].columns), **TABLES[name].keys)[1].schema
    assert Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize("name", READ)
def test_what_a_schema_declares_reads_the_table_alike(name):
    rows = pa.table(TABLES[name].columns)
    panel, found = read_table(rows, **TABLES[name].keys)
    again, _ = read_table(rows, **vars(found.schema.declared()))
    assert_array_equal(again.reports, panel.reports)
    assert again.agents == panel.agents


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"decimal": ";"}, "decimal"), ({"sep": "::"}, "sep"), ({"sep": "é"}, "sep"),
        ({"long": ("a", "b")}, "long"), ({"updates": "mean"}, "updates"), ({"outcome": 3}, "outcome"),
        ({"missing": [-999]}, "missing"), ({"ignore": ["a", 3]}, "ignore"), ({"columns": b"a"}, "columns"),
        ({"scores": 3}, "scores"), ({"scores": {"a": 3}}, "scores.a"), ({"time_format": "%H %p"}, "time-format"),
    ],
)  # fmt: skip
def test_a_key_has_the_values_that_it_can_have(keys, key):
    (fault,) = refusal(None, read=lambda source: Declared(**keys)).faults
    assert (fault.code, fault.fields["key"]) == ("bad-setting", key)


@pytest.mark.parametrize("keyword", ["agents", "ignore", "columns", "missing"])
def test_one_text_is_one_name(keyword):
    one = Declared(**{keyword: "Smith, J."})
    assert one == Declared(**{keyword: ["Smith, J."]})
    assert vars(one)[keyword] == ("Smith, J.",)


def test_keys_may_be_spelled_as_a_config_file_spells_them():
    text = 'outcome = "y"\ntime-format = "%Y"\npercent = ["a"]\nlong = ["q", "w", "p"]\n[scores]\nb = "0-9"\n'
    found = Declared.of(tomllib.loads(text))
    assert (found.outcome, found.formats, found.percent) == ("y", ("%Y",), ("a",))
    assert (found.long, dict(found.scores)) == (("q", "w", "p"), {"b": "0-9"})
    with pytest.raises(UnknownNameError):
        Declared.of({"outcom": "y"})


def test_further_keys_add_to_lists_and_replace_the_rest():
    first = Declared(outcome="y", ignore="a", scores={"b": "0-9"})
    second = first.with_keys(
        {"outcome": "z", "ignore": ["c"], "scores.d": "1-5", "percent": ["e"]}
    )
    assert (second.outcome, second.ignore, second.percent) == ("z", ("a", "c"), ("e",))
    assert dict(second.scores) == {"b": "0-9", "d": "1-5"}


@pytest.mark.parametrize(
    ("keys", "agent", "unit"),
    [
        ({}, "a", None), ({"percent": True}, "a", PERCENT), ({"percent": False}, "a", Unit()),
        ({"percent": "a*"}, "ab", PERCENT), ({"percent": "a*"}, "b", Unit()),
        ({"scores": "0-9"}, "a", Unit(0, 9)), ({"scores": {"*": "0-9", "a": "5-1"}}, "a", Unit(5, 1)),
        ({"scores": {"v*": "0-9", "vendor": "0-999"}}, "vendor", Unit(0, 999)),
        ({"scores": {"a": "-5-5"}}, "a", Unit(-5, 5)), ({"scores": {"a": "-5--1"}}, "a", Unit(-5, -1)),
    ],
)  # fmt: skip
def test_the_unit_of_an_agent_is_that_of_its_name_then_of_its_pattern(
    keys, agent, unit
):
    assert Declared(**keys).unit(agent) == unit


@pytest.mark.parametrize(
    ("name", "pattern", "chosen"),
    [
        ("rf:fraud", "rf", True), ("rf: fraud", "rf:fraud", True), ("rf: fraud", "rf: fraud", True),
        ("rf", "r*", True), ("rf", "R*", False), ("rf:fraud", "*:fraud", True), ("rfx", "rf", False),
        ("a[1]", "a[1]", True),
    ],
)  # fmt: skip
def test_a_pattern_chooses_agents_and_columns(name, pattern, chosen):
    assert is_chosen(name, [pattern]) == chosen


def test_the_options_of_a_pool_of_the_last_version_are_a_schema():
    old = {"percent": ["a"], "scores": ["b=0-999", "c,d=850-300"], "outcome": "y", "id": "nr", "time": "at",
           "time_format": "%d.%m.%Y", "missing": ["n/d"], "decimal": ",", "columns": ["amount"], "ignore": ["x"]}  # fmt: skip
    found = Schema.of_options(old, ("a", "b", "c", "d", "e"))
    assert dict(found.units) == {
        "a": PERCENT,
        "b": Unit(0, 999),
        "c": Unit(850, 300),
        "d": Unit(850, 300),
    }
    assert (found.outcome, found.id, found.kept, found.unused) == (
        "y",
        "nr",
        ("amount",),
        ("x",),
    )
    assert (found.decimal, found.missing, found.formats["at"]) == (
        ",",
        ("n/d",),
        "%d.%m.%Y",
    )
    long = Schema.of_options({"long": ["q", "w", "p"], "percent": True}, ("a", "b"))
    assert (long.long, long.reports, long.unit("b")) == (("q", "w", "p"), {}, PERCENT)


@pytest.mark.parametrize(
    ("unit", "kind", "number", "share"),
    [
        (Unit(), "probability", 0.25, 0.25),
        (PERCENT, "percent", 25, 0.25),
        (Unit(850, 300), "score", 410, 0.8),
    ],
)
def test_a_unit_has_a_kind_and_counts_as_shares(unit, kind, number, share):
    assert unit.kind == kind
    assert unit.shares(np.array([number])).tolist() == [share]
    assert asdict(unit) == {"zero": unit.zero, "one": unit.one}
