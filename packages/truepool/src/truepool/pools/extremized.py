"""A pool with its log-odds extremised."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, IntArray, from_log_scale, log_scale
from truepool.core.errors import SettingError
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
class Extremized(RecalibratedPool):
    r"""Another pool with its log-odds multiplied by a factor.

    :math:`\mathrm{logit}\, p' = a\, \mathrm{logit}\, p`, for K classes
    :math:`p'_k \propto p_k^a`.
    Corrects the under-confidence of a mean of distinct calibrated agents (Ranjan &
    Gneiting 2010; Baron et al. 2014).

    Parameters
    ----------
    factor : "fit", "neyman-roughgarden" or float
        ``fit`` takes the a with the lowest log loss. ``neyman-roughgarden`` needs no
        outcome: :math:`a = n(\sqrt{3n^2 - 3n + 1} - 2) / (n^2 - n - 1)` for the n
        agents that reported, from 1 at n = 1 towards :math:`\sqrt 3`. Neyman &
        Roughgarden (2022) derive it for a mean moved away from a known prior; here, as
        forecasters use it, it scales log-odds away from even.

    Examples
    --------
    >>> pool = Extremized(factor=2.0).fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> pool.predict_proba([[0.75, 0.75]])[:, 1].round(3)
    array([0.9])
    >>> neyman_roughgarden(np.array([1, 2, 1000])).round(3)
    array([1.   , 1.292, 1.731])
    """

    name: ClassVar[str] = "extremized"
    exemptions: ClassVar = RECALIBRATED

    factor: float | str = "fit"

    factor_: float = learned()

    def _correct(
        self, pooled: FloatArray, outcomes: IntArray, cases: FloatArray
    ) -> None:
        if self.factor == "fit":
            self.factor_, _ = fit_scaling(
                log_scale(pooled, self.clip_), outcomes, cases, shift=False
            )
        elif self.factor == "neyman-roughgarden":
            self.factor_ = np.nan  # one for each case, by who speaks
        elif isinstance(self.factor, str) or not 0 < self.factor < np.inf:
            raise SettingError(
                "factor must be 'fit', 'neyman-roughgarden' or a positive number; "
                f"got {self.factor!r}"
            )
        else:
            self.factor_ = float(self.factor)

    def _parameters(self) -> tuple[Parameter, ...]:
        if np.isnan(self.factor_):
            most = float(neyman_roughgarden(np.array([len(self.agents_)]))[0])
            words = "multiplies the log-odds where all agents report; less with fewer"
            return (Parameter("slope", most, words),)
        words = describe_slope(self.factor_, self.pool_.name, alone=True)
        return (Parameter("slope", self.factor_, words),)

    def _corrected(
        self, pooled: FloatArray, values: FloatArray | SparseReports
    ) -> FloatArray:
        factor: float | FloatArray = self.factor_
        if np.isnan(self.factor_):
            factor = neyman_roughgarden(_report_counts(values))
        return from_log_scale(factor * log_scale(pooled, self.clip_))


def _report_counts(values: FloatArray | SparseReports) -> IntArray:
    """Number of reports on each case, (T, 1)."""
    if isinstance(values, SparseReports):
        return values.counts[:, None]
    counts: IntArray = (~np.isnan(values[:, :, :1])).sum(axis=1)
    return counts


def neyman_roughgarden(agents: IntArray) -> FloatArray:
    """Factor by which a mean of this many agents is best extremised, unseen."""
    n = agents.astype(np.float64)
    factor: FloatArray = n * (np.sqrt(3 * n * n - 3 * n + 1) - 2) / (n * n - n - 1)
    return factor
