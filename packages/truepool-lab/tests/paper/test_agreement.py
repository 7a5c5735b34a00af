"""Level and order of whole tables, on cells made for the purpose."""

from math import inf

import pytest

from truepool_lab.paper.agreement import Level, Order, level, log_ratio, order
from truepool_lab.paper.expected import Number
from truepool_lab.paper.verdicts import CellVerdict, Measurement, mean


def cell(printed, measured, verdict="apart", kind="evidence", rounding=0.0):
    number = printed
    if not isinstance(printed, Number):
        number = Number(str(printed), printed, rounding)
    if not isinstance(measured, Measurement):
        measured = Measurement(measured, 0.0, 10)
    return CellVerdict(number, measured, verdict, 0.0, kind)


def test_the_ratio_is_the_median_factor_in_either_direction():
    cells = [cell(1.0, 2.0), cell(1.0, 0.25), cell(1.0, 3.0)]
    assert level(cells).ratio == pytest.approx(3.0)
    assert level(cells[:1]).ratio == pytest.approx(2.0)


def test_numbers_of_another_sign_zeros_and_undefined_ones_have_no_ratio():
    for apart in (cell(1.0, -1.0), cell(0.0, 0.5), cell(1.0, "undefined")):
        assert log_ratio(apart.printed, apart.measured) == inf
        assert level([apart]).ratio is None
    near = cell(0.0, 0.0004, rounding=0.0005)
    assert log_ratio(near.printed, near.measured) == 0.0
    assert level([cell(1.0, 2.0), cell(1.0, 2.0), cell(1.0, -1.0)]).ratio == pytest.approx(2)  # fmt: skip


def test_shares_within_20_per_cent_and_within_error_are_counted_apart():
    cells = [
        cell(1.0, 1.1, "match"),
        cell(1.0, 1.5, "match"),  # a wide error: a match, not near
        cell(1.0, 1.2, "near"),
        cell(1.0, 1.21, "apart"),
        cell(Number("≥ 100", None, least=100.0), 120.0, "match"),
        cell(Number("yes", None), Measurement("no", 0.0, 1), "apart"),
    ]
    found = level(cells)
    assert (found.cells, found.match, found.near) == (6, 3, 3)


def test_what_is_no_evidence_is_counted_apart():
    cells = [
        cell(1.0, 1.0, "match", "fitted"),
        cell(1.0, 1.0, "match", "constructed"),
        cell(1.0, 9.0, "apart", "timed"),
        CellVerdict(None, Measurement(1.0, 0.0, 1), "not printed"),
        CellVerdict(Number("1", 1.0), None, "pending"),
    ]
    assert level(cells) == Level(0, 0, 0, None, 1, 1, 1)


def table(*rows):
    """Cells of one column whose row keys begin with the method."""
    return {((name, *rest), "FN"): cell(p, m) for name, rest, p, m in rows}


def test_pairs_of_methods_are_the_same_reversed_or_open():
    cells = table(("a", (), 0.1, 0.4), ("b", (), 0.2, 0.6), ("c", (), 0.3, 0.5))
    assert order(cells, "rows") == Order(same=2, reversed=1)
    assert order(cells, "none") == Order()
    assert order(cells, "columns") == Order()


def test_only_methods_in_the_same_setting_are_compared():
    cells = table(("a", (1,), 0.1, 0.4), ("b", (2,), 0.2, 0.3))
    assert order(cells, "rows") == Order()
    by_column = {
        ((5,), "NSL/VCG"): cell(0.1, 0.2),
        ((5,), "NSL/Vote"): cell(0.2, 0.1),
        ((5,), "Card/VCG"): cell(0.9, 0.0),
    }
    assert order(by_column, "columns") == Order(reversed=1)


def test_what_the_print_does_not_set_apart_is_no_pair():
    cells = {
        ((name,), "FN"): cell(p, m, rounding=0.005)
        for name, p, m in (("a", 0.1, 0.9), ("b", 0.105, 0.1))
    }
    assert order(cells, "rows") == Order()


def test_an_order_that_is_not_significant_or_undefined_is_open():
    seeds = (0.3, 0.5, 0.7, 0.9)
    one = mean([s + 0.02 for s in seeds])
    other = mean([s - 0.001 * s for s in seeds])
    cells = {(("a",), "FN"): cell(0.1, one), (("b",), "FN"): cell(0.2, other)}
    assert order(cells, "rows") == Order(reversed=1)  # paired by repeat
    apart = {k: cell(c.printed, Measurement(c.measured.value, 0.3, 4)) for k, c in cells.items()}  # fmt: skip
    assert order(apart, "rows") == Order(open=1)
    gone = table(("a", (), 0.1, "undefined"), ("b", (), 0.2, 0.3))
    assert order(gone, "rows") == Order(open=1)


def test_running_times_have_no_order():
    cells = {
        ((name,), "ms"): cell(p, m, kind="timed")
        for name, p, m in (("a", 1.0, 2.0), ("b", 2.0, 1.0))
    }
    assert order(cells, "rows") == Order()
