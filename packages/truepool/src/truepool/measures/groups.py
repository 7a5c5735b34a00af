"""Groups of cases by the values of a column, and which are large enough to judge."""

from typing import Any

import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.core.formatting import amount
from truepool.panel.panel import Panel

FEWEST_CASES, FEWEST_OF_A_CLASS = 30, 5
"""Below these numbers of outcomes, no interval is given and no test is made."""

FEWEST_UNITS = 5
"""Nor below this number of groups of cases that depend on each other (the key group):
how much the mean of a group varies is known from the groups alone."""

GROUPS_NEEDED = "groups of cases are needed"
"""Words of a shortage of groups, which more cases of the same groups do not cure."""

MOST_GROUPS = 50
"""A column with more different values than this does not divide cases into groups."""

NO_VALUE = "no value"
"""What the group of cases is called in which the column is empty."""


def enough_cases(outcomes: IntArray) -> bool:
    """Whether there are enough cases of both outcomes for an interval."""
    ones = int(outcomes.sum())
    rarer = min(ones, len(outcomes) - ones)
    return len(outcomes) >= FEWEST_CASES and rarer >= FEWEST_OF_A_CLASS


def describe_shortage(
    outcomes: IntArray, what: str = "outcomes", groups: Array | None = None
) -> str | None:
    """Say why there are too few outcomes for an interval; None if there are enough.

    Cases of one of the ``groups``, if any, depend on each other.

    >>> describe_shortage(np.array([0, 1]))
    'at least 30 outcomes are needed, got 2'
    >>> describe_shortage(np.arange(40) % 2, groups=np.arange(40) // 20)
    'at least 5 groups of cases are needed, got 2'
    """
    positive = (outcomes > 0).astype(np.int64)
    if enough_cases(positive):
        units = FEWEST_UNITS if groups is None else len(np.unique(groups.astype(str)))
        if units >= FEWEST_UNITS:
            return None
        return f"at least {FEWEST_UNITS} {GROUPS_NEEDED}, got {units}"
    if len(positive) < FEWEST_CASES:
        return f"at least {FEWEST_CASES} {what} are needed, got {len(positive)}"
    ones = int(positive.sum())
    kind = "positives" if ones < FEWEST_OF_A_CLASS else "negatives"
    few = min(ones, len(positive) - ones)
    return f"at least {FEWEST_OF_A_CLASS} {kind} are needed, got {few}"


def describe_uneven(outcomes: IntArray, propensity: FloatArray) -> str | None:
    r"""Say that propensities differ too much for the outcomes of a class; else None.

    One case counts for many, and whether one with the smallest propensity was reviewed
    is chance. The effective number of cases of a class, with one more of the largest
    weight, :math:`(\sum w + w_{max})^2 / (\sum w^2 + w_{max}^2)`, must exceed
    `FEWEST_OF_A_CLASS` (Kish 1965).

    >>> describe_uneven(np.arange(60) % 2, np.where(np.arange(60) == 1, 0.01, 1.0))
    'too few outcomes of a class for propensities that differ so much'
    """
    weights = 1 / propensity
    top = float(weights.max())
    for own in (weights[outcomes > 0], weights[outcomes == 0]):
        effective = (own.sum() + top) ** 2 / (np.square(own).sum() + top**2)
        if effective <= FEWEST_OF_A_CLASS:
            return "too few outcomes of a class for propensities that differ so much"
    return None


def check_column(panel: Panel, by: str) -> None:
    """Refuse a column that does not divide the cases into a few groups.

    Nor does one whose every value has too few groups of dependent cases to be judged.
    """
    found = divide(panel.columns.find(by, "a division into segments"))
    if not 2 <= len(found) <= MOST_GROUPS:
        raise SettingError(
            f"a column to divide cases by must have 2 to {MOST_GROUPS} different "
            f"values; {by!r} has {len(found):,}. Name another one (by)."
        )
    if panel.groups is None:
        return
    names, outcomes = panel.groups.astype(str), panel.outcomes
    counts = [
        len(np.unique(names[cases]))
        for _, cases in found
        if describe_shortage(outcomes[panel.one_row_each(cases)]) is None
    ]
    if counts and max(counts) < FEWEST_UNITS <= len(np.unique(names)):
        raise SettingError(
            f"a segment must have cases of at least {FEWEST_UNITS} groups (group) to "
            "be judged, because how much its figures vary is known from its groups "
            f"alone; no segment of {by!r} with enough cases has more than "
            f"{max(counts)}. Divide by another column (by), or leave out group if "
            "cases of one group are independent of each other."
        )


def divide(values: Array) -> list[tuple[str, IntArray]]:
    """Return the groups of a column (T,) by name with their cases, the largest first.

    >>> [(name, cases.tolist()) for name, cases in divide(np.array(["EU", "US", "EU"]))]
    [('EU', [0, 2]), ('US', [1])]
    """
    names = np.array([_name(value) for value in values.tolist()])
    found, sizes = np.unique(names, return_counts=True)
    order = np.lexsort((found, -sizes))
    return [(str(found[g]), np.flatnonzero(names == found[g])) for g in order]


def _name(value: Any) -> str:
    if value is None or value != value or value == "":
        return NO_VALUE
    return amount(value) if isinstance(value, float) else str(value)
