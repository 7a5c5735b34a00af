"""Decisions: from a pooled probability to a class."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, IntArray, as_pooled
from truepool.core.errors import SettingError
from truepool.data.costs import Costs

EDGE = 1e-12
"""A probability this close to the threshold counts as equal, so that rounding never
decides."""


def decide(
    pooled: ArrayLike, costs: Costs | None = None, threshold: float | None = None
) -> IntArray:
    r"""Decide for the class with the lowest expected cost, given pooled (T,) or (T, K).

    Two classes: 1 exactly when p > ``threshold``, by default ``costs.threshold``.
    K classes: :math:`\arg\min_k \sum_y p_y\, cost[y, k]`, the first of equals.

    >>> decide([0.05, 0.2], Costs(fn=10, fp=1))
    array([0, 1])
    >>> decide([[0.5, 0.3, 0.2]])
    array([0])
    >>> decide([[0.5, 0.3, 0.2]], Costs(fn=10, fp=1))
    array([1])
    """
    check_threshold(threshold)
    return choose(as_pooled(pooled), costs or Costs(), threshold)


def choose(pooled: FloatArray, costs: Costs, threshold: float | None) -> IntArray:
    """Decide for coordinates (..., C), without checks."""
    if pooled.shape[-1] == 1:
        line = costs.threshold if threshold is None else threshold
        return (pooled[..., 0] > line + EDGE).astype(np.int64)
    check_threshold(threshold, pooled.shape[-1])
    expected = pooled @ costs.table(pooled.shape[-1])
    least = expected.min(axis=-1, keepdims=True)
    return np.asarray(np.argmax(expected <= least + EDGE, axis=-1), dtype=np.int64)


def check_threshold(threshold: float | None, classes: int = 2) -> None:
    """Refuse a threshold outside [0, 1], or one for K > 2 classes."""
    if threshold is None:
        return
    if not 0 <= threshold <= 1:
        raise SettingError(f"a threshold must lie in [0, 1]; got {threshold!r}")
    if classes != 2:
        raise SettingError(
            f"a threshold decides between two classes; the panel has {classes}. "
            "Leave it out, or give a cost matrix."
        )
