# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
"""The loop over cases, compiled by numba for one kernel, one signal and one loss.

`run` is a template: `specialise` puts a learner's kernel, a loss and a signal in the
place of the names that it leaves open, and compiles the whole. What comes out is kept
on disk under a name made from the code of all its parts, so that a change in any of
them is compiled anew.

Nothing is compiled with freedom to reorder or to fuse operations. So it does not matter
how the compiler unrolls a loop, or whether one case runs in a call or a million: the
bits are the same, on every machine (see `truepool.core.kernels.arithmetic`).

What makes it fast: no views and no calls inside the loop; weights are held up to a
common factor, and scaled only when their sum has moved far from 1; the leave-one-out
pools come from one running sum; sums run in sixteen lanes.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from truepool.core.kernels import lanes_compiled
from truepool.core.kernels.arithmetic import dot, dot_row, total
from truepool.core.kernels.compilation import jit
from truepool.core.kernels.lanes_compiled import LANED, OPTIONS, inline, stack_array
from truepool.core.kernels.losses_compiled import BINARY, OF_CLASSES
from truepool.core.kernels.reference import MIN_SHARE

MAX_CONCENTRATION = 0.999998
"""Squared weights above this part of the squared sum: one agent has nearly all."""

COMPILATION_ERROR = NumbaError
"""What compiled code raises at its first call if numba cannot compile it."""

# Left open, and filled in by `specialise`.
loss: Any = None
slope: Any = None
pool: Any = None
write: Any = None
signal: Any = None
kernel: Any = None
Feedback: Any = None
Memory: Any = None
Settings: Any = None
remember: Any = None
set_up: Any = None
UNIFORM = False
array: Any = np.empty
AGENTS = 0
LANES_SOURCE = Path(lanes_compiled.__file__).read_text()
"""Part of the name of what is compiled: an intrinsic has no code of its own to ask."""
OPEN = {
    *("loss", "slope", "pool", "write", "signal", "kernel", "UNIFORM", "AGENTS"),
    *("array", "Feedback", "Memory", "Settings", "remember", "set_up"),
}


# --- pools and signals of two classes ----------------------------------------------
# ``loss`` and ``slope`` are left open. Row ``case`` of the reports is one case.


def _pool(reports, case, w, mass, out):
    """Pool a case: how many reported, the sum of their weights, and the pool."""
    N = w.size
    p = dot_row(w, reports, case) / mass
    if AGENTS or p == p:
        return N, mass, min(p, 1.0)
    sum_, weight_sum, plain, count = 0.0, 0.0, 0.0, 0
    for i in range(N):
        m = reports[case, i]
        if m == m:
            sum_ += w[i] * m
            weight_sum += w[i]
            plain += m
            count += 1
    p = min(sum_ / weight_sum, 1.0) if weight_sum > 0.0 else plain / max(count, 1)
    return count, weight_sum, p if count else np.nan


def _write(p, pooled, t):
    pooled[t, 0] = p


def _own(reports, case, y, w, p, weight_sum, count, span, table, line, scratch, g):
    for i in range(g.size):
        m = reports[case, i]
        g[i] = loss(m, y, table, line) if m == m else np.nan
    return span, _mean(w, g, weight_sum, count)


def _slope(reports, case, y, w, p, weight_sum, count, span, table, line, scratch, g):
    steep = slope(p, y, table)
    for i in range(AGENTS if AGENTS else g.size):
        g[i] = steep * reports[case, i]
    return abs(steep), steep * p


def _marginal(reports, case, y, w, p, weight_sum, count, span, table, line, scratch, g):
    """Minus the contribution of each agent: the pool's loss with, less without it."""
    N = AGENTS if AGENTS else g.size
    base = loss(p, y, table, line)
    sum_ = p * weight_sum
    for i in range(N):
        m = reports[case, i]
        rest = (sum_ - w[i] * m) / (weight_sum - w[i])
        g[i] = base - loss(rest, y, table, line) if m == m else np.nan
    if count == N and dot(w, w) < MAX_CONCENTRATION * weight_sum * weight_sum:
        return span, _mean(w, g, weight_sum, count)
    for i in range(N):  # where nearly nothing is left, it is summed up exactly
        m = reports[case, i]
        if m == m and not weight_sum - w[i] > 1e-6 * weight_sum:
            equal = not weight_sum - w[i] > MIN_SHARE * weight_sum
            others, part = 0.0, 0.0
            for j in range(N):
                m = reports[case, j]
                if j != i and m == m:
                    v = 1.0 if equal else w[j]
                    others += v * m
                    part += v
            rest = others / part if count > 1 else 0.5
            g[i] = base - loss(rest, y, table, line)
    return span, _mean(w, g, weight_sum, count)


def _mean(w, g, weight_sum, count):
    """Mean of g by the weights of those who reported; of equal ones if these are 0."""
    if weight_sum > 0.0 and count == g.size:
        return dot(w, g) / weight_sum
    weighted, plain = 0.0, 0.0
    for i in range(g.size):
        if g[i] == g[i]:
            weighted += w[i] * g[i]
            plain += g[i]
    return weighted / weight_sum if weight_sum > 0.0 else plain / count


# --- pools and signals of K classes ------------------------------------------------


def _pool_of_classes(reports, case, w, mass, out):
    N, C = w.size, out.size
    weight_sum, count = 0.0, 0
    for i in range(N):
        if reports[case, i * C] == reports[case, i * C]:
            weight_sum += w[i]
            count += 1
    for c in range(C):
        sum_, plain = 0.0, 0.0
        for i in range(N):
            m = reports[case, i * C + c]
            if m == m:
                sum_ += w[i] * m
                plain += m
        out[c] = (
            min(sum_ / weight_sum, 1.0) if weight_sum > 0.0 else plain / max(count, 1)
        )
        if count == 0:
            out[c] = np.nan
    return count, weight_sum, out


def _write_classes(p, pooled, t):
    for c in range(p.size):
        pooled[t, c] = p[c]


def _own_of_classes(
    reports, case, y, w, p, weight_sum, count, span, table, line, scratch, g
):
    C = p.size
    for i in range(g.size):
        for c in range(C):
            scratch[c] = reports[case, i * C + c]
        silent = scratch[0] != scratch[0]
        g[i] = np.nan if silent else loss(scratch, y, table, line)
    return span, _mean(w, g, weight_sum, count)


def _slope_of_classes(
    reports, case, y, w, p, weight_sum, count, span, table, line, scratch, g
):
    C = p.size
    slope(p, y, table, scratch)
    for i in range(g.size):
        sum_ = 0.0
        for c in range(C):
            sum_ += scratch[c] * reports[case, i * C + c]
        g[i] = sum_
    mean = 0.0
    for c in range(C):
        mean += scratch[c] * p[c]
    return scratch.max() - scratch.min(), mean


def _marginal_of_classes(
    reports, case, y, w, p, weight_sum, count, span, table, line, scratch, g
):
    N, C = g.size, p.size
    base = loss(p, y, table, line)
    for i in range(N):
        g[i] = np.nan
        if reports[case, i * C] != reports[case, i * C]:
            continue
        left = weight_sum - w[i]
        for c in range(C):
            scratch[c] = (p[c] * weight_sum - w[i] * reports[case, i * C + c]) / left
        if not left > 1e-6 * weight_sum:
            equal = not left > MIN_SHARE * weight_sum
            for c in range(C):
                others, part = 0.0, 0.0
                for j in range(N):
                    m = reports[case, j * C + c]
                    if j != i and m == m:
                        v = 1.0 if equal else w[j]
                        others += v * m
                        part += v
                scratch[c] = others / part if count > 1 else 1.0 / C
        g[i] = base - loss(scratch, y, table, line)
    return span, _mean(w, g, weight_sum, count)


SIGNALS = {"own": _own, "slope": _slope, "marginal": _marginal, "uniform": _marginal}
SIGNALS_OF_CLASSES = {
    "own": _own_of_classes,
    "slope": _slope_of_classes,
    "marginal": _marginal_of_classes,
    "uniform": _marginal_of_classes,
}


# --- the loop ----------------------------------------------------------------------


def _remember(fields):
    return Memory(*fields)


def _set_up(fields):
    return Settings(*fields)


def _as_is(fields):
    return fields


def run(
    setting_values, memory_values, settled, weights, reports, outcomes, span, table,
    line, pooled, losses, path, due, first, slots, late_weights,
):  # fmt: skip
    """Decide every case in turn, and update by each when its outcome is due.

    Settings and memory come as plain tuples, which numba tells apart much faster.
    ``weights`` (N,) are written to, and so are the arrays of the memory. ``reports``
    are (T, N * C). ``path`` is (T + 1, N), or empty when it is not wanted. Without
    delays ``first`` is empty; else ``due[first[t] : first[t + 1]]`` are the cases whose
    outcome comes after decision t, and row ``slots[t]`` of ``late_weights`` holds the
    weights of case t until then. Returns the memory, the number of cases settled and
    the number skipped.
    """
    settings, memory = set_up(setting_values), remember(memory_values)
    given, N = weights, AGENTS if AGENTS else weights.size
    weights, g, even = array(N), array(N), array(N)
    for i in range(N):
        weights[i] = given[i]
        even[i] = 1.0 / N
    T, C = pooled.shape[0], pooled.shape[1]
    delayed, keeps = AGENTS == 0 and first.size > 0, path.size > 0
    used = array(N) if delayed else weights
    out, even_out, scratch = np.empty(C), np.empty(C), np.empty(C)
    mass, even_mass = total(weights), total(even)
    skipped = 0
    for t in range(T):
        if keeps:
            for i in range(N):
                path[t, i] = weights[i]
        if delayed and slots[t] >= 0:
            for i in range(N):
                late_weights[slots[t], i] = weights[i]
        count, weight_sum, p = pool(reports, t, weights, mass, out)
        losses[t] = loss(p, outcomes[t], table, line) if count else np.nan
        write(p, pooled, t)
        skipped += count == 0
        begin = first[t] if delayed else 0
        end = first[t + 1] if delayed else 1
        for d in range(begin, end):
            case = due[d] if delayed else t
            if delayed:
                for i in range(N):
                    used[i] = late_weights[slots[case], i]
                count, weight_sum, p = pool(reports, case, used, total(used), out)
            if count == 0:
                continue
            y = outcomes[case]
            if UNIFORM:
                _, weight_sum, p = pool(reports, case, even, even_mass, even_out)
            reach, mean = signal(
                reports, case, y, even if UNIFORM else used, p, weight_sum, count, span,
                table, line, scratch, g,
            )  # fmt: skip
            complete = AGENTS > 0 or count == N
            feedback = Feedback(g, reach, mean, used, settled, complete, mass)
            memory = kernel(weights, memory, feedback, settings)
            settled += 1
            mass = total(weights)
            if not 0.5 <= mass <= 2.0:
                scale = 1.0 / mass
                for i in range(N):
                    weights[i] *= scale
                mass = total(weights)
    if keeps:
        for i in range(N):
            path[T, i] = weights[i]
    for i in range(N):
        given[i] = weights[i]
    return memory, settled, skipped


def pool_one(reports, weights, pooled):
    """Pool one case (1, N * C) into (1, C), as `run` does."""
    out = np.empty(pooled.shape[1])
    _, _, p = pool(reports, 0, weights, total(weights), out)
    write(p, pooled, 0)


# --- putting it together -----------------------------------------------------------


@cache
def specialise(
    kernel: Callable[..., Any],
    tuples: tuple[type, type, type],
    signal: str,
    loss: str,
    binary: bool,
    agents: int = 0,
    compiled: bool = True,
) -> Callable[..., Any]:
    """Return `run` for this kernel, signal and loss; or uncompiled, to step through.

    ``tuples`` are the types of the feedback, of the memory and of the settings. The
    number of ``agents`` can be compiled in, for a loop in which all of them report and
    nothing is late; 0 serves any.
    """
    feedback, memory, settings = tuples
    priced, sloped = (BINARY if binary else OF_CLASSES)[loss]
    chosen = (SIGNALS if binary else SIGNALS_OF_CLASSES)[signal]
    parts = {
        "loss": priced,
        "slope": sloped,
        "pool": _pool if binary else _pool_of_classes,
        "write": _write if binary else _write_classes,
        "signal": chosen,
        "kernel": kernel,
        "Feedback": feedback,
        "Memory": memory,
        "Settings": settings,
        "remember": _as_is if memory is tuple else _remember,
        "set_up": _as_is if settings is tuple else _set_up,
        "UNIFORM": signal == "uniform",
        "AGENTS": agents,
        "array": stack_array(agents) if agents else np.empty,
    }
    return _compiled(run, parts) if compiled else _filled(run, parts, _as_is, {})


@cache
def pooling(binary: bool) -> Callable[..., Any]:
    """Return `pool_one` for two classes, or for K."""
    pool, write = (_pool, _write) if binary else (_pool_of_classes, _write_classes)
    return _compiled(pool_one, {"pool": pool, "write": write})


def _compiled(template: Any, parts: dict[str, Any]) -> Callable[..., Any]:
    whole = _filled(template, parts, inline, LANED)
    code = "\n".join([LANES_SOURCE, *_code(whole)])
    digest = hashlib.sha256(code.encode()).hexdigest()[:16]
    whole.__qualname__ = f"{template.__name__}_{digest}"
    compiled: Callable[..., Any] = jit(**OPTIONS)(whole)
    return compiled


def _filled(function, parts, make, made):
    """Return the function with its open names filled in, and so all that it calls.

    Plain functions that it calls by a global name are made by ``make``; ``made`` holds
    those that leave nothing open, which every specialisation shares.
    """
    scope = dict(function.__globals__)
    if function.__module__ == __name__:
        scope |= parts
    for name in _names(function.__code__):
        called = scope.get(name)
        if isinstance(called, FunctionType):
            if called in made:
                scope[name] = made[called]
                continue
            scope[name] = make(_filled(called, parts, make, made))
            if not (
                called.__module__ == __name__ and OPEN & {*_names(called.__code__)}
            ):
                made[called] = scope[name]
    code, defaults = function.__code__, function.__defaults__
    return FunctionType(code, scope, function.__name__, defaults)


def _names(code):
    return sorted(set(code.co_names))


def _code(function):
    """Yield the code of a function, and of all it calls, and the constants in them."""
    code = function.__code__
    yield f"{function.__name__} {code.co_code.hex()} {code.co_consts} {code.co_names}"
    for name in _names(code):
        value = function.__globals__.get(name)
        if isinstance(value, Dispatcher):
            yield from _code(value.py_func)
        elif isinstance(value, int | float | str | tuple | type):
            yield f"{name} {value!r}"
