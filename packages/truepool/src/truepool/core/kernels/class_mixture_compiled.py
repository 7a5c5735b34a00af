# mypy: disable-error-code=no-untyped-def
"""A weighted mean of fitted pools for three classes or more, one case at a time.

As `mixture_compiled`, with K numbers per report; each function fills ``out`` (K,).
"""

from math import exp, log

import numpy as np

from truepool.core.arrays import SMALLEST
from truepool.core.kernels.compilation import jit
from truepool.core.kernels.mixture_compiled import LOG_ODDS_LIMIT, incomplete_beta
from truepool.core.kernels.reference import Kind

_jit = jit(nogil=True, error_model="numpy")


@_jit
def _softmax(out):
    largest, total = out.max(), 0.0
    for k in range(out.size):
        out[k] = exp(out[k] - largest)
        total += out[k]
    for k in range(out.size):
        out[k] /= total


@_jit
def _normalize(out):
    total = out.sum()
    for k in range(out.size):
        out[k] = out[k] / total if total > 0.0 else 1.0 / out.size


@_jit
def _linear(row, weights, out):
    N, K = row.shape
    mass, count = 0.0, 0
    for i in range(N):
        if row[i, 0] == row[i, 0]:
            mass += weights[i]
            count += 1
    for k in range(K):
        total = 0.0
        for i in range(N):
            if row[i, 0] == row[i, 0]:
                total += (weights[i] if mass > 0.0 else 1.0) * row[i, k]
        out[k] = min(total / (mass if mass > 0.0 else count), 1.0)


@_jit
def _trimmed(row, share, work, out):
    N, K = row.shape
    for k in range(K):
        count = 0
        for i in range(N):
            if row[i, k] == row[i, k]:
                work[count] = row[i, k]
                count += 1
        work[:count].sort()
        cut = min(int(np.floor(share * count + 1e-9)), (count - 1) // 2)
        out[k] = 0.0
        for i in range(cut, count - cut):
            out[k] += work[i]
        out[k] /= count - 2 * cut
    _normalize(out)


@_jit
def _best(row, losses, work, out):
    least = np.inf
    for i in range(losses.size):
        if row[i, 0] == row[i, 0] and losses[i] < least:
            least = losses[i]
    for i in range(losses.size):
        work[i] = 1.0 if losses[i] <= least else 0.0
    _linear(row, work, out)


@_jit
def _anchored(row, numbers, logs, anchor, scores, out):
    N, K = row.shape
    clip, count = numbers[0], 0
    anchor[:] = 0.0
    for i in range(N):
        if row[i, 0] == row[i, 0]:
            mean = 0.0
            for k in range(K):
                logs[i, k] = log(max(row[i, k], clip))
                mean += logs[i, k]
            mean /= K
            for k in range(K):
                logs[i, k] -= mean
                anchor[k] += logs[i, k]
            count += 1
    for k in range(K):
        anchor[k] /= count
    out[:] = 0.0
    for start in range(1, numbers.size, N + K + 2):
        stretch, tilts = numbers[start + K + 1], start + K + 2
        for k in range(K):
            scores[k] = anchor[k] + numbers[start + 1 + k] + stretch * anchor[k]
            for i in range(N):
                if row[i, 0] == row[i, 0]:
                    scores[k] += numbers[tilts + i] * (logs[i, k] - anchor[k])
        _softmax(scores)
        for k in range(K):
            out[k] += numbers[start] * scores[k]


@_jit
def _scaled(row, numbers, out):
    K = row.shape[1]
    _linear(row, numbers[K + 1 :], out)
    clip, factor = numbers[0], numbers[1]
    first = log(max(out[0], clip))
    out[0] = 0.0
    for k in range(1, K):
        out[k] = factor * (log(max(out[k], clip)) - first) + numbers[1 + k]
    _softmax(out)


@_jit
def _beta(row, numbers, out):
    K = row.shape[1]
    _linear(row, numbers[2 * K :], out)
    for k in range(K):
        bent = incomplete_beta(numbers[2 * k], numbers[2 * k + 1], out[k])
        out[k] = min(max(bent, SMALLEST), 1.0 - SMALLEST)
    _normalize(out)


@_jit
def _impute(x, numbers, filled):
    """Write x (N, J) into ``filled`` (N J,), and what it suggests where it is missing.

    The first 3 N J numbers are means, pulls and loadings.
    """
    N, J = x.shape
    means, pulls, loadings = numbers[: 3 * N * J].reshape((3, N, J))
    for j in range(J):
        total, precision = 0.0, 1.0
        for i in range(N):
            if x[i, j] == x[i, j]:
                total += pulls[i, j] * (x[i, j] - means[i, j])
                precision += pulls[i, j] * loadings[i, j]
        factor = total / precision
        for i in range(N):
            there = x[i, j] == x[i, j]
            expected = means[i, j] + loadings[i, j] * factor
            filled[i * J + j] = x[i, j] if there else expected


@_jit
def _regression(x, numbers, filled, scores, out):
    F, K = x.size, out.size
    _impute(x, numbers, filled)
    models = (numbers.size - 3 * F) // (K * (F + 1))
    out[:] = 0.0
    for m in range(models):
        for k in range(K):
            start = 3 * F + (m * K + k) * (F + 1)
            scores[k] = numbers[start + F]
            for f in range(F):
                scores[k] += numbers[start + f] * filled[f]
        _softmax(scores)
        for k in range(K):
            out[k] += scores[k] / models


@_jit
def _trees(row, crowd, numbers, trees, scores, out):
    nodes, cuts, values, roots = trees
    N, K = row.shape
    out[0] = 0.0
    for k in range(1, K):
        out[k] = crowd[k - 1]
    _softmax(out)  # what an agent says that agrees with the crowd
    columns = numbers.size - K - N
    scores[:] = 0.0
    for j in range(roots.size):
        node = roots[j]
        while nodes[node, 0] >= 0:
            f = nodes[node, 0]
            if f < N * K:
                x = row[f // K, f % K]
                habit = numbers[K + f // K]
                if habit == 2.0 or (habit == 1.0 and x != x):
                    x = out[f % K]
            else:
                x = crowd[f - N * K]
            left = nodes[node, 3] == 1 if x != x else x <= cuts[node]
            node = nodes[node, 1] if left else nodes[node, 2]
        scores[int(numbers[K + N + j % columns])] += values[node]
    for k in range(K):
        out[k] = numbers[k] + scores[k]
    _softmax(out)


@_jit
def _read(row, odds, crowd):
    """Write log-odds (N, K - 1) and their mean (K - 1,); False without any report."""
    N, K = row.shape
    count = 0
    crowd[:] = 0.0
    odds[:] = np.nan
    for i in range(N):
        if row[i, 0] == row[i, 0]:
            first = log(max(row[i, 0], SMALLEST))
            for k in range(1, K):
                z = log(max(row[i, k], SMALLEST)) - first
                odds[i, k - 1] = min(max(z, -LOG_ODDS_LIMIT), LOG_ODDS_LIMIT)
                crowd[k - 1] += odds[i, k - 1]
            count += 1
    crowd /= count
    return count > 0


@_jit
def class_mixture(reports, members, shares, numbers, nodes, cuts, values, roots):
    """Weighted mean (T, K) of what the members answer to reports (T, N, K).

    A member is a kind, and where its ``numbers`` start and end.
    """
    T, N, K = reports.shape
    total = np.zeros((T, K))
    filled, odds, crowd = np.empty(N * K), np.empty((N, K - 1)), np.empty(K - 1)
    logs, work = np.empty((N, K)), np.empty(N)
    anchor, scores, out = np.empty(K), np.empty(K), np.empty(K)
    trees = (nodes, cuts, values, roots)
    for t in range(T):
        row = reports[t]
        if not _read(row, odds, crowd):
            total[t] = np.nan
            continue
        for m in range(len(members)):
            kind, start, end = members[m]
            own = numbers[start:end]
            if kind == Kind.LINEAR:
                _linear(row, own, out)
            elif kind == Kind.TRIMMED:
                _trimmed(row, own[0], work, out)
            elif kind == Kind.ANCHORED:
                _anchored(row, own, logs, anchor, scores, out)
            elif kind == Kind.SCALED:
                _scaled(row, own, out)
            elif kind == Kind.BETA:
                _beta(row, own, out)
            elif kind == Kind.BEST:
                _best(row, own, work, out)
            elif kind == Kind.LOG_ODDS:
                _regression(odds, own, filled, scores, out)
            elif kind == Kind.REPORTS:
                _regression(row, own, filled, scores, out)
            else:
                _trees(row, crowd, own, trees, scores, out)
            for k in range(K):
                total[t, k] += shares[m] * out[k]
    return total
