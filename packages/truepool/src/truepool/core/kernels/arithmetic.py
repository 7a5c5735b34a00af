"""Arithmetic for compiled updates that gives the same bits on every machine.

Plain Python here; `online_compiled` beside it compiles it without any freedom to
reorder. Only additions, multiplications, the two fused where it says `fma`, divisions
and square roots are used, which every processor rounds alike: no library's exponential,
no order of summation that depends on the width of its registers.
"""

import math

import numpy as np

from truepool.core.arrays import FloatArray

ROUND = 1.5 * 2.0**52
"""Adding this rounds to a whole number, and leaves that number in the lowest bits."""

PER_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12 = (
    1.0 / math.factorial(n) for n in range(2, 13)
)
L3, L5, L7, L9, L11, L13, L15, L17, L19, L21 = (1.0 / n for n in range(3, 22, 2))
SMALL = 0.1
"""Up to this size `small_exp` is right to the last bit, rarely to the last but one."""


def fma(x: float, y: float, z: float) -> float:
    """Return x * y + z; compiled, rounded once, as every processor does it alike."""
    return x * y + z


def exp(x: float) -> float:
    """Exponential of x <= 700, to the last bit or two; at least exp(-700).

    >>> exp(-1.0) - math.exp(-1.0)
    0.0
    """
    x = x if x > -700.0 else -700.0
    shifted = fma(x, PER_LN2, ROUND)
    power = shifted - ROUND
    r = fma(power, -LN2_LOW, fma(power, -LN2_HIGH, x))
    r2 = r * r
    r4 = r2 * r2
    low = fma(r2, fma(r, C3, C2), 1.0 + r)
    middle = fma(r2, fma(r, C7, C6), fma(r, C5, C4))
    high = fma(r4, C12, fma(r2, fma(r, C11, C10), fma(r, C9, C8)))
    series = fma(r4, fma(r4, high, middle), low)
    bits = (np.float64(shifted).view(np.int64) + 1023) << 52
    return float(series * np.int64(bits).view(np.float64))


def small_exp(x: float) -> float:
    """Exponential of |x| <= `SMALL`, summed in pairs: it vectorises and is shallow.

    >>> round(small_exp(0.05) - math.exp(0.05), 15)
    0.0
    """
    x2 = x * x
    x4 = x2 * x2
    low = fma(x2, fma(x, C3, C2), 1.0 + x)
    middle = fma(x2, fma(x, C7, C6), fma(x, C5, C4))
    return fma(x4, fma(x4, fma(x, C9, C8), middle), low)


def log(x: float) -> float:
    """Natural logarithm of a positive normal number, to the last bit or two.

    >>> round(log(10.0) - math.log(10.0), 15)
    0.0
    """
    bits = np.float64(x).view(np.int64)
    # The power of 2 that leaves a factor between sqrt(1/2) and sqrt(2).
    power = (bits - 0x3FE6A09E667F3BCD) >> 52
    factor = np.int64(bits - (power << 52)).view(np.float64)
    s = (factor - 1.0) / (factor + 1.0)
    q = s * s
    q2 = q * q
    q4 = q2 * q2
    low = fma(q2, fma(q, L9, L7), fma(q, L5, L3))
    high = fma(q2, fma(q, L17, L15), fma(q, L13, L11))
    series = fma(q4, fma(q4, fma(q, L21, L19), high), low)
    small = 2.0 * s * (q * series) + power * LN2_LOW
    return float(power * LN2_HIGH + (2.0 * s + small))


def small_log(over: float, under: float) -> float:
    """Natural logarithm of a quotient within a factor exp(`SMALL`) of 1.

    >>> round(small_log(1.05, 1.0) - math.log(1.05), 15)
    0.0
    """
    s = (over - under) / (over + under)
    q = s * s
    q2 = q * q
    series = fma(q2, fma(q2, L11, fma(q, L9, L7)), fma(q, L5, L3))
    return 2.0 * s * fma(q, series, 1.0)


def total(values: FloatArray) -> float:
    """Sum; compiled, in sixteen lanes whatever the machine has."""
    return float(values.sum())


def dot(left: FloatArray, right: FloatArray) -> float:
    """Sum of the products; compiled, in sixteen lanes."""
    return float(left @ right)


def dot_row(left: FloatArray, matrix: FloatArray, row: int) -> float:
    """Sum of the products with one row; compiled, in sixteen lanes."""
    return float(left @ matrix[row])


def largest(values: FloatArray) -> float:
    """Largest of those that are numbers."""
    return float(np.nanmax(values))


def least(values: FloatArray) -> float:
    """Smallest of those that are numbers."""
    return float(np.nanmin(values))
