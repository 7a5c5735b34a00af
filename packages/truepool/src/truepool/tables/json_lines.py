"""JSON lines: one object per case, or per report."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import narwhals as nw
import numpy as np

from truepool.core.errors import ReportError, SourceError
from truepool.panel.class_report import in_class_order
from truepool.tables.column_selection import ColumnSelection

FIRST_LINES = 1_000
"""JSON lines that are looked at to see whether a table is long."""

NUMBERS = {float, int, type(None)}
"""Types of numbers, and of none."""

VOTES = {bool, type(None)}
"""Types of reports that are true or false, as tables may have them too."""


def json_keys(source: Path | BinaryIO) -> list[str]:
    """Keys of the first JSON lines of a file or a stream; nothing of it is used up.

    Lines that are cut off or no objects are left to the reader.
    """
    if isinstance(source, Path):
        with source.open("rb") as stream:
            lines = list(islice(stream, FIRST_LINES))
    else:
        lines = peek(source).splitlines()
    keys: dict[str, None] = {}
    for line in lines:
        with suppress(ValueError):
            row = json.loads(line)
            keys |= dict.fromkeys(row if isinstance(row, dict) else ())
    return [*keys]


def peek(stream: BinaryIO) -> bytes:
    """Return what a stream holds next, nothing if it has ended; it is not used up."""
    return stream.peek(1)  # type: ignore[attr-defined, no-any-return]


def parse_object(line: bytes, t: int) -> Mapping[str, Any]:
    """Return the object of a line, the (t + 1)-th."""
    try:
        row = json.loads(line)
    except ValueError as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise SourceError(
            f"every line must be a JSON object; line {t + 1} is not: {why}. Correct it."
        ) from None
    if not isinstance(row, dict):
        raise SourceError(
            f"a line must be an object, one per case; line {t + 1} is {row!r:.40}"
        )
    return row


def split_classes(
    row: Mapping[str, Any], t: int, wanted: ColumnSelection
) -> Mapping[str, Any]:
    """Return the line with a key per agent and class, where a key holds all classes."""
    classes = [str(name) for name in wanted.labels.names]
    whole = [agent for agent in wanted.agents if agent in row]
    if len(classes) == 2 or not whole:
        return row
    found = dict(row)
    for agent in whole:
        report = found.pop(agent)
        if report is None:
            continue
        values = in_class_order(report, classes)
        if values is None:
            raise ReportError(
                f"a report must give each of the {len(classes)} classes a probability; "
                f"{agent!r} has {report!r:.80} in line {t + 1}. Write a list in the "
                f"order {', '.join(classes)}, an object with these keys, or the keys "
                f"{', '.join(f'{agent}:{name}' for name in classes)}."
            )
        found |= {f"{agent}:{k}": p for k, p in zip(classes, values, strict=True)}
    return found


def column_of_numbers(
    rows: Sequence[Mapping[str, Any]], name: str, what: str, start: int, decimal: str
) -> nw.Series[Any]:
    """Return the values of a key, as text where one of the lines has text.

    A number among texts gets their decimal mark. The first line is number ``start``.
    """
    values = [row.get(name) for row in rows]
    kinds = {*map(type, values)}
    if kinds <= NUMBERS or kinds <= VOTES:
        with suppress(OverflowError):  # an integer of 400 digits is left to the reader
            numbers = np.array(values, dtype=np.float64)  # None becomes NaN
            return nw.new_series(name, numbers, backend="pyarrow")
    if not kinds <= {*NUMBERS, str}:
        t = next(t for t, v in enumerate(values) if type(v) not in {*NUMBERS, str})
        raise ReportError(
            f"{what} must be a number; {name!r} has {values[t]!r:.40} in line "
            f"{start + t + 1}. Use null where there is none."
        )
    texts = [
        v if isinstance(v, str | None) else str(v).replace(".", decimal) for v in values
    ]
    return nw.new_series(name, texts, nw.String, backend="pyarrow")
