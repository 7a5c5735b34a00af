# mypy: disable-error-code=no-untyped-def
"""The loops of `shading_reference`, compiled by numba.

The shift at which a decision changes is as good as random, so no loop branches on it.
Places on the grid are found in one pass, which the compiler vectorises, and summed in
a second.
"""

import numpy as np

from truepool.core.kernels.compilation import jit

_jit = jit(nogil=True, error_model="numpy")

FAR = 1e300
"""A point beyond all shifts."""
LANES = 4
"""Histograms filled in turn, so that no sum waits for the one just written."""


@_jit
def _nearest(points, shifts):
    """Index of the shift nearest to each finite point; shifts rise in equal steps."""
    G = shifts.size
    low = shifts[0]
    inverse = (G - 1) / (shifts[G - 1] - low) if G > 1 else 0.0
    top = float(G - 1)
    nearest = np.empty(points.size, dtype=np.int32)
    for t in range(points.size):
        guess = (points[t] - low) * inverse + 0.5
        guess = guess if guess > 0.0 else 0.0
        guess = guess if guess < top else top
        nearest[t] = np.int32(guess)
    return nearest


@_jit
def sums_below(points, gains, shifts):
    """Mirror of `shading_reference.sums_below`."""
    G = shifts.size
    finite = np.empty(points.size)
    for t in range(points.size):
        point = points[t]
        point = point if point < FAR else FAR
        finite[t] = point if point > -FAR else -FAR
    nearest = _nearest(finite, shifts)
    lanes = np.zeros((LANES, G + 1))
    for t in range(points.size):
        k = nearest[t]
        # Compared with the grid itself: exact, whatever the rounding of the guess.
        lanes[t % LANES, k + (shifts[k] <= finite[t])] += gains[t]
    sums = np.empty(G)
    total = 0.0
    for k in range(G):
        for lane in range(LANES):
            total += lanes[lane, k]
        sums[k] = total
    return sums


@_jit
def decision_gains(beliefs, rest, weight, cutoff, gains, shifts):
    """Mirror of `shading_reference.decision_gains`."""
    points = np.empty(beliefs.size)
    if weight.size == 1 and weight[0] > 0.0:
        inverse = 1.0 / weight[0]
        for t in range(beliefs.size):
            at = (cutoff - rest[t]) * inverse
            point = at - beliefs[t]
            point = point if at < 1.0 else FAR
            points[t] = -FAR if at < 0.0 else point
    else:
        stride = 0 if weight.size == 1 else 1
        for t in range(beliefs.size):
            at = (cutoff - rest[t]) / weight[t * stride]
            point = at - beliefs[t]
            point = point if at < 1.0 else FAR  # also where it is NaN
            points[t] = -FAR if (at < 0.0) | (rest[t] > cutoff) else point
    return sums_below(points, gains, shifts)


@_jit
def squared_distances(beliefs, targets, shifts):
    """Mirror of `shading_reference.squared_distances`.

    In each case it is three polynomials in d.
    """
    G = shifts.size
    zero = _nearest(-beliefs, shifts)
    one = _nearest(1.0 - beliefs, shifts)
    constant = np.zeros(G + 1)
    linear = np.zeros(G + 1)
    count = np.zeros(G + 1)
    for t in range(beliefs.size):
        b = beliefs[t]
        a = targets[t]
        rises = zero[t] + (shifts[zero[t]] <= -b)  # first report that exceeds 0
        full = one[t] + (shifts[one[t]] <= 1.0 - b)
        gap = b - a
        constant[0] += a * a
        constant[rises] += gap * gap - a * a
        linear[rises] += gap
        count[rises] += 1.0
        constant[full] += (1.0 - a) * (1.0 - a) - gap * gap
        linear[full] -= gap
        count[full] -= 1.0
    values = np.empty(G)
    c = s = n = 0.0
    for k in range(G):
        c += constant[k]
        s += linear[k]
        n += count[k]
        d = shifts[k]
        values[k] = c + d * (2.0 * s + d * n)
    return values
