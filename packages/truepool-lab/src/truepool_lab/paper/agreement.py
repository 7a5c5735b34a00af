"""Agreement of a whole table with the print: its level, and its order of methods."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from math import inf, isfinite, log, sqrt
from typing import Any

import numpy as np

from truepool_lab.paper.expected import Number
from truepool_lab.paper.verdicts import NEAR, CellVerdict, Measurement, Place


@dataclass(frozen=True)
class Level:
    """How near the numbers of a table are to the printed ones.

    ``cells`` are those that are evidence; of these ``match`` are within sampling error
    and ``near`` within 20 % (a match that is that near counts in both). ``ratio`` is
    exp(median |log(ours / printed)|), None where the median cell has no ratio.
    ``fitted``, ``constructed`` and ``timed`` cells are counted apart.
    """

    cells: int = 0
    match: int = 0
    near: int = 0
    ratio: float | None = None
    fitted: int = 0
    constructed: int = 0
    timed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Order:
    """Pairs of methods that the print sets clearly apart, by what ours has.

    ``same`` and ``reversed`` are significant (twice the paired standard error).
    """

    same: int = 0
    reversed: int = 0
    open: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def level(cells: Iterable[CellVerdict]) -> Level:
    """Measure how near the cells are.

    >>> one = CellVerdict(Number("0.2", 0.2), Measurement(0.1, 0.0, 1), "apart")
    >>> level([one]).ratio
    2.0
    """
    judged = [c for c in cells if c.verdict in ("match", "near", "apart")]
    counts = {
        kind: sum(c.kind == kind for c in judged)
        for kind in ("fitted", "constructed", "timed")
    }
    evidence = [c for c in judged if c.kind == "evidence"]
    ratios = [abs(log_ratio(*pair)) for c in evidence if (pair := _numbers(c))]
    middle = float(np.median(ratios)) if ratios else inf
    return Level(
        cells=len(evidence),
        match=sum(c.verdict == "match" for c in evidence),
        near=sum(_is_near(c) for c in evidence),
        ratio=float(np.exp(middle)) if isfinite(middle) else None,
        **counts,
    )


def log_ratio(printed: Number, measured: Measurement) -> float:
    """Log of ours over the printed number; infinite where there is no ratio."""
    value, target = measured.value, printed.value
    if target is None or isinstance(value, str):
        return inf
    if abs(value - target) <= printed.rounding:
        return 0.0
    return log(value / target) if value * target > 0 else inf


def order(
    cells: Mapping[Place, CellVerdict],
    methods: str,
) -> Order:
    """Compare the order of methods within each setting of a table.

    Methods are the first part of the row key (``rows``), or the last part of the
    column (``columns``); all else must be the same. With ``none`` nothing is compared.
    """
    if methods == "none":
        return Order()
    groups: dict[Any, list[tuple[Number, Measurement]]] = {}
    for place, cell in cells.items():
        pair = _numbers(cell)
        if cell.kind in ("evidence", "fitted") and pair is not None:
            groups.setdefault(_setting(place, methods), []).append(pair)
    found = [
        _compare(one, other)
        for group in groups.values()
        for one, other in combinations(group, 2)
    ]
    return Order(found.count("same"), found.count("reversed"), found.count("open"))


def _setting(place: Place, methods: str) -> Any:
    key, column = place
    if methods == "rows":
        return key[1:], column
    return key, column.rpartition("/")[0]


def _compare(one: tuple[Number, Measurement], other: tuple[Number, Measurement]) -> str:
    (a, here), (b, there) = one, other
    gap = (a.value or 0.0) - (b.value or 0.0)
    if abs(gap) <= a.rounding + b.rounding:
        return "not printed"
    if isinstance(here.value, str) or isinstance(there.value, str):
        return "open"
    difference = here.value - there.value
    if abs(difference) <= 2 * _standard_error(here, there):
        return "open"
    return "same" if gap * difference > 0 else "reversed"


def _standard_error(one: Measurement, other: Measurement) -> float:
    """Standard error of a difference of means, paired by repeat."""
    if len(one.values) == len(other.values):
        known = [
            float(a) - float(b)
            for a, b in zip(one.values, other.values, strict=True)
            if a is not None and b is not None
        ]
        if len(known) > 1:
            return float(np.std(known, ddof=1) / sqrt(len(known)))
    return sqrt(one.error**2 + other.error**2)


def _numbers(cell: CellVerdict) -> tuple[Number, Measurement] | None:
    """Return the printed number and ours, where there are both."""
    if cell.printed is None or cell.printed.value is None or cell.measured is None:
        return None
    return cell.printed, cell.measured


def _is_near(cell: CellVerdict) -> bool:
    pair = _numbers(cell)
    if pair is None:  # a bound, or words
        return cell.verdict == "match"
    printed, measured = pair
    if isinstance(measured.value, str):
        return False
    target = printed.value or 0.0
    return abs(measured.value - target) <= max(NEAR * abs(target), printed.rounding)
