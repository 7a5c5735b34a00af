"""Payment by the Brier score of the agent's report."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment
from truepool_lab.games.payoffs import Payoff, Squares


@final
@dataclass(frozen=True)
class Brier(Payment):
    r"""Utility :math:`-(m_i - y)^2` (sec:problem).

    Strictly proper: the best report is E[y | what the agent knows], the best constant
    shift is minus the agent's offset, and neither depends on what others report.
    """

    name: ClassVar[str] = "brier"
    depends_on_others: ClassVar[bool] = False

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        chance = view.chance
        return Squares(chance, extra=lambda: -chance * (1 - chance))
