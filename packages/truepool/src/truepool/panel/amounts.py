"""Amounts: what a decision costs, in every case or in each of them."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, FloatArray, read_only
from truepool.core.errors import CostError, PanelError
from truepool.core.formatting import is_number
from truepool.core.numbers import as_numbers, as_rows
from truepool.panel.case_columns import count_others, one_number_per_case
from truepool.panel.row_names import case_name

Amount: TypeAlias = Any
"""A cost: a float, the name of a column of the cases, or an array with one per case."""

LARGEST_COST = 1e100
"""Costs other than 0 lie between one over this and this: their ratios are numbers."""

ERRORS, RIGHT = ("fn", "fp"), ("tp", "tn")
"""Decisions: a miss and a false alarm, and beside each the right one."""


def as_amount(name: str, value: Any) -> Amount:
    """Return a cost by this name, checked."""
    if isinstance(value, str) and value.strip() and not is_number(value):
        return value
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number:
        rule = f"a cost must be one number, or one per case, for {name}"
        array = as_rows(value, rule, CostError)
        if array.ndim == 1:
            return per_case(name, None, array)
    finite = number and (isinstance(value, int) or bool(np.isfinite(value)))
    if not (finite and (name in RIGHT or value >= 0)):
        what = "a positive number" if name in ERRORS else "a number"
        cure = ""
        if number and value < 0:
            cure = (
                ". A benefit is the negative cost of a right decision: tp of a hit, "
                "tn of a case left alone correctly (cost-tp, cost-tn)."
            )
        raise CostError(f"a cost must be {what}; got {value!r:.60} for {name}{cure}")
    if value and not 1 / LARGEST_COST <= abs(value) <= LARGEST_COST:
        raise CostError(
            f"a cost must lie between {1 / LARGEST_COST:g} and {LARGEST_COST:g} in "
            f"size; got {value!r:.40} for {name}. Express it in "
            "another unit."
        )
    return float(value)


def per_case(
    name: str, column: str | None, values: Array, ids: Array | None = None
) -> FloatArray:
    """Costs of each case, (T,): numbers, of errors not below 0."""
    what = (
        f"the cost {name}"
        if column is None
        else f"column {column!r}, the cost {name} (cost-{name}),"
    )
    cure = "Correct it, or leave the case out."
    try:
        numbers = one_number_per_case(what, values, len(values), ids, cure)
    except PanelError as error:
        raise CostError(str(error)) from None
    if name in ERRORS and (numbers < 0).any():
        t = int(np.argmax(numbers < 0))
        raise CostError(
            f"{what} must not be negative; {case_name(t, ids)} has {numbers[t]:g}"
            f"{count_others(numbers < 0)}. "
            "Correct it, or leave the case out; benefits are negative costs "
            "tp and tn (cost-tp, cost-tn)."
        )
    return read_only(numbers)


def check_order(error: str, wrong: Amount, right_name: str, right: Amount) -> None:
    """Refuse an error that costs no more than the right decision.

    A hit may cost more than a miss in some cases, which are then never decided 1.
    """
    if isinstance(wrong, float) and isinstance(right, float):
        if wrong > right:
            return
        if right == 0:
            raise CostError(f"a cost must be a positive number; got 0 for {error}")
        raise CostError(
            "an error must cost more than the right decision; got "
            f"{error}={wrong:g} and {right_name}={right:g}. Raise {error} or lower "
            f"{right_name}."
        )
    if error == "fp" and not isinstance(wrong, str) and not isinstance(right, str):
        below = np.atleast_1d(wrong < right)
        if below.any():
            t = int(np.argmax(below))
            raise CostError(
                "a false alarm must not cost less than leaving the case alone; "
                f"{case_name(t)} has a cost fp below its cost tn"
            )


def as_matrix(matrix: ArrayLike) -> FloatArray:
    """Return a cost matrix, checked."""
    rule = "a cost matrix must be K x K numbers with K of at least 2"
    array = as_numbers(matrix, rule, CostError)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise CostError(f"{rule}; got an array of shape {array.shape}")
    if np.diagonal(array).any():
        raise CostError(
            "the diagonal of a cost matrix must be 0: a right decision costs nothing; "
            f"got {np.diagonal(array).tolist()}"
        )
    errors = ~np.eye(len(array), dtype=bool)
    bad = errors & ~(np.isfinite(array) & (array > 0))
    if bad.any():
        y, k = (int(index) for index in np.argwhere(bad)[0])
        raise CostError(
            "every cost of an error must be a positive number; deciding "
            f"{k} when {y} happens costs {array[y, k].item()!r}"
        )
    return array
