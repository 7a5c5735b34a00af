"""Ridge logistic regression on the reports, its penalty by cross-validation."""

import warnings
from typing import ClassVar, final

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.folds import Folds, splits
from truepool.pools.interface import Pool
from truepool.pools.onnx import graph
from truepool.pools.onnx.graph import ReportTensors, Tensor
from truepool.pools.stacked import (
    MODEL,
    log_odds_features,
    log_odds_onnx,
    output_layer,
    probabilities_of,
    report_features,
    reports_onnx,
)

STRENGTHS = np.logspace(-4, 2, 13)
"""The grid of inverse penalties."""
PRECISION = 1e-8
"""Largest gradient at which the regression has converged."""
DEFAULT = np.array([1.0])
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
    coefficients_ : (C, F)
        Slopes; C is 1 for two classes.
    intercepts_ : (C,)
        The score of a case with all features 0.
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
    intercepts_: FloatArray
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
        try:
            pairs = splits(panel.outcomes, self.cv, self.seed, times=panel.times)
            strengths = STRENGTHS
        except SettingError:  # too few cases for folds: nothing to choose by
            everything = np.arange(len(panel))
            pairs, strengths = [(everything, everything)], DEFAULT
        model = LogisticRegressionCV(
            Cs=strengths,
            cv=pairs,
            scoring="neg_log_loss",
            solver="newton-cholesky",
            tol=PRECISION,
            max_iter=1000,
            l1_ratios=(0.0,),
            use_legacy_attributes=False,
        )
        with warnings.catch_warnings():
            # Reports that are all alike leave Newton no direction; scikit-learn says so
            # and goes on with another solver.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", LinAlgWarning)
            model.fit(features, panel.outcomes, case_weights)
        self.strength_ = float(model.C_)
        self.coefficients_, self.intercepts_ = output_layer(
            model, model.coef_, model.intercept_, panel.classes
        )

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        features = SCALES[self.scale](values)
        return probabilities_of(features @ self.coefficients_.T + self.intercepts_)

    def to_onnx(self, reports: ReportTensors) -> Tensor:
        """Pooled coordinates (T, C) inside an ONNX graph."""
        features = ONNX_SCALES[self.scale](reports)
        scores = features @ self.coefficients_.T + self.intercepts_
        return graph.from_scores(scores, reports.coordinates)
