"""Ours beside the paper's: match, close, differs, not printed, or pending."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from re import sub
from typing import Any, Literal, TypeAlias

import numpy as np

from truepool_paper.expected import Number, Printed

Verdict: TypeAlias = Literal["match", "close", "differs", "not printed", "pending"]
Place: TypeAlias = tuple[tuple[Any, ...], str]
"""A row key and a column."""


@dataclass(frozen=True)
class Measurement:
    """Mean of what the repeats gave, its standard error, and how many they were.

    Of words, the one that most repeats gave. ``values`` are the repeats themselves, in
    their order, None where one gave nothing.
    """

    value: float | str
    error: float
    repeats: int
    values: tuple[float | str | None, ...] = ()


@dataclass(frozen=True)
class CellVerdict:
    """One cell of a table: what is printed, what we measured, and the verdict.

    ``tolerance`` is how far apart a match may be, None where numbers are not compared.
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
    table: Printed, ours: Mapping[Place, Measurement], methods: str = "rows"
) -> dict[Place, CellVerdict]:
    """Judge every cell that is printed or measured.

    ``match``: no further apart than rounding and twice the sampling error of the
    difference; where the paper prints no spread its own is taken to be as large as
    ours would be with its repeats. ``close``: the same sign, and no two methods clearly
    in another order than printed. ``methods`` says whether they are rows or columns.
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


def tolerance(said: Number, got: Measurement, seeds: int) -> float:
    """How far apart a match may be: rounding, and twice the error of the difference.

    >>> said = Number("0.40", 0.4, rounding=0.005)
    >>> round(tolerance(said, Measurement(0.39, 0.01, 10), seeds=10), 4)
    0.0333
    """
    theirs = said.error
    if theirs is None:
        theirs = got.error * sqrt(got.repeats / seeds)
    return said.rounding + 2 * sqrt(got.error**2 + theirs**2)


def overall(cells: Mapping[Place, CellVerdict]) -> Verdict:
    """Verdict of a whole table: that of its worst cell that can be judged."""
    found = {cell.verdict for cell in cells.values()}
    for verdict in ("differs", "close", "match"):
        if verdict in found:
            return verdict
    return "pending" if "pending" in found else "not printed"


def _verdict(
    place: Place, table: Printed, ours: Mapping[Place, Measurement], methods: str
) -> Verdict:
    said, got = table.numbers.get(place), ours.get(place)
    if said is None or said.said == "":
        return "not printed"
    if got is None:
        return "pending" if said.measurable else "not printed"
    if isinstance(got.value, str):
        return "match" if got.value.lower() in _wordings(said.said) else "differs"
    if said.least is not None:
        return "match" if got.value >= said.least else "differs"
    if said.most is not None:
        return "match" if got.value <= said.most else "differs"
    if said.value is None:
        return "not printed"
    if abs(got.value - said.value) <= (_tolerance(place, table, ours) or 0.0):
        return "match"
    alike = np.sign(got.value) == np.sign(said.value)
    return "close" if alike and _in_order(place, table, ours, methods) else "differs"


def _tolerance(
    place: Place, table: Printed, ours: Mapping[Place, Measurement]
) -> float | None:
    said, got = table.numbers.get(place), ours.get(place)
    if said is None or said.value is None or got is None or isinstance(got.value, str):
        return None
    return tolerance(said, got, table.seeds)


def _wordings(said: str) -> set[str]:
    """Words that mean what is printed: remarks in brackets aside, any of several.

    >>> sorted(_wordings("Best-Individual / Vote (see below)"))[:2]
    ['best-individual', 'best-individual / vote']
    """
    plain = sub(r"\(.*?\)", "", said).strip().lower()
    return {said.lower(), plain, *(part.strip() for part in plain.split("/"))}


def _in_order(
    place: Place, table: Printed, ours: Mapping[Place, Measurement], methods: str
) -> bool:
    """Whether no other method stands clearly on the other side of this one."""
    rivals = 0
    for other, said in table.numbers.items():
        same = other[1] == place[1] if methods == "rows" else other[0] == place[0]
        got = ours.get(other)
        if other == place or not same or said.value is None or got is None:
            continue
        mine, here = table.numbers[place], ours[place]
        if isinstance(got.value, str) or isinstance(here.value, str):
            continue
        rivals += 1
        printed = (mine.value or 0.0) - said.value
        measured = here.value - got.value
        clear = abs(printed) > mine.rounding + said.rounding
        if clear and abs(measured) > 2 * _apart(here, got) and printed * measured < 0:
            return False
    return rivals > 0


def _apart(one: Measurement, other: Measurement) -> float:
    """Standard error of a difference of means, by repeat: both saw the same data."""
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
    """Sum the repeats of one cell up."""
    kept = tuple(values)
    if isinstance(values[0], str):
        return Measurement(max(values, key=values.count), 0.0, len(values), kept)
    known = np.array([v for v in values if v is not None], dtype=float)
    if not known.size:
        return Measurement("undefined", 0.0, len(values), kept)
    error = known.std(ddof=1) / sqrt(known.size) if known.size > 1 else 0.0
    return Measurement(float(known.mean()), float(error), int(known.size), kept)
