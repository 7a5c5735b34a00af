"""Numbers that a user gave, or one sentence that says why they are none."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truepool.core.errors import TruepoolError


def as_numbers(
    values: ArrayLike, rule: str, error: type[TruepoolError]
) -> NDArray[np.float64]:
    """Return an array of real numbers; None is NaN.

    >>> as_numbers([1, None, 2.5], "a weight must be a number", TruepoolError)
    array([1. , nan, 2.5])
    >>> as_numbers([1, 2j], "a weight must be a number", TruepoolError)
    Traceback (most recent call last):
    truepool.core.errors.TruepoolError: a weight must be a number; got (1+0j)
    """
    array = as_rows(values, rule, error)
    if array.dtype.kind in "buif":
        return array.astype(np.float64, copy=False)
    numbers = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        try:
            if isinstance(value, str | bytes | complex):
                raise TypeError
            numbers[index] = np.nan if value is None else value
        except (TypeError, ValueError, OverflowError):
            given = value.item() if isinstance(value, np.generic) else value
            raise error(f"{rule}; got {given!r:.60}") from None
    return numbers


def as_rows(values: ArrayLike, rule: str, error: type[TruepoolError]) -> NDArray[Any]:
    """Return an array, or refuse lists that hold lists of different lengths."""
    try:
        return np.asarray(values)
    except ValueError:
        raise error(f"{rule}; got rows of different lengths") from None
