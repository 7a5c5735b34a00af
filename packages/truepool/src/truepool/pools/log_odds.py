"""The mean on the log-odds scale."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_log_scale, log_scale, logit
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools.interface import Pool, learned
from truepool.pools.training.certainty import choose_clip


@final
class LogOdds(Pool):
    r"""Mean of the log-odds.

    :math:`\mathrm{logit}\, p = \frac1N \sum_i \mathrm{logit}\, r_i`. For K
    classes, the normalised geometric mean. Sharper than the mean; one agent that is
    certain and wrong does more damage.

    Parameters
    ----------
    clip : float, optional
        How close to 0 and 1 a report may count. By default 0.02, or a tenth of the
        share of the rarest class if that is less.

    Attributes
    ----------
    clip_ : float
        The clip in use.

    Examples
    --------
    >>> pool = LogOdds().fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> pool.predict_proba([[0.9, 0.5]])[:, 1].round(3)
    array([0.75])
    """

    name: ClassVar[str] = "log-odds"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 0

    clip: float | None = None

    clip_: float = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        self.clip_ = choose_clip(self.clip, panel, case_weights)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return from_log_scale(np.nanmean(log_scale(values, self.clip_), axis=1))

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        mean = reports.by_case(logit(reports.values, self.clip_)) / reports.counts
        return from_log_scale(mean[:, None])
