"""Columns of a panel beside the reports: what else is known about each case."""

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray, read_only
from truepool.core.errors import PanelError, suggestion
from truepool.core.numbers import as_rows
from truepool.panel.row_names import case_name

WEIGHT = "Name a column of numbers (weight)."
PROPENSITY = "Name the column with the chance of a review (propensity)."


@final
class CaseColumns(Mapping[str, Array]):
    """Read-only arrays (T,) by name, one value per case.

    >>> columns = CaseColumns({"amount": [120.5, 80.0], "region": ["EU", "US"]}, 2)
    >>> columns["region"].tolist(), columns.take(np.array([1]))["amount"]
    (['EU', 'US'], array([80.]))
    """

    def __init__(
        self,
        columns: Mapping[str, ArrayLike] | None = None,
        cases: int = 0,
        *,
        copy: bool = True,
    ) -> None:
        self._arrays = {
            str(name): read_only(_one_per_case(name, values, cases, copy=copy))
            for name, values in (columns or {}).items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"CaseColumns({', '.join(self._arrays)})"

    def take(self, cases: IntArray | BoolArray) -> "CaseColumns":
        """Return the columns of some of the cases."""
        part = {name: values[cases] for name, values in self.items()}
        T = len(next(iter(part.values()), ()))
        return CaseColumns(part, T, copy=False)

    def find(self, name: str, purpose: str) -> Array:
        """Return a column, or refuse with what it was needed for."""
        if name not in self:
            known = ", ".join(self) or "none"
            raise PanelError(
                f"{purpose} needs the column {name!r} of the cases"
                f"{suggestion(name, self)}; columns of the cases: {known}. Read it "
                f"with tp.read_panel(..., columns=({name!r},)) or give "
                f"columns={{{name!r}: ...}}."
            )
        return self[name]


def one_number_per_case(
    what: str, values: ArrayLike, cases: int, ids: Array | None, cure: str
) -> FloatArray:
    """Return finite numbers (T,), or refuse the first case that has none."""
    given = _one_per_case(what, values, cases)
    if given.dtype.kind in "biuf":
        numbers = given.astype(np.float64)
    else:
        numbers = np.array([_number(value) for value in given.tolist()])
    fine = np.isfinite(numbers)
    if not fine.all():
        t = int(np.argmin(fine))
        value = given[t].item() if isinstance(given[t], np.generic) else given[t]
        there = value is not None and value == value and str(value).strip() != ""
        if not there:
            cure = "Fill it in, or leave the case out."
        raise PanelError(
            f"{what} must be a number; {case_name(t, ids)} has "
            f"{f'{value!r:.60}' if there else 'none'}{count_others(~fine)}. "
            f"{cure}"
        )
    return numbers


def count_others(bad: BoolArray) -> str:
    """Say of the first bad case how many there are, where there are more.

    >>> count_others(np.array([False, True, True])), count_others(np.array([True]))
    (', the first of 2 such cases in 3', '')
    """
    count = int(bad.sum())
    return f", the first of {count:,} such cases in {len(bad):,}" if count > 1 else ""


def check_weights(
    weights: ArrayLike | None, cases: int, ids: Array | None = None
) -> FloatArray | None:
    """Weights of the cases (T,), each a positive number; None: all count the same."""
    if weights is None:
        return None
    numbers = one_number_per_case("the weight of a case", weights, cases, ids, WEIGHT)
    if not (numbers > 0).all():
        t = int(np.argmin(numbers > 0))
        raise PanelError(
            f"the weight of a case must be positive; {case_name(t, ids)} has "
            f"{numbers[t]:g}. Leave out cases that should not count."
        )
    return numbers


def check_propensity(
    propensity: ArrayLike | None, cases: int, ids: Array | None = None
) -> FloatArray | None:
    """Chance (T,) that the outcome of each case became known, in (0, 1]."""
    if propensity is None:
        return None
    what = "the propensity of a case"
    numbers = one_number_per_case(what, propensity, cases, ids, PROPENSITY)
    fine = (numbers > 0) & (numbers <= 1)
    if not fine.all():
        t = int(np.argmin(fine))
        cure = (
            "A case that could not be reviewed tells nothing about others like it: "
            "leave it out, or review some cases at random."
            if numbers[t] == 0
            else "If these are percentages, divide by 100."
        )
        raise PanelError(
            "the propensity of a case, the chance that it was reviewed, must lie "
            f"above 0 and at most at 1; {case_name(t, ids)} has {numbers[t]:g}. {cure}"
        )
    return numbers


def check_groups(
    groups: ArrayLike | None, cases: int, ids: Array | None = None
) -> Array | None:
    """Group of each case (T,): a label that cases have in common."""
    if groups is None:
        return None
    labels = _one_per_case("groups", groups, cases)
    missing = [value is None or value != value for value in labels.tolist()]
    if any(missing):
        t = missing.index(True)
        raise PanelError(f"every case needs a group; {case_name(t, ids)} has none")
    return labels


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def one_value_per_case(
    what: str, values: ArrayLike | None, cases: int, *, copy: bool = True
) -> Array | None:
    """Return an array (T,), by default one that shares no memory with the values."""
    return None if values is None else _one_per_case(what, values, cases, copy=copy)


def _one_per_case(
    what: str, values: ArrayLike, cases: int, *, copy: bool = True
) -> Array:
    rule = f"{what} must hold one value per case, {cases}"
    array = as_rows(values, rule, PanelError)
    if array.shape != (cases,):
        raise PanelError(f"{rule}; got {array.shape}")
    return array.copy() if copy else array
