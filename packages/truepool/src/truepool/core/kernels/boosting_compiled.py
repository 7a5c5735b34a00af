# mypy: disable-error-code=no-untyped-def
"""Gradient boosting of small trees on binned features, as `reference.boost` says.

The trees are those of scikit-learn's histogram boosting: gradients of single precision,
the largest gain first, sums of the larger child by subtraction. What takes milliseconds
per tree there is its Python; with few cases, that is nearly all of it.
"""

from math import exp

import numpy as np

from truepool.core.kernels.compilation import jit
from truepool.core.kernels.reference import MISSING, SMALLEST_HESSIAN

_jit = jit(nogil=True, error_model="numpy")
TINY = 1e-15
"""Added to a sum of second derivatives that is divided by."""


@_jit
def _slopes(scores, outcomes, weights, gradients, hessians):
    """First and second derivatives of the log loss by the scores (J, T)."""
    J, T = scores.shape
    p = np.empty(J)
    for t in range(T):
        weight = weights[t] if weights.size else 1.0
        if J == 1:
            power = exp(-scores[0, t])
            p[0] = 1.0 / (1.0 + power)
            slope = -power * p[0] if outcomes[t] == 1 else p[0]
            gradients[0, t] = weight * slope
            hessians[0, t] = weight * (power * p[0] * p[0])
            continue
        top, total = scores[0, t], 0.0
        for j in range(1, J):
            top = max(top, scores[j, t])
        for j in range(J):
            p[j] = exp(scores[j, t] - top)
            total += p[j]
        for j in range(J):
            share = p[j] / total
            gradients[j, t] = weight * (share - (outcomes[t] == j))
            hessians[j, t] = weight * (share * (1.0 - share))


@_jit
def _fill(bins, cases, gradients, hessians, own, sums, counts):
    """Sums (F, B, 2) and counts (F, B) of some cases by feature and bin."""
    for n in range(cases.size):
        own[n, 0], own[n, 1] = gradients[cases[n]], hessians[cases[n]]
    for f in range(len(bins)):
        for b in range(MISSING + 1):
            sums[f, b, 0], sums[f, b, 1], counts[f, b] = 0.0, 0.0, 0
        for n in range(cases.size):
            b = bins[f, cases[n]]
            sums[f, b, 0] += own[n, 0]
            sums[f, b, 1] += own[n, 1]
            counts[f, b] += 1


@_jit
def _subtract(sums, counts, part, part_counts):
    """Take the sums and counts of some of the cases away."""
    for f in range(len(sums)):
        for b in range(MISSING + 1):
            sums[f, b, 0] -= part[f, b, 0]
            sums[f, b, 1] -= part[f, b, 1]
            counts[f, b] -= part_counts[f, b]


@_jit
def _find_split(sums, counts, sizes, missing, whole, total, least, out):
    """Write the largest gain, or 0, and where it is.

    Its feature and bin, whether missing ones go left, and the sums on the left.
    ``whole`` has the gradients, the second derivatives and the value of the node, and
    ``total`` its cases, at least ``least`` of which go each way.
    """
    out[0] = 0.0
    loss = whole[2] * whole[0]
    for f in range(len(sizes)):
        for turned in range(1 + missing[f]):
            g, h, n = 0.0, 0.0, 0
            steps = sizes[f] - 1 + (missing[f] and not turned)
            for step in range(steps):
                b = sizes[f] - 1 - step if turned else step
                g += sums[f, b, 0]
                h += sums[f, b, 1]
                n += counts[f, b]
                if n < least or h < SMALLEST_HESSIAN:
                    continue
                rest_g, rest_h = whole[0] - g, whole[1] - h
                if total - n < least or rest_h < SMALLEST_HESSIAN:
                    break
                # Nearly all bins are worse, which is seen without a division.
                most = (out[0] - loss) * (h * rest_h)
                if g * g * rest_h + rest_g * rest_g * h < most * (1.0 - 1e-9):
                    continue
                near, far = g * (-g / (h + TINY)), rest_g * (-rest_g / (rest_h + TINY))
                found = loss - near - far if not turned else loss - far - near
                if found > out[0]:
                    out[0], out[1], out[2], out[3] = found, f, b - turned, turned
                    out[4] = rest_g if turned else g
                    out[5] = rest_h if turned else h


@_jit
def _total(column):
    """Sum of 256 numbers in the order of numpy: equal gains then tie there and here."""
    halves, part = np.empty(2), np.empty(8)
    for half in range(2):
        for k in range(8):
            part[k] = column[128 * half + k]
        for n in range(8, 128):
            part[n % 8] += column[128 * half + n]
        left = (part[0] + part[1]) + (part[2] + part[3])
        halves[half] = left + ((part[4] + part[5]) + (part[6] + part[7]))
    return halves[0] + halves[1]


@_jit
def boost(
    bins, sizes, missing, outcomes, weights, baseline, rounds, leaves, rate, least
):
    """Mirror of `reference.boost`; ``bins`` are (F, T), ``missing`` (F,) 0 or 1."""
    F, T = bins.shape
    J = baseline.size
    most = rounds * J * (2 * leaves - 1)
    roots = np.empty(rounds * J, np.int64)
    table = np.empty((most, 5), np.int64)  # feature, bin, left, right, missing left
    value = np.empty(most)
    scores = np.empty((J, T))
    for j in range(J):
        for t in range(T):
            scores[j, t] = baseline[j]
    gradients, hessians = np.empty((J, T), np.float32), np.empty((J, T), np.float32)
    own, order, spare = np.empty((T, 2)), np.empty(T, np.int64), np.empty(T, np.int64)
    width = MISSING + 1
    sums = np.empty((leaves, F, width, 2))
    counts = np.empty((leaves, F, width), np.int64)
    # Of the leaves so far: node, first case, end, and what `_find_split` says.
    span, split = np.empty((leaves, 3), np.int64), np.zeros((leaves, 6))
    whole, place = np.empty((leaves, 3)), np.empty(leaves, np.int64)
    used = 0
    for tree in range(rounds * J):
        j = tree % J
        if j == 0:
            _slopes(scores, outcomes, weights, gradients, hessians)
        place[0] = 0
        for t in range(T):
            order[t] = t
        roots[tree] = used
        span[0, 0], span[0, 1], span[0, 2] = used, 0, T
        used += 1
        _fill(bins, order, gradients[j], hessians[j], own, sums[0], counts[0])
        whole[0, 0], whole[0, 1] = _total(sums[0, 0, :, 0]), _total(sums[0, 0, :, 1])
        whole[0, 2], split[0, 0] = 0.0, 0.0
        if T >= 2 * least and whole[0, 1] >= SMALLEST_HESSIAN:
            _find_split(
                sums[0], counts[0], sizes, missing, whole[0], T, least, split[0]
            )
        grown = 1
        while grown < leaves:
            at = 0
            for leaf in range(1, grown):
                at = leaf if split[leaf, 0] > split[at, 0] else at
            if not split[at, 0] > 0.0:
                break
            node, begin, end = span[at, 0], span[at, 1], span[at, 2]
            f, cut, left_too = int(split[at, 1]), int(split[at, 2]), int(split[at, 3])
            middle, rest = begin, 0
            for n in range(begin, end):
                b = bins[f, order[n]]
                if b <= cut or (left_too == 1 and b == MISSING):
                    order[middle] = order[n]
                    middle += 1
                else:
                    spare[rest] = order[n]
                    rest += 1
            for n in range(rest):
                order[middle + n] = spare[n]
            table[node, 0], table[node, 1] = f, cut
            table[node, 2], table[node, 3] = used, used + 1
            table[node, 4] = left_too if missing[f] else middle - begin > rest
            both = whole[at, 0], whole[at, 1]
            span[grown, 0], span[grown, 1], span[grown, 2] = used + 1, middle, end
            span[at, 0], span[at, 2] = used, middle
            used += 2
            whole[at, 0], whole[at, 1] = split[at, 4], split[at, 5]
            whole[grown, 0], whole[grown, 1] = (
                both[0] - split[at, 4],
                both[1] - split[at, 5],
            )
            for side in (at, grown):
                whole[side, 2] = -whole[side, 0] / (whole[side, 1] + TINY)
                split[side, 0] = 0.0
            new, grown = grown, grown + 1
            large = max(middle - begin, rest) >= 2 * least
            if grown == leaves or not large:
                continue
            # The sums of the smaller side are taken, those of the other are the rest.
            small, other = (at, new) if middle - begin < rest else (new, at)
            place[small], place[other] = new, place[at]
            cases = order[span[small, 1] : span[small, 2]]
            _fill(bins, cases, gradients[j], hessians[j], own, sums[new], counts[new])
            kept = place[other]
            _subtract(sums[kept], counts[kept], sums[new], counts[new])
            for side in (at, new):
                size = span[side, 2] - span[side, 1]
                if size >= 2 * least:
                    _find_split(
                        sums[place[side]], counts[place[side]], sizes, missing,
                        whole[side], size, least, split[side],
                    )  # fmt: skip
        for leaf in range(grown):
            node = span[leaf, 0]
            table[node, 0], table[node, 1] = -1, 0
            table[node, 2] = table[node, 3] = table[node, 4] = 0
            value[node] = rate * whole[leaf, 2]
            for n in range(span[leaf, 1], span[leaf, 2]):
                scores[j, order[n]] += value[node]
    for node in range(used):
        if table[node, 0] >= 0:
            value[node] = 0.0
    return roots, table[:used], value[:used]
