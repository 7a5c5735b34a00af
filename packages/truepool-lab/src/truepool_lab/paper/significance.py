"""Whether two methods differ over the seeds: apd:significance."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.engine import Row
from truepool.measures.inference import paired_p_values
from truepool_lab.paper.interface import row

LEVEL = 0.05 / 3
"""Bonferroni over three comparisons, unrounded."""
RESAMPLES = 10_000


def by_seed(rows: Sequence[Row], table: str, method: str, column: str) -> FloatArray:
    """Return the value of each repeat for one method, in their order."""
    return np.array([
        row["value"]
        for row in rows
        if (row["table"], row["key"], row["column"]) == (table, [method], column)
    ])  # fmt: skip


def split_factor(repeats: int, test: float = 0.3) -> float:
    """Factor on the standard error of a mean over overlapping splits of one data set.

    Splits share rows, so their spread is too small by this factor (Nadeau and Bengio
    2003); ``test`` is the share of the rows that is tested on.

    >>> round(split_factor(10), 2), round(split_factor(5), 2)
    (2.3, 1.77)
    """
    return sqrt(1 + repeats * test / (1 - test))


def comparison_rows(
    table: str, baseline: str, theirs: FloatArray, ours: FloatArray
) -> list[Row]:
    """Return difference, p-value, interval and conclusion; no rows for one seed.

    A bias-corrected and accelerated interval (Efron 1987) is undefined unless three
    seeds differ.
    """
    apart = theirs - ours
    if len(apart) < 2:
        return []
    p = float(paired_p_values(apart[:, None])[0])
    defined = len(np.unique(apart)) >= 3
    low, high = interval(apart) if defined else (None, None)
    found = {
        "delta FN": apart.mean(),
        "p-value": p,
        "significant": "Yes" if p < LEVEL else "No",
        "CI95 low": low,
        "CI95 high": high,
    }
    return [row(table, [baseline], column, value) for column, value in found.items()]


def interval(apart: FloatArray) -> tuple[float, float]:
    """95 % interval of the mean by 10,000 resamples, BCa.

    >>> low, high = interval(np.array([0.1, 0.2, 0.3, 0.2]))
    >>> bool(0.1 < low < 0.2 < high < 0.3)
    True
    """
    from scipy.stats import bootstrap

    found = bootstrap(
        (apart,), np.mean, n_resamples=RESAMPLES, method="BCa", rng=0
    ).confidence_interval
    return float(found.low), float(found.high)
