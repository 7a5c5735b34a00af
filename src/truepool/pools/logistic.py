"""Penalised logistic regression, solved to the last digit and from a warm start."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.calibration import newton_step

NEWTON_PARAMETERS = 1000
"""With more parameters the Hessian costs more than the steps that it saves."""
STEPS, SMALLEST_STEP, PRECISION = 100, 1e-6, 1e-10
"""Limits of Newton's method: its steps, how far one is shortened, and the gradient per
case at which it has converged."""
QUASI_PRECISION = 1e-8
"""The gradient per case at which the quasi-Newton method has converged."""
INTERCEPT_PENALTY = 1e-12
"""Penalty per case on the intercepts, which settles what the data leave open."""
LARGEST_LOSS = 1e3
"""What a case of a class that was never seen costs."""


@dataclass(frozen=True, eq=False)
class LogisticData:
    """Cases to regress on: features (T, F) with a last column of ones, classes (T,).

    One set of coefficients for two classes, K sets for more.
    """

    features: FloatArray
    happened: FloatArray
    cases: FloatArray

    @classmethod
    def of(
        cls, features: FloatArray, outcomes: IntArray, classes: int, cases: FloatArray
    ) -> "LogisticData":
        """Regression on features (T, F) for the outcomes of K classes."""
        ones = np.ones((len(features), 1))
        kinds = np.arange(1, 2) if classes == 2 else np.arange(classes)
        happened = (outcomes[:, None] == kinds).astype(np.float64)
        return cls(np.hstack([features, ones]), happened, cases)

    def take(self, cases: IntArray) -> "LogisticData":
        """Return some of the cases."""
        return LogisticData(
            self.features[cases], self.happened[cases], self.cases[cases]
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Sets of coefficients, and coefficients per set."""
        return self.happened.shape[1], self.features.shape[1]

    def probabilities(self, theta: FloatArray) -> FloatArray:
        """Fitted probabilities (T, C)."""
        scores = self.features @ theta.T
        return np.asarray(expit(scores) if len(theta) == 1 else softmax(scores, axis=1))

    def loss(self, theta: FloatArray) -> float:
        """Log loss, summed over the cases; at most `LARGEST_LOSS` per case."""
        scores = self.features @ theta.T
        if len(theta) == 1:
            losses = np.logaddexp(0.0, np.where(self.happened > 0, -scores, scores))
        else:
            losses = -log_softmax(scores, axis=1)[self.happened > 0][:, None]
        return float(self.cases @ np.minimum(losses[:, 0], LARGEST_LOSS))

    def objective(self, theta: FloatArray, penalty: FloatArray) -> float:
        """Log loss with the penalty."""
        return self.loss(theta) + float((penalty * theta**2).sum() / 2)

    def gradient(
        self, theta: FloatArray, penalty: FloatArray, fitted: FloatArray
    ) -> FloatArray:
        """Gradient of the objective, (C, F + 1)."""
        errors = (fitted - self.happened) * self.cases[:, None]
        return np.asarray(errors.T @ self.features + penalty * theta)

    def hessian(self, penalty: FloatArray, fitted: FloatArray) -> FloatArray:
        """Hessian of the objective, (P, P) for P = C (F + 1)."""
        C, F = self.shape
        blocks = np.empty((C, F, C, F))
        for j in range(C):
            for k in range(j, C):
                spread = fitted[:, j] * ((j == k) - fitted[:, k]) * self.cases
                block = (self.features * spread[:, None]).T @ self.features
                blocks[j, :, k] = blocks[k, :, j] = block
        return blocks.reshape(C * F, C * F) + np.diag(penalty.ravel())


def solve(
    data: LogisticData, penalty: float, start: FloatArray | None = None
) -> FloatArray:
    """Coefficients (C, F + 1) of least penalised log loss; the last is the intercept.

    ``penalty`` times half the squared slopes is added to the log loss of all cases. A
    class that no case had gets an intercept of minus infinity: probability 0.
    """
    C, F = data.shape
    seen = data.happened.any(axis=0)
    if C > 1 and not seen.all():
        theta = np.zeros((C, F))
        theta[~seen, -1] = -np.inf
        part = LogisticData(data.features, data.happened[:, seen], data.cases)
        theta[seen] = solve(part, penalty, None if start is None else start[seen])
        return theta
    total = data.cases.sum()
    penalties = np.full((C, F), penalty)
    penalties[:, -1] = INTERCEPT_PENALTY * total
    theta = np.zeros((C, F)) if start is None else start
    if C * F > NEWTON_PARAMETERS:
        return _quasi_newton(data, penalties, theta)
    value = data.objective(theta, penalties)
    for _ in range(STEPS):
        fitted = data.probabilities(theta)
        gradient = data.gradient(theta, penalties, fitted)
        if np.abs(gradient).max() <= PRECISION * total:
            break
        hessian = data.hessian(penalties, fitted)
        step = newton_step(hessian, gradient.ravel()).reshape(C, F)
        size = 1.0
        while size > SMALLEST_STEP:
            moved = data.objective(theta - size * step, penalties)
            if moved <= value:
                break
            size /= 2
        theta, value = theta - size * step, moved
    return theta


def _quasi_newton(
    data: LogisticData, penalties: FloatArray, start: FloatArray
) -> FloatArray:
    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        theta = flat.reshape(start.shape)
        fitted = data.probabilities(theta)
        value = data.objective(theta, penalties) / total
        return value, data.gradient(theta, penalties, fitted).ravel() / total

    total = data.cases.sum()
    options = {"gtol": QUASI_PRECISION, "ftol": 0.0, "maxiter": 1000, "maxcor": 30}
    found = minimize(
        value_and_gradient, start.ravel(), jac=True, method="L-BFGS-B", options=options
    )
    return np.asarray(found.x).reshape(start.shape)
