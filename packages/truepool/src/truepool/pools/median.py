"""The median report."""

from typing import ClassVar, final

from truepool.core.arrays import FloatArray
from truepool.panel.sparse import SparseReports
from truepool.pools.interface import FixedPool
from truepool.pools.trimmed import trimmed_mean


@final
class Median(FixedPool):
    """Middle report in each case; the mean of the two middle ones for an even number.

    For K classes the median of each class, scaled to sum to 1. Up to half of the
    agents can report anything without moving the pool beyond the others' reports.

    >>> pool = Median().fit([[0.9, 0.5, 0.8], [0.1, 0.5, 0.2]], [1, 0])
    >>> pool.predict_proba([[0.9, 0.5, 0.8]])[:, 1]
    array([0.8])
    """

    name: ClassVar[str] = "median"
    scales: ClassVar[bool] = True

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return trimmed_mean(values, 0.5)

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        return reports.trimmed_mean(0.5)[:, None]
