"""The means of a whole run, small enough to lie beside the page that they make."""

import json
from collections.abc import Mapping
from typing import Any

from truepool.lab import Row
from truepool.paper.answers import Answer, Reproduction
from truepool.paper.expected import printed
from truepool.paper.experiments import of
from truepool.paper.interface import Reading
from truepool.paper.verdicts import Measured, judged, overall

DIGITS = 6
"""Kept of every mean: far finer than any printed number and any standard error."""


def stored(told: Mapping[str, Any]) -> str:
    """Keep of what `Reproduction.to_dict` tells what was measured, a line a cell.

    Before the cells stands a line on the run. Verdicts, readings and causes are left
    out: `retold` makes them anew.
    """
    run = {
        "size": told["size"],
        "environment": told["environment"],
        "pending": {
            label: table["cause"]
            for label, table in told["tables"].items()
            if table["verdict"] == "pending"
        },
    }
    rows = [
        _row(label, cell)
        for label, table in told["tables"].items()
        for cell in table["cells"]
        if cell["repeats"]
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (run, *rows))


def retold(text: str) -> Reproduction:
    """Judge stored means as if they had just been measured."""
    run, *rows = (json.loads(line) for line in text.splitlines())
    answers = tuple(_answer(label, run, rows) for label in printed())
    return Reproduction(run["size"], answers, run["environment"])


def _row(label: str, cell: Mapping[str, Any]) -> Row:
    return {
        "table": label,
        "key": cell["key"],
        "column": cell["column"],
        "value": _short(cell["measured"]),
        "error": _short(cell["error"]),
        "repeats": cell["repeats"],
    }


def _short(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(f"{value:.{DIGITS}g}")


def _answer(label: str, run: Mapping[str, Any], rows: list[Row]) -> Answer:
    table, kind = printed()[label], of(label)
    if label in run["pending"] or kind is None:
        return Answer(table, Reading("", run["pending"][label]), {}, "pending")
    ours = {
        (tuple(row["key"]), row["column"]): Measured(
            row["value"], row["error"], row["repeats"]
        )
        for row in rows
        if row["table"] == label
    }
    reading = kind.readings[label].at(run["size"])
    cells = judged(table, ours, reading.methods)
    return Answer(table, reading, cells, overall(cells), (), kind())
