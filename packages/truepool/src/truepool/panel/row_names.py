"""What an error calls a case that was read from a table.

Checks of arrays know the number of a case only. Whoever reads a table names its rows
while they are checked, so that an error points to where a person finds the cell.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from truepool.core.arrays import Array

Naming: TypeAlias = Callable[[int], str]

_cases: ContextVar[Naming | None] = ContextVar("cases", default=None)


def case_name(t: int, ids: Array | None = None) -> str:
    """What an error calls a case: its row or its number, and its id if it has one.

    >>> import numpy as np
    >>> case_name(3), case_name(0, np.array(["a17"]))
    ('case 3', "case 0 (id 'a17')")
    >>> with named_cases(lambda t: f"row {t + 2} of the file"):
    ...     case_name(1)
    'row 3 of the file'
    """
    name = _cases.get()
    place = f"case {t}" if name is None else name(t)
    if ids is None:
        return place
    known = f"{ids.tolist()[t]!r}"
    return place if place.endswith(known) else f"{place} (id {known})"


@contextmanager
def named_cases(name: Naming) -> Iterator[None]:
    """Name cases in this way."""
    before = _cases.set(name)
    try:
        yield
    finally:
        _cases.reset(before)
