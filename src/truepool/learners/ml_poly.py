"""ML-Poly: weights by positive regret, nothing to tune."""

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import ClassVar, final

import numpy as np

from truepool.arrays import FloatArray
from truepool.learners.interface import Heard, State
from truepool.learners.regret import Regretting
from truepool.weights import proportional


@final
@dataclass(frozen=True, kw_only=True)
class MLPoly(Regretting):
    r"""Polynomially weighted averages with a rate for each agent (ML-Poly).

    :math:`w_i \propto (R_i)_+ / (1 + \sum_s r_{is}^2)` with :math:`r_{is}` the regret
    of case s towards agent i, scaled to [-1, 1], and :math:`R_i` its sum (Gaillard,
    Stoltz & van Erven, COLT 2014). Regret towards agent i at most
    :math:`\sqrt{N (1 + \ln(1 + T)) (1 + \sum_s r_{is}^2)}`.
    """

    name: ClassVar[str] = "ml-poly"
    rule: ClassVar[int] = 3
    excused: ClassVar = {
        "asleep": "weights are shares of all positive regret, which others may add to",
        "joining": "a newcomer that nobody regrets yet has no weight",
    }

    def _memory(self, agents: int) -> FloatArray:
        return np.zeros((2, agents))

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        s = state.scalars.copy()
        s[0] += 1
        regret = self._regret(heard, state.classes)
        total, squares = state.memory[0] + regret, state.memory[1] + regret**2
        weights = proportional(total / (1 + squares))
        memory = np.stack([total, squares])
        return replace(state, stakes=weights, memory=memory, scalars=s)

    def bound(self, state: State) -> float | None:
        """Regret that theory allows after this state."""
        N, T = len(state.agents), state.settled
        room = N * (1 + log(1 + T)) * (1 + state.memory[1].max())
        return float(self.span(state.classes) * sqrt(room))
