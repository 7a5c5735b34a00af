"""Fixed share: exponential weights that track a changing best agent."""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal, final

from truepool.core.errors import SettingError
from truepool.core.kernels.arithmetic import log
from truepool.learners.exponential import Exponential
from truepool.learners.interface import check_rate


@final
@dataclass(frozen=True, kw_only=True)
class FixedShare(Exponential):
    r"""Exponential weights, partly redistributed equally (Herbster & Warmuth 1998).

    After each case every weight becomes :math:`(1 - \alpha) w_i + \alpha / N`, so the
    pool adapts within a few dozen cases when the best agent changes.
    """

    name: ClassVar[str] = "fixed-share"
    share: float = 0.01
    rate: float | None = None
    signal: Literal["own", "slope"] = "slope"
    exemptions: ClassVar = {
        "asleep": "the share goes to all agents, whether they report or not"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)
        if not 0 < self.share < 1:
            raise SettingError(f"a share must lie between 0 and 1; got {self.share!r}")

    @property
    def _needs_span(self) -> bool:
        return self.rate is None

    @property
    def mixing_rate(self) -> float:
        """Share of the weight that is redistributed equally after each case."""
        return self.share

    def learning_rate(self, agents: int, classes: int) -> float:
        """The given rate, or the one that suits one change per 1 / share cases."""
        if self.rate is not None:
            return self.rate
        changes = log(agents / self.share) * self.share
        return sqrt(8 * changes) / self.span(classes)
