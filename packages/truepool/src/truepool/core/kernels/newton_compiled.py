# mypy: disable-error-code=no-untyped-def
"""The minimum of a penalised log loss of two classes, on few cases.

`truepool.measures.newton.Minimizer` is the specification. On some hundred cases its
numpy calls take five times as long as the arithmetic; on many they are as fast.
"""

from math import exp, log1p

import numpy as np

from truepool.core.kernels.compilation import jit

_jit = jit(nogil=True, error_model="numpy")
_sums = jit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@_sums
def _look(features, offset, happened, cases, theta, gradient, hessian, work):
    """Log loss at theta (F,); its gradient (F,) and half of its Hessian (F, F)."""
    F, T = features.shape
    scores, spread = work[0], work[1]
    for t in range(T):
        scores[t] = offset[t]
    for i in range(F):
        for t in range(T):
            scores[t] += theta[i] * features[i, t]
    loss = 0.0
    for t in range(T):
        score = scores[t]
        small = exp(-abs(score))
        loss += cases[t] * (log1p(small) + max(score, 0.0) - happened[t] * score)
        small /= 1.0 + small
        fitted = small if score < 0.0 else 1.0 - small
        scores[t] = cases[t] * (fitted - happened[t])
        spread[t] = cases[t] * small * (1.0 - small)
    for i in range(F):
        total = 0.0
        for t in range(T):
            total += scores[t] * features[i, t]
        gradient[i] = total
    for i in range(F):
        for t in range(T):
            scores[t] = spread[t] * features[i, t]
        for j in range(i + 1):
            total = 0.0
            for t in range(T):
                total += scores[t] * features[j, t]
            hessian[i, j] = total
    return loss


@_jit
def _solve(curve, slope, step, root):
    """Write curve^-1 slope; False where the curve is not positive in rounding."""
    F = slope.size
    for i in range(F):
        for j in range(i + 1):
            rest = curve[i, j]
            for k in range(j):
                rest -= root[i, k] * root[j, k]
            if i > j:
                root[i, j] = rest / root[j, j]
            elif rest > 1e-13 * curve[i, i]:
                root[i, i] = np.sqrt(rest)
            else:
                return False
    for i in range(F):
        rest = slope[i]
        for k in range(i):
            rest -= root[i, k] * step[k]
        step[i] = rest / root[i, i]
    for i in range(F - 1, -1, -1):
        rest = step[i]
        for k in range(i + 1, F):
            rest -= root[k, i] * step[k]
        step[i] = rest / root[i, i]
    return True


@_jit
def _penalised(loss, penalty, theta):
    for i in range(theta.size):
        loss += penalty[i] * theta[i] * theta[i] / 2
    return loss


@_jit
def find(
    features, offset, happened, cases, theta, loss, gradient, hessian,
    penalty, near, enough, steps, smallest, found, curve,
):  # fmt: skip
    """Mirror of `Minimizer.find`: whether it was found, the loss at theta, the value.

    ``theta``, ``gradient`` and ``hessian`` are those of the last point, and become
    those of the new one; ``found`` and ``curve`` are what is answered.
    """
    F = theta.size
    slope, step, tried, root = np.empty(F), np.empty(F), np.empty(F), np.empty((F, F))
    work, value, unused = np.empty((2, cases.size)), 0.0, near.size > 0
    for _ in range(steps):
        value, fall = _penalised(loss, penalty, theta), 0.0
        for i in range(F):
            slope[i] = gradient[i] + penalty[i] * theta[i]
            for j in range(i + 1):
                curve[i, j] = curve[j, i] = hessian[i, j]
            curve[i, i] += penalty[i]
        if not _solve(curve, slope, step, root):
            return False, loss, value
        for i in range(F):
            fall += slope[i] * step[i]
        if fall <= enough:
            for i in range(F):
                found[i] = theta[i] - step[i]
            return True, loss, value - fall / 2
        if unused:
            unused = False
            for i in range(F):
                theta[i] = near[i]
            loss = _look(
                features, offset, happened, cases, theta, gradient, hessian, work
            )
            continue
        size, risen = 1.0, False
        while True:
            for i in range(F):
                tried[i] = theta[i] - size * step[i]
            loss = _look(
                features, offset, happened, cases, tried, gradient, hessian, work
            )
            risen = _penalised(loss, penalty, tried) > value
            if size <= smallest or not risen:
                break
            size /= 2
        for i in range(F):
            found[i] = theta[i]
            theta[i] = tried[i]
        if risen:
            return True, loss, value
    for i in range(F):
        found[i] = theta[i]
    return True, loss, value
