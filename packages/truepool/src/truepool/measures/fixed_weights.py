r"""Loss of fixed weights on a panel, and the weights with the lowest loss.

For a squared loss and no missing reports, the errors E of the agents are enough: with
:math:`G = E^\top E / T`, the loss of weights w is :math:`w^\top G w`. One pass over the
panel then serves any number of weights. Where there are many agents, E itself is used.
"""

import numpy as np
from scipy.optimize import minimize, nnls

from truepool.core import kernels
from truepool.core.arrays import FloatArray, blocks
from truepool.core.errors import SettingError
from truepool.measures.losses import Loss, indicator
from truepool.measures.sparse_weights import SparseErrors
from truepool.panel.panel import Panel
from truepool.panel.sparse import DENSE_CELLS
from truepool.panel.weights import proportional, uniform

MAX_GRAM = 1_000
"""Largest number of agents for which G is computed: its spectrum takes their cube."""
MAX_DESCENT = 500
"""Largest number of agents for a loss that is not squared: a step takes their cube."""
MIN_WEIGHT = 1e-6
"""Best weights below this are error of the solver."""


def has_best(loss: Loss, panel: Panel) -> bool:
    """Whether weights with the lowest loss can be found: by a convex loss, and soon."""
    if loss.squared or not loss.convex:
        return loss.convex
    written_out = panel.sparse is None or panel.sparse.cells <= DENSE_CELLS
    return written_out and len(panel.agents) <= MAX_DESCENT


class FixedWeights:
    """The loss of fixed weights on a panel, as a function of the weights.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> past = FixedWeights(panel, Loss("brier"))
    >>> past.losses(np.array([[1.0, 0.0], [0.0, 1.0]])).round(3)
    array([0.01, 0.25])
    >>> past.best()
    array([1., 0.])
    """

    def __init__(
        self, panel: Panel, loss: Loss, case_weights: FloatArray | None = None
    ) -> None:
        self.panel = panel
        self.loss = loss.on(panel)
        given = panel.case_weights(case_weights)
        cases = np.ones(len(panel)) if given is None else given
        self.mass = float(cases.sum())
        self.case_weights = cases / self.mass
        self.prior = panel.base_rate(case_weights)
        self.exact = loss.squared and not panel.silent
        small = len(panel.agents) <= MAX_GRAM
        self.gram = self._gram() if self.exact and small else None

    def losses(self, rows: FloatArray) -> FloatArray:
        """Mean loss of each row of weights, (M, N) -> (M,)."""
        if self.gram is not None:
            return np.asarray(((rows @ self.gram) * rows).sum(axis=1))
        total = np.zeros(len(rows))
        for cases in blocks(len(self.panel), rows.size):
            values = self.panel.values[cases]
            pooled, mass = linear_pools(values, rows)
            equal = kernels.linear(values, uniform(rows.shape[1]))
            pooled = np.where(mass[..., None] > 0, pooled, equal)
            loss = self.loss.take(cases)
            by_case = loss.evaluate(pooled, self.panel.outcomes[cases])
            total += by_case @ self.case_weights[cases]
        return total

    def best(self) -> FloatArray:
        """Weights on the simplex with the least mean loss (the loss must be convex).

        A missing report is replaced by the mean of the others: with renormalised
        weights the loss would be a ratio, which is not convex.
        """
        if not self.loss.convex:
            raise SettingError(
                f"best weights need a convex loss; {self.loss.name!r} is not. "
                "Use brier, log or cost-brier."
            )
        if not has_best(self.loss, self.panel):
            raise SettingError(
                f"best weights by {self.loss.name!r} are found for at most "
                f"{MAX_DESCENT:,} agents; got {len(self.panel.agents):,}. Use brier or "
                "cost-brier."
            )
        if self.panel.sparse is not None and self.loss.squared:
            mean = self.panel.sparse.linear(uniform(len(self.panel.agents)))
            return self.best_filled(mean)
        if self.panel.silent:
            complete = self.panel.fill_missing()
            return FixedWeights(complete, self.loss, self.case_weights).best()
        if self.gram is not None:
            return best_by_gram(self.gram)
        if self.exact:
            found = self._least_errors()
        else:
            found = self._descend()
        return _without_error(found)

    def gram_sums(self) -> FloatArray:
        """Sum over the cases of the products of the agents' errors, (N, N)."""
        gram = self._gram() if self.gram is None else self.gram
        return np.asarray(gram * self.mass)

    def best_filled(self, reports: FloatArray) -> FloatArray:
        """Best weights for a squared loss on sparse reports.

        An agent without a report is taken to give ``reports`` (T,).
        """
        errors = SparseErrors.build(self.panel, self.loss, self.case_weights, reports)
        small = len(self.panel.agents) <= MAX_GRAM
        found = _least_squares(errors.gram()) if small else errors.descend()
        return proportional(np.where(found < MIN_WEIGHT, 0.0, found))

    def _gram(self) -> FloatArray:
        N = len(self.panel.agents)
        gram = np.zeros((N, N))
        for cases in blocks(len(self.panel), self.panel.values[0].size):
            errors = self._errors(cases)
            for c in range(errors.shape[2]):
                gram += errors[:, :, c].T @ errors[:, :, c]
        return gram

    def _errors(self, cases: slice) -> FloatArray:
        """Errors (T, N, C) of the agents, scaled so that their squares add up to G."""
        outcomes, K = self.panel.outcomes[cases], self.panel.classes
        factors = self.loss.take(cases).factors(outcomes, K)
        root = np.sqrt(factors * self.case_weights[cases, None])
        errors = self.panel.values[cases] - indicator(outcomes, K)[:, None, :]
        return np.asarray(errors * root[:, None, :])

    def _least_errors(self) -> FloatArray:
        """Minimise the loss by the errors themselves; identical agents share alike."""
        errors = self._errors(slice(None)).transpose(1, 0, 2)
        rows = errors.reshape(len(errors), -1)
        kinds: dict[bytes, int] = {}
        kind = np.array([kinds.setdefault(row.tobytes(), len(kinds)) for row in rows])
        _, first, count = np.unique(kind, return_index=True, return_counts=True)
        scale = max(float(np.sqrt((rows**2).sum(axis=1).max())), 1e-150)
        return np.asarray((_nearest(rows[first].T / scale) / count)[kind])

    def _descend(self) -> FloatArray:
        start = uniform(len(self.panel.agents))
        found = minimize(
            self._loss_and_gradient,
            start,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * start.size,
            constraints={
                "type": "eq",
                "fun": lambda w: w.sum() - 1.0,
                "jac": lambda w: np.ones_like(w),
            },
            options={"maxiter": 500, "ftol": 1e-12},
        )
        return proportional(found.x)

    def _loss_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        value, slope = 0.0, np.zeros(weights.size)
        for cases in blocks(len(self.panel), self.panel.values[0].size):
            values, outcomes = self.panel.values[cases], self.panel.outcomes[cases]
            pooled, loss = (
                np.einsum("n,tnc->tc", weights, values),
                self.loss.take(cases),
            )
            lost = loss.evaluate(pooled, outcomes)
            rise = loss.slope(pooled, outcomes) * self.case_weights[cases, None]
            value += float(self.case_weights[cases] @ lost)
            slope += np.einsum("tc,tnc->n", rise, values)
        return value, slope


def best_by_gram(gram: FloatArray) -> FloatArray:
    """Weights on the simplex with the least squared loss, by a multiple of G."""
    return _without_error(_least_squares(gram))


def _without_error(weights: FloatArray) -> FloatArray:
    return proportional(np.where(weights < MIN_WEIGHT, 0.0, weights))


def _least_squares(gram: FloatArray) -> FloatArray:
    r"""Minimise :math:`w^\top G w` on the simplex, exactly, by :math:`M^\top M = G`."""
    # A tiny ridge makes the answer unique: identical agents get equal weights.
    ridge = 1e-9 * np.trace(gram) / len(gram) * np.eye(len(gram))
    spectrum, basis = np.linalg.eigh(gram + ridge)
    root = np.sqrt(np.clip(spectrum, 0.0, None))[:, None] * basis.T
    # Scaling M does not move the minimum and keeps the two terms comparable.
    root /= max(float(np.sqrt(np.clip(spectrum[-1], 0.0, None))), 1e-150)
    return _nearest(root)


def _nearest(root: FloatArray) -> FloatArray:
    r"""Minimise :math:`\|Mw\|^2` on the simplex, exactly; M is of size 1.

    Non-negative least squares of :math:`\|Mv\|^2 + (1^\top v - 1)^2`: for a given sum
    of v the best direction is always the same, so v / sum(v) solves the problem on the
    simplex.
    """
    system = np.vstack([root, np.ones(root.shape[1])])
    target = np.append(np.zeros(len(root)), 1.0)
    return proportional(nnls(system, target)[0])


def linear_pools(values: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pool (T, N, C) by every row of (M, N).

    Returns pooled (M, T, C) and the total weight of those who reported (M, T).
    Pooled is 0 where that is 0.
    """
    T, N, C = values.shape
    silent = np.isnan(values[:, :, 0])
    if silent.any():
        mass = rows @ (~silent).T.astype(np.float64)
        values = np.nan_to_num(values)
    else:
        mass = np.broadcast_to(rows.sum(axis=1)[:, None], (len(rows), T))
    flat = np.ascontiguousarray(values.transpose(1, 0, 2)).reshape(N, T * C)
    pooled = (rows @ flat).reshape(len(rows), T, C)
    pooled /= np.where(mass > 0, mass, 1.0)[:, :, None]
    return np.clip(pooled, 0.0, 1.0, out=pooled), mass
