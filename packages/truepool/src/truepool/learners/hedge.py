"""Hedge: exponential weights on each agent's own loss."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.learners.exponential import AdaptiveExponential
from truepool.learners.interface import Signal


@final
@dataclass(frozen=True, kw_only=True)
class Hedge(AdaptiveExponential):
    """Exponential weights on own losses (Freund & Schapire 1997).

    Learns the best single agent: its regret against that agent is O(sqrt(T ln N))
    for every sequence. Without a rate it lowers its own whenever the sum of squared
    spans has doubled, so it needs no horizon.
    """

    name: ClassVar[str] = "hedge"

    @property
    def signal(self) -> Signal:
        """Own losses."""
        return "own"
