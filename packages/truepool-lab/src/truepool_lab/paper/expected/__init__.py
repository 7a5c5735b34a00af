"""What the paper prints, and the precision of each number."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt
from typing import Any

SEEDS = 10
"""Number of repeats of a printed mean, unless the paper gives another."""
STATED = {
    "tab:corr_poa": 5,
    "tab:scaling": 5,
    "tab:tabnet": 5,
    "tab:latency_breakdown": 20,
    "tab:overhead": 20,
}
"""Tables whose text or caption gives another number of seeds or repetitions."""


@dataclass(frozen=True)
class Number:
    """A printed number: its value, half a unit of its last digit, its standard error.

    ``text`` is how it was printed. Where no spread is printed the error is None; words
    and bounds have no ``value`` (a bound has ``least`` or ``most``).
    """

    text: str
    value: float | None
    rounding: float = 0.0
    error: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def measurable(self) -> bool:
        """Whether it is a number or a bound, not words."""
        return (self.value, self.least, self.most) != (None, None, None)


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of the paper; numbers by row key and column.

    ``seeds`` is the number of repeats of a printed mean.
    """

    label: str
    kind: str
    title: str
    section: str
    shows: str
    row_key: tuple[str, ...]
    columns: tuple[str, ...]
    keys: tuple[tuple[Any, ...], ...]
    numbers: Mapping[tuple[tuple[Any, ...], str], Number]
    seeds: int = SEEDS


@cache
def paper_tables() -> dict[str, PaperTable]:
    """All tables and figures by label, in the order of the paper.

    >>> paper_tables()["tab:poa"].numbers[("Brier",), "PoA"].value
    7.25
    """
    text = (files(__name__) / "tables.json").read_text(encoding="utf-8")
    return {entry["id"]: _table(entry) for entry in json.loads(text)}


def _table(entry: dict[str, Any]) -> PaperTable:
    rows = entry.get("rows", [])
    columns = tuple(entry.get("columns", ()))
    seeds = STATED.get(entry["id"], SEEDS)
    numbers = {
        (tuple(row["key"]), column): _number(value, _digits(entry, row, column), seeds)
        for row in rows
        for column, value in row["values"].items()
    }
    return PaperTable(
        entry["id"],
        entry["kind"],
        entry["title"],
        entry["section"],
        entry.get("shows", ""),
        tuple(entry.get("row_key", ())),
        columns,
        tuple(tuple(row["key"]) for row in rows),
        numbers,
        seeds,
    )


def _digits(entry: dict[str, Any], row: dict[str, Any], column: str) -> int:
    """Decimals of a column: as many as its most precise number has.

    Whole numbers stay whole, and rows of different kinds are columns apart.
    """
    if isinstance(row["values"][column], int):
        return 0
    rows = entry["rows"]
    if entry["row_key"][0] in ("quantity", "category"):
        rows = [other for other in rows if other["key"][0] == row["key"][0]]
    return max(_decimals(other["values"].get(column)) for other in rows)


def _decimals(value: Any) -> int:
    """Digits of one number: 1.0 has at least the one, 1 has none.

    >>> _decimals(0.25), _decimals(1.0), _decimals(1)
    (2, 1, 0)
    """
    if isinstance(value, dict):
        value = value.get("mean")
    if not isinstance(value, float):
        return 0
    text = f"{value:.10f}".rstrip("0")
    return max(len(text.split(".")[1]), 1)


def _number(value: Any, decimals: int, seeds: int = SEEDS) -> Number:
    half = 0.5 * 10.0**-decimals
    if isinstance(value, dict) and "mean" in value:
        text = f"{value['mean']:.{decimals}f}"
        if "std" not in value:
            return Number(text, float(value["mean"]), half)
        error = value["std"] / sqrt(seeds)
        return Number(f"{text} ± {value['std']}", float(value["mean"]), half, error)
    if isinstance(value, dict):
        if "at_least" in value:
            return Number(f"≥ {value['at_least']}", None, least=value["at_least"])
        return Number(", ".join(f"{k} {v}" for k, v in value.items()), None)
    if isinstance(value, bool) or value is None:
        return Number("" if value is None else str(value), None)
    if isinstance(value, int | float):
        return Number(f"{value:.{decimals}f}", float(value), half)
    if value == "approx 0":
        return Number("≈ 0", 0.0, 0.005)
    if value[:1] == "<" and value[1:].replace(".", "", 1).isdigit():
        return Number(value, None, most=float(value[1:]))
    return Number(value, None)
