"""Exponentiated gradient: learns the best weighting, not the best agent."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.learners.exponential import AdaptiveExponential
from truepool.learners.interface import Signal


@final
@dataclass(frozen=True, kw_only=True)
class Gradient(AdaptiveExponential):
    r"""Exponential weights on the slopes of the pool's loss (Kivinen & Warmuth 1997).

    Agent i is charged :math:`\ell'(p) \cdot r_i`. For a convex loss the regret against
    the best fixed *weighting* is O(sqrt(T ln N)) for every sequence. Without a rate it
    adapts to the observed slopes and needs no horizon.
    """

    name: ClassVar[str] = "gradient"

    @property
    def signal(self) -> Signal:
        """Slopes of the pool's loss."""
        return "slope"
