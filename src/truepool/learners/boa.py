"""Bernstein online aggregation: a second-order guarantee, a rate for each agent."""

from dataclasses import dataclass, replace
from math import log
from typing import ClassVar, final

import numpy as np
from scipy.special import logsumexp

from truepool.arrays import FloatArray
from truepool.learners.interface import FLOOR, Heard, State
from truepool.learners.regret import Regretting


@final
@dataclass(frozen=True, kw_only=True)
class BOA(Regretting):
    r"""Bernstein online aggregation (Wintenberger, Machine Learning 2017).

    :math:`w_i \propto \eta_i \exp(\eta_i \sum_s r_{is}(1 - \eta_{i,s-1} r_{is}))` with
    :math:`r_{is}` the regret of case s towards agent i (scaled to [-1, 1]) and
    :math:`\eta_{i,s} = \min(1/2, \sqrt{\ln N / (1 + \sum r_i^2)})`. The regret towards
    agent i is at most :math:`\sum_s \eta_{i,s-1} r_{is}^2 + (\ln N + \ln W) / \eta_i`,
    where :math:`W` grows like ln ln T.
    """

    name: ClassVar[str] = "boa"
    rule: ClassVar[int] = 2
    excused: ClassVar = {
        "asleep": "each agent has a rate of its own, and all weights are normalised"
    }

    def _memory(self, agents: int) -> FloatArray:
        return np.zeros((3, agents))

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        s = state.scalars.copy()
        N = len(state.agents)
        regret = self._regret(heard, state.classes)
        gained, squares, paid = state.memory
        eta = self._rates(squares, N)
        gained = gained + regret * (1 - eta * regret)
        squares = squares + regret**2
        paid = paid + eta * regret**2
        later = self._rates(squares, N)
        s[4] += (eta / later - 1).sum() / (N * np.e)
        s[0] += 1
        logs = np.log(later) + later * gained
        weights = np.maximum(np.exp(logs - logsumexp(logs)), FLOOR)
        memory = np.stack([gained, squares, paid])
        return replace(state, stakes=weights, memory=memory, scalars=s)

    def bound(self, state: State) -> float | None:
        """Regret that theory allows after this state."""
        N = len(state.agents)
        _, squares, paid = state.memory
        room = log(N) + np.log1p(state.scalars[4])
        allowed = paid + room / self._rates(squares, N)
        return float(self.span(state.classes) * allowed.max())

    @staticmethod
    def _rates(squares: FloatArray, agents: int) -> FloatArray:
        return np.minimum(0.5, np.sqrt(log(agents) / (1 + squares)))
