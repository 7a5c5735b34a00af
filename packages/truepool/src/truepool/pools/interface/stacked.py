"""Pools that learn a second model on the reports."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.special import expit

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import Folds, panel_splits
from truepool.panel.panel import Panel
from truepool.pools.interface.parameters import learned
from truepool.pools.interface.pool import Pool
from truepool.pools.interface.result import Parameter
from truepool.pools.training import imputation

Parameters: TypeAlias = dict[str, FloatArray]
"""What one model learned, by name."""

MODEL = (
    "a learned model answers how often the event happened when the agents said p, not p"
)
"""Why a learned model is exempt from unanimity."""


class StackedPool(Pool):
    """A model on the log-odds of the reports, cross-fitted.

    One model is learned without each fold and their answers are averaged, so that no
    answer depends on one split; where the cases are too few for folds, one model
    learns from all. An agent without a report is taken to have said what those who
    gave one suggest, see `imputation`.

    Parameters
    ----------
    cv : int or splitter
        The folds; 3 as in the paper.

    Attributes
    ----------
    parameters_ : dict of str to array
        What the M models learned, each array with M as its first axis.
    imputation_ : (3, N, K - 1)
        Mean, pull and loading of each agent's log-odds, which fill in missing ones.
    """

    complexity: ClassVar[int] = 3

    cv: Folds = 3
    seed: int = 0

    parameters_: Parameters = learned()
    imputation_: FloatArray = learned()

    @abstractmethod
    def _train(
        self, features: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> Parameters:
        """Learn one model."""

    @abstractmethod
    def _scores(self, features: FloatArray, parameters: Parameters) -> FloatArray:
        """Scores (T, C) of one model, on the log scale."""

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        self.imputation_ = imputation.learn_from(
            panel, case_weights, clipped_log_scale, self.seed
        )
        features = features_of(panel.values, clipped_log_scale, self.imputation_)
        try:
            pairs = panel_splits(panel, self.cv, self.seed)
            parts = [learn for learn, _ in pairs]
        except SettingError:
            parts = [np.arange(len(panel))]
        models = [
            self._train(features[part], panel.outcomes[part], cases[part])
            for part in parts
        ]
        self.parameters_ = {
            name: np.stack([model[name] for model in models]) for name in models[0]
        }

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        features = features_of(values, clipped_log_scale, self.imputation_)
        models = self._models()
        scores = (self._scores(features, model) for model in models)
        first, *rest = map(probabilities_of, scores)
        return sum(rest, first) / float(len(models))

    def _models(self) -> list[Parameters]:
        known = self.parameters_
        count = len(next(iter(known.values())))
        return [{name: known[name][m] for name in known} for m in range(count)]


def features_of(
    values: FloatArray, scale: imputation.Scale, learned: FloatArray
) -> FloatArray:
    """What a model reads of reports (T, N, C), missing ones filled in: (T, F)."""
    filled = imputation.fill(scale(values), learned)
    return filled.reshape(-1, learned[0].size)


def describe_coefficients(
    agents: Sequence[str], coefficients: FloatArray, scale: str
) -> list[Parameter]:
    """Slopes and, last, the intercept (N + 1,) of a regression for two classes."""
    *slopes, intercept = coefficients.tolist()
    words = f"multiplies the {scale} of the agent"
    return [
        *(
            Parameter(f"slope of {agent}", slope, words)
            for agent, slope in zip(agents, slopes, strict=True)
        ),
        Parameter("intercept", intercept, "added to their sum"),
    ]


def output_layer(
    model: Any, slopes: Array, shifts: Array, classes: int
) -> tuple[FloatArray, FloatArray]:
    """Slopes (C, F) and shifts (C,) of a scikit-learn model for all K classes.

    A class that no training case had gets a shift of minus infinity: probability 0.
    """
    if classes == 2:
        return np.asarray(slopes, np.float64), np.asarray(shifts, np.float64)
    seen = model.classes_
    every = np.zeros((classes, slopes.shape[1]))
    shift = np.full(classes, -np.inf)
    if len(seen) == 2:  # the second against the first
        shift[seen[0]] = 0.0
        seen = seen[1:]
    every[seen], shift[seen] = slopes, shifts
    return every, shift


def probabilities_of(scores: FloatArray) -> FloatArray:
    """Probabilities (T, C, ...) of scores (T, C, ...) on the log scale."""
    if scores.shape[1] == 1:
        sigmoid: FloatArray = expit(scores)
        return sigmoid
    # On a single case scipy's softmax takes longer than all the rest.
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return shares
