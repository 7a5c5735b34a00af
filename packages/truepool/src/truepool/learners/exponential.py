r"""Exponential weights, the step that many learners share.

:math:`w_i \propto e^{-\eta L_i}` with :math:`L_i` the cumulative loss of the agent. An
agent without a report is charged the mix loss of the pool, so its weight does not
change (specialists; Freund et al. 1997). For non-increasing rates, chosen before each
case, the regret is at most :math:`\ln N / \eta_T + \sum_t \min(\eta_t s_t^2 / 8, s_t)`
with :math:`s_t` the span of the losses of case t (Hoeffding).
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
    """Rate of the last case, and the terms of the bound."""

    rate: float = 0.0
    limit: float = 1.0  # of the squares; above it the rate is lowered
    squares: float = 0.0  # sum of squared spans
    slack: float = 0.0  # sum of min(rate span^2 / 8, span)
    shared: float = 0.0  # the cost of mixing with equal weights


class Settings(NamedTuple):
    """A constant rate, the share that is redistributed and its cost, and ln N."""

    rate: float
    share: float
    cost: float
    log_agents: float


@dataclass(frozen=True, kw_only=True)
class Exponential(Learner):
    """Exponential weights at a constant rate."""

    @abstractmethod
    def learning_rate(self, agents: int, classes: int) -> float:
        """The learning rate."""

    @property
    def mixing_rate(self) -> float:
        """Share of the weight that is redistributed equally after each case."""
        return 0.0

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        return Memory()

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        cost = -log1p(-self.mixing_rate)
        rate = self.learning_rate(agents, classes)
        return Settings(rate, self.mixing_rate, cost, exact_log(agents))

    @property
    def kernel(self) -> Kernel | None:
        """One step at a constant rate."""
        return _constant

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        rate = self.learning_rate(len(state.agents), state.classes)
        weights = tilted_weights(state, feedback, rate)
        terms = _update_bound(state.memory, rate, feedback.span)
        if self.mixing_rate:
            terms = terms._replace(
                shared=terms.shared - log1p(-self.mixing_rate) / rate
            )
            weights = (1 - self.mixing_rate) * weights + self.mixing_rate / weights.size
        return state.after(weights, terms)

    def bound(self, state: State) -> float | None:
        """Upper bound on the regret up to this state."""
        if not state.settled:
            return 0.0
        rate, _, _, slack, shared = state.memory
        return float(log(len(state.agents)) / rate + slack + shared)


@dataclass(frozen=True, kw_only=True)
class AdaptiveExponential(Exponential):
    """Exponential weights at a given rate, or at one that adapts and needs no horizon.

    Without a rate, the learner starts high and lowers it whenever the sum of squared
    spans has doubled.
    """

    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)

    def learning_rate(self, agents: int, classes: int) -> float:
        """The learning rate, if it is constant."""
        return self.rate or 0.0

    @property
    def kernel(self) -> Kernel | None:
        """One step, at the given rate or at one that falls."""
        return _constant if self.rate else _doubling

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        if self.rate is not None:
            return super().update(state, feedback)
        log_n = log(len(state.agents))
        rate = state.memory.rate if state.settled else sqrt(8 * log_n)
        weights = tilted_weights(state, feedback, rate)
        terms = _update_bound(state.memory, rate, feedback.span)
        if terms.squares > terms.limit:
            limit = _doubled_limit(terms.limit, terms.squares)
            terms = terms._replace(rate=sqrt(8 * log_n / limit), limit=limit)
            # exp(-rate L) at the new rate is a power of its value at the old rate.
            tempered = terms.rate / rate * np.log(weights)
            weights = np.maximum(np.exp(tempered - logsumexp(tempered)), FLOOR)
        return state.after(weights, terms)


def tilted_weights(state: State, feedback: Feedback, rate: float) -> FloatArray:
    """Weights after one step of exponential weights at this rate."""
    reported, logs = feedback.reported, state.log_weights
    # A common loss has no effect; without this one, large losses overflow.
    losses = feedback.losses - feedback.losses[reported].min()
    before = logsumexp(logs[reported])
    after = logsumexp(logs[reported] - rate * losses[reported])
    mix = (before - after) / rate
    charged = np.where(reported, losses, mix)
    return np.asarray(np.maximum(np.exp(logs - rate * (charged - mix)), FLOOR))


# --- kernels -----------------------------------------------------------------------


def _constant(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    tilt(weights, feedback, settings.rate)
    after = _update_bound(memory, settings.rate, feedback.span)
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
    after = _update_bound(memory, rate, feedback.span)
    if after.squares <= after.limit:
        return after
    limit = _doubled_limit(after.limit, after.squares)
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
    gentle = rate * feedback.span <= SMALL
    if feedback.complete and gentle:  # nearly every case: no doubt in its loop
        for i in range(weights.size):
            weights[i] = max(weights[i], floor) * small_exp(-rate * losses[i])
        return
    before = 1.0 if feedback.complete else _reported_mass(weights, losses)
    # A common factor: without it large losses overflow. Gentle steps have none, so that
    # a case gives the same weights whoever else reported.
    low = 0.0 if gentle else least(losses)
    for i in range(weights.size):
        step = -rate * (losses[i] - low)
        tilted = max(weights[i], floor) * (small_exp(step) if gentle else exp(step))
        weights[i] = tilted if losses[i] == losses[i] else weights[i]
    if not feedback.complete:  # agents without a report keep their weight
        scale = before / _reported_mass(weights, losses)
        for i in range(weights.size):
            weights[i] *= scale if losses[i] == losses[i] else 1.0


def _reported_mass(weights: FloatArray, losses: FloatArray) -> float:
    mass = 0.0
    for i in range(weights.size):
        if losses[i] == losses[i]:
            mass += weights[i]
    return mass


def _update_bound(memory: Memory, rate: float, span: float) -> Memory:
    squares = memory.squares + span * span
    slack = memory.slack + min(rate * span * span / 8.0, span)
    return Memory(rate, memory.limit, squares, slack, memory.shared)


def _doubled_limit(limit: float, squares: float) -> float:
    while limit < squares:
        limit *= 2.0
    return limit
