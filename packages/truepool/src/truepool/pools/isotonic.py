"""Isotonic recalibration of a pool."""

from typing import ClassVar, final

import numpy as np
from sklearn.isotonic import IsotonicRegression

from truepool.core.arrays import (
    FloatArray,
    IntArray,
    case_count,
    classes,
    normalize,
)
from truepool.measures.losses import indicator
from truepool.panel.sparse import SparseReports
from truepool.pools.interface import learned
from truepool.pools.interface.recalibrated import RECALIBRATED, RecalibratedPool
from truepool.pools.interface.result import Parameter


@final
class Isotonic(RecalibratedPool):
    """Another pool, corrected by the best rising curve (pool-adjacent-violators).

    T cases never show that something is impossible, so the curve stays within
    [1 / (T + 2), (T + 1) / (T + 2)]. K classes are corrected one against the rest.

    Attributes
    ----------
    curves_ : tuple of (2, n)
        Corners of the curve, for class 1 or for each class; straight between them.

    Examples
    --------
    >>> reports = [[0.6, 0.5], [0.7, 0.6], [0.4, 0.4], [0.3, 0.5]] * 10
    >>> Isotonic().fit(reports, [1, 1, 0, 0] * 10).predict_proba(reports[:1]).round(3)
    array([[0.024, 0.976]])
    """

    name: ClassVar[str] = "isotonic"
    exemptions: ClassVar = RECALIBRATED
    complexity: ClassVar[int] = 2

    curves_: tuple[FloatArray, ...] = learned()

    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        doubt = 1.0 / (case_count(cases) + 2)
        truth = indicator(outcomes, classes(pooled.shape[1]))
        self.curves_ = tuple(
            _curve(pooled[:, c], truth[:, c], cases, doubt)
            for c in range(pooled.shape[1])
        )

    def _parameters(self) -> tuple[Parameter, ...]:
        labels = (
            [""] if len(self.classes_) == 2 else [f" of {c}" for c in self.classes_]
        )
        return tuple(
            Parameter(f"corners{label}", curve.shape[1], "of the curve that was fitted")
            for label, curve in zip(labels, self.curves_, strict=True)
        )

    def _corrected(
        self, pooled: FloatArray, values: FloatArray | SparseReports
    ) -> FloatArray:
        curved = [np.interp(pooled[:, c], *xy) for c, xy in enumerate(self.curves_)]
        return normalize(np.stack(curved, axis=1))


def _curve(
    pooled: FloatArray, truth: FloatArray, cases: FloatArray, doubt: float
) -> FloatArray:
    """Rising curve of least squared error, as its corners (2, n)."""
    model = IsotonicRegression(y_min=doubt, y_max=1 - doubt).fit(pooled, truth, cases)
    return np.stack([model.X_thresholds_, model.y_thresholds_])
