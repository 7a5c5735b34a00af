"""The minimum of a convex loss with a squared penalty, by Newton's method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray, blocks

STEPS, SMALLEST_STEP, PRECISION = 100, 1e-6, 1e-10
"""Limits of Newton's method: its steps, how far one is shortened, and the fall per case
that the next step promises when it has converged."""
FEW_CASES, FEW_FEATURES = 2_000, 30
"""Up to so many a compiled loop is faster than numpy."""
NOWHERE = np.zeros(0)
Terms: TypeAlias = tuple[float, FloatArray, FloatArray]
"""A loss, its gradient (P,) and its Hessian (P, P)."""


def newton_step(curve: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return the step to the minimum of a parabola; the shortest one where it is flat.

    >>> newton_step(np.eye(2), np.ones(2)), newton_step(np.ones((2, 2)), np.ones(2))
    (array([1., 1.]), array([0.5, 0.5]))
    """
    try:
        return np.asarray(np.linalg.solve(curve, gradient), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(curve, gradient)[0], np.float64)


@dataclass(frozen=True, eq=False)
class BinaryLoss:
    """Log loss of log-odds ``offset`` + theta @ features, with its derivatives.

    Features are (F, T); of each case (T,) there are an offset, whether the event
    happened, 0 or 1, and how much it counts.
    """

    features: FloatArray
    offset: FloatArray
    happened: FloatArray
    cases: FloatArray

    def __call__(self, theta: FloatArray) -> Terms:
        """Loss at theta (F,), its gradient (F,) and its Hessian (F, F)."""
        F, T = self.features.shape
        loss, gradient, hessian = 0.0, np.zeros(F), np.zeros((F, F))
        for part in blocks(T, F):
            x, y, c = self.features[:, part], self.happened[part], self.cases[part]
            scores = theta @ x + self.offset[part]
            small = np.exp(-np.abs(scores))
            loss += float(c @ (np.log1p(small) + np.maximum(scores, 0.0) - y * scores))
            small /= 1.0 + small  # the smaller of p and 1 - p
            fitted = np.where(scores < 0.0, small, 1.0 - small)
            gradient += x @ (c * (fitted - y))
            hessian += (x * (c * small * (1.0 - small))) @ x.T
        return loss, gradient, hessian

    @property
    def is_small(self) -> bool:
        """Whether it takes less time compiled."""
        F, T = self.features.shape
        return bool(T <= FEW_CASES and F <= FEW_FEATURES)


class Point(NamedTuple):
    """Coefficients (P,), and the loss, its gradient and its Hessian there."""

    theta: FloatArray
    loss: float
    gradient: FloatArray
    hessian: FloatArray


class Minimizer:
    """Minima of a convex loss of so many cases, under one penalty after the other.

    The loss and its derivatives do not depend on the penalty: where a step of Newton's
    method from the last point that was looked at promises less than the ``precision``
    per case, it leads to the minimum and nothing is evaluated.

    >>> bowl = Minimizer(lambda x: (x @ x, 2 * x, 2 * np.eye(1)), np.ones(1), 1.0)
    >>> theta, value, _ = bowl.find(np.zeros(1))
    >>> float(theta[0]), float(value)
    (0.0, 0.0)
    """

    def __init__(
        self,
        terms: Callable[[FloatArray], Terms],
        start: FloatArray,
        cases: float,
        precision: float = PRECISION,
    ) -> None:
        self.terms = terms
        self.enough = precision * cases
        self.last = self._look(start)

    def find(
        self, penalty: FloatArray, near: FloatArray | None = None
    ) -> tuple[FloatArray, float, FloatArray]:
        """Where the loss with half the penalised squares is least; value, Hessian.

        ``near`` is looked at next, unless the last point is near enough.
        """
        loss = self.terms
        if kernels.find is not None and isinstance(loss, BinaryLoss) and loss.is_small:
            found = self._compiled(kernels.find, loss, penalty, near)
            if found is not None:
                return found
        for _ in range(STEPS):
            theta, level, gradient, hessian = self.last
            value = level + float(penalty @ theta**2) / 2
            slope, curve = gradient + penalty * theta, hessian + np.diag(penalty)
            step = newton_step(curve, slope)
            fall = float(slope @ step)
            if fall <= self.enough:  # the error after this step is about its square
                return theta - step, value - fall / 2, curve
            if near is not None:
                self.last, near = self._look(near), None
                continue
            size = 1.0
            while True:
                moved = self._look(theta - size * step)
                risen = moved.loss + float(penalty @ moved.theta**2) / 2 > value
                if not risen or size <= SMALLEST_STEP:
                    break
                size /= 2
            self.last = moved
            if risen:  # no step in this direction is short enough
                break
        return theta, value, curve

    def _compiled(
        self,
        search: Any,
        loss: BinaryLoss,
        penalty: FloatArray,
        near: FloatArray | None,
    ) -> tuple[FloatArray, float, FloatArray] | None:
        """What `find` answers; None where a Hessian is singular in rounding."""
        last = self.last
        theta, near = last.theta.copy(), NOWHERE if near is None else near
        found, curve = np.empty_like(theta), np.empty_like(last.hessian)
        done, value, least = search(
            loss.features, loss.offset, loss.happened, loss.cases,
            theta, last.loss, last.gradient, last.hessian, penalty, near,
            self.enough, STEPS, SMALLEST_STEP, found, curve,
        )  # fmt: skip
        self.last = (
            self._look(theta) if not done else last._replace(theta=theta, loss=value)
        )
        return (found, least, curve) if done else None

    def _look(self, theta: FloatArray) -> Point:
        return Point(theta, *self.terms(theta))
