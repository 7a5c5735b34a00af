"""Penalised logistic regression, solved to the last digit and from a warm start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

from truepool.core.arrays import FloatArray, IntArray, blocks
from truepool.measures.calibration import newton_step

NEWTON_PARAMETERS = 200
"""With more parameters the Hessian costs more than the steps that it saves."""
SPREAD = 0.1
"""Typical p (1 - p), from which the quasi-Newton method starts."""
STEPS, SMALLEST_STEP, PRECISION = 100, 1e-6, 1e-10
"""Limits of Newton's method: its steps, how far one is shortened, and the fall per case
that the next step promises when it has converged."""
QUASI_PRECISION = 1e-8
"""The gradient per case at which the quasi-Newton method has converged."""
INTERCEPT_PENALTY = 1e-12
"""Penalty per case on the intercepts, which settles what the data leave open."""
Terms: TypeAlias = tuple[float, FloatArray, FloatArray]
"""An objective, its gradient (P,) and its Hessian (P, P)."""
LARGEST_LOSS = 1e3
"""What a case of a class that was never seen costs."""


@dataclass(frozen=True, eq=False)
class LogisticData:
    """Cases to regress on: features (T, F) with a last column of ones, classes (T,).

    One set of coefficients for two classes, K sets for more. Where there were more
    features than cases, these are fewer, and ``back`` (T, F) leads back to all.
    """

    features: FloatArray
    happened: FloatArray
    cases: FloatArray
    back: FloatArray | None = None

    @classmethod
    def build(
        cls, features: FloatArray, outcomes: IntArray, classes: int, cases: FloatArray
    ) -> "LogisticData":
        """Regression on features (T, F) for the outcomes of K classes."""
        ones = np.ones((len(features), 1))
        kinds = np.arange(1, 2) if classes == 2 else np.arange(classes)
        happened = (outcomes[:, None] == kinds).astype(np.float64)
        back = None
        if len(features) < features.shape[1]:
            features, back = row_space(features)
        return cls(np.hstack([features, ones]), happened, cases, back)

    def take(self, cases: IntArray) -> "LogisticData":
        """Return some of the cases."""
        return LogisticData(
            self.features[cases], self.happened[cases], self.cases[cases], self.back
        )

    def expand(self, theta: FloatArray) -> FloatArray:
        """Coefficients (C, F + 1) of all features from those of these."""
        if self.back is None:
            return theta
        return np.hstack([theta[:, :-1] @ self.back, theta[:, -1:]])

    @property
    def shape(self) -> tuple[int, int]:
        """Sets of coefficients, and coefficients per set."""
        return self.happened.shape[1], self.features.shape[1]

    def loss(self, theta: FloatArray) -> float:
        """Log loss, summed over the cases; at most `LARGEST_LOSS` per case."""
        scores = self.features @ theta.T
        if len(theta) == 1:
            losses = softplus(scores[:, 0]) - self.happened[:, 0] * scores[:, 0]
        else:
            losses = -log_softmax(scores, axis=1)[self.happened > 0]
        return float(self.cases @ np.minimum(losses, LARGEST_LOSS))

    def terms(self, flat: FloatArray, penalty: FloatArray) -> Terms:
        """Penalised log loss at coefficients (P,), P = C F, with its derivatives."""
        C, F = self.shape
        if C == 1:
            happened, nothing = self.happened[:, 0], np.zeros(len(self.cases))
            return binary_terms(
                self.features, nothing, happened, self.cases, penalty[0], flat
            )
        value, gradient, fitted = self.slopes(flat, penalty)
        blocks = np.empty((C, F, C, F))
        for j in range(C):
            for k in range(j, C):
                spread = fitted[:, j] * ((j == k) - fitted[:, k]) * self.cases
                block = (self.features * spread[:, None]).T @ self.features
                blocks[j, :, k] = blocks[k, :, j] = block
        hessian = blocks.reshape(C * F, C * F)
        hessian[np.diag_indices(C * F)] += penalty.ravel()
        return value, gradient, hessian

    def slopes(
        self, flat: FloatArray, penalty: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Penalised log loss of K classes, gradient (P,), fitted probabilities."""
        theta = flat.reshape(self.shape)
        logs = log_softmax(self.features @ theta.T, axis=1)
        fitted = np.exp(logs)
        loss = -float(self.cases @ (logs * self.happened).sum(axis=1))
        errors = (fitted - self.happened) * self.cases[:, None]
        gradient = errors.T @ self.features + penalty * theta
        return loss + float((penalty * theta**2).sum() / 2), gradient.ravel(), fitted


def row_space(features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Features (T, T) in the space of the rows of (T, F), and the way back (T, F).

    A squared penalty leaves no coefficient outside that space: with more features than
    cases the smaller problem has the same answer.

    >>> smaller, back = row_space(np.array([[3.0, 0.0, 4.0]]))
    >>> np.abs(smaller), smaller @ back
    (array([[5.]]), array([[3., 0., 4.]]))
    """
    left, scales, back = np.linalg.svd(features, full_matrices=False)
    return left * scales, back


def softplus(scores: FloatArray) -> FloatArray:
    """Return log(1 + exp(z)), six times as fast as numpy.logaddexp.

    >>> softplus(np.array([0.0, 1000.0])).round(3)
    array([6.93e-01, 1.00e+03])
    """
    tail: FloatArray = np.log1p(np.exp(-np.abs(scores)))
    return tail + np.maximum(scores, 0.0)


def binary_terms(
    features: FloatArray,
    offset: FloatArray,
    happened: FloatArray,
    cases: FloatArray,
    penalty: FloatArray,
    theta: FloatArray,
) -> Terms:
    """Penalised log loss of log-odds ``offset`` + features @ theta, with derivatives.

    ``penalty`` (F,) times half the squared coefficients is added to the loss of all
    cases.
    """
    loss = float(penalty @ theta**2) / 2
    gradient, hessian = penalty * theta, np.diag(penalty)
    for part in blocks(len(features), 2 * len(theta)):  # they fit into the cache
        x, y, c = features[part], happened[part], cases[part]
        scores = offset[part] + x @ theta
        fitted = expit(scores)
        loss += float(c @ (softplus(scores) - y * scores))
        gradient += (c * (fitted - y)) @ x
        hessian += x.T @ (x * (c * fitted * (1.0 - fitted))[:, None])
    return loss, gradient, hessian


def newton(
    terms: Callable[[FloatArray], Terms],
    start: FloatArray,
    cases: float,
    precision: float = PRECISION,
) -> tuple[FloatArray, float, FloatArray]:
    """Where a convex objective of so many cases is least, (P,); its value and Hessian.

    >>> theta, value, _ = newton(lambda x: (x @ x, 2 * x, 2 * np.eye(1)), np.ones(1), 1)
    >>> float(theta[0]), float(value)
    (0.0, 0.0)
    """
    theta = start
    value, gradient, hessian = terms(theta)
    for _ in range(STEPS):
        step = newton_step(hessian, gradient)
        fall = float(gradient @ step)
        if fall <= precision * cases:  # the error after this step is about its square
            return theta - step, value - fall / 2, hessian
        size, moved = 1.0, terms(theta - step)
        while moved[0] > value and size > SMALLEST_STEP:
            size /= 2
            moved = terms(theta - size * step)
        theta = theta - size * step
        value, gradient, hessian = moved
    return theta, value, hessian


def solve(
    data: LogisticData,
    penalty: float,
    start: FloatArray | None = None,
    precision: float = PRECISION,
) -> FloatArray:
    """Coefficients (C, F + 1) of least penalised log loss; the last is the intercept.

    They are those of ``data.features``; `LogisticData.expand` gives those of all.

    ``penalty`` times half the squared slopes is added to the log loss of all cases. A
    class that no case had gets an intercept of minus infinity: probability 0.
    """
    C, F = data.shape
    seen = data.happened.any(axis=0)
    if C > 1 and not seen.all():
        theta = np.zeros((C, F))
        theta[~seen, -1] = -np.inf
        part = LogisticData(data.features, data.happened[:, seen], data.cases)
        begin = None if start is None else start[seen]
        theta[seen] = solve(part, penalty, begin, precision)
        return theta
    total = float(data.cases.sum())
    penalties = np.full((C, F), penalty)
    penalties[:, -1] = INTERCEPT_PENALTY * total
    flat = np.zeros(C * F) if start is None else start.ravel()
    flat = np.where(np.isfinite(flat), flat, 0.0)  # a class not seen there
    if C * F > NEWTON_PARAMETERS:
        return _quasi_newton(data, penalties, flat).reshape(C, F)

    def terms(theta: FloatArray) -> Terms:
        return data.terms(theta, penalties)

    return newton(terms, flat, total, precision)[0].reshape(C, F)


def _quasi_newton(
    data: LogisticData, penalties: FloatArray, start: FloatArray
) -> FloatArray:
    """Coefficients (P,) by L-BFGS, in coordinates in which the features are white."""
    C, F = data.shape
    total = data.cases.sum()
    features, scaled = data.features, data.features * data.cases[:, None]
    curve = SPREAD * (features.T @ scaled) + np.diag(penalties[0])
    root = np.linalg.cholesky(curve / total)
    back = np.linalg.inv(root)

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        theta = flat.reshape(C, F) @ back
        value, gradient, _ = data.slopes(theta.ravel(), penalties)
        return value / total, (gradient.reshape(C, F) @ back.T).ravel() / total

    options = {"gtol": QUASI_PRECISION, "ftol": 0.0, "maxiter": 1000, "maxcor": 30}
    white = (start.reshape(C, F) @ root).ravel()
    found = minimize(
        value_and_gradient, white, jac=True, method="L-BFGS-B", options=options
    )
    return np.asarray((found.x.reshape(C, F) @ back).ravel())
