"""Payment in weight: the weighted-score update of `truepool.learners.wsu`."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool_lab.games.agent_view import AgentView
from truepool_lab.games.payments.interface import Payment
from truepool_lab.games.payoffs import Payoff, Squares


@final
@dataclass(frozen=True)
class WSU(Payment):
    r"""Utility: the next weight, :math:`w_i (1 - \eta (\ell_i - \sum_j w_j \ell_j))`.

    Weighted-score wagering (Freeman, Pennock, Podimata & Wortman Vaughan, ICML 2020),
    one case at a time, with Brier losses and equal initial weights. Linear in the own
    loss, so truth is the best report of a myopic agent, whatever others report.
    """

    name: ClassVar[str] = "wsu"
    depends_on_others: ClassVar[bool] = False
    rate: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 0.5:
            raise SettingError(
                f"the rate of wsu must lie in (0, 0.5]; got {self.rate!r}"
            )

    def payoff(self, view: AgentView) -> Payoff:
        """Payoff of each case as a function of the agent's own report."""
        weight = 1.0 / view.reports.shape[1]
        scale = self.rate * weight * (1 - weight)

        def extra() -> FloatArray:
            chance = view.chance
            noise = chance * (1 - chance)
            others = view.others_only(view.reports)
            losses = (others - chance[:, None]) ** 2 + noise[:, None]
            rivals = weight * np.nansum(losses, axis=1)
            paid = self.rate * (rivals - (1 - weight) * noise)
            return np.asarray(weight * (1 + paid))

        return Squares(view.chance, scale, extra)
