"""Pools that wrap another pool and make its probabilities mean what they say."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from truepool.arrays import FloatArray, IntArray, case_count, from_log_scale
from truepool.costs import Costs
from truepool.folds import Folds, out_of_fold, splits
from truepool.losses import Loss
from truepool.panel import Panel
from truepool.pools.interface import Pool, configure

CAUTION = 0.01
"""Weight of the pull towards no change: felt only by a handful of cases, or by data
so cleanly separated that an unbounded correction would fit best."""

BENDS = {
    "unanimity": "when all say p, a recalibrated pool answers how often the event "
    "came when the pool said p"
}


class RecalibratedPool(Pool):
    """A correction, fitted on cross-fitted pooled probabilities, on top of a pool.

    Parameters
    ----------
    base : Pool or str
        The pool to correct.
    cv : int or splitter
        Folds on which the pool to correct is cross-fitted, so that the correction
        never learns from cases its pool learned from.
    """

    complexity: ClassVar[int] = 1
    pool_: Pool

    def __init__(
        self,
        *,
        base: Pool | str = "mean",
        cv: Folds = 5,
        costs: Costs | None = None,
        threshold: float | None = None,
        seed: int = 0,
    ) -> None:
        self.base = base
        self.cv = cv
        self.costs = costs
        self.threshold = threshold
        self.seed = seed

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        inner = configure(
            self.base, costs=self.costs, threshold=self.threshold, seed=self.seed
        )
        self.pool_ = clone(inner).fit_panel(panel, case_weights)
        if inner.complexity == 0:  # it learned nothing, so nothing can leak
            pooled = self.pool_.combine(panel.values)
        else:
            pairs = splits(panel.outcomes, self.cv, self.seed, times=panel.times)
            pooled = out_of_fold(inner, panel, pairs, case_weights)
        tested = ~np.isnan(pooled[:, 0])
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        self._correct(pooled[tested], panel.outcomes[tested], cases[tested])

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool sound reports (T, N, C) into (T, C)."""
        return self._corrected(self.pool_.combine(values), values)

    @abstractmethod
    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        """Learn the correction from pooled (T, C)."""

    @abstractmethod
    def _corrected(self, pooled: FloatArray, values: FloatArray) -> FloatArray:
        """Apply the correction to pooled (T, C)."""


def fit_scaling(
    scale: FloatArray, outcomes: IntArray, cases: FloatArray, *, shift: bool
) -> tuple[float, FloatArray]:
    r"""Factor a and shift b of least log loss for :math:`a z + b` on the log scale."""
    loss = Loss("log")
    share = cases / cases.sum()
    pull = CAUTION / case_count(cases)

    def price(x: FloatArray) -> tuple[float, FloatArray]:
        moved = x[0] * scale + x[1:]
        pooled = from_log_scale(moved)
        lost = share @ loss.of(pooled, outcomes)
        classes = scale.shape[1] + 1
        chance = pooled if classes == 2 else pooled[:, 1:]
        came = outcomes[:, None] == np.arange(1, classes)
        error = (chance - came) * share[:, None]
        slope = np.append((error * scale).sum(), error.sum(axis=0))
        away = x - start
        if not shift:
            slope[1:] = 0.0
        return lost + pull * away @ away, slope + 2 * pull * away

    start = np.append(1.0, np.zeros(scale.shape[1]))
    found = minimize(price, start, jac=True, method="L-BFGS-B").x
    return float(found[0]), np.asarray(found[1:])
