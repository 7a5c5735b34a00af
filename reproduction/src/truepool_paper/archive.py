"""Archive of the numbers of a full run, small enough to be committed."""

import json
from collections.abc import Mapping
from typing import Any

from truepool.core.engine import Row
from truepool_paper.answers import Answer, Reproduction
from truepool_paper.expected import paper_tables
from truepool_paper.experiments import find
from truepool_paper.interface import Reading
from truepool_paper.verdicts import Measurement, Place, judge, mean, overall

DIGITS = 6
"""Significant digits: far finer than any printed number and any standard error."""


def to_jsonl(run: Reproduction) -> str:
    """Return what was measured, one line per cell with its repeats.

    The first line describes the run. Verdicts, readings and causes are left out:
    `from_jsonl` recomputes them.
    """
    head = {
        "size": run.size,
        "environment": dict(run.environment),
        "pending": {
            answer.table.label: answer.reading.cause
            for answer in run.answers
            if answer.verdict == "pending"
        },
    }
    rows = [
        _row(answer.table.label, place, cell.measured)
        for answer in run.answers
        for place, cell in answer.cells.items()
        if cell.measured is not None
    ]
    lines = (json.dumps(line, ensure_ascii=False) for line in (head, *rows))
    return "".join(line + "\n" for line in lines)


def from_jsonl(text: str) -> Reproduction:
    """Return a reproduction with verdicts computed from stored numbers."""
    run, *rows = (json.loads(line) for line in text.splitlines())
    answers = tuple(_answer(label, run, rows) for label in paper_tables())
    return Reproduction(run["size"], answers, run["environment"])


def _row(label: str, place: Place, measured: Measurement) -> Row:
    key, column = place
    values = [_short(value) for value in measured.values]
    return {"table": label, "key": list(key), "column": column, "values": values}


def _short(value: float | str | None) -> float | str | None:
    if value is None or isinstance(value, str):
        return value
    return float(f"{value:.{DIGITS}g}")


def _answer(label: str, run: Mapping[str, Any], rows: list[Row]) -> Answer:
    table, kind = paper_tables()[label], find(label)
    if label in run["pending"] or kind is None:
        return Answer(table, Reading("", run["pending"][label]), {}, "pending")
    ours = {
        (tuple(row["key"]), row["column"]): mean(row["values"])
        for row in rows
        if row["table"] == label
    }
    reading = kind.readings[label].for_size(run["size"])
    cells = judge(table, ours, reading.methods)
    return Answer(table, reading, cells, overall(cells), (), kind())
