"""Ridge logistic regression on the reports, its penalty by cross-validation."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.folds import Folds, panel_splits
from truepool.pools.interface import Pool
from truepool.pools.logistic import LogisticData, solve
from truepool.pools.onnx import graph
from truepool.pools.onnx.graph import ReportTensors, Tensor
from truepool.pools.stacked import (
    MODEL,
    log_odds_features,
    log_odds_onnx,
    probabilities_of,
    report_features,
    reports_onnx,
)

STRENGTHS = np.logspace(-4, 2, 7)
"""The grid of inverse penalties."""
DEFAULT = 1.0
"""The inverse penalty where the cases are too few for folds."""
SCALES = {"log-odds": log_odds_features, "reports": report_features}
ONNX_SCALES = {"log-odds": log_odds_onnx, "reports": reports_onnx}


@final
class Ridge(Pool):
    """Logistic regression with a squared penalty that cross-validation chooses.

    What a practitioner would write with scikit-learn's ``LogisticRegressionCV``: the
    penalty has the least log loss out of fold, and one model learns from all cases. An
    agent that gave no report is taken to agree with those who did.

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

    Examples
    --------
    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> Ridge().fit(reports, [1, 0, 1, 0] * 5).predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "ridge"
    complexity: ClassVar[int] = 3
    by_default: ClassVar[bool] = False
    exemptions: ClassVar = {"unanimity": MODEL}

    coefficients_: FloatArray
    strength_: float

    def __init__(
        self,
        *,
        scale: str = "log-odds",
        cv: Folds = 5,
        costs: Costs | None = None,
        threshold: float | None = None,
        seed: int = 0,
    ) -> None:
        self.scale = scale
        self.cv = cv
        self.costs = costs
        self.threshold = threshold
        self.seed = seed

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        if self.scale not in SCALES:
            raise SettingError(
                f"scale must be one of {', '.join(SCALES)}; got {self.scale!r}"
            )
        features = SCALES[self.scale](panel.values)
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        data = LogisticData.of(features, panel.outcomes, panel.classes, cases)
        try:
            pairs = panel_splits(panel, self.cv, self.seed)
        except SettingError:  # too few cases for folds: nothing to choose by
            self.strength_ = DEFAULT
        else:
            losses = sum(_path_losses(data, *pair) for pair in pairs)
            self.strength_ = float(STRENGTHS[np.argmin(losses)])
        self.coefficients_ = solve(data, 1.0 / self.strength_)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        features = SCALES[self.scale](values)
        slopes, intercepts = self.coefficients_[:, :-1], self.coefficients_[:, -1]
        return probabilities_of(features @ slopes.T + intercepts)

    def to_onnx(self, reports: ReportTensors) -> Tensor:
        """Pooled coordinates (T, C) inside an ONNX graph."""
        features = ONNX_SCALES[self.scale](reports)
        slopes, intercepts = self.coefficients_[:, :-1], self.coefficients_[:, -1]
        return graph.from_scores(features @ slopes.T + intercepts, reports.coordinates)


def _path_losses(data: LogisticData, learn: IntArray, test: IntArray) -> FloatArray:
    """Log loss (S,) of the test cases for each strength, learned from the others."""
    known, new = data.take(learn), data.take(test)
    losses, found = [], None
    for strength in STRENGTHS:
        found = solve(known, 1.0 / strength, found)
        losses.append(new.loss(found))
    return np.array(losses)
