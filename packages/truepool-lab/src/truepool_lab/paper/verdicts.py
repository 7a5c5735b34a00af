"""Verdicts on measured numbers: how far from the printed ones, cell by cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import sqrt
from re import sub
from typing import Any, Literal, TypeAlias

import numpy as np

from truepool_lab.paper.expected import Number, PaperTable
from truepool_lab.paper.interface import Reading

Verdict: TypeAlias = Literal[
    "match", "near", "apart", "not printed", "not at hand", "pending"
]
Kind: TypeAlias = Literal["evidence", "fitted", "constructed", "timed"]
Place: TypeAlias = tuple[tuple[Any, ...], str]
"""A row key and a column."""

NEAR = 0.2
"""Relative difference up to which a number that does not match is near."""


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
    ``kind`` says whether the cell is evidence, or why it is none.
    """

    printed: Number | None
    measured: Measurement | None
    verdict: Verdict
    tolerance: float | None = None
    kind: Kind = "evidence"


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
    table: PaperTable, ours: Mapping[Place, Measurement], reading: Reading
) -> dict[Place, CellVerdict]:
    """Judge every cell that is printed or measured.

    ``match``: the difference is at most rounding plus twice its sampling error; where
    the paper prints no spread, ours with its number of repeats is used. ``near``: at
    most 20 % apart. ``apart``: further, or undefined. ``not at hand``: of hardware
    that we do not have. A table of our own has no printed cells.
    """
    printed = () if reading.title else table.numbers
    places = list(dict.fromkeys([*printed, *ours]))
    return {
        place: CellVerdict(
            table.numbers.get(place),
            ours.get(place),
            _verdict(place, table, ours, reading),
            _tolerance(place, table, ours),
            kind(place, reading),
        )
        for place in places
    }


def kind(place: Place, reading: Reading) -> Kind:
    """Whether a cell is evidence under this reading, or why it is none.

    >>> kind((("Brier", 5), "bias"), Reading("", fitted=("Brier* | bias",)))
    'fitted'
    """
    kinds: dict[Kind, tuple[str, ...]] = {
        "constructed": reading.constructed,
        "fitted": reading.fitted,
        "timed": reading.timed,
    }
    for found, patterns in kinds.items():
        if _named(place, patterns):
            return found
    return "evidence"


def _named(place: Place, patterns: tuple[str, ...]) -> bool:
    key, column = place
    name = f"{', '.join(map(str, key))} | {column}"
    return any(fnmatchcase(name, pattern) for pattern in patterns)


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


def _verdict(
    place: Place,
    table: PaperTable,
    ours: Mapping[Place, Measurement],
    reading: Reading,
) -> Verdict:
    printed, measured = table.numbers.get(place), ours.get(place)
    if printed is None or printed.text == "":
        return "not printed"
    if _named(place, reading.elsewhere):
        return "not at hand"
    if measured is None:
        return "pending" if printed.measurable else "not printed"
    if isinstance(measured.value, str):
        same = measured.value.lower() in _wordings(printed.text)
        return "match" if same else "apart"
    if printed.least is not None:
        return "match" if measured.value >= printed.least else "apart"
    if printed.most is not None:
        return "match" if measured.value <= printed.most else "apart"
    if printed.value is None:
        return "not printed"
    distance = abs(measured.value - printed.value)
    if distance <= (_tolerance(place, table, ours) or 0.0):
        return "match"
    return "near" if distance <= NEAR * abs(printed.value) else "apart"


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
