"""Paid by the spherical score of the own report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.games.mechanisms.interface import Mechanism
from truepool.games.mechanisms.scoring import expected_loss
from truepool.games.payoffs import Curve, Payoff
from truepool.games.seats import Seat
from truepool.losses import Loss


@final
@dataclass(frozen=True)
class Spherical(Mechanism):
    r"""Utility :math:`m_y / \sqrt{m^2 + (1 - m)^2} - 1`: strictly proper."""

    name: ClassVar[str] = "spherical"
    social: ClassVar[bool] = False

    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        loss, chance = Loss("spherical"), seat.chance
        return Curve(lambda m: -expected_loss(loss, m, chance), peak=chance)
