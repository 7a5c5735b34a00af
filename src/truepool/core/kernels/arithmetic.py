"""Arithmetic for compiled updates that gives the same bits on every machine.

Plain Python here; `online_compiled` beside it compiles it without any freedom to
reorder. Only additions, multiplications, divisions and square roots are used, which
every processor rounds alike: no library's exponential, no order of summation that
depends on the width of its registers.
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
SMALL = 0.1
"""Up to this size `small_exp` is exact to half of the last bit."""


def exp(x: float) -> float:
    """Exponential of x <= 700, to the last bit or two; at least exp(-700).

    >>> exp(-1.0) - math.exp(-1.0)
    0.0
    """
    x = x if x > -700.0 else -700.0
    shifted = x * PER_LN2 + ROUND
    power = shifted - ROUND
    r = (x - power * LN2_HIGH) - power * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (C2 + r * C3)
    high = (C8 + r * C9) + r2 * (C10 + r * C11) + r4 * C12
    series = low + r4 * (((C4 + r * C5) + r2 * (C6 + r * C7)) + r4 * high)
    bits = (np.float64(shifted).view(np.int64) + 1023) << 52
    return float(series * np.int64(bits).view(np.float64))


def small_exp(x: float) -> float:
    """Exponential of |x| <= `SMALL`, summed in pairs: it vectorises and is shallow.

    >>> round(small_exp(0.05) - math.exp(0.05), 15)
    0.0
    """
    x2 = x * x
    x4 = x2 * x2
    high = ((C4 + x * C5) + x2 * (C6 + x * C7)) + x4 * (C8 + x * C9)
    return (1.0 + x) + x2 * (C2 + x * C3) + x4 * high


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
    series = 1.0 / 21.0
    series = 1.0 / 19.0 + q * series
    series = 1.0 / 17.0 + q * series
    series = 1.0 / 15.0 + q * series
    series = 1.0 / 13.0 + q * series
    series = 1.0 / 11.0 + q * series
    series = 1.0 / 9.0 + q * series
    series = 1.0 / 7.0 + q * series
    series = 1.0 / 5.0 + q * series
    series = 1.0 / 3.0 + q * series
    small = 2.0 * s * (q * series) + power * LN2_LOW
    return float(power * LN2_HIGH + (2.0 * s + small))


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
