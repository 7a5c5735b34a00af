# mypy: disable-error-code=no-untyped-def
"""The round loop, compiled by numba; the learners' ``update`` is its specification.

One function runs any number of rounds, so that a stream (one round a call) and a
replay (all rounds in one call) execute the same instructions and agree bit for bit.

What makes it fast: the leave-one-out pools come from one running sum; the exponential
of a small argument is a short polynomial, which vectorises; weights are held above
1e-30, since arithmetic on denormal numbers is many times slower; and they are held up
to a common factor ("stakes"), so that few agents do not wait for a division a case.
With that floor the weights need no logarithms: they never reach 0.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from truepool.kernels.reference import EDGE, NOTHING_LEFT

FLOOR = 1e-30
NOISE = 1e-12  # credit that rounding alone can produce: truepool.weights.NOISE
C3, C4, C5, C6, C7, C8, C9 = (1.0 / math.factorial(n) for n in range(3, 10))
_options: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}
_jit = njit(**_options)
# Handing twenty arrays to a function that is not inlined costs as much as its work.
_inline = njit(forceinline=True, **_options)


@_jit
def _loss(code, p, y, table, line):
    """Loss of pooled coordinates p (C,)."""
    C = p.size
    K = table.shape[0]
    given = p[y] if C > 1 else (p[0] if y == 1 else 1.0 - p[0])
    if code == 0 or code == 2:  # brier, spherical
        size = 0.0
        if C > 1:
            for c in range(C):
                size += p[c] * p[c]
        else:
            size = p[0] * p[0] + (1.0 - p[0]) * (1.0 - p[0])
        if code == 2:
            return 1.0 - given / math.sqrt(size)
        return 1.0 - 2.0 * given + size if C > 1 else (1.0 - given) * (1.0 - given)
    if code == 1:  # log
        return -math.log(max(given, 1e-12))
    if code == 3:  # cost
        if C == 1:
            return table[y, 1 if p[0] > line + EDGE else 0]
        best = 0
        least = np.inf
        for k in range(K):
            expected = 0.0
            for c in range(K):
                expected += p[c] * table[c, k]
            if expected < least - EDGE:
                least = expected
                best = k
        return table[y, best]
    if C == 1:  # cost-brier
        return table[y, 1 - y] * (1.0 - given) * (1.0 - given)
    total = 0.0
    mean = 0.0
    for k in range(K):
        mean += table[y, k] / (K - 1)
    for k in range(K):
        error = p[k] - (1.0 if k == y else 0.0)
        total += (mean if k == y else table[y, k]) * error * error
    return total


@_inline
def _slope(code, p, y, table, out):
    """Derivative of a convex loss by each coordinate; returns its range."""
    C = p.size
    K = table.shape[0]
    if C == 1:
        if code == 1:
            out[0] = -1.0 / max(p[0], 1e-12) if y == 1 else 1.0 / max(1.0 - p[0], 1e-12)
        else:
            factor = table[y, 1 - y] if code == 4 else 1.0
            out[0] = 2.0 * factor * (p[0] - y)
        return abs(out[0])
    low = np.inf
    high = -np.inf
    mean = 0.0
    for k in range(K):
        mean += table[y, k] / (K - 1)
    for k in range(K):
        if code == 1:
            out[k] = -1.0 / max(p[k], 1e-12) if k == y else 0.0
        else:
            factor = 1.0
            if code == 4:
                factor = mean if k == y else table[y, k]
            out[k] = 2.0 * factor * (p[k] - (1.0 if k == y else 0.0))
        low = min(low, out[k])
        high = max(high, out[k])
    return high - low


@_inline
def _pool(m, w, out, sums):
    """Pool the reports m (N * C,) of those who spoke; False where nobody did.

    ``sums`` receives the sum of the weights and of their squares.
    """
    N, C = w.size, out.size
    mass = 0.0
    if C == 1:
        total = 0.0
        squares = 0.0
        for i in range(N):
            v = w[i]
            mass += v
            squares += v * v
            total += v * m[i]
        out[0] = min(total / mass, 1.0)
        sums[0] = mass
        sums[1] = squares
    else:
        for i in range(N):
            mass += w[i]
        for c in range(C):
            total = 0.0
            for i in range(N):
                total += w[i] * m[i * C + c]
            out[c] = min(total / mass, 1.0)
    if out[0] == out[0]:
        return True
    mass = 0.0
    count = 0
    for i in range(N):
        if m[i * C] == m[i * C]:
            mass += w[i]
            count += 1
    for c in range(C):
        total = 0.0
        plain = 0.0
        for i in range(N):
            v = m[i * C + c]
            if v == v:
                total += w[i] * v
                plain += v
        out[c] = total / mass if mass > 0.0 else plain / count
    return count > 0


@_jit
def _without(m, w, i, mass, count, prior, out):
    """Pool of all who spoke but i; the prior where there is nobody else."""
    N, C = w.size, out.size
    if count <= 1:
        for c in range(C):
            out[c] = prior[c]
        return
    equal = not mass - w[i] > NOTHING_LEFT * mass
    for c in range(C):
        total = 0.0
        share = 0.0
        for j in range(N):
            v = m[j * C + c]
            if j != i and v == v:
                weight = 1.0 if equal else w[j]
                total += weight * v
                share += weight
        out[c] = total / share


@_inline
def _own(code, m, y, table, line, C, g):
    """Loss of each agent's own report, NaN for the silent."""
    N = g.size
    if code == 0 and C == 1:
        for i in range(N):
            error = m[i] - y
            g[i] = error * error
        return
    for i in range(N):
        said = m[i * C : i * C + C]
        g[i] = _loss(code, said, y, table, line) if said[0] == said[0] else np.nan


@_inline
def _marginal(code, m, y, used, table, line, prior, p, rest, sums, g):
    """Minus the leave-one-out contribution of each agent, NaN for the silent."""
    N, C = used.size, p.size
    if code == 0 and C == 1 and sums[1] < 0.999998 * sums[0] * sums[0]:
        # Squares this far below the square of the sum leave weight to the others.
        mass = sums[0]
        total = p[0] * mass
        base = (p[0] - y) * (p[0] - y)
        for i in range(N):
            q = (total - used[i] * m[i]) / (mass - used[i]) - y
            g[i] = base - q * q
        everybody = _sum(m)
        if everybody == everybody:
            return
    count = 0
    heard = 0.0
    for i in range(N):
        if m[i * C] == m[i * C]:
            heard += used[i]
            count += 1
    base = _loss(code, p, y, table, line)
    for i in range(N):
        if m[i * C] == m[i * C]:
            _without(m, used, i, heard, count, prior, rest)
            g[i] = base - _loss(code, rest, y, table, line)
        else:
            g[i] = np.nan


@_inline
def _sum(values):
    """Sum, in a loop that writes nothing.

    A loop that both sums and writes is compiled twice, and which copy runs depends on
    where the arrays lie in memory; their sums differ in the last bit.
    """
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@_inline
def _tilt(w, g, rate, reach, out):
    """Fill out with w exp(-rate g), up to a common factor; return its sum.

    Where rate * |g| <= rate * reach is small, the exponential is a polynomial whose
    remainder lies below the last bit.
    """
    N = g.size
    size = rate * reach
    if size <= 0.01:
        for i in range(N):
            x = -rate * g[i]
            e = C3 + x * (C4 + x * (C5 + x * C6))
            out[i] = w[i] * (1.0 + x * (1.0 + x * (0.5 + x * e)))
    elif size <= 0.1:
        for i in range(N):
            x = -rate * g[i]
            e = C6 + x * (C7 + x * (C8 + x * C9))
            e = C3 + x * (C4 + x * (C5 + x * e))
            out[i] = w[i] * (1.0 + x * (1.0 + x * (0.5 + x * e)))
    else:
        low = np.inf  # a common factor cancels, and without it large losses overflow
        for i in range(N):
            if g[i] < low:
                low = g[i]
        for i in range(N):
            out[i] = w[i] * math.exp(-rate * (g[i] - low))
    return _sum(out)


@_jit
def _normalise(w, mass):
    """Scale to this mass, none below the floor."""
    scale = mass / _sum(w)
    for i in range(w.size):
        w[i] = max(w[i] * scale, FLOOR)


@_jit
def _from_losses(w, losses, rate):
    """Weights proportional to exp(-rate * loss)."""
    least = losses.min()
    for i in range(w.size):
        w[i] = math.exp(-rate * (losses[i] - least))
    _normalise(w, 1.0)


@_jit
def _slow_down(w, s):
    """Lower the rate after the sum of squared reaches has outgrown its limit."""
    _normalise(w, 1.0)
    eta = s[1]
    while s[2] < s[3]:
        s[2] *= 2.0
    s[1] = math.sqrt(8.0 * math.log(w.size) / s[2])
    for i in range(w.size):  # exp(-eta L) at the new rate is a power of the old one
        w[i] = math.exp(s[1] / eta * math.log(w[i]))
    _normalise(w, 1.0)


@_inline
def _exponential(mode, rate, share, w, S, s, g, reach, f):
    """Exponential weights: constant rate (0), doubling (1) or AdaHedge (2)."""
    N = w.size
    if s[0] == 0.0 and mode != 0:
        s[2] = 1.0 if mode == 1 else 0.0
        s[1] = math.sqrt(8.0 * math.log(N) / s[2]) if mode == 1 else np.inf
    eta = rate if mode == 0 else s[1]
    s[1] = eta
    if mode == 2:
        _adahedge(w, S, s, g)
        return
    total = _tilt(w, g, eta, reach, f)
    if total == total:
        scale = 1.0 / total
        for i in range(N):
            w[i] = max(f[i] * scale, FLOOR)
    else:  # whoever sleeps is charged what the pool pays: its weight stays
        mass = 0.0
        total = 0.0
        for i in range(N):
            if g[i] == g[i]:
                mass += w[i]
                total += f[i]
        scale = mass / total
        for i in range(N):
            if g[i] == g[i]:
                w[i] = max(f[i] * scale, FLOOR)
    s[3] += reach * reach
    s[4] += min(eta * reach * reach / 8.0, reach)
    if share > 0.0:
        s[5] += -math.log1p(-share) / eta
        for i in range(N):
            w[i] = (1.0 - share) * w[i] + share / N
    elif mode == 1 and s[3] > s[2]:
        _slow_down(w, s)


@_jit
def _adahedge(w, S, s, g):
    """AdaHedge (de Rooij et al. 2014): the rate follows the mixability gap."""
    N = w.size
    eta = s[1]
    low = np.inf
    high = -np.inf
    for i in range(N):
        if g[i] == g[i]:
            low = min(low, g[i])
            high = max(high, g[i])
    reach = high - low
    apart = reach > NOISE * max(abs(low), abs(high))
    if not apart:
        reach = 0.0
    for i in range(N):
        if g[i] == g[i]:
            g[i] = g[i] - low if apart else 0.0
    mass = 0.0
    mean = 0.0
    for i in range(N):
        if g[i] == g[i]:
            mass += w[i]
            mean += w[i] * g[i]
    mean /= mass
    if eta == np.inf:
        mix = np.inf  # the least loss among those that carry weight
        for i in range(N):
            if g[i] == g[i] and w[i] > FLOOR:
                mix = min(mix, g[i])
    else:
        total = 0.0
        for i in range(N):
            if g[i] == g[i]:
                total += w[i] * math.exp(-eta * g[i])
        mix = -math.log(total / mass) / eta
    for i in range(N):
        S[0, i] += g[i] if g[i] == g[i] else mix
    s[2] += max(0.0, mean - mix)
    s[3] += reach * reach
    s[5] = max(s[5], reach)
    s[1] = math.log(N) / s[2] if s[2] > 0.0 else np.inf
    if s[1] == np.inf:
        least = S[0].min()
        count = 0
        for i in range(N):
            count += S[0, i] <= least
        for i in range(N):
            w[i] = 1.0 / count if S[0, i] <= least else FLOOR
    else:
        _from_losses(w, S[0], s[1])


@_inline
def _wsu(rate, span, w, S, s, g, used):
    """Weighted-score update (Freeman et al. 2020)."""
    N = w.size
    s[1] = rate
    mass = 0.0
    mean = 0.0
    for i in range(N):
        mass += used[i]
        mean += used[i] * g[i]
    if mean == mean:
        mean /= mass
        unit = 1.0 / span
        for i in range(N):
            w[i] *= 1.0 - rate * unit * (g[i] - mean)
        scale = 1.0 / _sum(w)
        for i in range(N):
            w[i] = max(w[i] * scale, FLOOR)
        for i in range(N):
            gap = unit * (g[i] - mean)
            S[0, i] += gap * gap
        return
    mass = 0.0
    mean = 0.0
    before = 0.0
    for i in range(N):
        if g[i] == g[i]:
            mass += used[i]
            mean += used[i] * g[i]
            before += w[i]
    mean /= mass
    after = 0.0
    for i in range(N):
        if g[i] == g[i]:
            gap = (g[i] - mean) / span
            S[0, i] += gap * gap
            w[i] *= 1.0 - rate * gap
            after += w[i]
    for i in range(N):
        if g[i] == g[i]:
            w[i] = max(w[i] * before / after, FLOOR)


@_jit
def _mean(g, used):
    """Mean signal of those who spoke, by the weights used; plain if they had none."""
    mass = 0.0
    total = 0.0
    plain = 0.0
    count = 0
    for i in range(g.size):
        if g[i] == g[i]:
            mass += used[i]
            total += used[i] * g[i]
            plain += g[i]
            count += 1
    return total / mass if mass > 0.0 else plain / count


@_jit
def _boa(span, w, S, s, g, used):
    """Bernstein online aggregation (Wintenberger 2017), a rate for each agent."""
    N = w.size
    log_n = math.log(N)
    mean = _mean(g, used)
    top = -np.inf
    for i in range(N):
        eta = min(0.5, math.sqrt(log_n / (1.0 + S[1, i])))
        if g[i] == g[i]:
            r = (mean - g[i]) / span
            S[0, i] += r * (1.0 - eta * r)
            S[1, i] += r * r
            S[2, i] += eta * r * r
            later = min(0.5, math.sqrt(log_n / (1.0 + S[1, i])))
            s[4] += (eta / later - 1.0) / (N * math.e)
            eta = later
        w[i] = math.log(eta) + eta * S[0, i]
        top = max(top, w[i])
    for i in range(N):
        w[i] = math.exp(w[i] - top)
    _normalise(w, 1.0)


@_jit
def _ml_poly(span, w, S, s, g, used):
    """ML-Poly (Gaillard, Stoltz & van Erven 2014): weights by positive regret."""
    N = w.size
    mean = _mean(g, used)
    for i in range(N):
        if g[i] == g[i]:
            r = (mean - g[i]) / span
            S[0, i] += r
            S[1, i] += r * r
        w[i] = max(S[0, i], 0.0) / (1.0 + S[1, i])
    total = _sum(w)
    for i in range(N):
        w[i] = w[i] / total if total > 0.0 else 1.0 / N


@_jit
def _by_credit(w, credit, count, span):
    """Weights by positive mean credit; equal when there is none."""
    for i in range(w.size):
        mean = credit[i] / count[i] if count[i] > 0.0 else 0.0
        w[i] = mean if mean > NOISE * span else 0.0
    total = _sum(w)
    for i in range(w.size):
        w[i] = w[i] / total if total > 0.0 else 1.0 / w.size


@_jit
def _window(length, span, w, S, s, g):
    """Static VCG weights of the last ``length`` settled rounds."""
    place = 2 + int(s[0]) % length
    for i in range(w.size):
        old = S[place, i]
        if s[0] >= length and old == old:
            S[0, i] -= old
            S[1, i] -= 1.0
        S[place, i] = -g[i]
        if g[i] == g[i]:
            S[0, i] -= g[i]
            S[1, i] += 1.0
    if place == 1 + length:  # once a turn the sums are made anew: no rounding piles up
        for i in range(w.size):
            S[0, i] = 0.0
            for row in range(2, 2 + length):
                S[0, i] += S[row, i] if S[row, i] == S[row, i] else 0.0
    _by_credit(w, S[0], S[1], span)


@_jit
def _ema(alpha, span, w, S, g):
    """Weights by exponentially averaged contributions."""
    for i in range(w.size):
        if g[i] == g[i]:
            S[0, i] = (1.0 - alpha) * S[0, i] - alpha * g[i]
            S[1, i] = 1.0
    _by_credit(w, S[0], S[1], span)


@_jit
def _static(warmup, span, w, S, s, g):
    """VCG weights of the first ``warmup`` settled rounds, then fixed."""
    if s[0] < warmup:
        for i in range(w.size):
            if g[i] == g[i]:
                S[0, i] -= g[i]
                S[1, i] += 1.0
        if s[0] + 1.0 >= warmup:
            _by_credit(w, S[0], S[1], span)


@_inline
def settle(
    rule, signal, code, table, line, params, w, S, s, m, y, used,
    g, f, even, p, slope, prior, rest, sums,
):  # fmt: skip
    """Update weights w, memory S and scalars s in place by one settled case.

    ``used`` are the weights the case was decided with and ``p`` its pool; the arrays
    from ``g`` on are scratch, made once by the caller because views are dear.
    """
    N = w.size
    reach = params[4]
    if signal == 0:
        _own(code, m, y, table, line, p.size, g)
    elif signal == 1:
        reach = _slope(code, p, y, table, slope)
        if p.size == 1:
            for i in range(N):
                g[i] = slope[0] * m[i]
        else:
            for i in range(N):
                total = 0.0
                for c in range(p.size):
                    total += slope[c] * m[i * p.size + c]
                g[i] = total
    else:
        at = used
        if signal == 3:
            for i in range(N):
                even[i] = 1.0 / N
            at = even
            _pool(m, at, p, sums)
        for c in range(p.size):
            prior[c] = 0.5 if p.size == 1 else 1.0 / p.size
        _marginal(code, m, y, at, table, line, prior, p, rest, sums, g)
        if params[5] != 1.0:
            for i in range(N):
                g[i] *= params[5]
            reach *= params[5]
    if rule == 0:
        _exponential(int(params[0]), params[1], params[2], w, S, s, g, reach, f)
    elif rule == 1:
        _wsu(params[1], params[4], w, S, s, g, used)
    elif rule == 2:
        _boa(params[4], w, S, s, g, used)
    elif rule == 3:
        _ml_poly(params[4], w, S, s, g, used)
    elif rule == 4:
        _window(int(params[3]), params[4], w, S, s, g)
    elif rule == 5:
        _ema(params[3], params[4], w, S, g)
    else:
        _static(params[3], params[4], w, S, s, g)
    s[0] += 1.0


@_inline
def _exp(x, wide):
    """Exponential of |x| <= 1/32, or <= 0.1 if wide, to half of the last bit.

    Summed in pairs (Estrin): few agents wait for the depth of a polynomial.
    """
    xx = x * x
    high = (C4 + x * C5) + xx * (C6 + x * C7)
    if wide:
        high += xx * xx * (C8 + x * C9)
    return (1.0 + x) + xx * (0.5 + x * C3) + xx * xx * high


@_jit
def _run_quickly(
    rule, signal, params, stakes, S, s, reports, outcomes, pooled, losses, path, due,
    first, slots, g, at,
):  # fmt: skip
    """Run on from ``at`` until a case that needs `settle`; move ``at`` there.

    For what nearly every case is: two classes under Brier, everybody speaks, weights
    exponential with a small constant or doubling rate, or by wsu. The numbers are those
    of `settle`, but nothing here makes a view, calls a function or divides each stake:
    they are scaled to sum to 1 only when their sum has moved far. Sums are formed in
    loops that write nothing (see `_sum`).
    """
    T, N = reports.shape[0], stakes.shape[1]
    now = stakes.shape[0] - 1
    delayed, keeps = first.size > 0, path.size > 0
    doubling = rule == 0 and params[0] == 1.0
    t, d = at[0], at[1]
    while t < T:
        case, row = t, now
        if d >= 0 and delayed:
            if d == first[t + 1]:
                t, d = t + 1, -1
                continue
            case, row = due[d], slots[due[d]]
        total, mass = 0.0, 0.0
        if N < 16:  # few agents, four at a time: each addition waits for the last
            done = 0
            while done + 4 <= N:
                v0, v1 = stakes[row, done], stakes[row, done + 1]
                v2, v3 = stakes[row, done + 2], stakes[row, done + 3]
                early = v0 * reports[case, done] + v1 * reports[case, done + 1]
                later = v2 * reports[case, done + 2] + v3 * reports[case, done + 3]
                total += early + later
                mass += (v0 + v1) + (v2 + v3)
                done += 4
            while done < N:
                total += stakes[row, done] * reports[case, done]
                mass += stakes[row, done]
                done += 1
        else:
            for i in range(N):
                total += stakes[row, i] * reports[case, i]
                mass += stakes[row, i]
        if not total == total:
            break
        if d < 0:
            if keeps:
                for i in range(N):
                    path[t, i] = stakes[now, i]
            p = min(total / mass, 1.0)
            pooled[t, 0] = p
            losses[t] = (p - outcomes[t]) * (p - outcomes[t])
            d = 0
            if delayed:
                d = first[t]
                if slots[t] >= 0:
                    for i in range(N):
                        stakes[slots[t], i] = stakes[now, i]
                continue
        held = mass
        if delayed:
            held = 0.0
            for i in range(N):
                held += stakes[now, i]
        y = float(outcomes[case])
        eta, reach, least = params[1], params[4], FLOOR * held
        if rule == 1:
            mean = 0.0
            for i in range(N):
                miss = reports[case, i] - y
                mean += stakes[row, i] * (miss * miss)
            mean /= mass
            unit = 1.0 / reach
            for i in range(N):
                miss = reports[case, i] - y
                gap = unit * (miss * miss - mean)
                stakes[now, i] = max(stakes[now, i], least) * (1.0 - eta * gap)
            for i in range(N):
                miss = reports[case, i] - y
                gap = unit * (miss * miss - mean)
                S[0, i] += gap * gap
        else:
            if doubling:
                eta = s[1] if s[0] > 0.0 else np.inf
            error = total / mass - y
            if signal == 1:
                reach = 2.0 * abs(error)
            elif signal == 2:
                reach *= params[5]
            wide = eta * reach > 1.0 / 32.0
            if not eta * reach <= 0.1:
                break
            if signal == 0:
                for i in range(N):
                    miss = reports[case, i] - y
                    e = _exp(-eta * (miss * miss), wide)
                    stakes[now, i] = max(stakes[now, i], least) * e
            elif signal == 1:
                pull = -2.0 * eta * error
                for i in range(N):
                    e = _exp(pull * reports[case, i], wide)
                    stakes[now, i] = max(stakes[now, i], least) * e
            else:
                squares = 0.0
                for i in range(N):
                    squares += stakes[row, i] * stakes[row, i]
                if squares >= 0.999998 * mass * mass:  # nearly all is one agent's
                    break
                pull = eta * params[5]
                for i in range(N):
                    v = stakes[row, i]
                    q = (total - v * reports[case, i]) / (mass - v) - y
                    g[i] = pull * (q * q - error * error)
                for i in range(N):
                    stakes[now, i] = max(stakes[now, i], least) * _exp(g[i], wide)
            s[3] += reach * reach
            s[4] += min(eta * reach * reach / 8.0, reach)
        s[0] += 1.0
        s[1] = eta
        if doubling and s[3] > s[2]:
            _slow_down(stakes[now], s)
        elif not 0.5 <= held <= 2.0:
            scale = 1.0 / held
            for i in range(N):
                stakes[now, i] *= scale
        if delayed:
            d += 1
        else:
            t, d = t + 1, -1
    at[0], at[1] = t, d


@_jit
def run(
    rule, signal, code, table, line, params, w, S, s, values, outcomes, pooled, losses,
    path, due, first, slots, kept,
):  # fmt: skip
    """Decide every case in turn and settle each when it is due; count the skipped.

    ``w`` are stakes: weights up to a common factor. ``path`` is (T + 1, N), or empty
    when they are not to be kept. Without delays ``due`` is empty; else
    ``due[first[t]:first[t + 1]]`` are the cases whose outcome comes after decision t,
    and ``slots[t]`` is the row of ``kept`` in which the stakes of case t wait for it.
    The last row of ``kept`` is for those of now.
    """
    T, N, C = values.shape
    reports = values.reshape(T, N * C)
    g, f, even, used = np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    p, slope, prior, rest = np.empty(C), np.empty(C), np.empty(C), np.empty(C)
    sums = np.empty(2)
    delayed = first.size > 0
    stakes = kept if delayed else np.empty((1, N))
    now = stakes.shape[0] - 1
    stakes[now] = w
    paced = rule == 0 and params[0] < 2.0 and params[2] == 0.0 and signal < 3
    quick = code == 0 and C == 1 and (paced or rule == 1)
    skipped = 0
    at = np.array([0, -1])  # the case, and its place among the due: -1 before deciding
    while True:
        if quick:
            _run_quickly(
                rule, signal, params, stakes, S, s, reports, outcomes, pooled, losses,
                path, due, first, slots, g, at,
            )  # fmt: skip
        t, d = at
        if t == T:
            break
        if d < 0:
            if path.size:
                path[t] = stakes[now]
            if delayed and slots[t] >= 0:
                stakes[slots[t]] = stakes[now]
            spoke = _pool(reports[t], stakes[now], p, sums)
            losses[t] = _loss(code, p, outcomes[t], table, line) if spoke else np.nan
            for c in range(C):
                pooled[t, c] = p[c] if spoke else np.nan
            skipped += not spoke
            d = first[t] if delayed else 0
            if quick:  # settles all it can, whoever decided
                at[1] = d
                continue
        end = first[t + 1] if delayed else 1
        while d < end:
            case = due[d] if delayed else t
            row = slots[case] if delayed else now
            used[:] = stakes[row]
            if _pool(reports[case], used, p, sums):
                if quick:  # may have left stakes that do not sum to 1
                    _normalise(stakes[now], 1.0)
                settle(
                    rule, signal, code, table, line, params, stakes[now], S, s,
                    reports[case], outcomes[case], used, g, f, even, p, slope, prior,
                    rest, sums,
                )  # fmt: skip
            d += 1
            if quick:
                break
        at[0], at[1] = (t, d) if d < end else (t + 1, -1)
    if path.size:
        path[T] = stakes[now]
    w[:] = stakes[now]
    return skipped
