"""Weights by each agent's own past accuracy."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.losses import (
    Loss,
    agent_loss_sums,
    agent_losses,
    over_mass,
    report_losses,
)
from truepool.measures.shrinkage import (
    cells_of,
    check_sums,
    reports_are_rare,
    shrink_means,
)
from truepool.panel.panel import Panel
from truepool.panel.weights import inverse
from truepool.pools.interface import LinearPool


@final
class Brier(LinearPool):
    r"""Weights inverse to the Brier loss: :math:`w_i \propto 1 / B_i`.

    :math:`B_i` is agent i's own mean Brier loss over the cases that it reported on.
    Where less than half of the cells are filled it is shrunk towards the crowd's, the
    more the rarer the agent reported (`truepool.measures.shrinkage`).

    >>> pool = Brier().fit([[0.9, 0.7], [0.1, 0.3]], [1, 0])
    >>> pool.weights_.round(3)
    array([0.9, 0.1])
    """

    name: ClassVar[str] = "brier"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 2

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        loss = Loss("brier")
        if reports_are_rare(panel):
            cells = cells_of(panel)
            losses = report_losses(panel, cells, loss)
            shrunk = shrink_means(cells, losses, case_weights)
            return inverse(np.where(np.isnan(shrunk), np.inf, shrunk))
        return inverse(agent_losses(panel, loss, case_weights))

    def streams(self, agents: int) -> bool:
        """Whether it learns from sums over the cases: losses and reports by agent."""
        return True

    def _sums(self, panel: Panel, prior: FloatArray) -> FloatArray:
        return agent_loss_sums(panel, Loss("brier"))

    def _weigh_sums(self, sums: FloatArray) -> FloatArray:
        check_sums(self.name, self.training_.missing, len(self.classes_))
        return inverse(over_mass(*sums))
