"""Bernstein online aggregation: a second-order bound and one rate per agent."""

from dataclasses import dataclass
from math import e, sqrt
from typing import ClassVar, NamedTuple, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.kernels.arithmetic import exp, largest, log, total
from truepool.learners.interface import FLOOR, Feedback, Kernel, State
from truepool.learners.regret import RegretLearner, Settings


class Memory(NamedTuple):
    """Per agent: penalised regrets, squared regrets, penalties and rates."""

    gained: FloatArray
    squares: FloatArray
    penalties: FloatArray
    rates: FloatArray
    excess: float  # how much the rates have fallen


@final
@dataclass(frozen=True, kw_only=True)
class BOA(RegretLearner):
    r"""Bernstein online aggregation (Wintenberger, Machine Learning 2017).

    :math:`w_i \propto \eta_i \exp(\eta_i \sum_s r_{is}(1 - \eta_{i,s-1} r_{is}))` with
    :math:`r_{is}` the regret of case s against agent i (scaled to [-1, 1]) and
    :math:`\eta_{i,s} = \min(1/2, \sqrt{\ln N / (1 + \sum r_i^2)})`. The regret against
    agent i is at most :math:`\sum_s \eta_{i,s-1} r_{is}^2 + (\ln N + \ln W) / \eta_i`,
    where :math:`W` grows like ln ln T.
    """

    name: ClassVar[str] = "boa"
    exemptions: ClassVar = {
        "asleep": "each agent has its own rate, and all weights are normalised together"
    }

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        gained, squares, penalties = np.zeros((3, agents))
        rates = np.full(agents, min(0.5, sqrt(log(agents))))
        return Memory(gained, squares, penalties, rates, 0.0)

    @property
    def kernel(self) -> Kernel | None:
        """One step of Bernstein online aggregation."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        gained, squares, penalties, rates, excess = state.memory
        N = len(state.agents)
        regret = self._regret(feedback, state.classes)
        gained = gained + regret * (1 - rates * regret)
        squares = squares + regret**2
        penalties = penalties + rates * regret**2
        later = np.minimum(0.5, np.sqrt(log(N) / (1 + squares)))
        excess += float((rates / later - 1).sum()) / (N * e)
        logs = later * gained
        weights = np.maximum(later * np.exp(logs - logs.max()), FLOOR)
        return state.after(weights, Memory(gained, squares, penalties, later, excess))

    def bound(self, state: State) -> float | None:
        """Upper bound on the regret up to this state."""
        _, _, penalties, rates, excess = state.memory
        allowed = penalties + (log(len(state.agents)) + np.log1p(excess)) / rates
        return float(self.span(state.classes) * allowed.max())


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    gained, squares, penalties, rates, excess = memory
    losses, mean, N = feedback.losses, feedback.mean, weights.size
    unit, per_log = 1.0 / settings.span, 1.0 / settings.log_agents
    # Several loops: numba does not vectorise one loop over more than four arrays.
    for i in range(N):
        regret = unit * (mean - losses[i]) if losses[i] == losses[i] else 0.0
        penalty = rates[i] * (regret * regret)
        losses[i] = regret
        penalties[i] += penalty
        gained[i] += regret - penalty
    for i in range(N):
        squares[i] += losses[i] * losses[i]
        slower = max(2.0, sqrt((1.0 + squares[i]) * per_log))  # 1 / the new rate
        losses[i] = rates[i] * slower - 1.0
        rates[i] = 1.0 / slower
    for i in range(N):
        weights[i] = rates[i] * gained[i]
    excess += total(losses) / (N * e)
    top = largest(weights)
    for i in range(N):
        weights[i] = max(rates[i] * exp(weights[i] - top), FLOOR)
    return Memory(gained, squares, penalties, rates, excess)
