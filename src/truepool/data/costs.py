"""What errors cost, and the threshold that follows from it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray
from truepool.core.errors import CostError


@dataclass(frozen=True, init=False)
class Costs:
    r"""The cost of each error.

    Binary: ``fn`` for a missed case, ``fp`` for a false alarm. Deciding 1 is cheaper
    than deciding 0 exactly when :math:`p > fp / (fp + fn)`, the `threshold`.

    K classes: a K x K ``matrix`` whose entry [y, k] is the cost of deciding k when y
    happens; its diagonal is 0. Without a matrix, class 0 means that nothing happened:
    missing a class costs ``fn``, any alarm with the wrong name costs ``fp``.

    >>> Costs(fn=10, fp=1).threshold
    0.09090909090909091
    >>> Costs(fn=10, fp=1).table(3)
    array([[ 0.,  1.,  1.],
           [10.,  0.,  1.],
           [10.,  1.,  0.]])
    """

    fn: float
    fp: float
    matrix: tuple[tuple[float, ...], ...] | None

    def __init__(
        self, fn: float = 1.0, fp: float = 1.0, *, matrix: ArrayLike | None = None
    ) -> None:
        if matrix is not None:
            if (fn, fp) != (1.0, 1.0):
                raise CostError("give either fn and fp or a matrix of costs, not both")
            array = _checked(matrix)
            fn, fp = float(array[1:, 0].max()), float(array[0, 1:].max())
            rows = tuple(tuple(row) for row in array.tolist())
            object.__setattr__(self, "matrix", rows)
        else:
            for name, value in (("fn", fn), ("fp", fp)):
                if not _positive(value):
                    raise CostError(
                        f"a cost must be a positive number; {name} is {value!r}"
                    )
            object.__setattr__(self, "matrix", None)
        object.__setattr__(self, "fn", float(fn))
        object.__setattr__(self, "fp", float(fp))

    @cached_property
    def threshold(self) -> float:
        """Probability of class 1 above which deciding 1 is the cheaper error."""
        if self.matrix is not None and len(self.matrix) != 2:
            raise CostError(
                f"a threshold belongs to two classes; these costs have "
                f"{len(self.matrix)}. Use truepool.measures.decisions.decide."
            )
        return self.fp / (self.fp + self.fn)

    def table(self, classes: int) -> FloatArray:
        """Cost of deciding k when y happens, as a (K, K) array [y, k]."""
        if self.matrix is not None:
            if len(self.matrix) != classes:
                raise CostError(
                    f"the cost matrix must be K x K for the panel's K = {classes} "
                    f"classes; it is {len(self.matrix)} x {len(self.matrix)}"
                )
            return np.array(self.matrix)
        table = np.full((classes, classes), self.fp)
        table[1:, 0] = self.fn
        np.fill_diagonal(table, 0.0)
        return table

    def swap(self) -> "Costs":
        """Return the costs for the opposite question (binary): fn and fp change places.

        >>> Costs(fn=10, fp=1).swap()
        Costs(fn=1.0, fp=10.0, matrix=None)
        """
        return Costs(fn=self.fp, fp=self.fn)


def _positive(value: object) -> bool:
    return isinstance(value, int | float | np.number) and 0 < float(value) < np.inf


def _checked(matrix: ArrayLike) -> FloatArray:
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise CostError(
            "a cost matrix must be K x K with K of at least 2; "
            f"an array of shape {array.shape} came"
        )
    if np.diagonal(array).any():
        raise CostError(
            "the diagonal of a cost matrix must be 0: a right decision costs nothing; "
            f"it is {np.diagonal(array).tolist()}"
        )
    errors = ~np.eye(len(array), dtype=bool)
    bad = errors & ~(np.isfinite(array) & (array > 0))
    if bad.any():
        y, k = (int(index) for index in np.argwhere(bad)[0])
        raise CostError(
            "every cost of an error must be a positive number; deciding "
            f"{k} when {y} happens costs {array[y, k].item()!r}"
        )
    return array
