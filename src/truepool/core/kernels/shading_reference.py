"""What every shift of an agent's reports would earn: the specification, in plain numpy.

`shading_compiled` mirrors this file; tests hold the two together and to brute force.
Shifts rise in equal steps; reports are clipped to [0, 1].
"""

import numpy as np

from truepool.core.arrays import FloatArray


def crossed(points: FloatArray, gains: FloatArray, shifts: FloatArray) -> FloatArray:
    """Sum of the gains of the cases whose point lies below each shift, (G,).

    A decision that a shift can turn is turned at one point and stays turned: one
    histogram of these points serves all shifts, O(T log G + G).
    """
    place = np.searchsorted(shifts, points, side="right")
    sums = np.cumsum(np.bincount(place, gains, len(shifts) + 1))
    return np.asarray(sums[: len(shifts)], dtype=np.float64)


def flips(
    beliefs: FloatArray,
    rest: FloatArray,
    weight: FloatArray,
    line: float,
    gains: FloatArray,
    shifts: FloatArray,
) -> FloatArray:
    r"""Sum of the gains where the pool exceeds the line, for each shift d, (G,).

    The pool of case t is :math:`rest_t + weight_t\, clip(b_t + d, 0, 1)`. ``weight``
    is (T,) or (1,); where it is 0 the agent turns nothing.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (line - rest) / weight
    points = at - beliefs
    # A clipped report never falls below 0 nor exceeds 1: beyond, no shift matters.
    points[(at < 0) | (rest > line)] = -np.inf
    points[(at >= 1) | np.isnan(at)] = np.inf
    return crossed(points, gains, shifts)


def squares(beliefs: FloatArray, targets: FloatArray, shifts: FloatArray) -> FloatArray:
    r"""Sum of :math:`(clip(b_t + d, 0, 1) - a_t)^2` for each shift d, (G,)."""
    return np.array(
        [((np.clip(beliefs + d, 0, 1) - targets) ** 2).sum() for d in shifts]
    )
