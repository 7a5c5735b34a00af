"""Paid by what the pool gains from the agent's presence."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.games.agent_view import Seat
from truepool.games.payments.expected_loss import expected_loss
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Curve, Payoff, Squares, Steps
from truepool.measures.losses import Loss, as_loss


@final
@dataclass(frozen=True)
class VCG(Payment):
    r"""Utility :math:`V(m) - V(m_{-i})`, V minus the loss of the pool (sec:problem).

    With ``loss='cost'`` (the paper's) V is minus the cost of the decision. It makes
    every agent a team player for V; truth is a best response only where the pool is
    already V-optimal (READINGS 2), that is near ``costs.threshold`` for a calibrated
    pool.
    """

    name: ClassVar[str] = "vcg"
    social: ClassVar[bool] = True
    loss: str = "cost"

    def __post_init__(self) -> None:
        Loss(self.loss)

    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        loss = as_loss(self.loss, seat.costs, seat.threshold)
        chance = seat.chance

        def absent() -> FloatArray:
            return expected_loss(loss, seat.without(), chance)

        if seat.linear and self.loss == "cost":
            missed = seat.costs.fn * chance
            return Steps(
                seat.rest, seat.weight, seat.line, seat.gains,
                lambda: absent() - missed,
            )  # fmt: skip
        if seat.linear and self.loss == "brier" and seat.weight.min() > 0:
            targets = (chance - seat.rest) / seat.weight
            if seat.weight.size == 1:
                noise = chance * (1 - chance)
                scale = float(seat.weight[0]) ** 2
                return Squares(targets, scale, lambda: absent() - noise)
        return Curve(lambda m: -self._lost(seat, loss, m), extra=absent)

    def _lost(self, seat: Seat, loss: Loss, reports: FloatArray) -> FloatArray:
        if reports.ndim == 1:
            return expected_loss(loss, seat.pooled(reports), seat.chance)
        pooled = np.stack([seat.pooled(column) for column in reports.T], axis=1)
        return expected_loss(loss, pooled, seat.chance)
