"""What a verdict means, on tables made for the purpose."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepool_lab.paper.agreement import level
from truepool_lab.paper.expected import Number, PaperTable
from truepool_lab.paper.interface import Reading
from truepool_lab.paper.verdicts import (
    Measurement,
    judge,
    kind,
    summarise,
)


def table(**numbers):
    """A table of one column whose rows are methods."""
    found = {
        ((name,), "FN"): n if isinstance(n, Number) else Number(str(n), n, 0.005)
        for name, n in numbers.items()
    }
    return PaperTable("tab:x", "table", "", "", "", ("method",), ("FN",), tuple(k for k, _ in found), found)  # fmt: skip


def ours(**values):
    return {
        ((name,), "FN"): v if isinstance(v, Measurement) else Measurement(v, 0.0, 10)
        for name, v in values.items()
    }


AS_IS = Reading("As is.")


def verdicts(printed, measured):
    return {key[0]: cell.verdict for (key, _), cell in judge(printed, measured, AS_IS).items()}  # fmt: skip


def test_inside_the_rounding_is_a_match():
    assert verdicts(table(a=0.25), ours(a=0.254)) == {"a": "match"}
    assert verdicts(table(a=0.25), ours(a=0.256)) == {"a": "near"}


def test_inside_twice_the_error_of_the_difference_is_a_match():
    printed = Number("0.25", 0.25, 0.0, error=0.03)
    slack = 2 * sqrt(0.03**2 + 0.04**2)
    for gap, verdict in ((0.99 * slack, "match"), (1.01 * slack, "apart")):
        got = ours(a=Measurement(0.25 + gap, 0.04, 10))
        assert verdicts(table(a=printed), got) == {"a": verdict}


def test_where_no_spread_is_printed_theirs_is_ours_at_their_repeats():
    printed = Number("0.25", 0.25, 0.0)
    slack = 2 * sqrt(0.04**2 + (0.04 * sqrt(40 / 10)) ** 2)
    for gap, verdict in ((0.99 * slack, "match"), (1.01 * slack, "apart")):
        got = ours(a=Measurement(0.25 + gap, 0.04, 40))
        assert verdicts(table(a=printed), got) == {"a": verdict}


def test_within_a_fifth_of_the_printed_number_is_near():
    printed = table(a=Number("0.50", 0.5, 0.005))
    for value, verdict in ((0.504, "match"), (0.4, "near"), (0.6, "near"), (0.61, "apart"), (-0.5, "apart")):  # fmt: skip
        assert verdicts(printed, ours(a=value)) == {"a": verdict}


def test_cells_that_are_no_evidence_are_named_by_pattern():
    reading = Reading(
        "",
        fitted=("Brier, * | bias",),
        constructed=("* | n*delta",),
        timed=("VCG time (s) | *",),
    )
    assert kind((("Brier", 5), "bias"), reading) == "fitted"
    assert kind((("VCG", 5), "bias"), reading) == "evidence"
    assert kind(((5,), "n*delta"), reading) == "constructed"
    assert kind((("VCG time (s)",), "n=5"), reading) == "timed"
    found = judge(table(a=0.1), ours(a=0.1), Reading("", fitted=("a | FN",)))
    assert [cell.kind for cell in found.values()] == ["fitted"]


def test_words_match_when_they_say_the_same():
    printed = table(a=Number("Best-Individual / Vote (see below)", None))
    assert verdicts(printed, ours(a="vote")) == {"a": "match"}
    assert verdicts(printed, ours(a="VCG")) == {"a": "apart"}
    assert verdicts(printed, {}) == {"a": "not printed"}
    assert verdicts(printed, ours(a=0.3)) == {"a": "not printed"}
    assert verdicts(table(a=0.1), ours(a="undefined")) == {"a": "apart"}


def test_bounds_are_kept_or_broken():
    least, most = Number("≥ 100", None, least=100.0), Number("<0.01", None, most=0.01)
    assert verdicts(table(a=least), ours(a=120.0)) == {"a": "match"}
    assert verdicts(table(a=least), ours(a=80.0)) == {"a": "apart"}
    assert verdicts(table(a=most), ours(a=0.005)) == {"a": "match"}
    assert verdicts(table(a=most), ours(a=0.02)) == {"a": "apart"}
    assert verdicts(table(a=most), {}) == {"a": "pending"}


def test_what_one_side_lacks():
    assert verdicts(table(a=0.1), {}) == {"a": "pending"}
    assert verdicts(table(), ours(a=0.1)) == {"a": "not printed"}
    assert verdicts(table(a=Number("", None)), ours(a=0.1)) == {"a": "not printed"}


def test_hardware_that_is_not_at_hand_is_never_compared():
    reading = Reading("", elsewhere=("Jetson* | *",))
    printed = table(**{"Jetson 0": 10.3, "desktop": 4.1})
    for measured in ({}, ours(**{"Jetson 0": 10.3, "this machine": 0.1})):
        found = judge(printed, measured, reading)
        assert found[("Jetson 0",), "FN"].verdict == "not at hand"
        assert found[("desktop",), "FN"].verdict == "pending"
        assert level(found.values()).cells == 0


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9))
def test_the_error_is_that_of_the_mean(values):
    rows = [{"table": "t", "key": [1], "column": "c", "value": v} for v in values]
    other = {"table": "u", "key": [1], "column": "c", "value": 9.0}
    got = summarise([*rows, other], "t")[(1,), "c"]
    mean = sum(values) / len(values)
    spread = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    assert got.value == pytest.approx(mean, abs=1e-12)
    assert got.error == pytest.approx(sqrt(spread / len(values)), abs=1e-9)
    assert got.repeats == len(values)


def test_undefined_repeats_are_left_out_and_words_are_counted():
    def find(*values):
        rows = [{"table": "t", "key": [1], "column": "c", "value": v} for v in values]
        return summarise(rows, "t")[(1,), "c"]

    words = ("mean", "vcg", "vcg")
    assert find(1.0, None, 3.0) == Measurement(2.0, 1.0, 2, (1.0, None, 3.0))
    assert find(None, None) == Measurement("undefined", 0.0, 2, (None, None))
    assert find(4.0) == Measurement(4.0, 0.0, 1, (4.0,))
    assert find(*words) == Measurement("vcg", 0.0, 3, words)


def test_a_cell_tells_how_far_apart_a_match_may_be():
    printed = table(a=Number("0.25", 0.25, 0.005, error=0.03), b=Number("yes", None))
    got = ours(a=Measurement(0.3, 0.04, 10), b=Measurement("yes", 0.0, 10), c=0.1)
    found = judge(printed, got, AS_IS)
    assert found[("a",), "FN"].tolerance == pytest.approx(0.005 + 2 * 0.05)
    assert found[("b",), "FN"].tolerance is None
    assert found[("c",), "FN"].tolerance is None
