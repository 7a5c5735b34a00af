"""AdaHedge: exponential weights that set their own rate."""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal, NamedTuple, final

import numpy as np
from scipy.special import logsumexp

from truepool.core.arrays import FloatArray
from truepool.core.kernels.arithmetic import (
    SMALL,
    dot,
    exp,
    largest,
    least,
    small_exp,
    small_log,
    total,
)
from truepool.core.kernels.arithmetic import log as exact_log
from truepool.data.weights import NOISE
from truepool.learners.interface import FLOOR, Feedback, Kernel, Learner, State


class Memory(NamedTuple):
    """What each agent has lost, the mixability gap, and what the bound is made of."""

    losses: FloatArray
    rate: float  # inf while the gap is 0
    gap: float
    squares: float  # of the ranges of the losses
    widest: float  # range of the losses of a case


class Settings(NamedTuple):
    """ln N."""

    log_agents: float


@final
@dataclass(frozen=True, kw_only=True)
class AdaHedge(Learner):
    r"""Parameter-free exponential weights (de Rooij et al., JMLR 2014).

    The rate is :math:`\ln N / \Delta` with :math:`\Delta` the mixability gap so far: it
    stays high on easy sequences. Regret at most :math:`\sqrt{\ln N \sum_t s_t^2} +
    S(\tfrac43 \ln N + 2)`, whatever the scale of the losses.
    """

    name: ClassVar[str] = "adahedge"
    exemptions: ClassVar = {
        "asleep": "its rate may change after any case, which moves every weight"
    }
    signal: Literal["own", "slope"] = "slope"

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        return Memory(np.zeros(agents), np.inf, 0.0, 0.0, 0.0)

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        return Settings(exact_log(agents))

    @property
    def kernel(self) -> Kernel | None:
        """One step of AdaHedge."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        losses, rate, gap, squares, widest = state.memory
        awake, g = feedback.awake, _above_least(feedback.losses)
        weights = state.weights[awake]
        mean = weights @ g[awake] / weights.sum()
        if rate == np.inf:
            mix = g[awake][weights > FLOOR].min()
        else:
            logs = np.log(weights)
            mix = (logsumexp(logs) - logsumexp(logs - rate * g[awake])) / rate
        losses = losses + np.where(awake, g, mix)
        reach = float(g[awake].max())
        gap += max(0.0, float(mean - mix))
        rate = log(len(state.agents)) / gap if gap > 0 else np.inf
        if rate == np.inf:
            leads = losses <= losses.min()
            after = np.where(leads, 1.0, FLOOR)
        else:
            after = np.maximum(np.exp(-rate * (losses - losses.min())), FLOOR)
        memory = Memory(losses, rate, gap, squares + reach**2, max(widest, reach))
        return state.after(after, memory)

    def bound(self, state: State) -> float | None:
        """Regret that theory allows after this state."""
        log_n = log(len(state.agents))
        root = sqrt(log_n * state.memory.squares)
        return float(root + state.memory.widest * (4 / 3 * log_n + 2))

    def _newcomer(self, state: State, share: float) -> Memory:
        """Charged as much as gives it just this share at the present rate."""
        losses, rate, *_ = state.memory
        charged = losses.mean()
        if np.isfinite(rate):
            charged = -(log(share / (1 - share)) + logsumexp(-rate * losses)) / rate
        return Memory(np.array([charged]), 0.0, 0.0, 0.0, 0.0)


def _above_least(losses: FloatArray) -> FloatArray:
    """Losses above the least one; all 0 where rounding alone may tell them apart.

    A rate without a floor would make a winner of a rounding error.
    """
    above = losses - np.nanmin(losses)
    if np.nanmax(above) <= NOISE * np.nanmax(np.abs(losses)):
        return np.where(np.isnan(losses), np.nan, 0.0)
    return np.asarray(above)


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    g, charged, rate = feedback.losses, memory.losses, memory.rate
    N = weights.size
    low, high = least(g), largest(g)
    apart = high - low > NOISE * max(abs(low), abs(high))
    reach = high - low if apart else 0.0
    for i in range(N):  # above the least; those without a report follow below
        g[i] = (g[i] - low if apart else 0.0) if g[i] == g[i] else np.nan
    mass, charge = feedback.mass, 0.0
    if feedback.complete:
        charge = dot(weights, g)
    else:
        mass = 0.0
        for i in range(N):
            if g[i] == g[i]:
                mass += weights[i]
                charge += weights[i] * g[i]
    mean = charge / mass
    if rate == np.inf:
        mix = np.inf  # the least loss among those that carry weight
        for i in range(N):
            if g[i] == g[i] and weights[i] > FLOOR * mass:
                mix = min(mix, g[i])
    else:
        # The weights are made anew below, so the mixture may be formed in their place.
        small = rate * reach <= SMALL
        if small:
            for i in range(N):
                weights[i] *= small_exp(-rate * g[i])
        else:
            for i in range(N):
                weights[i] *= exp(-rate * g[i])
        if feedback.complete:
            mixed = total(weights)
        else:
            mixed = 0.0
            for i in range(N):
                mixed += weights[i] if g[i] == g[i] else 0.0
        lost = small_log(mixed, mass) if small else exact_log(mixed / mass)
        mix = -lost * (1.0 / rate)  # a quotient that waits for nothing
    for i in range(N):
        charged[i] += g[i] if g[i] == g[i] else mix
    gap = memory.gap + max(0.0, mean - mix)
    rate = settings.log_agents / gap if gap > 0.0 else np.inf
    best = least(charged)
    if rate == np.inf:
        for i in range(N):
            weights[i] = 1.0 if charged[i] <= best else FLOOR
    else:
        for i in range(N):
            weights[i] = max(exp(-rate * (charged[i] - best)), FLOOR)
    squares, widest = memory.squares + reach * reach, max(memory.widest, reach)
    return Memory(charged, rate, gap, squares, widest)
