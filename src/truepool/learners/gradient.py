"""Exponentiated gradient: learns the best mixture, not the best agent."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.learners.exponential import CONSTANT, DOUBLING, Exponential
from truepool.learners.interface import Signal, check_rate


@final
@dataclass(frozen=True, kw_only=True)
class Gradient(Exponential):
    r"""Exponential weights on the slopes of the pool's loss (Kivinen & Warmuth 1997).

    Agent i is charged :math:`\ell'(p) \cdot r_i`. For a convex loss the regret against
    the best fixed *weighting* is O(sqrt(T ln N)) for every sequence. Without a rate it
    adapts to the slopes seen and needs no horizon.
    """

    name: ClassVar[str] = "gradient"
    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)

    @property
    def hears(self) -> Signal:
        """Slopes of the pool's loss."""
        return "slope"

    @property
    def mode(self) -> int:
        """Doubling unless a rate is given."""
        return DOUBLING if self.rate is None else CONSTANT

    def pace(self, agents: int, classes: int) -> float:
        """Rate, where it is constant."""
        return self.rate or 0.0
