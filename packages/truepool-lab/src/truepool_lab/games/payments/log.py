"""Payment by the log score of the agent's report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.games.agent_view import AgentView
from truepool.games.payments.expected_loss import expected_loss
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Curve, Payoff
from truepool.measures.losses import Loss


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
