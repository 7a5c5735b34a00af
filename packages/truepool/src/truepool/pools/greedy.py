"""Ensemble selection: add the agent that helps most, again and again."""

from dataclasses import replace
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import as_loss
from truepool.panel.panel import Panel
from truepool.pools.interface import LinearPool
from truepool.pools.interface.result import Explanation


@final
class Greedy(LinearPool):
    """Ensemble selection with replacement (Caruana et al. 2004).

    Starting from an empty bag, the agent whose report lowers the loss of the bag's mean
    most is added, an agent possibly many times; the best bag on the way is kept. Agents
    that tie are added together, so that their order does not matter.

    >>> reports = [[0.9, 0.6, 0.5], [0.2, 0.4, 0.5], [0.7, 0.9, 0.5], [0.3, 0.1, 0.5]]
    >>> Greedy().fit(reports, [1, 0, 1, 0]).weights_.round(2)
    array([0.76, 0.24, 0.  ])
    """

    name: ClassVar[str] = "greedy"
    complexity: ClassVar[int] = 2

    rounds: int = 25
    loss: str = "brier"

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        if self.rounds < 1:
            raise SettingError(
                f"there must be at least 1 round; got rounds={self.rounds}"
            )
        loss = as_loss(self.loss, self.costs, self.threshold)
        past = FixedWeights(panel, loss, case_weights)
        N = len(panel.agents)
        bag, least, best_bag = np.zeros(N), np.inf, np.zeros(N)
        for _ in range(self.rounds):
            tried = bag + np.eye(N)
            losses = past.losses(tried / tried.sum(axis=1, keepdims=True))
            ties = losses <= losses.min() + 1e-12
            bag = bag + ties / ties.sum()
            lost = float(past.losses((bag / bag.sum())[None])[0])
            if lost < least - 1e-12:
                least, best_bag = lost, bag
        return np.asarray(best_bag / best_bag.sum())

    def _explanation(self) -> Explanation:
        return replace(super()._explanation(), loss=self.loss)
