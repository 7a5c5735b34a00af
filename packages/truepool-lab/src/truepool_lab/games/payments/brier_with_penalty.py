"""Payment by the Brier score, minus a penalty for disagreeing with the others."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.core.errors import SettingError
from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment
from truepool_lab.games.payoffs import Payoff, Squares


@final
@dataclass(frozen=True)
class RegularisedBrier(Payment):
    r"""Utility :math:`-(m_i - y)^2 - \lambda (m_i - \bar m_{-i})^2`.

    The paper's Brier+Reg (tab:scoring_rules_poa) does not define its regulariser; a
    penalty for deviating from the mean of the others is one a coordinator can compute.
    Among identical agents it changes no equilibrium in constant shifts, as the paper's
    table says of its own: a shift that all agents make is not penalised.
    """

    name: ClassVar[str] = "regularised"
    depends_on_others: ClassVar[bool] = True
    strength: float = 0.1

    def __post_init__(self) -> None:
        if not self.strength >= 0:
            raise SettingError(
                f"the strength of a penalty must be 0 or more; got {self.strength!r}"
            )

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        chance, others, penalty = view.chance, view.others, self.strength
        # -(m - c)^2 - s (m - o)^2 is one parabola about the weighted mean of c and o.
        return Squares(
            (chance + penalty * others) / (1 + penalty),
            1 + penalty,
            lambda: (
                -chance * (1 - chance)
                - penalty / (1 + penalty) * (chance - others) ** 2
            ),
        )
