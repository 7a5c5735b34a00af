# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
"""Sums in sixteen lanes, whatever the machine has; see `arithmetic`."""

import math
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from truepool.core.kernels import arithmetic

LANES, ROWS, FEW = 8, 2, 4
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
INLINED: dict[str, Any] = {
    **OPTIONS,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""For parts of a whole, which nobody calls from Python: they compile faster."""


def _in_lanes(start, combine, products=False):
    """Make ``f(left, right, at, size)``, which combines values in a fixed order.

    ``left[i]``, or ``left[i] * right[at + i]``, is combined in ROWS vectors of LANES,
    these pairwise, and what is left over in fours, and then one by one. Written as
    vectors because a compiler that may not reorder a sum cannot make them itself.
    """
    f64, i64 = ir.DoubleType(), ir.IntType(64)
    vector = ir.VectorType(f64, LANES)

    @intrinsic
    def combined(_, left, right, at, size):
        def generate(context, builder, signature, arguments):
            def data(which):
                make = context.make_array(signature.args[which])
                return make(context, builder, arguments[which]).data

            at, size = arguments[2:]
            sources = [data(0)]
            if products:
                sources.append(builder.gep(data(1), [at]))

            def load(index, kind=f64):
                values = []
                for source in sources:
                    place = builder.gep(source, [index])
                    place = builder.bitcast(place, kind.as_pointer())
                    values.append(builder.load(place, align=8))
                return builder.fmul(*values) if products else values[0]

            def take(value, place):
                builder.store(combine(builder, builder.load(place), value), place)

            first = ir.Constant(vector, [start] * LANES)
            rows = [cgutils.alloca_once_value(builder, first) for _ in range(ROWS)]
            block = ir.Constant(i64, ROWS * LANES)
            whole = builder.sub(size, builder.srem(size, block))
            zero, one = ir.Constant(i64, 0), ir.Constant(i64, 1)
            with cgutils.for_range_slice(builder, zero, whole, block, i64) as (i, _):
                for k, row in enumerate(rows):
                    take(load(builder.add(i, ir.Constant(i64, k * LANES)), vector), row)

            def pairwise(parts):
                while len(parts) > 1:
                    pairs = zip(parts[::2], parts[1::2], strict=True)
                    parts = [combine(builder, *pair) for pair in pairs]
                return parts[0]

            result = cgutils.alloca_once_value(builder, ir.Constant(f64, start))
            with builder.if_then(builder.icmp_signed(">", whole, zero)):
                lanes = combine(builder, *(builder.load(row) for row in rows))
                index = [ir.Constant(ir.IntType(32), k) for k in range(LANES)]
                parts = [builder.extract_element(lanes, k) for k in index]
                builder.store(pairwise(parts), result)
            fours = builder.sub(size, builder.srem(size, ir.Constant(i64, FEW)))
            step = ir.Constant(i64, FEW)
            with cgutils.for_range_slice(builder, whole, fours, step, i64) as (i, _):
                index = [builder.add(i, ir.Constant(i64, k)) for k in range(FEW)]
                nothing = ir.Constant(f64, start)
                parts = [combine(builder, nothing, load(place)) for place in index]
                take(pairwise(parts), result)
            with cgutils.for_range_slice(builder, fours, size, one, i64) as (i, _):
                take(load(i), result)
            return builder.load(result)

        return types.float64(left, right, at, size), generate

    return combined


def _add(builder, old, new):
    return builder.fadd(old, new)


def _larger(builder, old, new):  # the old one is a number, the new one may be NaN
    return builder.select(builder.fcmp_ordered(">", new, old), new, old)


def _smaller(builder, old, new):
    return builder.select(builder.fcmp_ordered("<", new, old), new, old)


_sum = _in_lanes(-0.0, _add)
_products = _in_lanes(-0.0, _add, products=True)
_largest = _in_lanes(-math.inf, _larger)
_least = _in_lanes(math.inf, _smaller)


def stack_array(size):
    """Make ``f(size)``, an array of so many floats on the stack: nothing else is there.

    So the compiler knows that no other array overlaps it, and keeps few values in
    registers. It lives as long as the call does.
    """
    kind = types.Array(types.float64, 1, "C")

    @intrinsic
    def allocated(_, size_):
        def generate(context, builder, signature, arguments):
            f64, i64 = ir.DoubleType(), ir.IntType(64)
            data = cgutils.alloca_once(builder, ir.ArrayType(f64, size))
            array = context.make_array(kind)(context, builder)
            item = ir.Constant(i64, 8)
            populate_array(
                array,
                data=builder.bitcast(data, f64.as_pointer()),
                shape=[ir.Constant(i64, size)],
                strides=[item],
                itemsize=item,
                meminfo=None,
            )
            return array._getvalue()

        return kind(size_), generate

    return allocated


def _fused(_, x, y, z):
    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


_fma: Any = intrinsic(_fused)
inline: Any = njit(**INLINED)
LANED = {
    arithmetic.fma: inline(lambda x, y, z: _fma(x, y, z)),
    arithmetic.total: inline(lambda v: _sum(v, v, 0, v.size)),
    arithmetic.dot: inline(lambda v, u: _products(v, u, 0, v.size)),
    arithmetic.dot_row: inline(
        lambda v, m, row: _products(v, m, row * m.shape[1], v.size)
    ),
    arithmetic.largest: inline(lambda v: _largest(v, v, 0, v.size)),
    arithmetic.least: inline(lambda v: _least(v, v, 0, v.size)),
}
