"""Verdicts in words: yes and no, pass and fail, as the labels of the outcome say."""

import shlex
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import narwhals as nw
import numpy as np

from truepool.core.errors import ReportError
from truepool.core.formatting import is_number, join_names
from truepool.panel.row_names import row_name
from truepool.tables import TableFormat
from truepool.tables.numbers import MISSING, is_empty


def number_words(
    frame: nw.DataFrame[Any], columns: Sequence[str], written: TableFormat
) -> nw.DataFrame[Any]:
    """Return the table with 1 and 0 for the two labels, where verdicts are words.

    The positive one is 1. The other label is that of the outcome column or, where
    nothing is labelled yet, the only other word there is. A column without any of the
    two stays as it is; of a long table, which has one such column, it is refused.
    """
    outcome, positive = written.outcome, written.positive
    gone = {*MISSING, *written.missing}
    words = {name: _words(frame[name], gone) for name in columns}
    words = {name: found for name, found in words.items() if found}
    labels = _words(frame[outcome], gone) if outcome in frame.columns else {}
    known = list(labels) or list(
        {word: 0 for found in words.values() for word in found}
    )
    for name, found in words.items():
        if positive is None:
            if len(labels) == 2 and set(found) <= set(labels):
                raise _undecided(name, [*labels])
            if written.long and not labels and len(found) == 2:
                raise _undecided(name, [*found])
            if written.long and len(found) > 1:
                raise _other_words(name, [*found], outcome, [*labels])
            continue
        sign = str(positive).strip().casefold()
        other = [word for word in known if word != sign]
        if not set(found) & {sign, *other} or len(other) > 1:
            if written.long:
                raise _other_words(name, [*found], outcome, [*labels])
            continue
        values = {sign: 1.0, **dict.fromkeys(other, 0.0)}
        cells = frame[name].to_list()
        _check_words(name, found, values, cells)
        numbers = [_number(cell, values, gone) for cell in cells]
        column = nw.new_series(name, numbers, backend=frame.implementation)
        frame = frame.with_columns(column)
    return frame


def _words(column: nw.Series[Any], gone: AbstractSet[str]) -> dict[str, int]:
    """Return the words of a column that are no numbers, and where each comes first.

    Those that mean that there is no verdict are ``gone``.
    """
    if column.dtype != nw.String:
        return {}
    found: dict[str, int] = {}
    cells = column.to_list()
    for row in np.flatnonzero(~is_empty(column)).tolist():
        text = cells[row].strip()
        if text not in gone and not is_number(text.rstrip("%").replace(",", ".")):
            found.setdefault(text.casefold(), row)
    return found


def _number(cell: Any, values: dict[str, float], gone: AbstractSet[str]) -> Any:
    text = "" if cell is None else str(cell).strip()
    if text in gone:
        return None
    return values.get(text.casefold()) if not is_number(text) else float(text)


def _check_words(
    name: str, found: dict[str, int], values: dict[str, float], cells: Sequence[Any]
) -> None:
    for word, row in found.items():
        if word not in values:
            known, cell = " or ".join(map(repr, values)), str(cells[row]).strip()
            raise ReportError(
                f"a verdict in words must be {known}, as the labels are; column "
                f"{name!r} has {cell!r} in {row_name(row)}. If it means no verdict, "
                f"pass --missing {shlex.quote(cell)}; else correct it."
            )


def has_words(frame: nw.DataFrame[Any], written: TableFormat) -> bool:
    """Whether the labels of the outcome are words, or there is no such column."""
    if written.outcome not in frame.columns:
        return True
    return bool(_words(frame[written.outcome], {*MISSING, *written.missing}))


def _other_words(
    name: str, found: list[str], outcome: str, labels: list[str]
) -> ReportError:
    """Refuse the verdicts of a long table whose words cannot be told apart."""
    words = join_names([repr(word) for word in found])
    if labels:
        return ReportError(
            f"verdicts in words must be the labels; column {name!r} has {words}, "
            f"column {outcome!r} has {join_names([repr(label) for label in labels])}. "
            "Write the same two words in both."
        )
    return ReportError(
        f"verdicts in words must be two words, --positive one of them; column {name!r} "
        f"has {words}. Pass a word that means no verdict as --missing WORD."
    )


def _undecided(name: str, labels: list[str]) -> ReportError:
    return ReportError(
        f"verdicts in words need to know which one is positive; column {name!r} has "
        f"{labels[0]!r} and {labels[1]!r}. Say which one (--positive "
        f"{shlex.quote(labels[0])})."
    )
