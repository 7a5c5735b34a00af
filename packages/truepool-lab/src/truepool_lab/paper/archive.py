"""Archive of the numbers of a full run, small enough to be committed."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from truepool.core.engine import Row
from truepool_lab.paper.answers import Answer, Reproduction, Run, answered
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import find, with_variants
from truepool_lab.paper.interface import Reading
from truepool_lab.paper.verdicts import Measurement, Place, mean

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
            answer.label: answer.reading.cause
            for answer in run.answers
            if answer.status == "pending"
        },
        "added": list(run.added),
        "runs": _runs(run),
    }
    return _join([head, *_rows(run)])


def add(text: str, run: Reproduction) -> str:
    """Put the answers of another run into stored numbers, and say that they are apart.

    Rows of the same labels are replaced; all others stay as they were measured.
    """
    head, *rows = (json.loads(line) for line in text.splitlines())
    later = [answer.label for answer in run.answers if answer.status != "pending"]
    kept = [row for row in rows if row["table"] not in later]
    head["added"] = list(dict.fromkeys([*head.get("added", []), *later]))
    head["runs"] = {**head.get("runs", {}), **_runs(run)}
    for label in later:
        head["pending"].pop(label, None)
    return _join([head, *kept, *_rows(run)])


def from_jsonl(text: str) -> Reproduction:
    """Return a reproduction with verdicts computed from stored numbers."""
    run, *rows = (json.loads(line) for line in text.splitlines())
    stored = {row["table"] for row in rows}
    labels = [
        label
        for label in with_variants(list(paper_tables()))
        if "@" not in label or label in stored
    ]
    answers = tuple(_answer(label, run, rows) for label in labels)
    added = tuple(run.get("added", ()))
    return Reproduction(run["size"], answers, run["environment"], added)


def _rows(run: Reproduction) -> list[Row]:
    return [
        _row(answer.label, place, cell.measured)
        for answer in run.answers
        for place, cell in answer.cells.items()
        if cell.measured is not None
    ]


def _runs(run: Reproduction) -> dict[str, dict[str, str]]:
    """By which version of its experiment each table was measured, and when."""
    return {answer.label: asdict(answer.run) for answer in run.answers if answer.run}


def _join(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _row(label: str, place: Place, measured: Measurement) -> Row:
    key, column = place
    values = [_short(value) for value in measured.values]
    return {"table": label, "key": list(key), "column": column, "values": values}


def _short(value: float | str | None) -> float | str | None:
    if value is None or isinstance(value, str):
        return value
    return float(f"{value:.{DIGITS}g}")


def _answer(label: str, run: Mapping[str, Any], rows: list[Row]) -> Answer:
    name, _, variant = label.partition("@")
    table, kind = paper_tables()[name], find(label)
    if label in run["pending"] or kind is None:
        return Answer(table, Reading("", run["pending"][label]), {}, "pending")
    ours = {
        (tuple(row["key"]), row["column"]): mean(row["values"])
        for row in rows
        if row["table"] == label
    }
    reading = kind.readings[label].for_size(run["size"])
    found = Run(**run["runs"][label])
    return answered(table, reading, ours, kind(), variant=variant, run=found)
