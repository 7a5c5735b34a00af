"""Hedge: exponential weights on each agent's own loss."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.learners.exponential import CONSTANT, DOUBLING, Exponential
from truepool.learners.interface import Signal, check_rate


@final
@dataclass(frozen=True, kw_only=True)
class Hedge(Exponential):
    """Exponential weights on own losses (Freund & Schapire 1997).

    Follows the best single agent: its regret against that agent is O(sqrt(T ln N))
    for every sequence. Without a rate it halves its own whenever the sum of squared
    reaches has doubled, so it needs no horizon.
    """

    name: ClassVar[str] = "hedge"
    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)

    @property
    def hears(self) -> Signal:
        """Own losses."""
        return "own"

    @property
    def mode(self) -> int:
        """Doubling unless a rate is given."""
        return DOUBLING if self.rate is None else CONSTANT

    def pace(self, agents: int, classes: int) -> float:
        """Rate, where it is constant."""
        return self.rate or 0.0
