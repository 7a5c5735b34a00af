"""The outcome column: its labels, and words that mean that there is no outcome yet."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.errors import OutcomeError
from truepool.core.formatting import join_names
from truepool.panel.row_names import row_name
from truepool.tables.numbers import MISSING
from truepool.tables.table_format import TableFormat

TRUTH = {"false": False, "true": True}


def trim_outcomes(
    frame: nw.DataFrame[Any], written: TableFormat
) -> tuple[nw.DataFrame[Any], dict[str, int]]:
    """Trim the labels of a table; also count the words that mean no outcome yet.

    >>> frame = nw.from_native(pa.table({"y": ["1", "0 ", "?"]}), eager_only=True)
    >>> trimmed, words = trim_outcomes(frame, TableFormat(missing=["?"]))
    >>> trimmed["y"].to_list(), words
    ([1, 0, None], {'?': 1})
    """
    name = written.outcome
    if name not in frame.columns:
        return frame, {}
    if frame[name].dtype not in (nw.String, nw.Categorical, nw.Enum):
        return frame, {}
    cells = frame[name].to_arrow().cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(cells)
    words = count_words(trimmed, written)
    labels = trim_labels(cells, written)
    if labels.equals(cells):  # text as it is: which label is positive is asked
        return frame, {}
    numbers = label_numbers(labels.unique().drop_null().to_pylist())
    values = labels.to_pylist()
    if numbers:
        values = [None if value is None else numbers[value] for value in values]
    column = nw.new_series(name, values, backend=frame.implementation)
    return frame.with_columns(column), words


def trim_labels(column: Any, written: TableFormat) -> Any:
    """Labels of an Arrow column without the spaces around them, null if none is known.

    Labels that are no text stay as they are.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    gone = pc.is_in(trimmed, value_set=pa.array(_words(written), column.type))
    return pc.if_else(gone, pa.scalar(None, column.type), trimmed)


def count_words(trimmed: Any, written: TableFormat) -> dict[str, int]:
    """Count the words of trimmed text that mean no outcome yet, beside no text."""
    words = pa.array([word for word in _words(written) if word], pa.string())
    found = pc.value_counts(pc.filter(trimmed, pc.is_in(trimmed, value_set=words)))
    return {each["values"]: each["counts"] for each in found.to_pylist()}


def _words(written: TableFormat) -> list[str]:
    return ["", *MISSING, *(word.strip() for word in written.missing)]


def label_numbers(labels: Collection[Any]) -> dict[str, int | bool]:
    """Class numbers from 0 on that labels in text stand for; {} where they do not.

    A word among numbers, or a space behind one, makes a column text.

    >>> label_numbers(["1", "0"]), label_numbers(["TRUE"]), label_numbers(["1", "2"])
    ({'1': 1, '0': 0}, {'TRUE': True}, {})
    """
    if not labels or not all(isinstance(label, str) for label in labels):
        return {}
    if all(label.casefold() in TRUTH for label in labels):
        return {label: TRUTH[label.casefold()] for label in labels}
    whole = {label: int(label) for label in labels if label.isdecimal()}
    plain = len(whole) == len(labels) and all(str(n) == s for s, n in whole.items())
    return dict(whole) if plain and (0 in whole.values() or [*whole] == ["1"]) else {}


def check_spelling(
    labels: Iterable[Any], column: str, cells: Sequence[Any] = ()
) -> None:
    """Refuse labels that differ only by upper and lower case.

    The ``cells`` of the column, where they are at hand, say in which row each is.

    >>> check_spelling(["OK", "ok", "Fraud"], "verdict")
    Traceback (most recent call last):
    truepool.core.errors.OutcomeError: outcome labels must differ in more than ...
    """
    for group in spelled_alike(labels):
        names = [
            f"{label!r} in {row_name(cells.index(label))}" if cells else repr(label)
            for label in group
        ]
        raise OutcomeError(
            "outcome labels must differ in more than upper and lower case; column "
            f"{column!r} has {join_names(names)}. Write them in one "
            "way in the table; if they are different labels, rename one."
        )


def spelled_alike(labels: Iterable[Any]) -> list[list[str]]:
    """Labels that differ only by upper and lower case, in groups.

    >>> spelled_alike(["OK", "ok", "Fraud"])
    [['OK', 'ok']]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault(label.casefold(), []).append(label)
    return [group for group in groups.values() if len(group) > 1]
