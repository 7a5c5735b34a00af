"""Weights by Shapley credit."""

from dataclasses import replace
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.credit import (
    EXACT_LIMIT,
    credit_per_report,
    sample_shapley,
    shapley,
)
from truepool.measures.losses import as_loss
from truepool.panel.panel import Panel
from truepool.panel.weights import by_credit
from truepool.pools.interface import LinearPool, by_agent, learned
from truepool.pools.interface.result import Explanation


@final
class Shapley(LinearPool):
    """Weights proportional to positive Shapley credit; equal when there is none.

    Exact up to 14 agents, sampled above. Identical agents have equal credit, and
    together usually more weight than one of them alone: leave copies out.

    Attributes
    ----------
    weights_, credit_ : (N,)
        The weights, and the credit per case that the agent reported on.
    standard_errors_ : (N,)
        Of the credit per case, where it was sampled; 0 where it is exact.

    Examples
    --------
    >>> reports = [[0.9, 0.9, 0.6], [0.2, 0.2, 0.4], [0.7, 0.7, 0.9], [0.3, 0.3, 0.1]]
    >>> Shapley().fit(reports, [1, 0, 1, 0]).weights_.round(3)
    array([0.357, 0.357, 0.285])
    >>> Shapley().fit([row[1:] for row in reports], [1, 0, 1, 0]).weights_.round(3)
    array([0.572, 0.428])
    """

    name: ClassVar[str] = "shapley"
    complexity: ClassVar[int] = 2

    loss: str = "brier"
    seed: int = 0

    credit_: FloatArray = learned()
    standard_errors_: FloatArray = learned()

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        loss = as_loss(self.loss, self.costs, self.threshold).on(panel)
        if len(panel.agents) <= EXACT_LIMIT:
            credit = shapley(panel, loss=loss, sample_weight=case_weights)
            self.standard_errors_ = np.zeros(len(credit))
        else:
            found = sample_shapley(
                panel, loss=loss, sample_weight=case_weights, seed=self.seed
            )
            credit, self.standard_errors_ = found.credit, found.standard_errors
        self.credit_ = credit_per_report(credit, panel, case_weights)
        return by_credit(self.credit_ / loss.span(panel.classes))

    def _explanation(self) -> Explanation:
        credit = by_agent(self.agents_, self.credit_)
        return replace(super()._explanation(), credit=credit, loss=self.loss)
