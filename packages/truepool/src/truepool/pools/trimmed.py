"""The mean without the extremes."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, normalize
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.pools.interface import Pool


@final
class Trimmed(Pool):
    r"""Mean of each case's reports without the lowest and highest share ``alpha``.

    :math:`\lfloor \alpha n \rfloor` of the n reports are cut at each end, class by
    class for K classes, which are then scaled to sum to 1.

    >>> pool = Trimmed(alpha=0.25).fit([[0.9, 0.5, 0.8, 0], [0.1, 0.5, 0.2, 1]], [1, 0])
    >>> pool.predict_proba([[0.9, 0.6, 0.8, 0.0]])[:, 1].round(3)
    array([0.7])
    """

    name: ClassVar[str] = "trimmed"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 0

    alpha: float = 0.2

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        if not 0 <= self.alpha <= 0.5:
            raise SettingError(
                f"the share cut off at each end must lie in [0, 0.5]; alpha is "
                f"{self.alpha!r}"
            )

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return trimmed_mean(values, self.alpha)

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        return reports.trimmed_mean(self.alpha)[:, None]


def trimmed_mean(values: FloatArray, share: float) -> FloatArray:
    """Mean of (T, N, C) over agents, without this share of them at each end: (T, C).

    A share of 0.5 leaves the middle one or two: the median. Missing reports do not
    count. For K classes each class is cut by itself and the rest scaled to sum to 1.

    >>> trimmed_mean(np.array([[[0.1], [0.2], [0.9]]]), 0.5)
    array([[0.2]])
    """
    count = (~np.isnan(values)).sum(axis=1)  # (T, C)
    cut = np.minimum(np.floor(share * count + 1e-9).astype(np.int64), (count - 1) // 2)
    ranked = np.sort(values, axis=1)  # NaN goes last
    rank = np.arange(values.shape[1])[:, None]
    inside = (rank >= cut[:, None]) & (rank < (count - cut)[:, None])
    mean = np.where(inside, ranked, 0.0).sum(axis=1) / (count - 2 * cut)
    return normalize(mean)
