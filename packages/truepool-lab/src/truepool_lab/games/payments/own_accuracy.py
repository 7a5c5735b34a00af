"""Payment by the cost of deciding on the agent's report alone."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment
from truepool_lab.games.payoffs import Payoff, Steps


@final
@dataclass(frozen=True)
class OwnAccuracy(Payment):
    r"""Utility: minus the cost of deciding on the agent's report at the threshold.

    With costs 1 : 1 this is accuracy minus 1. Only the side of the threshold matters:
    all reports on the same side earn the same.
    """

    name: ClassVar[str] = "own-accuracy"
    depends_on_others: ClassVar[bool] = False

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        chance, missed = view.chance, view.costs.fn
        return Steps(
            np.zeros_like(chance),
            np.ones(1),
            view.cutoff,
            view.gains,
            lambda: -missed * chance,
        )
