"""What every payment says: how an agent's payoff depends on its own report."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from truepool.games.agent_view import Seat
from truepool.games.payoffs import Payoff


@dataclass(frozen=True)
class Payment(ABC):
    """What an agent is paid for, in expectation over the outcome.

    Attributes
    ----------
    name : str
        What the command line and `truepool.games.payments.every` call it.
    social : bool
        Whether the best report hangs on what others report. Where it does not, one
        round settles the game.
    """

    name: ClassVar[str]
    social: ClassVar[bool]

    @abstractmethod
    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
