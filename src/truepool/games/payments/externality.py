"""Paid for agreeing with the others."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.games.agent_view import Seat
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Payoff, Squares


@final
@dataclass(frozen=True)
class Externality(Payment):
    r"""Utility :math:`-(m_i - \bar m_{-i})^2` (sec:problem).

    No outcome enters: any shift that all make alike is an equilibrium, and truth is
    one of many. Reports end at 0 and 1, where agreeing is easiest: agents whose
    beliefs lie near a bound and do not agree much run to it.
    """

    name: ClassVar[str] = "externality"
    social: ClassVar[bool] = True

    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        return Squares(seat.others)
