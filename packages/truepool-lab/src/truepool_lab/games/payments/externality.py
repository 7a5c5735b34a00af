"""Payment for agreeing with the others."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment
from truepool_lab.games.payoffs import Payoff, Squares


@final
@dataclass(frozen=True)
class Externality(Payment):
    r"""Utility :math:`-(m_i - \bar m_{-i})^2` (sec:problem).

    The outcome does not matter: any common shift is an equilibrium, and truth is one of
    many. Agents agree most easily at 0 and 1: where beliefs lie near a bound and differ
    much, reports move to it.
    """

    name: ClassVar[str] = "externality"
    depends_on_others: ClassVar[bool] = True

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        return Squares(view.others)
