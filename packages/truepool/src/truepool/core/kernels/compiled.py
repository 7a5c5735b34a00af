# mypy: disable-error-code=no-untyped-def
"""The hot loops of `reference`, compiled by numba: one pass, no temporaries.

A case with all reports takes a shortcut (the weights of the others are then the same in
every case); one with a missing report takes `_without_row`.
"""

from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.kernels.compilation import jit
from truepool.core.kernels.reference import EDGE, MIN_SHARE

# Sums may be reordered and contracted; NaN stays NaN, because it is a missing report.
_jit = jit(
    nogil=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "arcp", "nsz"},
)

# One case after another, so that the cases beside a case change no bit of it.
_exact = jit(nogil=True, error_model="numpy")


@_jit
def _scan(flat):
    outside = 0
    silent = 0
    for j in range(flat.size):
        v = flat[j]
        silent += v != v
        outside += (v < 0.0) | (v > 1.0)
    return outside, silent


def scan(values: FloatArray) -> tuple[int, int]:
    """Mirror of `reference.scan`."""
    outside, silent = _scan(values.reshape(-1))
    return int(outside), int(silent)


@_jit
def report_counts(values):
    """Mirror of `reference.report_counts`."""
    T, N, _ = values.shape
    counts = np.zeros(N, dtype=np.int64)
    first = -1
    empty = 0
    for t in range(T):
        count = 0
        for i in range(N):
            reported = values[t, i, 0] == values[t, i, 0]
            counts[i] += reported
            count += reported
        if count == 0:
            empty += 1
            if first < 0:
                first = t
    return counts, first, empty


@_jit
def _totals(row, weights, c):
    """Total weight, weighted sum, plain sum and number of the reports."""
    mass = 0.0
    total = 0.0
    plain = 0.0
    count = 0
    for i in range(weights.size):
        v = row[i, c]
        if v == v:
            mass += weights[i]
            total += weights[i] * v
            plain += v
            count += 1
    return mass, total, plain, count


@_jit
def _linear_row(row, weights, c):
    mass, total, plain, count = _totals(row, weights, c)
    if mass > 0.0:
        return min(total / mass, 1.0)
    return min(plain / count, 1.0) if count else np.nan


@_jit
def linear(values, weights):
    """Mirror of `reference.linear`."""
    T, N, C = values.shape
    out = np.empty((T, C))
    mass = weights.sum()
    for t in range(T):
        for c in range(C):
            total = 0.0
            for i in range(N):
                total += weights[i] * values[t, i, c]
            if total == total and mass > 0.0:
                out[t, c] = min(total / mass, 1.0)
            else:
                out[t, c] = _linear_row(values[t], weights, c)
    return out


@_exact
def _add_column(column, weight, total, mass):
    """Add the reports of one agent, (T,), and its weight where it reported."""
    for t in range(column.size):
        v = column[t]
        reported = v == v
        total[t] += weight * v if reported else 0.0
        mass[t] += weight if reported else 0.0


@_exact
def _add_full_column(column, weight, total):
    """Add the reports of one agent; how many are missing or outside [0, 1]."""
    odd = 0
    for t in range(column.size):
        v = column[t]
        odd += not (v >= 0.0 and v <= 1.0)
        total[t] += weight * v
    return odd


@_exact
def _divide(total, mass, every):
    """Divide sums by weights in place; the first case without any weight, or -1."""
    first = -1
    for t in range(total.size):
        m = mass[t] if mass.size else every
        if m > 0.0:
            total[t] = min(total[t] / m, 1.0)
        elif first < 0:
            first = t
    return first


def linear_columns(
    columns: Sequence[Array], weights: FloatArray
) -> tuple[FloatArray, int, IntArray]:
    """Mirror of `reference.linear_columns`: no copy, and no row is put together."""
    pairs = list(zip(columns, weights.tolist(), strict=True))
    total, missing = np.zeros(len(columns[0])), np.zeros(len(columns), np.int64)
    mass = np.empty(0)
    if sum(_add_full_column(column, weight, total) for column, weight in pairs):
        counts = np.array([_scan(column) for column in columns])
        outside, missing = int(counts[:, 0].sum()), counts[:, 1]
        if outside:
            return total, outside, missing
        total, mass = np.zeros(len(total)), np.zeros(len(total))
        for column, weight in pairs:
            _add_column(column, weight, total, mass)
    if _divide(total, mass, sum(weights.tolist())) >= 0:
        rest = np.flatnonzero(mass == 0.0) if mass.size else np.arange(len(total))
        values = np.stack([c[rest] for c in columns], axis=1, dtype=np.float64)
        total[rest] = linear(values[:, :, None], weights)[:, 0]
    return total, 0, missing


@_jit
def _without_row(row, weights, prior, c, out):
    """Fill ``out`` with the pools of the others; return the pool of all."""
    mass, total, plain, count = _totals(row, weights, c)
    pooled = np.nan
    if mass > 0.0:
        pooled = total / mass
    elif count:
        pooled = plain / count
    for i in range(weights.size):
        v = row[i, c]
        if v != v:
            out[i] = pooled
        elif count == 1:
            out[i] = prior
        else:
            others = mass - weights[i]
            if others > MIN_SHARE * mass:
                rest = (total - weights[i] * v) / others
            else:
                rest = (plain - v) / (count - 1)
            out[i] = min(max(rest, 0.0), 1.0)
    return pooled


@_jit
def _without_binary(row, weights, heaviest, prior, out):
    """`_without_row` for one binary case with missing reports, without branches."""
    N = weights.size
    mass = 0.0
    total = 0.0
    for i in range(N):
        v = row[i]
        reported = v == v
        mass += weights[i] if reported else 0.0
        total += weights[i] * v if reported else 0.0
    if not heaviest < 0.999999 * mass:  # an agent may have no others
        return _without_row(row.reshape(N, 1), weights, prior, 0, out)
    pooled = min(total / mass, 1.0)
    for i in range(N):
        v = row[i]
        rest = (total - weights[i] * v) / (mass - weights[i])
        out[i] = rest if v == v else pooled
    return pooled


@_jit
def without(values, weights, prior):
    """Mirror of `reference.without`."""
    T, N, C = values.shape
    out = np.empty((T, N, C))
    for t in range(T):
        for c in range(C):
            _without_row(values[t], weights, prior[c], c, out[t, :, c])
    return out


@_jit
def _inverse_mass_of_others(weights):
    """1 / (mass of the others) for each agent; empty where one has no such others."""
    mass = weights.sum()
    inverse = np.empty(weights.size)
    for i in range(weights.size):
        if not mass - weights[i] > MIN_SHARE * mass:
            return np.empty(0)
        inverse[i] = 1.0 / (mass - weights[i])
    return inverse


@_jit
def squared_credit(values, outcomes, weights, scale, prior, case_weights):
    """Mirror of `reference.squared_credit`."""
    T, N = values.shape
    credit = np.zeros(N)
    rest = np.empty(N)
    mass = weights.sum()
    inverse = _inverse_mass_of_others(weights)
    heaviest = weights.max()
    for t in range(T):
        y = outcomes[t]
        factor = scale[y]
        if case_weights.size:
            factor *= case_weights[t]
        total = 0.0
        for i in range(N):
            total += weights[i] * values[t, i]
        if total == total and inverse.size:
            base = (total / mass - y) ** 2
            for i in range(N):
                error = (total - weights[i] * values[t, i]) * inverse[i] - y
                credit[i] += factor * (error * error - base)
        else:
            pooled = _without_binary(values[t], weights, heaviest, prior, rest)
            base = (pooled - y) ** 2
            for i in range(N):
                credit[i] += factor * ((rest[i] - y) ** 2 - base)
    return credit


@_jit
def threshold_credit(values, outcomes, weights, scale, threshold, prior, case_weights):
    """Mirror of `reference.threshold_credit`."""
    T, N = values.shape
    line = threshold + EDGE
    credit = np.zeros(N)
    rest = np.empty(N)
    mass = weights.sum()
    inverse = _inverse_mass_of_others(weights)
    heaviest = weights.max()
    for t in range(T):
        # When y = 1, deciding 1 lowers the cost: the sign of the rise.
        factor = scale[outcomes[t]]
        if outcomes[t] == 1:
            factor = -factor
        if case_weights.size:
            factor *= case_weights[t]
        total = 0.0
        for i in range(N):
            total += weights[i] * values[t, i]
        if total == total and inverse.size:
            base = 1.0 if total / mass > line else 0.0
            for i in range(N):
                others = (total - weights[i] * values[t, i]) * inverse[i]
                decision = 1.0 if others > line else 0.0
                credit[i] += factor * (decision - base)
        else:
            pooled = _without_binary(values[t], weights, heaviest, prior, rest)
            base = 1.0 if pooled > line else 0.0
            for i in range(N):
                decision = 1.0 if rest[i] > line else 0.0
                credit[i] += factor * (decision - base)
    return credit


@_jit
def sparse_gram(starts, column, values, weights, columns):
    """Mirror of `reference.sparse_gram`; half of it, then mirrored."""
    gram = np.zeros((columns, columns))
    for t in range(weights.size):
        for a in range(starts[t], starts[t + 1]):
            share = weights[t] * values[a]
            row = gram[column[a]]
            for b in range(a, starts[t + 1]):
                row[column[b]] += share * values[b]
    for i in range(columns):
        for j in range(i):
            gram[i, j] = gram[j, i]
    return gram


@_jit
def trees(features, columns, roots, feature, cut, left, right, missing_left, value):
    """Mirror of `reference.trees`."""
    T = len(features)
    out = np.zeros((T, columns))
    for t in range(T):
        for j in range(len(roots)):
            node = roots[j]
            while feature[node] >= 0:
                x = features[t, feature[node]]
                goes_left = missing_left[node] == 1 if x != x else x <= cut[node]
                node = left[node] if goes_left else right[node]
            out[t, j % columns] += value[node]
    return out
