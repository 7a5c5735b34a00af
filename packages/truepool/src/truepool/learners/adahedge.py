"""AdaHedge: exponential weights with a self-tuning rate."""

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
from truepool.learners.interface import FLOOR, Feedback, Kernel, Learner, State
from truepool.panel.weights import ROUNDING_ERROR


class Memory(NamedTuple):
    """Cumulative losses, the mixability gap, and the terms of the bound."""

    losses: FloatArray
    rate: float  # inf while the gap is 0
    gap: float
    squares: float  # sum of squared loss ranges
    widest: float  # the largest loss range of a case


class Settings(NamedTuple):
    """ln N."""

    log_agents: float


@final
@dataclass(frozen=True, kw_only=True)
class AdaHedge(Learner):
    r"""Parameter-free exponential weights (de Rooij et al., JMLR 2014).

    The rate is :math:`\ln N / \Delta` with :math:`\Delta` the mixability gap so far: it
    stays high on easy sequences. The regret is at most :math:`\sqrt{\ln N \sum_t s_t^2}
    + S(\tfrac43 \ln N + 2)`, whatever the scale of the losses.
    """

    name: ClassVar[str] = "adahedge"
    exemptions: ClassVar = {
        "asleep": "its rate may change after any case, which changes every weight"
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
        reported, g = feedback.reported, _excess_losses(feedback.losses)
        weights = state.weights[reported]
        mean = weights @ g[reported] / weights.sum()
        if rate == np.inf:
            mix = g[reported][weights > FLOOR].min()
        else:
            logs = np.log(weights)
            mix = (logsumexp(logs) - logsumexp(logs - rate * g[reported])) / rate
        losses = losses + np.where(reported, g, mix)
        span = float(g[reported].max())
        gap += max(0.0, float(mean - mix))
        rate = log(len(state.agents)) / gap if gap > 0 else np.inf
        if rate == np.inf:
            leads = losses <= losses.min()
            after = np.where(leads, 1.0, FLOOR)
        else:
            after = np.maximum(np.exp(-rate * (losses - losses.min())), FLOOR)
        memory = Memory(losses, rate, gap, squares + span**2, max(widest, span))
        return state.after(after, memory)

    def bound(self, state: State) -> float | None:
        """Upper bound on the regret up to this state."""
        log_n = log(len(state.agents))
        root = sqrt(log_n * state.memory.squares)
        return float(root + state.memory.widest * (4 / 3 * log_n + 2))

    def _newcomer(self, state: State, share: float) -> Memory:
        """Give the newcomer the loss that yields this share at the current rate."""
        losses, rate, *_ = state.memory
        charged = losses.mean()
        if np.isfinite(rate):
            charged = -(log(share / (1 - share)) + logsumexp(-rate * losses)) / rate
        return Memory(np.array([charged]), 0.0, 0.0, 0.0, 0.0)


def _excess_losses(losses: FloatArray) -> FloatArray:
    """Losses minus the smallest one; all 0 where they differ by rounding only.

    With an unbounded rate a rounding error would decide the winner.
    """
    above = losses - np.nanmin(losses)
    if np.nanmax(above) <= ROUNDING_ERROR * np.nanmax(np.abs(losses)):
        return np.where(np.isnan(losses), np.nan, 0.0)
    return np.asarray(above)


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    g, charged, rate = feedback.losses, memory.losses, memory.rate
    N = weights.size
    low, high = least(g), largest(g)
    apart = high - low > ROUNDING_ERROR * max(abs(low), abs(high))
    span = high - low if apart else 0.0
    for i in range(N):  # minus the smallest; NaN without a report
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
        # The weights are recomputed below, so the mixture can be formed in place.
        small = rate * span <= SMALL
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
        mix = -lost * (1.0 / rate)  # a division that does not wait for the logarithm
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
    squares, widest = memory.squares + span * span, max(memory.widest, span)
    return Memory(charged, rate, gap, squares, widest)
