"""Paid by how well the own report alone would have decided."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.games.agent_view import Seat
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Payoff, Steps


@final
@dataclass(frozen=True)
class OwnAccuracy(Payment):
    r"""Utility: minus the cost of deciding by the own report, at the threshold.

    With costs 1 : 1 this is accuracy less 1. Only the side of the threshold counts:
    any report on the right side earns the same.
    """

    name: ClassVar[str] = "own-accuracy"
    social: ClassVar[bool] = False

    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        chance, missed = seat.chance, seat.costs.fn
        return Steps(
            np.zeros_like(chance),
            np.ones(1),
            seat.line,
            seat.gains,
            lambda: -missed * chance,
        )
