"""Formulas recorded from numpy as the nodes of an ONNX graph.

A pool's formula is plain numpy. Given a `Tensor` in place of an array, numpy hands its
functions over (``__array_ufunc__``, ``__array_function__``) and each adds nodes to a
graph; `FUNCTIONS` lists those that can be recorded. A tensor also has what numpy makes
of some cases, which gives its shape and type. Numbers are float64, so that a graph
differs from its pool by rounding alone. Nothing here needs onnx;
`truepool.pools.onnx.export` writes the file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln, expit

from truepool.core.arrays import Array, FloatArray
from truepool.core.errors import ExportError

TYPES = {"f": (np.float64, 11), "i": (np.int64, 7), "u": (np.int64, 7), "b": (bool, 9)}
"""Types of numbers by their kind in numpy, and what ONNX calls them."""
FIRST = np.iinfo(np.int64).min
"""Where ONNX stops that goes backwards to the first place."""
SAMPLE = 3
"""Cases on which numpy answers too."""
Shape: TypeAlias = tuple[int | None, ...]


@dataclass(eq=False)
class Graph:
    """Nodes and constants, in the order in which they were added, each once."""

    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(
        default_factory=list
    )
    constants: dict[str, Array] = field(default_factory=dict)
    known: dict[Any, str] = field(default_factory=dict)
    """What each constant and each node is called, by what it is."""

    def add(
        self, operator: str, *inputs: Any, sample: Any, **attributes: Any
    ) -> "Tensor":
        """Add a node; inputs that are no tensors become constants.

        ``sample`` is what numpy makes of the samples of the inputs.
        """
        labels = [self._label(value) for value in inputs]
        key = operator, *labels, repr(attributes)
        if key not in self.known:
            self.known[key] = f"{operator.lower()}_{len(self.nodes)}"
            self.nodes.append((operator, labels, self.known[key], attributes))
        return Tensor(self, self.known[key], np.asarray(sample))

    def _label(self, value: Any) -> str:
        if isinstance(value, Tensor):
            return value.label
        array = np.asarray(value)
        array = array.astype(TYPES[array.dtype.kind][0])
        key = array.dtype.kind, array.shape, array.tobytes()
        if key not in self.known:
            self.known[key] = f"constant_{len(self.constants)}"
            self.constants[self.known[key]] = array
        return self.known[key]


@dataclass(frozen=True, eq=False)
class Tensor(NDArrayOperatorsMixin):
    """A value inside a graph, one row per case; numpy's functions on it add nodes.

    >>> graph = Graph()
    >>> reports = tensor_of_reports(graph, "reports", (3,))
    >>> total = np.nansum(np.minimum(reports, 0.9), axis=1)
    >>> total.shape, [operator for operator, *_ in graph.nodes]
    ((None,), ['Greater', 'Where', 'IsNaN', 'Where', 'ReduceSum'])
    """

    graph: Graph
    label: str
    sample: Array

    @property
    def shape(self) -> Shape:
        """Lengths of the axes; how many cases there will be is not known."""
        return (None, *self.sample.shape[1:])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.sample.ndim

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **options: Any
    ) -> Any:
        given = options.get("where", True), options.pop("out", (None,))[0]
        if method != "__call__" or not options.keys() <= {"where"}:
            raise ExportError(f"numpy.{ufunc.__name__} is recorded without options")
        answer = _function(ufunc)(*inputs)
        return answer if given[0] is True else np.where(given[0], answer, given[1])

    def __array_function__(
        self, function: Any, types: Any, inputs: Any, options: Any
    ) -> Any:
        return _function(function)(*inputs, **options)

    def __array__(self, *options: Any, **named: Any) -> Array:
        raise ExportError("a formula must not make arrays of what is recorded")

    def __bool__(self) -> bool:
        raise ExportError("a formula must not branch on what was reported")

    def __len__(self) -> int:
        raise ExportError("how many cases there will be is not known to a formula")

    def __iter__(self) -> Any:
        raise ExportError("a formula must not loop over what is recorded")

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        given = sum(k is not None and k is not Ellipsis for k in keys)
        full = (slice(None),) * (self.ndim - given)
        for place, k in enumerate(keys):
            if k is Ellipsis:
                keys = (*keys[:place], *full, *keys[place + 1 :])
        found: Any = self
        axis = 0
        for k in keys:
            if k is None:
                found = np.expand_dims(found, axis)
            elif not isinstance(k, slice) or k != slice(None):
                if axis == 0:
                    raise ExportError("a formula must not choose among the cases")
                pick = _slice if isinstance(k, slice) else take
                found = pick(found, k, axis)
            axis += not isinstance(k, int | np.integer)
        return found

    @property
    def type(self) -> int:
        """What ONNX calls the type of the values."""
        return TYPES[self.sample.dtype.kind][1]

    def astype(self, kind: Any) -> "Tensor":
        """Return the values as another type."""
        if np.dtype(kind) == self.sample.dtype:
            return self
        number = TYPES[np.dtype(kind).kind][1]
        return self.graph.add("Cast", self, sample=self.sample.astype(kind), to=number)

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Sum along an axis."""
        return _sum(self, axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Mean along an axis."""
        return _mean(self, axis, keepdims=keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Largest along an axis."""
        return _largest(self, axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Smallest along an axis."""
        return _least(self, axis, keepdims=keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Whether one is true along an axis."""
        return _any(self, axis, keepdims=keepdims)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Whether all are true along an axis."""
        return _all(self, axis, keepdims=keepdims)

    def argmax(self, axis: Any = None) -> "Tensor":
        """Place of the first largest along an axis."""
        return _argmax(self, axis)

    def reshape(self, *shape: Any) -> "Tensor":
        """Return the same values in another shape; -1 is what is left."""
        return _reshape(self, shape[0] if isinstance(shape[0], tuple) else shape)

    def transpose(self, *axes: int) -> "Tensor":
        """Return the axes in another order."""
        return _transpose(self, axes)

    def swapaxes(self, first: int, second: int) -> "Tensor":
        """Return the values with two axes exchanged."""
        return _swapaxes(self, first, second)


def tensor_of_reports(graph: Graph, label: str, shape: tuple[int, ...]) -> Tensor:
    """Tensor (T, ...) that a graph is given."""
    return Tensor(graph, label, np.full((SAMPLE, *shape), 0.5))


def _function(function: Any) -> Callable[..., Any]:
    if function not in FUNCTIONS:
        known = sorted({f.__name__ for f in FUNCTIONS})
        raise ExportError(
            f"numpy.{function.__name__} cannot be recorded in an ONNX graph; these "
            f"functions can: {', '.join(known)}"
        )
    return FUNCTIONS[function]


def _samples(values: Sequence[Any]) -> list[Any]:
    return [v.sample if isinstance(v, Tensor) else v for v in values]


def _graph(values: Sequence[Any]) -> Graph:
    return next(v.graph for v in values if isinstance(v, Tensor))


def _cast(value: Any, kind: Any) -> Any:
    if isinstance(value, Tensor):
        return value.astype(kind)
    return np.asarray(value).astype(kind)


def _answer(function: Any, *values: Any, **options: Any) -> Any:
    """What numpy makes of the samples, whose cases may divide by zero."""
    with np.errstate(all="ignore"):
        return function(*_samples(values), **options)


def _elementwise(operator: str, ufunc: Any, *values: Any) -> Tensor:
    """An operator between numbers of one type."""
    sample = _answer(ufunc, *values)
    kind = np.result_type(*_samples(values))
    if ufunc in (np.isnan, np.isinf):
        kind = np.dtype(np.float64)
    elif sample.dtype != bool:
        kind = sample.dtype
    inputs = [_cast(value, kind) for value in values]
    return _graph(values).add(operator, *inputs, sample=sample)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    given = condition, yes, no
    sample = _answer(np.where, *given)
    inputs = [
        _cast(v, k) for v, k in zip(given, (bool, *[sample.dtype] * 2), strict=True)
    ]
    if sample.dtype == bool:
        condition, yes, no = inputs
        return (condition & yes) | (~condition & no)
    return _graph(given).add("Where", *inputs, sample=sample)


def _reduce(
    operator: str, function: Any, x: Any, axis: Any, *, keepdims: bool = False
) -> Any:
    if axis is None or 0 in (axes := [a % x.ndim for a in np.atleast_1d(axis)]):
        raise ExportError("a formula answers case by case: name another axis than 0")
    if x.sample.dtype == bool:
        x = x.astype(np.int64)
    sample = _answer(partial(function, axis=tuple(axes), keepdims=keepdims), x)
    return x.graph.add(operator, x, axes, sample=sample, keepdims=int(keepdims))


_sum = partial(_reduce, "ReduceSum", np.sum)
_most = partial(_reduce, "ReduceMax", np.max)


def _largest(x: Any, axis: Any, *, keepdims: bool = False) -> Any:
    """NaN if one of them is: runtimes differ in their ReduceMax."""
    if x.sample.dtype.kind != "f":
        return _most(x, axis, keepdims=keepdims)
    known = _most(np.where(np.isnan(x), -np.inf, x), axis, keepdims=keepdims)
    return np.where(np.isnan(x).any(axis=axis, keepdims=keepdims), np.nan, known)


def _least(x: Any, axis: Any, *, keepdims: bool = False) -> Any:
    return -_largest(-x, axis, keepdims=keepdims)


def _mean(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    return _sum(x, axis, keepdims=keepdims) / float(x.sample.shape[axis])


def _any(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    return _sum(x.astype(bool), axis, keepdims=keepdims) > 0


def _all(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    return ~_any(~x.astype(bool), axis, keepdims=keepdims)


def _nansum(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    return _sum(np.nan_to_num(x), axis, keepdims=keepdims)


def _nanmean(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    count = _sum(~np.isnan(x), axis, keepdims=keepdims)
    return _nansum(x, axis, keepdims=keepdims) / count


def _nanmax(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    known = _most(np.where(np.isnan(x), -np.inf, x), axis, keepdims=keepdims)
    return np.where(np.isnan(x).all(axis=axis, keepdims=keepdims), np.nan, known)


def _nanmin(x: Tensor, axis: int, *, keepdims: bool = False) -> Any:
    return -_nanmax(-x, axis, keepdims=keepdims)


def _argmax(x: Tensor, axis: int) -> Tensor:
    sample = _answer(np.argmax, x, axis=axis)
    numbers = x.astype(np.float64)
    place = axis % x.ndim
    return x.graph.add("ArgMax", numbers, sample=sample, axis=place, keepdims=0)


def _maximum(x: Any, y: Any) -> Any:
    return _either(np.less, x, y)


def _minimum(x: Any, y: Any) -> Any:
    return _either(np.greater, x, y)


def _either(beaten: Any, x: Any, y: Any) -> Any:
    """One of two numbers, NaN if one of them is: runtimes differ in their Max."""
    if not isinstance(x, Tensor):
        x, y = y, x
    second = beaten(x, y)
    return np.where(second | np.isnan(y) if isinstance(y, Tensor) else second, y, x)


def _floor_divide(x: Any, y: Any) -> Any:
    kind = np.result_type(*_samples((x, y)))
    return _cast(np.floor(x / y), kind)


def _expand_dims(x: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    axes = np.atleast_1d(axis)
    if not axes.size:
        return x
    return x.graph.add("Unsqueeze", x, axes, sample=np.expand_dims(x.sample, axis))


def _reshape(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    whole = tuple(int(n) for n in shape)
    return x.graph.add("Reshape", x, [*whole], sample=x.sample.reshape(whole))


def _transpose(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    order = [*(axes or reversed(range(x.ndim)))]
    return x.graph.add("Transpose", x, sample=x.sample.transpose(order), perm=order)


def _swapaxes(x: Tensor, first: int, second: int) -> Tensor:
    order = [*range(x.ndim)]
    order[first], order[second] = order[second], order[first]
    return _transpose(x, order)


def _concatenate(parts: Sequence[Any], axis: int = 0) -> Tensor:
    sample = _answer(lambda *p: np.concatenate(p, axis=axis), *parts)
    inputs = [_cast(part, sample.dtype) for part in parts]
    return _graph(parts).add("Concat", *inputs, sample=sample, axis=axis)


def _stack(parts: Sequence[Any], axis: int = 0) -> Tensor:
    return _concatenate([np.expand_dims(part, axis) for part in parts], axis)


def _slice(x: Tensor, k: slice, axis: int) -> Tensor:
    start, stop, step = k.indices(x.sample.shape[axis])
    stop = FIRST if stop < 0 else stop
    key = (*[slice(None)] * axis, k)
    return x.graph.add(
        "Slice", x, [start], [stop], [axis], [step], sample=x.sample[key]
    )


def take(x: Any, places: Any, axis: int = 0) -> Any:
    """Return the values at these places; numpy's own does not see tensors of places."""
    given = x, places
    sample = _answer(partial(np.take, axis=axis), *given)
    return _graph(given).add("Gather", x, places, sample=sample, axis=axis)


def _take_along_axis(x: Any, places: Any, axis: int) -> Tensor:
    given = x, places
    sample = _answer(partial(np.take_along_axis, axis=axis), *given)
    return _graph(given).add("GatherElements", x, places, sample=sample, axis=axis)


def _sort(x: Tensor, axis: int = -1) -> Any:
    length, place = x.sample.shape[axis], axis % x.ndim
    known: Any = np.where(np.isnan(x), np.inf, x)
    ranked = x.graph.add(
        "TopK", known, [length], sample=np.sort(known.sample, place),
        axis=place, largest=0, sorted=1,
    )  # fmt: skip
    first = length - np.isnan(x).sum(axis=place, keepdims=True)  # missing ones are last
    place_of = np.arange(length).reshape(-1, *[1] * (x.ndim - 1 - place))
    return np.where(place_of < first, ranked, np.nan)


def _cumsum(x: Tensor, axis: int) -> Tensor:
    return x.graph.add("CumSum", x, axis, sample=np.cumsum(x.sample, axis))


def _full_like(x: Tensor, value: float) -> Any:
    return np.where(np.ones(x.sample.shape[1:], bool), float(value), x)


def _einsum(equation: str, *values: Any) -> Any:
    """Products and a sum: onnxruntime would fuse its own with what comes next."""
    given, out = equation.split("->")
    letters = out + "".join(sorted({*given} - {*out, ","}))
    product: Any = 1.0
    for own, value in zip(given.split(","), values, strict=True):
        here = [own.index(k) for k in letters if k in own]
        new = tuple(n for n, k in enumerate(letters) if k not in own)
        product = product * np.expand_dims(np.transpose(value, here), new)
    return _sum(product, tuple(range(len(out), len(letters))))


def _interp(x: Tensor, corners: FloatArray, heights: FloatArray) -> Any:
    if len(corners) == 1:
        return np.full_like(x, heights[0])
    inside = np.clip(x, corners[0], corners[-1])
    below = (inside[..., None] >= corners[1:-1]).sum(axis=-1)
    slopes = np.diff(heights) / np.diff(corners)
    beyond = inside - take(corners[:-1], below)
    return take(heights[:-1], below) + take(slopes, below) * beyond


def _betainc(a: FloatArray, b: FloatArray, x: Tensor) -> Any:
    r"""Regularised incomplete beta function :math:`I_x(a, b)`.

    By its continued fraction (Press et al. 2007, section 6.4), which converges fast
    below the mean of the distribution; above it, by
    :math:`I_x(a, b) = 1 - I_{1 - x}(b, a)`.
    """
    low, high = _lower_tail(a, b, x), 1.0 - _lower_tail(b, a, 1.0 - x)
    return np.where(x < (a + 1) / (a + b + 2), low, high)


def _lower_tail(a: FloatArray, b: FloatArray, x: Any) -> Any:
    fraction = 1.0 + 0.0 * x
    enough = 20 + int(5 * np.sqrt(max(np.max(a), np.max(b))))  # up to the mean
    for m in range(enough, 0, -1):
        odd = -(a + m - 1) * (a + b + m - 1) / ((a + 2 * m - 2) * (a + 2 * m - 1))
        even = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m))
        fraction = 1.0 + x * odd / (1.0 + x * even / fraction)
    scale = np.log(a) + betaln(a, b)
    return np.exp(np.log(x) * a + np.log(1.0 - x) * b - scale) / fraction


OPERATORS: dict[Any, str] = {
    np.add: "Add",
    np.subtract: "Sub",
    np.multiply: "Mul",
    np.divide: "Div",
    np.matmul: "MatMul",
    np.power: "Pow",
    np.negative: "Neg",
    np.absolute: "Abs",
    np.exp: "Exp",
    np.log: "Log",
    np.sqrt: "Sqrt",
    np.floor: "Floor",
    np.tanh: "Tanh",
    expit: "Sigmoid",
    np.isnan: "IsNaN",
    np.isinf: "IsInf",
    np.equal: "Equal",
    np.greater: "Greater",
    np.greater_equal: "GreaterOrEqual",
    np.less: "Less",
    np.less_equal: "LessOrEqual",
    np.bitwise_and: "And",
    np.bitwise_or: "Or",
    np.logical_and: "And",
    np.logical_or: "Or",
    np.invert: "Not",
    np.logical_not: "Not",
}
"""Functions between numbers that are operators of ONNX."""
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{f: partial(_elementwise, name, f) for f, name in OPERATORS.items()},
    np.not_equal: lambda x, y: ~(x == y),
    np.square: lambda x: x * x,
    np.log1p: lambda x: np.log(1.0 + x),
    np.expm1: lambda x: np.exp(x) - 1.0,
    np.reciprocal: lambda x: 1.0 / x,
    np.floor_divide: _floor_divide,
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.clip: lambda x, low, high: np.minimum(np.maximum(x, low), high),
    betainc: _betainc,
    np.where: _where,
    np.nan_to_num: lambda x, nan=0.0: np.where(np.isnan(x), nan, x),
    np.sum: _sum,
    np.mean: _mean,
    np.max: _largest,
    np.min: _least,
    np.any: _any,
    np.all: _all,
    np.argmax: _argmax,
    np.nansum: _nansum,
    np.nanmean: _nanmean,
    np.nanmax: _nanmax,
    np.nanmin: _nanmin,
    np.cumsum: _cumsum,
    np.sort: _sort,
    np.concatenate: _concatenate,
    np.hstack: lambda parts: _concatenate(parts, 1),
    np.stack: _stack,
    np.expand_dims: _expand_dims,
    np.reshape: _reshape,
    np.transpose: _transpose,
    np.swapaxes: _swapaxes,
    np.take: take,
    np.take_along_axis: _take_along_axis,
    np.zeros_like: lambda x: _full_like(x, 0.0),
    np.ones_like: lambda x: _full_like(x, 1.0),
    np.full_like: _full_like,
    np.einsum: _einsum,
    np.interp: _interp,
}
"""What can be recorded: the same numbers, up to rounding."""


def dense(features: ArrayLike, layers: Sequence[tuple[Array, Array]]) -> Any:
    """Layers of slopes (out, in) and shifts (out,), with a ReLU between them."""
    found: Any = features
    for place, (slopes, shifts) in enumerate(layers):
        found = (np.maximum(found, 0.0) if place else found) @ slopes.T + shifts
    return found
