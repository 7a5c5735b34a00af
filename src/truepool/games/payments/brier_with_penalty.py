"""Paid by the Brier score, less a fine for leaving the others."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.core.errors import SettingError
from truepool.games.agent_view import Seat
from truepool.games.payments.interface import Payment
from truepool.games.payoffs import Payoff, Squares


@final
@dataclass(frozen=True)
class Regularised(Payment):
    r"""Utility :math:`-(m_i - y)^2 - \lambda (m_i - \bar m_{-i})^2`.

    The paper's Brier+Reg (tab:scoring_rules_poa) leaves its regulariser open; a fine
    for leaving the mean of the others is one a coordinator can compute. Among alike
    agents it moves no equilibrium in constant shifts, as the paper's table says of its
    own: where all shift alike, nobody is fined for it.
    """

    name: ClassVar[str] = "regularised"
    social: ClassVar[bool] = True
    strength: float = 0.1

    def __post_init__(self) -> None:
        if not self.strength >= 0:
            raise SettingError(
                f"the strength of a fine must not be negative; it is {self.strength!r}"
            )

    def payoff(self, seat: Seat) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        chance, others, fine = seat.chance, seat.others, self.strength
        # -(m - c)^2 - s (m - o)^2 is one parabola about the weighted mean of c and o.
        return Squares(
            (chance + fine * others) / (1 + fine),
            1 + fine,
            lambda: -chance * (1 - chance) - fine / (1 + fine) * (chance - others) ** 2,
        )
