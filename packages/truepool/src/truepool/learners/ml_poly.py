"""ML-Poly: weights by positive regret, without tuning."""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, NamedTuple, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.kernels.arithmetic import total
from truepool.learners.interface import Feedback, Kernel, State
from truepool.learners.regret import RegretLearner, Settings
from truepool.panel.weights import ROUNDING_ERROR, proportional


class Memory(NamedTuple):
    """Sums of the regrets against each agent, and of their squares."""

    regrets: FloatArray
    squares: FloatArray


@final
@dataclass(frozen=True, kw_only=True)
class MLPoly(RegretLearner):
    r"""Polynomially weighted averages with one rate per agent (ML-Poly).

    :math:`w_i \propto (R_i)_+ / (1 + \sum_s r_{is}^2)` with :math:`r_{is}` the regret
    of case s against agent i, scaled to [-1, 1], and :math:`R_i` its sum (Gaillard,
    Stoltz & van Erven, COLT 2014). The regret against agent i is at most
    :math:`\sqrt{N (1 + \ln(1 + T)) (1 + \sum_s r_{is}^2)}`.
    """

    name: ClassVar[str] = "ml-poly"
    exemptions: ClassVar = {
        "asleep": "weights are shares of all positive regret, which others change",
        "joining": "a newcomer has no regret yet, and so no weight",
    }

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        return Memory(np.zeros(agents), np.zeros(agents))

    @property
    def kernel(self) -> Kernel | None:
        """One step of ML-Poly."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        regret = self._regret(feedback, state.classes)
        memory = state.memory
        regrets, squares = memory.regrets + regret, memory.squares + regret**2
        positive = np.where(regrets > ROUNDING_ERROR, regrets, 0.0)
        weights = proportional(positive / (1 + squares))
        return state.after(weights, Memory(regrets, squares))

    def bound(self, state: State) -> float | None:
        """Upper bound on the regret up to this state."""
        N, T = len(state.agents), state.settled
        room = N * (1 + log(1 + T)) * (1 + state.memory.squares.max())
        return float(self.span(state.classes) * sqrt(room))


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    regrets, squares = memory
    losses, mean, unit = feedback.losses, feedback.mean, 1.0 / settings.span
    for i in range(weights.size):
        regret = unit * (mean - losses[i]) if losses[i] == losses[i] else 0.0
        regrets[i] += regret
        squares[i] += regret * regret
        positive = regrets[i] if regrets[i] > ROUNDING_ERROR else 0.0
        weights[i] = positive / (1.0 + squares[i])
    if not total(weights) > 0.0:
        weights[:] = 1.0
    return memory
