"""Ridge logistic regression on the reports, its penalty by cross-validation."""

from dataclasses import replace
from typing import ClassVar, Self, cast, final

import numpy as np
from sklearn.base import clone

from truepool.core.arrays import FloatArray
from truepool.core.engine import one_blas_thread
from truepool.core.errors import SettingError
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import Folds, panel_splits, thin
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool, learned
from truepool.pools.interface.result import Explanation, Parameter, Training
from truepool.pools.interface.stacked import (
    MODEL,
    describe_coefficients,
    features_of,
    probabilities_of,
)
from truepool.pools.training import imputation
from truepool.pools.training.logistic import LogisticData, solve, solve_path

STRENGTHS = np.logspace(-4, 2, 7)
"""The grid of inverse penalties."""
DEFAULT = 1.0
"""The inverse penalty where the cases are too few for folds."""
MOST_FEATURES = 1000
"""Most features, or cases where they are fewer: 36 models solve for so many slopes."""
ENOUGH = 1e-4
"""Precision of the models that are only compared, see `measures.newton.Minimizer`: the
losses of 20,000 cases together are then right to a tenth."""
SCALES: dict[str, imputation.Scale] = {
    "log-odds": clipped_log_scale,
    "reports": lambda values: values,
}
"""What the regression reads of reports (T, N, C), by name."""


@final
class Ridge(Pool):
    """Logistic regression with a squared penalty that cross-validation chooses.

    What a practitioner would write with scikit-learn's ``LogisticRegressionCV``: the
    penalty has the least log loss out of fold, and one model learns from all cases. An
    agent that gave no report is taken to have said what those who did suggest, see
    `imputation`.

    Parameters
    ----------
    scale : "log-odds" or "reports"
        What the regression reads.
    cv : int or splitter
        Folds on which the penalty is chosen.

    Attributes
    ----------
    coefficients_ : (C, F + 1)
        Slopes and, last, the intercept; C is 1 for two classes.
    strength_ : float
        Inverse of the penalty chosen.
    imputation_ : (3, N, K - 1) or (3, N, C)
        Mean, pull and loading of what it reads of each agent, which fill in missing
        reports.

    Examples
    --------
    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> Ridge().fit(reports, [1, 0, 1, 0] * 5).predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "ridge"
    complexity: ClassVar[int] = 3
    exemptions: ClassVar = {"unanimity": MODEL}

    scale: str = "log-odds"
    cv: Folds = 5
    seed: int = 0

    coefficients_: FloatArray = learned()
    strength_: float = learned()
    imputation_: FloatArray = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        if self.scale not in SCALES:
            raise SettingError(
                f"scale must be one of {', '.join(SCALES)}; got {self.scale!r}"
            )
        T, N, C = panel.values.shape
        width = N * (C if self.scale == "reports" else panel.classes - 1)
        if min(T, width) > MOST_FEATURES:
            raise SettingError(
                f"ridge takes at most {MOST_FEATURES:,} reports per case, or any "
                f"number on at most {MOST_FEATURES:,} cases; got {width:,} reports on "
                f"{T:,} cases. Use stacked-lr, or leave agents out."
            )
        with one_blas_thread():
            self._fill_in(panel, case_weights)
            self._solve(panel, case_weights, *self._choose(panel, case_weights))

    def refit(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Return a pool that learned from another panel, with the same penalty."""
        copy = cast(Self, clone(self))
        training = Training(panel.size, panel.counts, panel.missing)
        copy._describe(panel.agents, panel.labels, training)
        weights = panel.case_weights(case_weights)
        with one_blas_thread():
            copy._fill_in(panel, weights)
            copy._solve(panel, weights, self.strength_)
        return copy

    def _fill_in(self, panel: Panel, case_weights: FloatArray | None) -> None:
        scale = SCALES[self.scale]
        self.imputation_ = imputation.learn_from(panel, case_weights, scale, self.seed)

    def _solve(
        self,
        panel: Panel,
        case_weights: FloatArray | None,
        strength: float,
        near: FloatArray | None = None,
    ) -> None:
        self.strength_ = strength
        data = self._data(panel, case_weights)
        self.coefficients_ = data.expand(solve(data, 1.0 / strength, near))

    def _data(self, panel: Panel, case_weights: FloatArray | None) -> LogisticData:
        features = features_of(panel.values, SCALES[self.scale], self.imputation_)
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        return LogisticData.build(features, panel.outcomes, panel.classes, cases)

    def _choose(
        self, panel: Panel, case_weights: FloatArray | None
    ) -> tuple[float, FloatArray | None]:
        """Return the strength of least log loss out of fold; coefficients near by."""
        panel, case_weights = thin(panel, case_weights, self.seed)
        try:
            pairs = panel_splits(panel, self.cv, self.seed)
        except SettingError:  # too few cases for folds: nothing to choose by
            return DEFAULT, None
        data = self._data(panel, case_weights)
        losses = np.zeros(len(STRENGTHS))
        path: list[FloatArray] = []
        for learn, test in pairs:
            known, new = data.take(learn), data.take(test)
            path = solve_path(known, 1.0 / STRENGTHS, path, ENOUGH)
            losses += new.losses(path)
        best = int(np.argmin(losses))
        return float(STRENGTHS[best]), path[best]

    def _explanation(self) -> Explanation:
        learned = [Parameter("penalty", 1 / self.strength_, "larger: closer to even")]
        if len(self.classes_) == 2:
            learned += describe_coefficients(
                self.agents_, self.coefficients_[0], self.scale
            )
        return replace(super()._explanation(), learned=tuple(learned))

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        features = features_of(values, SCALES[self.scale], self.imputation_)
        slopes, intercepts = self.coefficients_[:, :-1], self.coefficients_[:, -1]
        return probabilities_of(features @ slopes.T + intercepts)
