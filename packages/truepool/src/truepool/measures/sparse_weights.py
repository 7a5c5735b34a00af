r"""Errors of agents who report on few cases, as functions of their weights.

An agent without a report on case t is taken to agree with the pool :math:`f_t`. The
error of weights w on the simplex is then :math:`e_t + \sum_i w_i d_{ti}` with
:math:`e_t = f_t - y_t` and :math:`d_{ti} = r_{ti} - f_t`, which is 0 where agent i did
not report: nothing of size T N is needed.
"""

from dataclasses import dataclass

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray
from truepool.core.errors import PanelError
from truepool.measures.losses import Loss
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.panel.weights import uniform

STEPS = 3_000
"""Most steps towards the best weights of more agents than have a Gram matrix."""
GAP = 1e-6
"""The share of the loss by which those weights may miss the least loss, at most."""
POWER_STEPS = 30
"""Steps that find the largest curvature."""


@dataclass(frozen=True, eq=False)
class SparseErrors:
    """Errors ``base`` (T,) of the fill, and what each report adds, both scaled."""

    base: FloatArray
    cells: SparseReports

    @classmethod
    def build(
        cls, panel: Panel, loss: Loss, case_weights: FloatArray, fill: FloatArray
    ) -> "SparseErrors":
        """Errors of a squared loss, so scaled that their squares sum to its mean."""
        if panel.sparse is None:
            raise PanelError("sparse errors need a panel with sparse reports")
        factors = np.broadcast_to(loss.factors(panel.outcomes, 2), (len(panel), 1))
        root = np.sqrt(factors[:, 0] * case_weights)
        case = panel.sparse.case
        apart = (panel.sparse.values - fill[case]) * root[case]
        return cls((fill - panel.outcomes) * root, panel.sparse.with_values(apart))

    def of(self, weights: FloatArray) -> FloatArray:
        """Errors (T,) of weights (N,) on the simplex."""
        return self.base + self._times(weights)

    def gram(self) -> FloatArray:
        """Return G (N, N), by which the loss of weights w is w' G w."""
        cells = self.cells
        ones = np.ones(len(cells))
        own = kernels.sparse_gram(
            cells.starts, cells.agent, cells.values, ones, cells.agents
        )
        shared = cells.by_agent(cells.values * self.base[cells.case])
        return np.asarray(own + shared + shared[:, None] + self.base @ self.base)

    def descend(self) -> FloatArray:
        """Weights on the simplex whose loss is within `GAP` of the least.

        Accelerated projected gradient (Beck & Teboulle 2009), restarted where the loss
        rises. The gap is bounded by what the best single step could gain.
        """
        rate = 1.0 / max(self._curvature(), 1e-300)
        weights = ahead = uniform(self.cells.agents)
        momentum, last = 1.0, np.inf
        for _ in range(STEPS):
            errors = self.of(ahead)
            slope = self._slope(errors)
            loss = float(errors @ errors)
            if 2 * float(slope @ ahead - slope.min()) <= GAP * loss:
                return ahead
            if loss > last:  # too fast: start again from here
                momentum, ahead = 1.0, weights
                last = np.inf
                continue
            last = loss
            new = project(ahead - rate * slope)
            grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
            ahead = project(new + (momentum - 1.0) / grown * (new - weights))
            weights, momentum = new, grown
        return weights

    def _times(self, weights: FloatArray) -> FloatArray:
        return self.cells.by_case(weights[self.cells.agent] * self.cells.values)

    def _slope(self, errors: FloatArray) -> FloatArray:
        """Half the slope of the loss, (N,), up to a number that all agents share."""
        return self.cells.by_agent(errors[self.cells.case] * self.cells.values)

    def _curvature(self) -> float:
        """Largest curvature along the simplex, found by repeated multiplication."""
        direction = np.sqrt(1.0 + self.cells.agent_counts)
        size = 0.0
        for _ in range(POWER_STEPS):
            direction = direction / max(float(np.sqrt(direction @ direction)), 1e-300)
            direction = self._slope(self._times(direction))
            size = float(np.sqrt(direction @ direction))
        return 1.1 * size  # the estimate is from below


def project(point: FloatArray) -> FloatArray:
    """Return the nearest weights on the simplex (Held, Wolfe & Crowder 1974).

    >>> project(np.array([0.9, 0.5, -1.0]))
    array([0.7, 0.3, 0. ])
    """
    ranked = np.sort(point)[::-1]
    excess = (ranked.cumsum() - 1.0) / np.arange(1, len(point) + 1)
    line = excess[np.flatnonzero(ranked > excess)[-1]]
    return np.asarray(np.maximum(point - line, 0.0))
