"""Platt scaling of a pool."""

from typing import ClassVar, final

from truepool.core.arrays import FloatArray, IntArray, from_log_scale, log_scale
from truepool.measures.calibration import fit_scaling
from truepool.panel.sparse import SparseReports
from truepool.pools.interface import learned
from truepool.pools.interface.recalibrated import (
    RECALIBRATED,
    RecalibratedPool,
    describe_slope,
)
from truepool.pools.interface.result import Parameter


@final
class Platt(RecalibratedPool):
    r"""Another pool, scaled and shifted on the log-odds scale (Platt 1999).

    :math:`\mathrm{logit}\, p' = a\, \mathrm{logit}\, p + b` with a and b of least log
    loss; for K classes one factor and one shift per class.

    Attributes
    ----------
    factor_ : float
        a; above 1 the pool was under-confident.
    shift_ : (K - 1,)
        b; not 0 when the pool's mean was off the base rate.

    Examples
    --------
    >>> reports = [[0.6, 0.5], [0.7, 0.6], [0.4, 0.4], [0.3, 0.5]] * 10
    >>> pool = Platt().fit(reports, [1, 1, 0, 0] * 10)
    >>> bool(pool.factor_ > 1)
    True
    """

    name: ClassVar[str] = "platt"
    exemptions: ClassVar = RECALIBRATED

    factor_: float = learned()
    shift_: FloatArray = learned()

    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        self.factor_, self.shift_ = fit_scaling(
            log_scale(pooled, self.clip_), outcomes, cases, shift=True
        )

    def _parameters(self) -> tuple[Parameter, ...]:
        slope = describe_slope(self.factor_, self.pool_.name, alone=False)
        shifts = zip(self.labels_.names[1:], self.shift_.tolist(), strict=True)
        binary = len(self.classes_) == 2
        return (
            Parameter("slope", self.factor_, slope),
            *(
                Parameter(
                    "intercept" if binary else f"intercept of {label}",
                    shift,
                    "added to the log-odds; below 0 it lowers the probability",
                )
                for label, shift in shifts
            ),
        )

    def _corrected(
        self, pooled: FloatArray, values: FloatArray | SparseReports
    ) -> FloatArray:
        return from_log_scale(
            self.factor_ * log_scale(pooled, self.clip_) + self.shift_
        )
