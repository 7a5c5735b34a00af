"""What every payment defines: the payoff as a function of the agent's report.

Payments by a loss share its expectation over the outcome.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.losses import Loss
from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payoffs import Payoff


@dataclass(frozen=True)
class Payment(ABC):
    """What an agent is paid for, in expectation over the outcome.

    Attributes
    ----------
    name : str
        What the command line and `truepool_lab.games.payments.every` call it.
    depends_on_others : bool
        Whether the best report depends on what others report. Where it does not, the
        game converges after one round.
    """

    name: ClassVar[str]
    depends_on_others: ClassVar[bool]

    @abstractmethod
    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""


def expected_loss(loss: Loss, pooled: FloatArray, chance: FloatArray) -> FloatArray:
    """Expected loss of pooled (T,) or (T, G), given Pr(y = 1) in each case (T,).

    >>> expected_loss(Loss("brier"), np.array([0.5]), np.array([0.3]))
    array([0.25])
    """
    likely = chance[:, None] if pooled.ndim == 2 else chance
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    values = pooled[..., None]
    return likely * loss.evaluate(values, one) + (1 - likely) * loss.evaluate(
        values, zero
    )
