"""What a verdict means, on tables made for the purpose."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepool_paper.expected import Number, PaperTable
from truepool_paper.verdicts import (
    CellVerdict,
    Measurement,
    judge,
    mean,
    overall,
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


def verdicts(printed, measured, methods="rows"):
    return {key[0]: cell.verdict for (key, _), cell in judge(printed, measured, methods).items()}  # fmt: skip


def test_inside_the_rounding_is_a_match():
    assert verdicts(table(a=0.25), ours(a=0.254)) == {"a": "match"}
    assert verdicts(table(a=0.25), ours(a=0.256)) == {"a": "differs"}


def test_inside_twice_the_error_of_the_difference_is_a_match():
    printed = Number("0.25", 0.25, 0.0, error=0.03)
    slack = 2 * sqrt(0.03**2 + 0.04**2)
    for gap, verdict in ((0.99 * slack, "match"), (1.01 * slack, "differs")):
        got = ours(a=Measurement(0.25 + gap, 0.04, 10))
        assert verdicts(table(a=printed), got) == {"a": verdict}


def test_where_no_spread_is_printed_theirs_is_ours_at_their_repeats():
    printed = Number("0.25", 0.25, 0.0)
    slack = 2 * sqrt(0.04**2 + (0.04 * sqrt(40 / 10)) ** 2)
    for gap, verdict in ((0.99 * slack, "match"), (1.01 * slack, "differs")):
        got = ours(a=Measurement(0.25 + gap, 0.04, 40))
        assert verdicts(table(a=printed), got) == {"a": verdict}


def test_the_same_order_of_methods_is_close_and_another_one_differs():
    printed = table(a=0.1, b=0.2, c=0.3)
    assert set(verdicts(printed, ours(a=0.4, b=0.5, c=0.6)).values()) == {"close"}
    assert verdicts(printed, ours(a=0.4, b=0.6, c=0.5)) == {"a": "close", "b": "differs", "c": "differs"}  # fmt: skip


def test_an_order_that_is_within_error_or_not_clear_in_print_does_no_harm():
    doubtful = ours(a=0.4, b=Measurement(0.6, 0.1, 10), c=0.5)
    assert set(verdicts(table(a=0.1, b=0.2, c=0.3), doubtful).values()) == {"close"}
    assert set(verdicts(table(a=0.1, b=0.11), ours(a=0.5, b=0.4)).values()) == {"close"}


def test_the_order_is_that_of_differences_by_repeat():
    printed = table(a=0.1, b=0.2)
    seeds = (0.3, 0.5, 0.7, 0.9)
    got = ours(a=mean([s + 0.02 for s in seeds]), b=mean([s - 0.001 * s for s in seeds]))  # fmt: skip
    assert set(verdicts(printed, got).values()) == {"differs"}
    apart = {k: Measurement(m.value, m.error, m.repeats) for k, m in got.items()}
    assert set(verdicts(printed, apart).values()) == {"close"}
    gone = ours(a=mean([0.9, None, 0.3]), b=mean([None, 0.8, 0.0]))  # one pair is left
    assert "differs" not in verdicts(printed, gone).values()


def test_another_sign_differs():
    assert verdicts(table(a=0.1, b=0.2), ours(a=-0.4, b=0.5))["a"] == "differs"


def test_methods_may_be_columns():
    places = {
        (("r",), "a"): 0.1,
        (("r",), "b"): 0.2,
        (("s",), "a"): 0.3,
        (("s",), "b"): 0.4,
    }
    printed = table()
    numbers = {place: Number(str(v), v, 0.005) for place, v in places.items()}
    printed = PaperTable(
        "tab:x", "table", "", "", "", ("T",), ("a", "b"), (("r",), ("s",)), numbers
    )
    got = {
        place: Measurement(1 - v if place[0] == ("s",) else v + 0.5, 0.0, 10)
        for place, v in places.items()
    }
    by_column = judge(printed, got, "columns")
    assert [cell.verdict for cell in by_column.values()] == [
        "close",
        "close",
        "differs",
        "differs",
    ]
    assert by_column[("r",), "a"].printed.value == 0.1


def test_words_match_when_they_say_the_same():
    printed = table(a=Number("Best-Individual / Vote (see below)", None))
    assert verdicts(printed, ours(a="vote")) == {"a": "match"}
    assert verdicts(printed, ours(a="VCG")) == {"a": "differs"}
    assert verdicts(printed, {}) == {"a": "not printed"}
    assert verdicts(printed, ours(a=0.3)) == {"a": "not printed"}
    rivals = table(a=0.1, b=0.2)
    assert verdicts(rivals, ours(a=0.4, b="undefined"))["a"] == "differs"


def test_bounds_are_kept_or_broken():
    least, most = Number("≥ 100", None, least=100.0), Number("<0.01", None, most=0.01)
    assert verdicts(table(a=least), ours(a=120.0)) == {"a": "match"}
    assert verdicts(table(a=least), ours(a=80.0)) == {"a": "differs"}
    assert verdicts(table(a=most), ours(a=0.005)) == {"a": "match"}
    assert verdicts(table(a=most), ours(a=0.02)) == {"a": "differs"}
    assert verdicts(table(a=most), {}) == {"a": "pending"}


def test_what_one_side_lacks():
    assert verdicts(table(a=0.1), {}) == {"a": "pending"}
    assert verdicts(table(), ours(a=0.1)) == {"a": "not printed"}
    assert verdicts(table(a=Number("", None)), ours(a=0.1)) == {"a": "not printed"}


@pytest.mark.parametrize(
    ("found", "whole"),
    [
        (["match", "close", "differs", "pending"], "differs"),
        (["match", "close", "not printed"], "close"),
        (["match", "pending"], "match"),
        (["pending", "not printed"], "pending"),
        ([], "not printed"),
    ],
)
def test_a_table_is_as_good_as_its_worst_judged_cell(found, whole):
    cells = {
        ((i,), "FN"): CellVerdict(None, None, verdict)
        for i, verdict in enumerate(found)
    }
    assert overall(cells) == whole


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
    found = judge(printed, got)
    assert found[("a",), "FN"].tolerance == pytest.approx(0.005 + 2 * 0.05)
    assert found[("b",), "FN"].tolerance is None
    assert found[("c",), "FN"].tolerance is None
