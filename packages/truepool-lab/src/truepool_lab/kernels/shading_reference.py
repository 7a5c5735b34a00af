"""Payoffs of every shift of an agent's reports: the specification, in plain numpy.

`shading_compiled` mirrors this file; tests compare both with brute force.
Shifts rise in equal steps; reports are clipped to [0, 1].
"""

import numpy as np

from truepool.core.arrays import FloatArray


def sums_below(points: FloatArray, gains: FloatArray, shifts: FloatArray) -> FloatArray:
    """Sum of the gains of the cases whose point lies below each shift, (G,).

    A decision that a shift can change is changed at one point and stays changed: one
    histogram of these points serves all shifts, O(T log G + G).
    """
    place = np.searchsorted(shifts, points, side="right")
    sums = np.cumsum(np.bincount(place, gains, len(shifts) + 1))
    return np.asarray(sums[: len(shifts)], dtype=np.float64)


def decision_gains(
    beliefs: FloatArray,
    rest: FloatArray,
    weight: FloatArray,
    cutoff: float,
    gains: FloatArray,
    shifts: FloatArray,
) -> FloatArray:
    r"""Sum of the gains where the pool exceeds the cutoff, for each shift d, (G,).

    The pool of case t is :math:`rest_t + weight_t\, clip(b_t + d, 0, 1)`. ``weight``
    is (T,) or (1,); where it is 0 the agent changes nothing.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (cutoff - rest) / weight
    points = at - beliefs
    # A clipped report stays in [0, 1]: no shift reaches points beyond.
    points[(at < 0) | (rest > cutoff)] = -np.inf
    points[(at >= 1) | np.isnan(at)] = np.inf
    return sums_below(points, gains, shifts)


def squared_distances(
    beliefs: FloatArray, targets: FloatArray, shifts: FloatArray
) -> FloatArray:
    r"""Sum of :math:`(clip(b_t + d, 0, 1) - a_t)^2` for each shift d, (G,)."""
    return np.array(
        [((np.clip(beliefs + d, 0, 1) - targets) ** 2).sum() for d in shifts]
    )
