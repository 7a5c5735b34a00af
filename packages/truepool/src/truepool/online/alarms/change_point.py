"""A change in the mean of a series at an unknown point, with a p-value."""

from dataclasses import dataclass

import numpy as np
from scipy.special import kolmogorov

from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.measures.inference.hypothesis_tests import long_run_variance

BLOCKS = 4_096
"""A longer series is reduced to the means of this many blocks of consecutive values."""

MIN_LENGTH = 10
"""Shorter series are not tested."""


@dataclass(frozen=True)
class Change:
    """The largest change in a series: its place, the means on either side, a p-value.

    ``place`` is the index of the first value after the change; ``error`` is the
    standard error of the difference between the two means, given the place.
    """

    place: int
    before: float
    after: float
    p_value: float
    error: float


NO_CHANGE = Change(0, float("nan"), float("nan"), 1.0, float("nan"))
"""The result for a series that is too short to be tested."""


def change(series: FloatArray) -> Change:
    r"""Test for one change in the mean at an unknown point (CUSUM).

    :math:`\max_k |\sum_{t \le k} (x_t - \bar x)| / (\hat\sigma \sqrt T)` against the
    largest deviation of a Brownian bridge (Kolmogorov). The variance is the larger of
    two: with autocovariances (Newey & West 1987), about the means on either side, so
    that autocorrelation is not mistaken for a change; and without them, about the
    common mean, so that a handful of rare events is not either.

    >>> found = change(np.r_[np.tile([0.0, 1.0], 50), np.tile([2.0, 3.0], 50)])
    >>> found.place, found.before, found.after, found.p_value < 1e-6
    (100, 0.5, 2.5, True)
    """
    T = len(series)
    if T < MIN_LENGTH:
        return NO_CHANGE
    means, edges = _blocks(series)
    sizes = np.diff(edges)
    walk = np.cumsum((means - series.mean()) * sizes)[:-1]
    cut = int(np.argmax(np.abs(walk))) + 1
    place = int(edges[cut])
    before, after = series[:place].mean(), series[place:].mean()
    rest = means - np.where(np.arange(len(means)) < cut, before, after)
    size = T / len(means)
    follow = size * long_run_variance(rest, int(np.cbrt(len(means))))
    apart = size * float(means.var())
    deviation = np.sqrt(max(follow, apart, 0.0))
    top = float(np.abs(walk[cut - 1]))
    changed = top > 1e-12 * T  # else rounding
    p = float(kolmogorov(top / (deviation * np.sqrt(T)))) if changed else 1.0
    error = float(np.sqrt(max(follow, 0.0)) * np.sqrt(1 / place + 1 / (T - place)))
    return Change(place, float(before), float(after), p, error)


def contrast_change(own: FloatArray, contrast: FloatArray) -> tuple[Change, IntArray]:
    """Test an agent's contrast (T,) for a change, and return its own means around it.

    ``contrast`` is the agent's own series minus that of the others, so that a change
    common to all agents is attributed to none. The p-value is of the contrast, the
    means before and after are of ``own``. Also returns the cases that have both; NaN
    stands for a missing value.
    """
    known = np.flatnonzero(~np.isnan(contrast) & ~np.isnan(own))
    if len(known) < MIN_LENGTH:
        return NO_CHANGE, known
    found = change(contrast[known])
    before, after = (own[part].mean() for part in np.split(known, [found.place]))
    mine = Change(found.place, float(before), float(after), found.p_value, found.error)
    return mine, known


def others(values: FloatArray, peers: BoolArray | None = None) -> FloatArray:
    """Mean over the other agents that have a value, (T, N); NaN where none has.

    Only ``peers`` (N,) count among the others; by default all agents.

    >>> others(np.array([[1.0, 2.0, 6.0], [1.0, np.nan, 3.0]]))
    array([[4. , 3.5, 1.5],
           [3. , 2. , 1. ]])
    """
    known = ~np.isnan(values) & (True if peers is None else peers)
    filled = np.where(known, values, 0.0)
    count = known.sum(axis=1, keepdims=True) - known
    total = filled.sum(axis=1, keepdims=True) - filled
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _blocks(series: FloatArray) -> tuple[FloatArray, IntArray]:
    """Means of at most `BLOCKS` blocks of consecutive values, and their edges."""
    T = len(series)
    if T <= BLOCKS:
        return series, np.arange(T + 1)
    edges = np.linspace(0, T, BLOCKS + 1).astype(np.int64)
    return np.add.reduceat(series, edges[:-1]) / np.diff(edges), edges
