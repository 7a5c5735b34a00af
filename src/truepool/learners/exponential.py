r"""Exponential weights, the step that many learners share.

:math:`w_i \propto e^{-\eta L_i}` with :math:`L_i` what the agent has lost so far. An
agent without a report is charged what the pool pays, so its weight waits unchanged
(specialists; Freund et al. 1997). For any rates that never rise, chosen before each
case, the regret is at most :math:`\ln N / \eta_T + \sum_t \min(\eta_t s_t^2 / 8, s_t)`
with :math:`s_t` the reach of case t (Hoeffding).
"""

from abc import abstractmethod
from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from truepool.core.arrays import FloatArray
from truepool.core.kernels.arithmetic import SMALL, exp, least, small_exp, total
from truepool.core.kernels.arithmetic import log as exact_log
from truepool.learners.interface import (
    FLOOR,
    Feedback,
    Kernel,
    Learner,
    State,
    check_rate,
)


class Memory(NamedTuple):
    """Rate of the last case, and the sums that the bound is made of."""

    rate: float = 0.0
    limit: float = 1.0  # of the squares, beyond which the rate falls
    squares: float = 0.0  # of the reaches
    slack: float = 0.0  # sum of min(rate reach^2 / 8, reach)
    shared: float = 0.0  # what dealing out has cost


class Settings(NamedTuple):
    """A constant rate, the share that is dealt out and its cost, and ln N."""

    rate: float
    share: float
    cost: float
    log_agents: float


@dataclass(frozen=True, kw_only=True)
class Exponential(Learner):
    """Exponential weights at a constant rate."""

    @abstractmethod
    def pace(self, agents: int, classes: int) -> float:
        """Rate."""

    @property
    def sharing(self) -> float:
        """Share of the weight that is dealt out evenly after each case."""
        return 0.0

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        return Memory()

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        cost = -log1p(-self.sharing)
        rate = self.pace(agents, classes)
        return Settings(rate, self.sharing, cost, exact_log(agents))

    @property
    def kernel(self) -> Kernel | None:
        """One step at a constant rate."""
        return _constant

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        rate = self.pace(len(state.agents), state.classes)
        weights = tilted(state, feedback, rate)
        spent = _spend(state.memory, rate, feedback.reach)
        if self.sharing:
            spent = spent._replace(shared=spent.shared - log1p(-self.sharing) / rate)
            weights = (1 - self.sharing) * weights + self.sharing / weights.size
        return state.after(weights, spent)

    def bound(self, state: State) -> float | None:
        """Regret that theory allows after this state."""
        if not state.settled:
            return 0.0
        rate, _, _, slack, shared = state.memory
        return float(log(len(state.agents)) / rate + slack + shared)


@dataclass(frozen=True, kw_only=True)
class Paced(Exponential):
    """Exponential weights at a given rate, or at one that adapts and needs no horizon.

    Without a rate, the learner lowers its own whenever the sum of squared reaches has
    doubled.
    """

    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)

    def pace(self, agents: int, classes: int) -> float:
        """Rate, where it is constant."""
        return self.rate or 0.0

    @property
    def kernel(self) -> Kernel | None:
        """One step, at the rate given or at one that falls."""
        return _constant if self.rate else _doubling

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        if self.rate is not None:
            return super().update(state, feedback)
        log_n = log(len(state.agents))
        rate = state.memory.rate if state.settled else sqrt(8 * log_n)
        weights = tilted(state, feedback, rate)
        spent = _spend(state.memory, rate, feedback.reach)
        if spent.squares > spent.limit:
            limit = _doubled(spent.limit, spent.squares)
            spent = spent._replace(rate=sqrt(8 * log_n / limit), limit=limit)
            # exp(-rate L) at the new rate is a power of what it was at the old one.
            tempered = spent.rate / rate * np.log(weights)
            weights = np.maximum(np.exp(tempered - logsumexp(tempered)), FLOOR)
        return state.after(weights, spent)


def tilted(state: State, feedback: Feedback, rate: float) -> FloatArray:
    """Weights after one step of exponential weights at this rate."""
    awake, logs = feedback.awake, state.log_weights
    before = logsumexp(logs[awake])
    after = logsumexp(logs[awake] - rate * feedback.losses[awake])
    mix = (before - after) / rate
    charged = np.where(awake, feedback.losses, mix)
    return np.asarray(np.maximum(np.exp(logs - rate * (charged - mix)), FLOOR))


# --- kernels -----------------------------------------------------------------------


def _constant(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    tilt(weights, feedback, settings.rate)
    after = _spend(memory, settings.rate, feedback.reach)
    if not settings.share > 0.0:
        return after
    even = settings.share * total(weights) / weights.size
    for i in range(weights.size):
        weights[i] = (1.0 - settings.share) * weights[i] + even
    rate, limit, squares, slack, shared = after
    return Memory(rate, limit, squares, slack, shared + settings.cost / settings.rate)


def _doubling(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    rate = memory.rate if feedback.settled > 0 else sqrt(8.0 * settings.log_agents)
    tilt(weights, feedback, rate)
    after = _spend(memory, rate, feedback.reach)
    if after.squares <= after.limit:
        return after
    limit = _doubled(after.limit, after.squares)
    slower = sqrt(8.0 * settings.log_agents / limit)
    mass = total(weights)
    for i in range(weights.size):  # a power of the weights at the old rate
        weights[i] = exp(slower / rate * exact_log(weights[i] / mass))
    floor = FLOOR * total(weights)
    for i in range(weights.size):
        weights[i] = max(weights[i], floor)
    return Memory(slower, limit, after.squares, after.slack, after.shared)


def tilt(weights: FloatArray, feedback: Feedback, rate: float) -> None:
    """Multiply the weights of those who reported by exp(-rate loss), up to a factor."""
    losses, floor = feedback.losses, FLOOR * feedback.mass
    before = 1.0 if feedback.complete else _mass_awake(weights, losses)
    if rate * feedback.reach <= SMALL:
        for i in range(weights.size):
            tilted = max(weights[i], floor) * small_exp(-rate * losses[i])
            weights[i] = tilted if losses[i] == losses[i] else weights[i]
    else:
        low = least(losses)  # a common factor: without it large losses overflow
        for i in range(weights.size):
            tilted = max(weights[i], floor) * exp(-rate * (losses[i] - low))
            weights[i] = tilted if losses[i] == losses[i] else weights[i]
    if not feedback.complete:  # those without a report keep their weight
        scale = before / _mass_awake(weights, losses)
        for i in range(weights.size):
            weights[i] *= scale if losses[i] == losses[i] else 1.0


def _mass_awake(weights: FloatArray, losses: FloatArray) -> float:
    mass = 0.0
    for i in range(weights.size):
        if losses[i] == losses[i]:
            mass += weights[i]
    return mass


def _spend(memory: Memory, rate: float, reach: float) -> Memory:
    squares = memory.squares + reach * reach
    slack = memory.slack + min(rate * reach * reach / 8.0, reach)
    return Memory(rate, memory.limit, squares, slack, memory.shared)


def _doubled(limit: float, squares: float) -> float:
    while limit < squares:
        limit *= 2.0
    return limit
