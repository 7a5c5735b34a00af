"""ONNX graphs, written as arithmetic on their tensors.

A pool says in `Pool.to_onnx` how it pools, with the operators here. Numbers are
float64, so that a graph differs from its pool by rounding alone. Nothing here needs
onnx; `truepool.pools.onnx.export` writes the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import SMALLEST, Array
from truepool.measures.calibration import LOG_ODDS_LIMIT

DOUBLE, INTEGER = 11, 7
"""What ONNX calls float64 and int64."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value inside a graph; arithmetic on it adds nodes to the graph."""

    graph: "Graph"
    label: str

    __array_ufunc__ = None  # so that array * tensor is the tensor's to answer

    def apply(self, operator: str, *others: Any, **attributes: Any) -> "Tensor":
        """Return what an operator of ONNX makes of this tensor and others."""
        return self.graph.add(operator, self, *others, **attributes)

    def __add__(self, other: Any) -> "Tensor":
        return self.apply("Add", other)

    def __radd__(self, other: Any) -> "Tensor":
        return self.graph.add("Add", other, self)

    def __sub__(self, other: Any) -> "Tensor":
        return self.apply("Sub", other)

    def __rsub__(self, other: Any) -> "Tensor":
        return self.graph.add("Sub", other, self)

    def __mul__(self, other: Any) -> "Tensor":
        return self.apply("Mul", other)

    def __rmul__(self, other: Any) -> "Tensor":
        return self.graph.add("Mul", other, self)

    def __truediv__(self, other: Any) -> "Tensor":
        return self.apply("Div", other)

    def __matmul__(self, other: Any) -> "Tensor":
        return self.apply("MatMul", other)

    def __rmatmul__(self, other: Any) -> "Tensor":
        return self.graph.add("MatMul", other, self)

    def __gt__(self, other: Any) -> "Tensor":
        return self.apply("Greater", other)

    def __lt__(self, other: Any) -> "Tensor":
        return self.apply("Less", other)

    def __ge__(self, other: Any) -> "Tensor":
        return self.apply("GreaterOrEqual", other)

    def __le__(self, other: Any) -> "Tensor":
        return self.apply("LessOrEqual", other)

    def where(self, yes: Any, no: Any) -> "Tensor":
        """Choose by this truth value, place by place."""
        return self.apply("Where", yes, no)

    def numbers(self) -> "Tensor":
        """Return truth values or whole numbers as 0.0, 1.0 and so on."""
        return self.apply("Cast", to=DOUBLE)

    def indices(self) -> "Tensor":
        """Return whole numbers that `take` understands."""
        return self.apply("Cast", to=INTEGER)

    def log(self) -> "Tensor":
        """Natural logarithm."""
        return self.apply("Log")

    def exp(self) -> "Tensor":
        """Exponential."""
        return self.apply("Exp")

    def relu(self) -> "Tensor":
        """Positive part."""
        return self.apply("Max", 0.0)

    def softmax(self) -> "Tensor":
        """Shares along the last axis."""
        return self.apply("Softmax", axis=-1)

    def clip(self, low: float, high: float) -> "Tensor":
        """Values moved into an interval."""
        return self.apply("Max", low).apply("Min", high)

    def sum(self, axis: int, *, keep: bool = False) -> "Tensor":
        """Sum along an axis."""
        return self.apply("ReduceSum", [axis], keepdims=int(keep))

    def max(self, axis: int, *, keep: bool = False) -> "Tensor":
        """Largest along an axis."""
        return self.apply("ReduceMax", [axis], keepdims=int(keep))

    def min(self, axis: int, *, keep: bool = False) -> "Tensor":
        """Smallest along an axis."""
        return self.apply("ReduceMin", [axis], keepdims=int(keep))

    def expand(self, axis: int) -> "Tensor":
        """Add an axis of length 1."""
        return self.apply("Unsqueeze", [axis])

    def reshape(self, *shape: int) -> "Tensor":
        """Return the same values in another shape; -1 is what is left."""
        return self.apply("Reshape", list(shape))

    def transpose(self, *order: int) -> "Tensor":
        """Return the axes in another order."""
        return self.apply("Transpose", perm=list(order))

    def take(self, places: Any, axis: int = 0) -> "Tensor":
        """Return the values at these places of an axis."""
        return self.apply("Gather", places, axis=axis)

    def sort(self, axis: int, length: int) -> "Tensor":
        """Return the values in rising order along an axis of this length."""
        return self.apply("TopK", [length], axis=axis, largest=0, sorted=1)


@dataclass(eq=False)
class Graph:
    """Nodes and constants, in the order in which they were added."""

    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(
        default_factory=list
    )
    constants: dict[str, Array] = field(default_factory=dict)

    def add(self, operator: str, *inputs: Any, **attributes: Any) -> Tensor:
        """Add a node; inputs that are no tensors become constants."""
        labels = [self.constant(value).label for value in inputs]
        output = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append((operator, labels, output, attributes))
        return Tensor(self, output)

    def constant(self, value: "Tensor | ArrayLike") -> Tensor:
        """Return a value as a tensor of this graph."""
        if isinstance(value, Tensor):
            return value
        array = np.asarray(value)
        if array.dtype.kind != "b":
            array = array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)
        label = f"constant_{len(self.constants)}"
        self.constants[label] = array
        return Tensor(self, label)


@dataclass(frozen=True, eq=False)
class ReportTensors:
    """Reports on T cases inside a graph.

    ``values`` (T, N, C) are 1/K where there is no report; ``reported`` (T, N, 1) is 1.0
    where there is one, else 0.0.
    """

    values: Tensor
    reported: Tensor
    agents: int
    coordinates: int

    @property
    def count(self) -> Tensor:
        """How many agents reported, (T, 1)."""
        return self.reported.sum(1)

    @property
    def classes(self) -> int:
        """Number of classes K."""
        return max(self.coordinates, 2)

    def mean(self, each: Tensor) -> Tensor:
        """Mean (T, J) over those who reported, of one value per agent (T, N, J)."""
        return (each * self.reported).sum(1) / self.count

    def fill(self, each: Tensor) -> Tensor:
        """Let those without a report agree with the others: (T, N, J)."""
        return (self.reported > 0.0).where(each, self.mean(each).expand(1))

    def weighted_mean(self, merits: Any) -> Tensor:
        """Pool by merits (N, 1) or (T, N, 1); without any merit all count equally."""
        share = self.reported.apply("Mul", merits)
        share = (share.sum(1, keep=True) > 0.0).where(share, self.reported)
        return (share * self.values).sum(1) / share.sum(1)

    def log_scale(self, clip: float = SMALLEST) -> Tensor:
        """Reports as log-odds, (T, N, K - 1)."""
        return log_scale(self.values, self.coordinates, clip)

    def clipped_log_scale(self) -> Tensor:
        """Reports as clipped log-odds, (T, N, K - 1)."""
        return self.log_scale().clip(-LOG_ODDS_LIMIT, LOG_ODDS_LIMIT)


def logit(probability: Tensor, clip: float = SMALLEST) -> Tensor:
    """Log-odds of probabilities that are kept this far from 0 and 1."""
    clipped = probability.clip(clip, 1 - clip)
    return clipped.log() - (1.0 - clipped).log()


def log_scale(values: Tensor, coordinates: int, clip: float = SMALLEST) -> Tensor:
    """Coordinates (..., C) on the log scale, (..., K - 1)."""
    if coordinates == 1:
        return logit(values, clip)
    logs = values.apply("Max", clip).log()
    return logs.take(list(range(1, coordinates)), -1) - logs.take([0], -1)


def from_log_scale(scale: Tensor, coordinates: int) -> Tensor:
    """Coordinates (T, C) of the probabilities whose log scale (T, K - 1) this is."""
    # Class 0 lies at 0. A product of matrices would do too, but onnxruntime joins one
    # with a factor in front of it, in single precision.
    first = 0.0 * scale.take([0], -1)
    shares = first.apply("Concat", scale, axis=-1).softmax()
    return shares.take([1], -1) if coordinates == 1 else shares


def from_scores(scores: Tensor, coordinates: int) -> Tensor:
    """Probabilities (..., C) of scores (..., C): one per class, or that of class 1."""
    return scores.apply("Sigmoid") if coordinates == 1 else scores.softmax()


def normalize(values: Tensor, coordinates: int) -> Tensor:
    """Scale K classes so that they sum to 1; binary is unchanged."""
    if coordinates == 1:
        return values
    total = values.sum(-1, keep=True)
    return (total > 0.0).where(values / total, np.full(coordinates, 1 / coordinates))


def trimmed_mean(reports: ReportTensors, share: float) -> Tensor:
    """Mean over agents without this share of them at each end, (T, C)."""
    N = reports.agents
    count = reports.count
    cut = (share * count + 1e-9).apply("Floor")
    cut = cut.apply("Min", ((count - 1.0) / 2.0).apply("Floor"))
    last = (reports.reported > 0.0).where(reports.values, 2.0)  # above any report
    ranked = last.sort(1, N)
    rank = np.arange(N, dtype=np.float64)[:, None]
    low, high = cut.expand(1), (count - cut).expand(1)
    inside = (rank >= low).apply("And", rank < high).numbers()
    mean = (inside * ranked).sum(1) / (count - 2.0 * cut)
    return normalize(mean, reports.coordinates)


def dense(features: Tensor, layers: Sequence[tuple[Array, Array]]) -> Tensor:
    """Layers of slopes (out, in) and shifts (out,), with a ReLU between them."""
    for place, (slopes, shifts) in enumerate(layers):
        features = (features.relu() if place else features) @ slopes.T + shifts
    return features
