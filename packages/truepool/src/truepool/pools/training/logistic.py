"""Penalised logistic regression, solved to the last digit and from a warm start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.newton import PRECISION, BinaryLoss, Minimizer, Terms

NEWTON_PARAMETERS = 200
"""With more parameters the Hessian costs more than the steps that it saves."""
SPREAD = 0.1
"""Typical p (1 - p), from which the quasi-Newton method starts."""
QUASI_PRECISION = 1e-8
"""The gradient per case at which the quasi-Newton method has converged."""
INTERCEPT_PENALTY = 1e-12
"""Penalty per case on the intercepts, which settles what the data leave open."""
MANY_CASES, SOME_CASES = 4_000, 1_000
"""With more cases, some of them say where to begin."""
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

    def losses(self, models: Sequence[FloatArray]) -> FloatArray:
        """Log loss of each model, summed over the cases; `LARGEST_LOSS` at most of one.

        >>> data = LogisticData(np.ones((2, 1)), np.array([[1.0], [0.0]]), np.ones(2))
        >>> data.losses([np.zeros((1, 1))]).round(3)
        array([1.386])
        """
        theta = np.concatenate(models)
        scores = (self.features @ theta.T).reshape(len(self.cases), len(models), -1)
        if scores.shape[2] == 1:
            losses = softplus(scores[:, :, 0]) - self.happened * scores[:, :, 0]
        else:
            logs = log_softmax(scores, axis=2)
            losses = -np.where(self.happened[:, None] > 0, logs, 0.0).sum(axis=2)
        return np.asarray(self.cases @ np.minimum(losses, LARGEST_LOSS))

    def minimizer(self, start: FloatArray, precision: float) -> "Minimizer":
        """Return what minimises the log loss under penalties."""
        terms: Callable[[FloatArray], Terms] = self.terms
        if self.happened.shape[1] == 1:
            happened, nothing = self.happened[:, 0].copy(), np.zeros(len(self.cases))
            features = np.ascontiguousarray(self.features.T)
            terms = BinaryLoss(features, nothing, happened, self.cases)
        return Minimizer(terms, start, float(self.cases.sum()), precision)

    def terms(self, flat: FloatArray) -> Terms:
        """Log loss of K classes at coefficients (P,), P = C F, with its derivatives."""
        C, F = self.shape
        value, gradient, fitted = self.slopes(flat)
        blocks = np.empty((C, F, C, F))
        for j in range(C):
            for k in range(j, C):
                spread = fitted[:, j] * ((j == k) - fitted[:, k]) * self.cases
                block = (self.features * spread[:, None]).T @ self.features
                blocks[j, :, k] = blocks[k, :, j] = block
        return value, gradient, blocks.reshape(C * F, C * F)

    @property
    def fewest(self) -> int:
        """Number of cases of the class that has the fewest."""
        counts = self.happened.sum(axis=0)
        if self.shape[0] == 1:
            counts = np.append(counts, len(self.cases) - counts)
        return int(counts.min())

    def slopes(self, flat: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Log loss of K classes, its gradient (P,), and fitted probabilities."""
        theta = flat.reshape(self.shape)
        logs = log_softmax(self.features @ theta.T, axis=1)
        fitted = np.exp(logs)
        loss = -float(self.cases @ (logs * self.happened).sum(axis=1))
        errors = (fitted - self.happened) * self.cases[:, None]
        return loss, (errors.T @ self.features).ravel(), fitted


FEWEST = 10
"""Cases of each class from which a search may start: without any, the loss is flat at
the answer, and a step from there leads anywhere."""


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


def solve(
    data: LogisticData, penalty: float, near: FloatArray | None = None
) -> FloatArray:
    """Coefficients (C, F + 1) of least penalised log loss; the last is the intercept.

    They are those of ``data.features``; `LogisticData.expand` gives those of all.

    ``penalty`` times half the squared slopes is added to the log loss of all cases. A
    class that no case had gets an intercept of minus infinity: probability 0. The
    search starts from what is ``near``, or else from the answer to some of many cases.
    """
    if near is None and len(data.cases) > MANY_CASES:
        part = data.take(some(len(data.cases)))
        if part.fewest >= FEWEST:
            near = solve(part, penalty)
    return solve_path(data, [penalty], [] if near is None else [near])[0]


def some(cases: int) -> IntArray:
    """Numbers of every so many cases, evenly spread, where there are many.

    >>> len(some(100)), len(some(10_000))
    (100, 1000)
    """
    return np.arange(0, cases, max(cases // SOME_CASES, 1))


def solve_path(
    data: LogisticData,
    penalties: Sequence[float] | FloatArray,
    near: Sequence[FloatArray] = (),
    precision: float = PRECISION,
) -> list[FloatArray]:
    """What `solve` answers for each penalty, from what is ``near`` if that is given."""
    C, F = data.shape
    seen = data.happened.any(axis=0)
    if C > 1 and not seen.all():
        part = LogisticData(data.features, data.happened[:, seen], data.cases)
        found = solve_path(part, penalties, [theta[seen] for theta in near], precision)
        every = [np.zeros((C, F)) for _ in penalties]
        for theta, own in zip(every, found, strict=True):
            theta[~seen, -1] = -np.inf
            theta[seen] = own
        return every
    total = float(data.cases.sum())
    # A class that was not seen there starts at 0.
    starts = [np.where(np.isfinite(theta), theta, 0.0).ravel() for theta in near]
    wide = C * F > NEWTON_PARAMETERS
    flat = starts[0] if starts else np.zeros(C * F)
    method = None if wide else data.minimizer(flat, precision)
    path: list[FloatArray] = []
    for i, penalty in enumerate(penalties):
        each = np.full((C, F), penalty)
        each[:, -1] = INTERCEPT_PENALTY * total
        begin = None
        if starts:  # the difference between the two paths hardly changes along them
            begin = starts[i] + (path[-1].ravel() - starts[i - 1] if path else 0.0)
        if method is None:
            flat = _quasi_newton(data, each, flat if begin is None else begin)
        else:
            flat, _, _ = method.find(each.ravel(), begin)
        path.append(flat.reshape(C, F))
    return path


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
        value, gradient, _ = data.slopes(theta.ravel())
        value += float((penalties * theta**2).sum()) / 2
        slope = gradient.reshape(C, F) + penalties * theta
        return value / total, (slope @ back.T).ravel() / total

    options = {"gtol": QUASI_PRECISION, "ftol": 0.0, "maxiter": 1000, "maxcor": 30}
    white = (start.reshape(C, F) @ root).ravel()
    found = minimize(
        value_and_gradient, white, jac=True, method="L-BFGS-B", options=options
    )
    return np.asarray((found.x.reshape(C, F) @ back).ravel())
