# mypy: disable-error-code=no-untyped-def
"""A weighted mean of fitted pools for two classes, one case at a time.

One call evaluates all members from flat arrays: called one by one, their numpy calls
would take a hundred times as long as the arithmetic. `truepool.pools.mixture` writes
the arrays; what each pool answers is specified by its own `combine`.
"""

from math import exp, lgamma, log, log1p

import numpy as np

from truepool.core.arrays import SMALLEST
from truepool.core.kernels.compilation import jit
from truepool.measures.calibration import LOG_ODDS_LIMIT
from truepool.pools.mixture import Kind

TERMS, TINY = 200, 1e-300
"""Most terms of a continued fraction, and what stands for 0 in it."""


_jit = jit(nogil=True, error_model="numpy")


@_jit
def _expit(z):
    small = exp(-abs(z))
    return (1.0 if z >= 0.0 else small) / (1.0 + small)


@_jit
def _logit(p, clip):
    p = min(max(p, clip), 1.0 - clip)
    return log(p) - log1p(-p)


@_jit
def _clipped_logit(p):
    return min(max(_logit(p, SMALLEST), -LOG_ODDS_LIMIT), LOG_ODDS_LIMIT)


@_jit
def _linear(row, weights):
    mass, total, plain, count = 0.0, 0.0, 0.0, 0
    for i in range(row.size):
        if row[i] == row[i]:
            mass += weights[i]
            total += weights[i] * row[i]
            plain += row[i]
            count += 1
    return min(total / mass if mass > 0.0 else plain / count, 1.0)


@_jit
def _trimmed(row, share):
    ranked = np.sort(row)  # NaN goes last
    count = 0
    for i in range(row.size):
        count += row[i] == row[i]
    cut = min(int(np.floor(share * count + 1e-9)), (count - 1) // 2)
    total = 0.0
    for i in range(cut, count - cut):
        total += ranked[i]
    return total / (count - 2 * cut)


@_jit
def _best(row, losses):
    least, total, count = np.inf, 0.0, 0
    for i in range(row.size):
        if row[i] == row[i] and losses[i] < least:
            least = losses[i]
    for i in range(row.size):
        if row[i] == row[i] and losses[i] <= least:
            total += row[i]
            count += 1
    return total / count


@_jit
def _anchored(row, numbers, logs):
    N = row.size
    anchor, count = 0.0, 0
    for i in range(N):
        logs[i] = _logit(row[i], numbers[0]) if row[i] == row[i] else np.nan
        if row[i] == row[i]:
            anchor += logs[i]
            count += 1
    anchor /= count
    pooled = 0.0
    for start in range(1, numbers.size, N + 3):
        score = anchor + numbers[start + 1] + numbers[start + 2] * anchor
        for i in range(N):
            if logs[i] == logs[i]:
                score += numbers[start + 3 + i] * (logs[i] - anchor)
        pooled += numbers[start] * _expit(score)
    return pooled


@_jit
def _impute(x, numbers, filled):
    """Write x (N,) into ``filled``, and what it suggests where it is missing.

    The first 3 N numbers are means, pulls and loadings.
    """
    N = x.size
    pulls, precision = 0.0, 1.0
    for i in range(N):
        if x[i] == x[i]:
            pulls += numbers[N + i] * (x[i] - numbers[i])
            precision += numbers[N + i] * numbers[2 * N + i]
    factor = pulls / precision
    for i in range(N):
        there = x[i] == x[i]
        filled[i] = x[i] if there else numbers[i] + numbers[2 * N + i] * factor


@_jit
def _regression(x, numbers, filled):
    N = x.size
    _impute(x, numbers, filled)
    pooled, models = 0.0, 0
    for start in range(3 * N, numbers.size, N + 1):
        score = numbers[start + N]
        for i in range(N):
            score += numbers[start + i] * filled[i]
        pooled += _expit(score)
        models += 1
    return pooled / models


@_jit
def _fraction(a, b, x):
    """Continued fraction of the incomplete beta function (Lentz's method)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    h = d
    for m in range(1, TERMS):
        for odd in range(2):
            if odd:
                up = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            else:
                up = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            d = 1.0 + up * d
            c = 1.0 + up / c
            d = 1.0 / (d if abs(d) > TINY else TINY)
            c = c if abs(c) > TINY else TINY
            h *= d * c
        if abs(d * c - 1.0) < 1e-16:
            break
    return h


@_jit
def incomplete_beta(a, b, x):
    """Regularised incomplete beta function; 0 below x = 0 and 1 above x = 1."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)
    if x < (a + 1.0) / (a + b + 2.0):
        return exp(front) * _fraction(a, b, x) / a
    return 1.0 - exp(front) * _fraction(b, a, 1.0 - x) / b


@_jit
def _trees(row, crowd, numbers, nodes, cuts, values, roots):
    N = row.size
    score = numbers[0]
    agreed = _expit(crowd)
    total = 0.0
    for j in range(roots.size):
        node = roots[j]
        while nodes[node, 0] >= 0:
            f = nodes[node, 0]
            x = crowd
            if f < N:
                x = row[f]
                habit = numbers[1 + f]
                if habit == 2.0 or (habit == 1.0 and x != x):
                    x = agreed
            left = nodes[node, 3] == 1 if x != x else x <= cuts[node]
            node = nodes[node, 1] if left else nodes[node, 2]
        total += values[node]
    return _expit(score + total)


@_jit
def _member(kind, own, row, odds, crowd, work, nodes, cuts, values, roots):
    if kind == Kind.LINEAR:
        return _linear(row, own)
    if kind == Kind.TRIMMED:
        return _trimmed(row, own[0])
    if kind == Kind.ANCHORED:
        return _anchored(row, own, work)
    if kind == Kind.SCALED:
        return _expit(own[1] * _logit(_linear(row, own[3:]), own[0]) + own[2])
    if kind == Kind.BETA:
        bent = incomplete_beta(own[0], own[1], _linear(row, own[2:]))
        return min(max(bent, SMALLEST), 1.0 - SMALLEST)
    if kind == Kind.BEST:
        return _best(row, own)
    if kind == Kind.LOG_ODDS:
        return _regression(odds, own, work)
    if kind == Kind.REPORTS:
        return _regression(row, own, work)
    return _trees(row, crowd, own, nodes, cuts, values, roots)


@_jit
def mixture(reports, members, shares, numbers, nodes, cuts, values, roots, clip=0.0):
    """Weighted mean (T, 1) of what the members answer to reports (T, N, 1).

    A member is a kind, and where its ``numbers`` start and end. With a ``clip`` it is
    the mean of log-odds, each answer clipped that far from 0 and 1.
    """
    T, N, _ = reports.shape
    out = np.empty((T, 1))
    odds, work = np.empty(N), np.empty(N)
    for t in range(T):
        row = reports[t, :, 0]
        crowd, count = 0.0, 0
        for i in range(N):
            v = row[i]
            odds[i] = np.nan
            if v == v:
                odds[i] = _clipped_logit(v)
                crowd += odds[i]
                count += 1
        if count == 0:
            out[t, 0] = np.nan
            continue
        crowd /= count
        total = 0.0
        for m in range(len(members)):
            kind, start, end = members[m]
            own = numbers[start:end]
            p = _member(kind, own, row, odds, crowd, work, nodes, cuts, values, roots)
            total += shares[m] * (_logit(p, clip) if clip > 0.0 else p)
        out[t, 0] = total
    return out


@_jit
def draw_reports(reports, numbers, signs):
    """Each case of reports (T, N, 1) D times, (D, T, N, 1), without missing reports.

    ``numbers`` (3 N,) are what `_impute` reads, of clipped log-odds. What is missing is
    filled in, and moved by its standard deviation in the direction of ``signs`` (D, S),
    which the agents share in turn; a case without any report stays.
    """
    T, N, _ = reports.shape
    D, S = signs.shape
    out = np.empty((D, T, N, 1))
    odds, filled = np.empty(N), np.empty(N)
    for t in range(T):
        count, precision = 0, 1.0
        for i in range(N):
            v = reports[t, i, 0]
            odds[i] = np.nan
            if v == v:
                odds[i] = _clipped_logit(v)
                precision += numbers[N + i] * numbers[2 * N + i]
                count += 1
        if 0 < count < N:
            _impute(odds, numbers, filled)
        for i in range(N):
            pull, loading = numbers[N + i], numbers[2 * N + i]
            own = loading / pull if pull != 0.0 else 0.0
            deviation = np.sqrt(loading * loading / precision + own)
            for d in range(D):
                out[d, t, i, 0] = reports[t, i, 0]
                if count > 0 and odds[i] != odds[i]:
                    out[d, t, i, 0] = _expit(filled[i] + signs[d, i % S] * deviation)
    return out
