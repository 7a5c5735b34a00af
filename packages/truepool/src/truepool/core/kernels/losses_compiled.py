# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
"""Losses of one case, and their slopes, for the compiled loop over cases.

They mirror `truepool.measures.losses`; `online_compiled` puts them into its loop.
"""

import math

import numpy as np

from truepool.core.kernels.arithmetic import log
from truepool.core.kernels.reference import EDGE

# Of two classes: the loss of a probability p, and its derivative.


def _brier(p, y, table, line):
    return (p - y) * (p - y)


def _brier_slope(p, y, table):
    return 2.0 * (p - y)


def _log(p, y, table, line):
    return -log(max(p if y == 1 else 1.0 - p, 1e-12))


def _log_slope(p, y, table):
    return -1.0 / max(p, 1e-12) if y == 1 else 1.0 / max(1.0 - p, 1e-12)


def _spherical(p, y, table, line):
    given = p if y == 1 else 1.0 - p
    return 1.0 - given / math.sqrt(p * p + (1.0 - p) * (1.0 - p))


def _cost(p, y, table, line):
    return table[y, 1 if p > line + EDGE else 0]


def _cost_brier(p, y, table, line):
    return table[y, 1 - y] * ((p - y) * (p - y))


def _cost_brier_slope(p, y, table):
    return 2.0 * table[y, 1 - y] * (p - y)


# Of K classes: the loss of p (K,), and the derivative by each coordinate.


def _brier_of_classes(p, y, table, line):
    size = 0.0
    for k in range(table.shape[0]):
        size += p[k] * p[k]
    return 1.0 - 2.0 * p[y] + size


def _brier_slopes(p, y, table, out):
    for k in range(out.size):
        out[k] = 2.0 * (p[k] - (1.0 if k == y else 0.0))


def _log_of_classes(p, y, table, line):
    return -log(max(p[y], 1e-12))


def _log_slopes(p, y, table, out):
    for k in range(out.size):
        out[k] = -1.0 / max(p[k], 1e-12) if k == y else 0.0


def _spherical_of_classes(p, y, table, line):
    size = 0.0
    for k in range(table.shape[0]):
        size += p[k] * p[k]
    return 1.0 - p[y] / math.sqrt(size)


def _cost_of_classes(p, y, table, line):
    K = table.shape[0]
    best = 0
    lowest = np.inf
    for k in range(K):
        expected = 0.0
        for c in range(K):
            expected += p[c] * table[c, k]
        if expected < lowest - EDGE:
            lowest = expected
            best = k
    return table[y, best]


def _factor(k, y, table):
    """What an error on class k costs when y happens; on y itself, a miss on average."""
    if k != y:
        return table[y, k]
    mean = 0.0
    for c in range(table.shape[0]):
        mean += table[y, c] / (table.shape[0] - 1)
    return mean


def _cost_brier_of_classes(p, y, table, line):
    sum_ = 0.0
    for k in range(table.shape[0]):
        error = p[k] - (1.0 if k == y else 0.0)
        sum_ += _factor(k, y, table) * error * error
    return sum_


def _cost_brier_slopes(p, y, table, out):
    for k in range(out.size):
        out[k] = 2.0 * _factor(k, y, table) * (p[k] - (1.0 if k == y else 0.0))


BINARY = {
    "brier": (_brier, _brier_slope),
    "log": (_log, _log_slope),
    "spherical": (_spherical, None),
    "cost": (_cost, None),
    "cost-brier": (_cost_brier, _cost_brier_slope),
}
OF_CLASSES = {
    "brier": (_brier_of_classes, _brier_slopes),
    "log": (_log_of_classes, _log_slopes),
    "spherical": (_spherical_of_classes, None),
    "cost": (_cost_of_classes, None),
    "cost-brier": (_cost_brier_of_classes, _cost_brier_slopes),
}
