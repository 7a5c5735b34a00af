"""Payment by the spherical score of the agent's report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.games.agent_view import AgentView
from truepool.games.payments.expected_loss import expected_loss
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Curve, Payoff
from truepool.measures.losses import Loss


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
