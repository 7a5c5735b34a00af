"""Decisions: from a pooled probability to a class."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, FloatArray, IntArray, as_pooled, classes
from truepool.core.errors import SettingError
from truepool.measures.capacity import Capacity
from truepool.panel.costs import Costs
from truepool.panel.panel import check_times

EDGE = 1e-12
"""A probability this close to the threshold counts as equal, so that rounding never
decides."""


def decide(
    pooled: ArrayLike,
    costs: Costs | None = None,
    threshold: float | None = None,
    *,
    capacity: str | int | Capacity | None = None,
    times: ArrayLike | None = None,
) -> IntArray:
    r"""Decide for the class with the lowest expected cost, given pooled (T,) or (T, K).

    Two classes: 1 exactly when p > ``threshold``, by default ``costs.threshold``.
    K classes: :math:`\arg\min_k \sum_y p_y\, cost[y, k]`, the first of equals.

    With a ``capacity``, such as 200, "5%" or "200/day", only the most valuable of the
    positive decisions within it stay positive; a rate needs the ``times`` (T,).

    >>> decide([0.05, 0.2], Costs(fn=10, fp=1))
    array([0, 1])
    >>> decide([0.3, 0.9, 0.6], Costs(fn=10, fp=1), capacity=2)
    array([0, 1, 1])
    >>> decide([0.2, 0.2], Costs(fn=[10, 1], fp=1))
    array([1, 0])
    >>> decide([[0.5, 0.3, 0.2]])
    array([0])
    >>> decide([[0.5, 0.3, 0.2]], Costs(fn=10, fp=1))
    array([1])
    """
    check_threshold(threshold)
    coordinates, costs = as_pooled(pooled), costs or Costs()
    costs.check_cases(len(coordinates))
    limit = None if capacity is None else Capacity.parse(capacity)
    dates = None if times is None else check_times(np.asarray(times))
    return choose_within(coordinates, costs, threshold, limit, dates)


def choose(pooled: FloatArray, costs: Costs, threshold: float | None) -> IntArray:
    """Decide for coordinates (..., C), without checks.

    Costs per case have the shape (...) of the cases, or one that extends to it.
    """
    if pooled.shape[-1] == 1:
        line = costs.threshold if threshold is None else threshold
        return (pooled[..., 0] > line + EDGE).astype(np.int64)
    check_threshold(threshold, pooled.shape[-1])
    expected = costs.expected_cost(pooled)
    least = expected.min(axis=-1, keepdims=True)
    first: IntArray = np.argmax(expected <= least + EDGE, axis=-1).astype(np.int64)
    return first


def choose_within(
    pooled: FloatArray,
    costs: Costs,
    threshold: float | None,
    capacity: Capacity | None,
    times: Array | None,
) -> IntArray:
    """Decide for coordinates (T, C) within a capacity, if there is one."""
    decisions = choose(pooled, costs, threshold)
    if capacity is None:
        return decisions
    return limit_decisions(decisions, pooled, costs, capacity, times)


def limit_decisions(
    decisions: IntArray,
    pooled: FloatArray,
    costs: Costs,
    capacity: Capacity,
    times: Array | None,
) -> IntArray:
    r"""Keep the most valuable positive decisions (T,) within a capacity.

    The value is the expected cost saved, :math:`p\, (fn - tp) - (1 - p)\, (fp - tn)`,
    for pooled (T, 1); of equally valuable cases the first come first.
    """
    capacity.check_classes(classes(pooled.shape[-1]))
    p, errors = pooled[:, 0], costs.errors
    saved = p * errors.fn - (1 - p) * errors.fp
    periods = capacity.periods(times, len(p))
    return capacity.select(saved, decisions == 1, periods).astype(np.int64)


def check_threshold(threshold: float | None, classes: int = 2) -> None:
    """Refuse a threshold outside [0, 1], or one for K > 2 classes."""
    if threshold is None:
        return
    if not 0 <= threshold <= 1:
        cure = "Pass a probability"
        if 1 < threshold <= 100:
            cure = f"If it is a percentage, pass {threshold / 100:g}"
        raise SettingError(
            f"a threshold must lie in [0, 1]; got {threshold:g}. {cure}, or leave it "
            "out to decide by the costs."
        )
    if classes != 2:
        raise SettingError(
            f"a threshold decides between two classes; the panel has {classes}. "
            "Leave it out, or give a cost matrix."
        )
