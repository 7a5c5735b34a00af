"""Pools that wrap another pool and recalibrate its probabilities."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.folds import Folds, out_of_fold, panel_splits
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools.interface.parameters import learned
from truepool.pools.interface.pool import Pool, configure
from truepool.pools.interface.result import Explanation, Parameter
from truepool.pools.training.certainty import choose_clip

RECALIBRATED = {
    "unanimity": "when all say p, a recalibrated pool answers how often the event "
    "happened when the pool said p"
}


EXAMPLES = (0.1, 0.5, 0.9)
"""Probabilities that show what a correction does."""


def describe_slope(slope: float, pool: str, *, alone: bool) -> str:
    """Say what a slope on the log-odds scale means, ``alone`` or with an intercept.

    >>> describe_slope(1.4, "mean", alone=False)
    'multiplies the log-odds; above 1: mean was under-confident'
    >>> describe_slope(1.4, "mean", alone=True)
    'multiplies the log-odds; above 1: mean was under-confident, without an intercept'
    >>> describe_slope(-1.4, "mean", alone=False)
    'below 0: mean ranks cases the wrong way round; check which label is positive'
    """
    if slope < 0:
        return (
            f"below 0: {pool} ranks cases the wrong way round; check which label is "
            "positive"
        )
    fault = "exactly 1: no change"
    if slope != 1:
        side, how = ("above", "under") if slope > 1 else ("below", "over")
        fault = (
            f"{side} 1: {pool} was {how}-confident{', without an intercept' * alone}"
        )
    return f"multiplies the log-odds; {fault}"


class RecalibratedPool(Pool):
    """A correction, fitted on cross-fitted pooled probabilities, on top of a pool.

    Parameters
    ----------
    base : Pool or str
        The pool to correct.
    cv : int or splitter
        Folds on which the pool to correct is cross-fitted, so that the correction
        never learns from cases its pool learned from.
    clip : float, optional
        How close to 0 and 1 a pooled probability may count on the log-odds scale. By
        default 0.02, or a tenth of the share of the rarest class if that is less.
    """

    complexity: ClassVar[int] = 1
    scales: ClassVar[bool] = True

    base: Pool | str = "mean"
    cv: Folds = 5
    clip: float | None = None
    seed: int = 0

    pool_: Pool = learned()
    clip_: float = learned()

    def check(self, panel: Panel) -> None:
        """Refuse settings and costs, also of the pool to correct, for a panel."""
        super().check(panel)
        self._inner().check(panel)

    def _inner(self) -> Pool:
        """Return the pool to correct, with the settings that the two share."""
        return configure(
            self.base, costs=self.costs, threshold=self.threshold, seed=self.seed
        )

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        inner = self._inner()
        self.clip_ = choose_clip(self.clip, panel, case_weights)
        self.pool_ = clone(inner).learn(panel, case_weights)
        if inner.complexity == 0:  # it learned nothing, so nothing can leak
            pooled = self.pool_.pooled(panel.layout)
        else:
            pairs = panel_splits(panel, self.cv, self.seed)
            pooled = out_of_fold(inner, panel, pairs, case_weights)
        tested = ~np.isnan(pooled[:, 0])
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        self._correct(pooled[tested], panel.outcomes[tested], cases[tested])

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return self._corrected(self.pool_.combine(values), values)

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        return self._corrected(self.pool_.combine_sparse(reports), reports)

    def to_onnx(self, values: Any) -> Any:
        """Record pooled coordinates (T, C) of a tensor of reports (T, N, C)."""
        return self._corrected(self.pool_.to_onnx(values), values)

    def _explanation(self) -> Explanation:
        inner = self.pool_.explain()
        learned = (*inner.learned, *self._parameters(), *self._examples())
        return replace(inner, name=self.name, learned=learned)

    def _examples(self) -> tuple[Parameter, ...]:
        """What the correction makes of a few probabilities of two classes."""
        if len(self.classes_) > 2:
            return ()
        before = np.array(EXAMPLES)[:, None]
        everyone = np.full((len(before), len(self.agents_), 1), 0.5)
        after = self._corrected(before, everyone)[:, 0]
        return tuple(
            Parameter(f"{p:g} becomes", float(q), "pooled, after the correction")
            for p, q in zip(EXAMPLES, after, strict=True)
        )

    @abstractmethod
    def _parameters(self) -> tuple[Parameter, ...]:
        """Return the numbers of the correction, with what they mean."""

    @abstractmethod
    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        """Learn the correction from pooled (T, C)."""

    @abstractmethod
    def _corrected(
        self, pooled: FloatArray, values: FloatArray | SparseReports
    ) -> FloatArray:
        """Apply the correction to pooled (T, C)."""
