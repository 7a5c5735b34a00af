# mypy: disable-error-code=no-untyped-def
"""The loops of `shading_reference`, compiled by numba: one pass over the cases."""

import numpy as np
from numba import njit

_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _place(point, shifts, inverse):
    """How many shifts do not exceed the point: guessed from the step, then mended."""
    G = shifts.size
    guess = (point - shifts[0]) * inverse
    if not guess < G:  # infinite, and NaN too
        k = G
    elif guess < 0.0:
        k = 0
    else:
        k = int(guess)
    while k > 0 and shifts[k - 1] > point:
        k -= 1
    while k < G and shifts[k] <= point:
        k += 1
    return k


@_jit
def _inverse_step(shifts):
    G = shifts.size
    return (G - 1) / (shifts[G - 1] - shifts[0]) if G > 1 else 0.0


@_jit
def _accumulated(sums, count):
    for k in range(1, count):
        sums[k] += sums[k - 1]
    return sums[:count]


@_jit
def crossed(points, gains, shifts):
    """Mirror of `shading_reference.crossed`."""
    G = shifts.size
    inverse = _inverse_step(shifts)
    sums = np.zeros(G + 1)
    for t in range(points.size):
        sums[_place(points[t], shifts, inverse)] += gains[t]
    return _accumulated(sums, G)


@_jit
def flips(beliefs, rest, weight, line, gains, shifts):
    """Mirror of `shading_reference.flips`."""
    G = shifts.size
    inverse = _inverse_step(shifts)
    sums = np.zeros(G + 1)
    one = weight.size == 1
    for t in range(beliefs.size):
        at = (line - rest[t]) / weight[0 if one else t]
        if at < 0.0 or rest[t] > line:
            k = 0
        elif at < 1.0:
            k = _place(at - beliefs[t], shifts, inverse)
        else:
            k = G
        sums[k] += gains[t]
    return _accumulated(sums, G)


@_jit
def squares(beliefs, targets, shifts):
    """Mirror of `shading_reference.squares`: three polynomials in d for each case."""
    G = shifts.size
    inverse = _inverse_step(shifts)
    constant = np.zeros(G + 1)
    linear = np.zeros(G + 1)
    count = np.zeros(G + 1)
    for t in range(beliefs.size):
        b = beliefs[t]
        a = targets[t]
        rises = _place(-b, shifts, inverse)  # first shift whose report exceeds 0
        full = _place(1.0 - b, shifts, inverse)
        gap = b - a
        constant[0] += a * a
        constant[rises] += gap * gap - a * a
        linear[rises] += gap
        count[rises] += 1.0
        constant[full] += (1.0 - a) * (1.0 - a) - gap * gap
        linear[full] -= gap
        count[full] -= 1.0
    _accumulated(constant, G)
    _accumulated(linear, G)
    _accumulated(count, G)
    values = np.empty(G)
    for k in range(G):
        d = shifts[k]
        values[k] = constant[k] + d * (2.0 * linear[k] + d * count[k])
    return values
