"""Scores of decisions: misses, false alarms and costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, IntArray, classes
from truepool.measures.decisions import choose
from truepool.measures.scores.probability import check_series, ratio
from truepool.panel.costs import Costs

RARE = 0.05
"""A class is rare when it makes up less than this share of the cases."""


@dataclass(frozen=True, eq=False)
class Confusion:
    """Number (or total weight) of cases with outcome y and decision k: [y, k].

    >>> Confusion(np.array([[90.0, 10.0], [2.0, 8.0]])).recall
    0.8
    """

    counts: FloatArray

    @property
    def recalls(self) -> FloatArray:
        """Share of each class that was decided correctly, (K,); NaN for no cases."""
        return ratio(np.diagonal(self.counts), self.counts.sum(axis=1))

    @property
    def precisions(self) -> FloatArray:
        """Share of the decisions for each class that were correct, (K,); 0 if none."""
        decisions = self.counts.sum(axis=0)
        return np.nan_to_num(ratio(np.diagonal(self.counts), decisions))

    @property
    def f1s(self) -> FloatArray:
        """Harmonic mean of precision and recall, (K,); NaN for no cases."""
        both = self.counts.sum(axis=0) + self.counts.sum(axis=1)
        f1 = ratio(2 * np.diagonal(self.counts), both)
        return np.where(self.counts.sum(axis=1) > 0, f1, np.nan)

    @property
    def recall(self) -> float:
        """Recall of class 1; the mean over classes when K > 2."""
        return self._of_class_1_or_mean(self.recalls)

    @property
    def precision(self) -> float:
        """Precision of class 1; the mean over classes with cases when K > 2."""
        known = np.where(self.counts.sum(axis=1) > 0, self.precisions, np.nan)
        return self._of_class_1_or_mean(known)

    @property
    def f1(self) -> float:
        """F1 of class 1; the mean over classes when K > 2."""
        return self._of_class_1_or_mean(self.f1s)

    @property
    def f1_macro(self) -> float:
        """Mean F1 over the classes that have cases."""
        return float(np.nanmean(self.f1s))

    @property
    def accuracy(self) -> float:
        """Share of the decisions that were correct."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def fn_rate(self) -> float:
        """Share of the cases of other classes than 0 that were decided 0."""
        return _share(self.counts[1:, 0].sum(), self.counts[1:].sum())

    @property
    def fp_rate(self) -> float:
        """Share of the cases of class 0 that were decided otherwise."""
        return _share(self.counts[0, 1:].sum(), self.counts[0].sum())

    def rare_recall(self, below: float = RARE) -> float:
        """Mean recall of the classes that make up less than this share of the cases.

        NaN when no class with cases is so rare.
        """
        share = self.counts.sum(axis=1) / self.counts.sum()
        rare = (share > 0) & (share < below)
        return float(self.recalls[rare].mean()) if rare.any() else float("nan")

    def cost(self, costs: Costs) -> float:
        """Cost per case."""
        spent = costs.table(len(self.counts)) * self.counts
        return float(spent.sum() / self.counts.sum())

    def _of_class_1_or_mean(self, by_class: FloatArray) -> float:
        chosen = by_class[1:] if len(by_class) == 2 else by_class
        return float("nan") if np.isnan(chosen).all() else float(np.nanmean(chosen))


def confusion(
    pooled: ArrayLike,
    outcomes: ArrayLike,
    *,
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> Confusion:
    """Decide every case and count the decisions by outcome.

    >>> confusion([0.9, 0.2, 0.6], [1, 1, 0]).counts
    array([[0., 1.],
           [1., 1.]])
    """
    p, y, w = check_series(pooled, outcomes, sample_weight)
    costs = costs or Costs()
    costs.check_cases(len(y))
    return count_decisions(choose(p, costs, threshold), y, classes(p.shape[1]), w)


def count_decisions(
    decisions: IntArray, outcomes: IntArray, classes: int, weights: FloatArray | None
) -> Confusion:
    """Count decisions by outcome, each case by its weight."""
    K = classes
    counts = np.bincount(outcomes * K + decisions, weights, minlength=K * K)
    return Confusion(counts.reshape(K, K).astype(np.float64))


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
