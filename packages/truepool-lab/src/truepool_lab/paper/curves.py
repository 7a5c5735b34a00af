"""Reliability curves: mean probability and share of positives in each bin."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.engine import Row
from truepool_lab.paper.charts import Series
from truepool_lab.paper.interface import row

MIN_CASES = 10
"""Bins with fewer cases are not drawn: their share of positives is mostly noise."""


def curve(
    label: str, key: Sequence[Any], pooled: FloatArray, outcomes: IntArray, bins: int
) -> list[Row]:
    """Return rows of one curve over bins of equal width; empty bins are left out.

    >>> probabilities = np.array([[0.1], [0.3], [0.9]])
    >>> rows = curve("fig:reliability", ["VCG"], probabilities, np.array([0, 1, 1]), 2)
    >>> [(row["key"], row["column"], row["value"]) for row in rows[:3]]
    [(['VCG', 0], 'predicted', 0.2), (['VCG', 0], 'observed', 0.5),
     (['VCG', 0], 'cases', 2)]
    """
    probabilities = pooled[:, 0]
    group = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    rows = []
    for b in np.unique(group).tolist():
        there = group == b
        rows += [
            row(label, [*key, b], "predicted", probabilities[there].mean()),
            row(label, [*key, b], "observed", outcomes[there].mean()),
            row(label, [*key, b], "cases", there.sum()),
        ]
    return rows


def points(rows: Sequence[Row], label: str, key: Sequence[Any]) -> Series:
    """Return one curve over the bins that have enough cases."""
    bins = _bins(rows, label, key).values()
    shown = [there for there in bins if there["cases"] >= MIN_CASES]
    return Series(
        [there["predicted"] for there in shown], [there["observed"] for there in shown]
    )


def bin_counts(rows: Sequence[Row], label: str, key: Sequence[Any]) -> Series:
    """Return the number of cases of each bin."""
    bins = _bins(rows, label, key)
    return Series(list(bins), [there["cases"] for there in bins.values()])


def _bins(
    rows: Sequence[Row], label: str, key: Sequence[Any]
) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for each in rows:
        if each["table"] == label and each["key"][:-1] == list(key):
            found.setdefault(each["key"][-1], {})[each["column"]] = each["value"]
    return found
