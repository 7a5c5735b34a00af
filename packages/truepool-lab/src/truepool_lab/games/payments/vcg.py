"""Payment by the agent's marginal contribution to the pool."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.core.arrays import FloatArray
from truepool.measures.losses import Loss, as_loss
from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment, expected_loss
from truepool_lab.games.payoffs import Curve, Payoff, Squares, Steps


@final
@dataclass(frozen=True)
class VCG(Payment):
    r"""Utility :math:`V(m) - V(m_{-i})`, V minus the loss of the pool (sec:problem).

    With ``loss='cost'`` (the paper's) V is minus the cost of the decision. Every agent
    then maximises V; truth is a best response only where the agent cannot decide better
    than the pool (READINGS 2): at ``costs.threshold``, of Pr(y = 1 given all reports).
    """

    name: ClassVar[str] = "vcg"
    depends_on_others: ClassVar[bool] = True
    loss: str = "cost"

    def __post_init__(self) -> None:
        Loss(self.loss)

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        loss = as_loss(self.loss, view.costs, view.threshold)
        chance = view.chance

        def absent() -> FloatArray:
            return expected_loss(loss, view.pooled_without(), chance)

        if view.linear and self.loss == "cost":
            missed = view.costs.fn * chance
            return Steps(
                view.rest, view.weight, view.cutoff, view.gains,
                lambda: absent() - missed,
            )  # fmt: skip
        if view.linear and self.loss == "brier" and view.weight.min() > 0:
            targets = (chance - view.rest) / view.weight
            if view.weight.size == 1:
                noise = chance * (1 - chance)
                scale = float(view.weight[0]) ** 2
                return Squares(targets, scale, lambda: absent() - noise)
        return Curve(lambda m: -self._pool_loss(view, loss, m), extra=absent)

    def _pool_loss(
        self, view: AgentView, loss: Loss, reports: FloatArray
    ) -> FloatArray:
        if reports.ndim == 1:
            return expected_loss(loss, view.pooled(reports), view.chance)
        return expected_loss(loss, view.pooled_columns(reports), view.chance)
