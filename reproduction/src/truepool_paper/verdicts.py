"""Verdicts on measured numbers: match, close, differs, not printed, pending."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from re import sub
from typing import Any, Literal, TypeAlias

import numpy as np

from truepool_paper.expected import Number, PaperTable

Verdict: TypeAlias = Literal["match", "close", "differs", "not printed", "pending"]
Place: TypeAlias = tuple[tuple[Any, ...], str]
"""A row key and a column."""


@dataclass(frozen=True)
class Measurement:
    """Mean over the repeats, its standard error, and the number of repeats.

    For text, the most frequent one. ``values`` are the repeats in order, None where
    undefined.
    """

    value: float | str
    error: float
    repeats: int
    values: tuple[float | str | None, ...] = ()


@dataclass(frozen=True)
class CellVerdict:
    """One cell of a table: what is printed, what we measured, and the verdict.

    ``tolerance`` is the largest difference of a match; None if nothing is compared.
    """

    printed: Number | None
    measured: Measurement | None
    verdict: Verdict
    tolerance: float | None = None


def summarise(
    rows: Sequence[Mapping[str, Any]], label: str
) -> dict[Place, Measurement]:
    """Mean and standard error over the repeats of every cell of a table.

    >>> rows = [{"table": "tab:x", "key": ["a"], "column": "FN", "value": v}
    ...         for v in (0.1, 0.3)]
    >>> found = summarise(rows, "tab:x")[("a",), "FN"]
    >>> found.value, round(found.error, 12), found.repeats
    (0.2, 0.1, 2)
    """
    found: dict[Place, list[Any]] = {}
    for row in rows:
        if row["table"] == label:
            place = (tuple(row["key"]), row["column"])
            found.setdefault(place, []).append(row["value"])
    return {place: mean(values) for place, values in found.items()}


def numbers(
    means: Mapping[Place, Measurement], keys: Sequence[tuple[Any, ...]], column: str
) -> list[float]:
    """Means of a column at some keys, for a figure.

    >>> numbers({(("a",), "FN"): Measurement(0.2, 0.1, 2)}, [("a",)], "FN")
    [0.2]
    """
    return [float(means[key, column].value) for key in keys]


def judge(
    table: PaperTable, ours: Mapping[Place, Measurement], methods: str = "rows"
) -> dict[Place, CellVerdict]:
    """Judge every cell that is printed or measured.

    ``match``: the difference is at most rounding plus twice its sampling error; where
    the paper prints no spread, ours with its number of repeats is used. ``close``: the
    same sign, and no two methods significantly in another order than printed.
    ``methods`` says whether methods are rows or columns.
    """
    places = list(dict.fromkeys([*table.numbers, *ours]))
    return {
        place: CellVerdict(
            table.numbers.get(place),
            ours.get(place),
            _verdict(place, table, ours, methods),
            _tolerance(place, table, ours),
        )
        for place in places
    }


def tolerance(printed: Number, measured: Measurement, seeds: int) -> float:
    """Largest difference of a match: rounding, and twice the error of the difference.

    >>> printed = Number("0.40", 0.4, rounding=0.005)
    >>> round(tolerance(printed, Measurement(0.39, 0.01, 10), seeds=10), 4)
    0.0333
    """
    theirs = printed.error
    if theirs is None:
        theirs = measured.error * sqrt(measured.repeats / seeds)
    return printed.rounding + 2 * sqrt(measured.error**2 + theirs**2)


def overall(cells: Mapping[Place, CellVerdict]) -> Verdict:
    """Verdict of a whole table: that of its worst cell that can be judged."""
    found = {cell.verdict for cell in cells.values()}
    for verdict in ("differs", "close", "match"):
        if verdict in found:
            return verdict
    return "pending" if "pending" in found else "not printed"


def _verdict(
    place: Place, table: PaperTable, ours: Mapping[Place, Measurement], methods: str
) -> Verdict:
    printed, measured = table.numbers.get(place), ours.get(place)
    if printed is None or printed.text == "":
        return "not printed"
    if measured is None:
        return "pending" if printed.measurable else "not printed"
    if isinstance(measured.value, str):
        return (
            "match" if measured.value.lower() in _wordings(printed.text) else "differs"
        )
    if printed.least is not None:
        return "match" if measured.value >= printed.least else "differs"
    if printed.most is not None:
        return "match" if measured.value <= printed.most else "differs"
    if printed.value is None:
        return "not printed"
    if abs(measured.value - printed.value) <= (_tolerance(place, table, ours) or 0.0):
        return "match"
    same_sign = np.sign(measured.value) == np.sign(printed.value)
    return (
        "close" if same_sign and _in_order(place, table, ours, methods) else "differs"
    )


def _tolerance(
    place: Place, table: PaperTable, ours: Mapping[Place, Measurement]
) -> float | None:
    printed, measured = table.numbers.get(place), ours.get(place)
    if printed is None or printed.value is None or measured is None:
        return None
    if isinstance(measured.value, str):
        return None
    return tolerance(printed, measured, table.seeds)


def _wordings(text: str) -> set[str]:
    """Return the texts that match a printed one, without remarks in brackets.

    >>> sorted(_wordings("Best-Individual / Vote (see below)"))[:2]
    ['best-individual', 'best-individual / vote']
    """
    plain = sub(r"\(.*?\)", "", text).strip().lower()
    return {text.lower(), plain, *(part.strip() for part in plain.split("/"))}


def _in_order(
    place: Place, table: PaperTable, ours: Mapping[Place, Measurement], methods: str
) -> bool:
    """Whether no two methods are significantly in another order than printed."""
    mine, here = table.numbers[place], ours[place]
    rivals = 0
    for other, printed in table.numbers.items():
        same = other[1] == place[1] if methods == "rows" else other[0] == place[0]
        there = ours.get(other)
        if other == place or not same or printed.value is None or there is None:
            continue
        if isinstance(there.value, str) or isinstance(here.value, str):
            continue
        rivals += 1
        gap = (mine.value or 0.0) - printed.value
        difference = here.value - there.value
        clear = abs(gap) > mine.rounding + printed.rounding
        if (
            clear
            and abs(difference) > 2 * _standard_error(here, there)
            and gap * difference < 0
        ):
            return False
    return rivals > 0


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


def mean(values: list[Any]) -> Measurement:
    """Mean and standard error of the repeats of one cell."""
    repeats = tuple(values)
    if isinstance(values[0], str):
        return Measurement(max(values, key=values.count), 0.0, len(values), repeats)
    known = np.array([v for v in values if v is not None], dtype=float)
    if not known.size:
        return Measurement("undefined", 0.0, len(values), repeats)
    error = known.std(ddof=1) / sqrt(known.size) if known.size > 1 else 0.0
    return Measurement(float(known.mean()), float(error), int(known.size), repeats)
