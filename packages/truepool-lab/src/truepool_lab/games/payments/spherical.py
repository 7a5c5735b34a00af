"""Payment by the spherical score of the agent's report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.measures.losses import Loss
from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment, expected_loss
from truepool_lab.games.payoffs import Curve, Payoff


@final
@dataclass(frozen=True)
class Spherical(Payment):
    r"""Utility :math:`m_y / \sqrt{m^2 + (1 - m)^2} - 1`: strictly proper."""

    name: ClassVar[str] = "spherical"
    depends_on_others: ClassVar[bool] = False

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        loss, chance = Loss("spherical"), view.chance
        return Curve(lambda m: -expected_loss(loss, m, chance), peak=chance)
