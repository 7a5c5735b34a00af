"""What an error calls a row of a table, and a case that was read from one.

Checks of arrays know the number of a case only. Whoever reads a table names its rows
while they are checked, so that an error points to where a person finds the cell.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from truepool.core.arrays import Array, IntArray

Naming: TypeAlias = Callable[[int], str]

_rows: ContextVar[Naming | None] = ContextVar("rows", default=None)
_cases: ContextVar[Naming | None] = ContextVar("cases", default=None)


def row_name(row: int) -> str:
    """What an error calls a row of the table that is being read.

    >>> row_name(3)
    'zero-based row 3'
    >>> with named_rows(lambda row: f"line {row + 2} of the file"):
    ...     row_name(3)
    'line 5 of the file'
    """
    name = _rows.get()
    return f"zero-based row {row}" if name is None else name(row)


def case_name(t: int, ids: Array | None = None) -> str:
    """What an error calls a case: its row or its number, and its id if it has one.

    >>> import numpy as np
    >>> case_name(3), case_name(0, np.array(["a17"]))
    ('case 3', "case 0 (id 'a17')")
    >>> with cases_of_rows(np.array([4, 7])):
    ...     case_name(1)
    'zero-based row 7'
    """
    name = _cases.get()
    place = f"case {t}" if name is None else name(t)
    if ids is None:
        return place
    known = f"{ids.tolist()[t]!r}"
    return place if place.endswith(known) else f"{place} (id {known})"


@contextmanager
def named_rows(name: Naming | None) -> Iterator[None]:
    """Name rows in this way, or leave their names as they are."""
    before = _rows.set(_rows.get() if name is None else name)
    try:
        yield
    finally:
        _rows.reset(before)


@contextmanager
def cases_of_rows(rows: IntArray) -> Iterator[None]:
    """Name case t as row ``rows[t]`` of the table."""
    with named_cases(lambda t: row_name(int(rows[t]))):
        yield


@contextmanager
def named_cases(name: Naming) -> Iterator[None]:
    """Name cases in this way."""
    before = _cases.set(name)
    try:
        yield
    finally:
        _cases.reset(before)
