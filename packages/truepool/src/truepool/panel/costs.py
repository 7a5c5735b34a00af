"""What decisions cost, and the threshold that follows from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, FloatArray, IntArray, case_mean, read_only
from truepool.core.errors import CostError
from truepool.panel.amounts import (
    ERRORS,
    RIGHT,
    Amount,
    as_amount,
    as_matrix,
    check_order,
    per_case,
)
from truepool.panel.case_columns import CaseColumns
from truepool.panel.panel import Panel


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Costs:
    r"""The cost of each decision.

    Binary: ``fn`` for a missed case, ``fp`` for a false alarm, ``tp`` and ``tn`` for
    the right decisions, 0 by default and negative where they are a benefit. Deciding 1
    costs less than deciding 0 exactly when p lies above the `threshold`,

    .. math:: \frac{fp - tn}{(fp - tn) + (fn - tp)}.

    Each is one number, an array (T,) with one per case, or the name of a column of the
    cases (``"amount"``), which `resolve` looks up. ``currency`` names the unit; without
    one, costs are counted in false alarms.

    K classes: a K x K ``matrix`` whose entry [y, k] is the cost of deciding k when y
    happens; its diagonal is 0. Without a matrix, class 0 means that nothing happened:
    missing a class costs ``fn``, any alarm with the wrong name costs ``fp``, the right
    name ``tp``.

    >>> Costs(fn=10, fp=1).threshold
    0.09090909090909091
    >>> Costs(fn=[90, 9], fp=5, tp=-5).threshold.round(3)
    array([0.05 , 0.263])
    >>> Costs(fn=10, fp=1).table(3)
    array([[ 0.,  1.,  1.],
           [10.,  0.,  1.],
           [10.,  1.,  0.]])
    """

    fn: Amount
    fp: Amount
    tp: Amount
    tn: Amount
    matrix: tuple[tuple[float, ...], ...] | None
    currency: str

    def __init__(
        self,
        fn: float | str | ArrayLike = 1.0,
        fp: float | str | ArrayLike = 1.0,
        *,
        tp: float | str | ArrayLike = 0.0,
        tn: float | str | ArrayLike = 0.0,
        matrix: ArrayLike | None = None,
        currency: str = "",
    ) -> None:
        rows = None
        if matrix is not None:
            if any(map(np.ndim, (fn, fp, tp, tn))) or (fn, fp, tp, tn) != (1, 1, 0, 0):
                raise CostError(
                    "give either fn, fp, tp and tn or a matrix of costs, not both"
                )
            array = as_matrix(matrix)
            fn, fp = float(array[1:, 0].max()), float(array[0, 1:].max())
            rows = tuple(tuple(row) for row in array.tolist())
        given = {"fn": fn, "fp": fp, "tp": tp, "tn": tn}
        values = {name: as_amount(name, value) for name, value in given.items()}
        self._set(**values, matrix=rows, currency=currency)
        for error, right in zip(ERRORS, RIGHT, strict=True):
            check_order(error, values[error], right, values[right])
        self._check_lengths()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _map(self, change: Callable[[Amount], Amount]) -> "Costs":
        """Return costs with other amounts, which are trusted."""
        other = object.__new__(Costs)
        other._set(matrix=self.matrix, currency=self.currency)
        other._set(**{name: change(vars(self)[name]) for name in (*ERRORS, *RIGHT)})
        return other

    def _amounts(self, kind: type) -> dict[str, Any]:
        found = {name: vars(self)[name] for name in (*ERRORS, *RIGHT)}
        return {n: value for n, value in found.items() if isinstance(value, kind)}

    @property
    def named(self) -> dict[str, str]:
        """Column of each cost that has one.

        >>> Costs(fn="amount", tp="recovered").named
        {'fn': 'amount', 'tp': 'recovered'}
        """
        return self._amounts(str)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the cases that must be known."""
        return tuple(dict.fromkeys(self.named.values()))

    @cached_property
    def constant(self) -> bool:
        """Whether every case has the same costs."""
        return not (self.named or self._amounts(np.ndarray))

    @property
    def cases(self) -> int | None:
        """Number of cases that have costs of their own; None: the same for any."""
        arrays = self._amounts(np.ndarray).values()
        return next((array.size for array in arrays), None)

    def _check_lengths(self) -> None:
        sizes = {name: a.size for name, a in self._amounts(np.ndarray).items()}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{size} for {name}" for name, size in sizes.items())
            raise CostError(f"there must be one cost for each case; got {listed}")

    @cached_property
    def threshold(self) -> Any:
        """Probability of class 1 above which deciding 1 costs less than deciding 0.

        A float, or one per case (T,) where costs differ between cases; 1 where a hit
        costs as much as a miss.
        """
        if self.matrix is not None and len(self.matrix) != 2:
            raise CostError(
                f"a threshold requires two classes; these costs have "
                f"{len(self.matrix)}. Use truepool.measures.decisions.decide."
            )
        fn, fp, tp, tn = self._numbers("a threshold")
        alarm, saved = fp - tn, np.maximum(fn - tp, 0.0)
        if self.cases is None:
            return float(alarm / (alarm + saved))
        total = np.where(saved > 0, alarm + saved, 1.0)
        return read_only(np.where(saved > 0, alarm / total, 1.0))

    def _numbers(self, what: str) -> tuple[Any, Any, Any, Any]:
        if self.columns:
            raise CostError(
                f"{what} needs the costs of each case, which are in the column "
                f"{self.columns[0]!r}; give columns={{{self.columns[0]!r}: ...}}, or "
                "look them up first with costs.resolve(columns)"
            )
        return self.fn, self.fp, self.tp, self.tn

    def resolve(
        self, columns: Mapping[str, ArrayLike], ids: Array | None = None
    ) -> "Costs":
        """Return the costs with the numbers of the columns that they name.

        >>> Costs(fn="amount", fp=5).resolve({"amount": [120, 80]}).fn
        array([120.,  80.])
        """
        if not self.columns:
            return self
        if not isinstance(columns, CaseColumns):
            columns = CaseColumns(columns, np.size(next(iter(columns.values()), ())))
        found = {
            name: columns.find(column, f"the cost {name}={column!r}")
            for name, column in self.named.items()
        }
        numbers = {
            name: per_case(name, self.named[name], values, ids)
            for name, values in found.items()
        }
        contents = {
            f.name: vars(self)[f.name] for f in fields(self) if f.name != "matrix"
        }
        return Costs(**contents | numbers)

    def attach(self, panel: Panel) -> tuple[Panel, "Costs"]:
        """Return the panel with costs per case as columns, and costs that name them.

        The costs of each case then follow it wherever the panel is split.
        """
        arrays = {f"cost_{n}": a for n, a in self._amounts(np.ndarray).items()}
        if not arrays:
            return panel, self
        named = Costs(
            **{
                name: f"cost_{name}" if f"cost_{name}" in arrays else vars(self)[name]
                for name in (*ERRORS, *RIGHT)
            },
            currency=self.currency,
        )
        return panel.with_columns(arrays), named

    def take(self, cases: Any) -> "Costs":
        """Return the costs of some of the cases."""
        if self.cases is None:
            return self
        return self._map(lambda a: a[cases] if isinstance(a, np.ndarray) else a)

    def shape(self, shape: tuple[int, ...]) -> "Costs":
        """Return the costs with one number per case in another shape of the cases."""
        if self.cases is None:
            return self
        return self._map(lambda a: a.reshape(shape) if isinstance(a, np.ndarray) else a)

    def mean(self, case_weights: FloatArray | None = None) -> "Costs":
        """Return the costs of an average case, the same for all.

        >>> Costs(fn=[10, 30]).mean()
        Costs(fn=20.0, fp=1.0)
        """
        self._numbers("a mean")

        def average(amount: Amount) -> Amount:
            many = isinstance(amount, np.ndarray)
            return case_mean(amount, case_weights) if many else amount

        return self._map(average)

    @cached_property
    def errors(self) -> "Costs":
        """What an error costs more than the right decision: ``tp`` and ``tn`` are 0.

        >>> Costs(fn=90, fp=5, tp=-10, tn=1).errors
        Costs(fn=100.0, fp=4.0)
        """
        fn, fp, tp, tn = self._numbers("what an error costs")
        if not (np.any(tp) or np.any(tn)):
            return self
        other = self._map(lambda amount: 0.0)
        other._set(fn=np.maximum(fn - tp, 0.0), fp=fp - tn)
        return other if other.cases is not None else other._map(float)

    def cost_per_case(
        self, outcomes: IntArray, decisions: IntArray, classes: int
    ) -> FloatArray:
        """Cost of these decisions when these outcomes happen, (...)."""
        if self.constant:
            return np.asarray(self.table(classes)[outcomes, decisions])
        fn, fp, tp, tn = self._numbers("a cost")
        right = np.where(outcomes == 0, tn, tp)
        wrong = np.where(decisions == 0, fn, fp)
        return np.asarray(np.where(outcomes == decisions, right, wrong))

    def cost_per_decision(self, outcomes: IntArray, classes: int) -> FloatArray:
        """Cost of each decision when these outcomes happen, (..., K)."""
        costs = self.shape((*outcomes.shape, 1))
        return costs.cost_per_case(outcomes[..., None], np.arange(classes), classes)

    def stakes(self, outcomes: IntArray, classes: int) -> FloatArray:
        """What a decision can change when these outcomes happen, (...).

        >>> Costs(fn=10, tp=2).stakes(np.array([1, 0]), 2)
        array([8., 1.])
        """
        costs = self.cost_per_decision(outcomes, classes)
        return np.asarray(costs.max(axis=-1) - costs.min(axis=-1))

    def expected_cost(self, pooled: FloatArray) -> FloatArray:
        """Expected cost of deciding each of K > 2 classes, (..., K) of (..., K)."""
        if self.constant:
            expected: FloatArray = pooled @ self.table(pooled.shape[-1])
            return expected
        amounts = self._numbers("a decision")
        fn, fp, tp, tn = (np.asarray(a)[..., None] for a in amounts)
        others = pooled * tp + (1 - pooled) * fp
        first = pooled[..., :1]
        return np.concatenate([first * tn + (1 - first) * fn, others[..., 1:]], axis=-1)

    def check_cases(self, cases: int) -> None:
        """Refuse names of columns, and costs of another number of cases."""
        self._numbers("a decision")
        if self.cases not in (None, cases):
            raise CostError(
                "there must be one cost for each case; got "
                f"{self.cases} costs for {cases} cases"
            )

    def check_constant(self, what: str) -> None:
        """Refuse costs that differ between cases where that cannot be honoured."""
        if not self.constant:
            kind = next(iter(self._amounts(np.ndarray) | self.named))
            got = (
                f"the column {self.named[kind]!r}" if kind in self.named else "an array"
            )
            raise CostError(
                f"{what} one cost for all cases; got {got} for {kind}. Give a number, "
                f"as in {kind}=10."
            )

    def check_classes(self, classes: int) -> None:
        """Refuse a matrix that is made for another number of classes."""
        if self.matrix is not None and len(self.matrix) != classes:
            raise CostError(
                f"the cost matrix must be K x K for the panel's K = {classes} "
                f"classes; it is {len(self.matrix)} x {len(self.matrix)}"
            )

    def table(self, classes: int) -> FloatArray:
        """Cost of deciding k when y happens, as a (K, K) array [y, k]."""
        self.check_classes(classes)
        if self.matrix is not None:
            return np.array(self.matrix)
        fn, fp, tp, tn = self._numbers("a table of costs")
        if not self.constant:
            raise CostError("a table of costs belongs to costs that all cases share")
        table = np.full((classes, classes), fp)
        table[1:, 0] = fn
        np.fill_diagonal(table, [tn, *[tp] * (classes - 1)])
        return table

    def swap(self) -> "Costs":
        """Return the costs for the opposite question (binary): fn and fp change places.

        >>> Costs(fn=10, fp=1).swap()
        Costs(fn=1.0, fp=10.0)
        """
        return Costs(self.fp, self.fn, tp=self.tn, tn=self.tp, currency=self.currency)

    def __repr__(self) -> str:
        names = ["fn", "fp"]
        names += [name for name in RIGHT if np.any(vars(self)[name] != 0.0)]
        names += [name for name in ("matrix", "currency") if vars(self)[name]]
        return f"Costs({', '.join(f'{name}={vars(self)[name]!r}' for name in names)})"

    def _key(self) -> tuple[Any, ...]:
        values = (vars(self)[f.name] for f in fields(self))
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Costs) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())
