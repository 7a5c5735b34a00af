"""Payment by the log score of the agent's report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.measures.losses import Loss
from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment, expected_loss
from truepool_lab.games.payoffs import Curve, Payoff


@final
@dataclass(frozen=True)
class Log(Payment):
    r"""Utility :math:`\log m_i` if y happens, :math:`\log(1 - m_i)` if not.

    Strictly proper; reports are clipped to [1e-12, 1 - 1e-12].
    """

    name: ClassVar[str] = "log"
    depends_on_others: ClassVar[bool] = False

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        loss, chance = Loss("log"), view.chance
        return Curve(lambda m: -expected_loss(loss, m, chance), peak=chance)
