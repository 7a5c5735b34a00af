"""Paid by the log score of the own report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.games.agent_view import Seat
from truepool.games.payments.expected_loss import expected_loss
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Curve, Payoff
from truepool.measures.losses import Loss


@final
@dataclass(frozen=True)
class Log(Payment):
    r"""Utility :math:`\log m_i` if y happens, :math:`\log(1 - m_i)` if not.

    Strictly proper; a report of 0 or 1 is taken to be 1e-12 away from it.
    """

    name: ClassVar[str] = "log"
    social: ClassVar[bool] = False

    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        loss, chance = Loss("log"), seat.chance
        return Curve(lambda m: -expected_loss(loss, m, chance), peak=chance)
