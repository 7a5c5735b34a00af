"""The mean without the extremes."""

from typing import ClassVar, final

from truepool.arrays import FloatArray
from truepool.costs import Costs
from truepool.errors import SettingError
from truepool.panel import Panel
from truepool.pools.interface import Pool
from truepool.ranks import trimmed_mean


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
    complexity: ClassVar[int] = 0

    def __init__(
        self,
        *,
        alpha: float = 0.2,
        costs: Costs | None = None,
        threshold: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.costs = costs
        self.threshold = threshold

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        if not 0 <= self.alpha <= 0.5:
            raise SettingError(
                f"the share cut off at each end must lie in [0, 0.5]; alpha is "
                f"{self.alpha!r}"
            )

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool sound reports (T, N, C) into (T, C)."""
        return trimmed_mean(values, self.alpha)
