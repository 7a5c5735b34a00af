"""Pools that hand the reports to a second model."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truepool.core.arrays import FloatArray, fill_missing, from_classes
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import Folds, splits
from truepool.pools.interface import Pool


class StackedPool(Pool):
    """A model on the log-odds of the reports, cross-fitted.

    One model is learned without each fold and their answers are averaged, so that no
    answer hangs on one model's luck; where the cases are too few for folds, one model
    learns from all. A silent agent is taken to agree with those who
    spoke.

    Parameters
    ----------
    cv : int or splitter
        The folds; 3 as in the paper.
    """

    complexity: ClassVar[int] = 3

    def __init__(
        self,
        *,
        cv: Folds = 3,
        costs: Costs | None = None,
        threshold: float | None = None,
        seed: int = 0,
    ) -> None:
        self.cv = cv
        self.costs = costs
        self.threshold = threshold
        self.seed = seed

    @abstractmethod
    def _fitted(
        self, features: FloatArray, outcomes: NDArray[Any], cases: FloatArray
    ) -> Any:
        """Return a model with ``predict_proba`` and ``classes_``."""

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        features = _features(panel.values)
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        try:
            pairs = splits(panel.outcomes, self.cv, self.seed, times=panel.times)
            lessons = [learn for learn, _ in pairs]
        except SettingError:
            lessons = [np.arange(len(panel))]
        self.models_ = [
            self._fitted(features[learn], panel.outcomes[learn], cases[learn])
            for learn in lessons
        ]

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool sound reports (T, N, C) into (T, C)."""
        features = _features(values)
        total = np.zeros((len(values), len(self.classes_)))
        for model in self.models_:
            total[:, model.classes_] += model.predict_proba(features)
        return from_classes(total / len(self.models_))


def _features(values: FloatArray) -> FloatArray:
    """Log-odds (T, N * (K - 1)), silences filled by the mean of those who spoke."""
    scale = fill_missing(clipped_log_scale(values))
    return np.asarray(scale.reshape(len(scale), -1))
