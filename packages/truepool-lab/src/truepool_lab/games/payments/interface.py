"""What every payment defines: the payoff as a function of the agent's report."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from truepool.games.agent_view import AgentView
from truepool.games.payoffs import Payoff


@dataclass(frozen=True)
class Payment(ABC):
    """What an agent is paid for, in expectation over the outcome.

    Attributes
    ----------
    name : str
        What the command line and `truepool.games.payments.every` call it.
    depends_on_others : bool
        Whether the best report depends on what others report. Where it does not, the
        game converges after one round.
    """

    name: ClassVar[str]
    depends_on_others: ClassVar[bool]

    @abstractmethod
    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
