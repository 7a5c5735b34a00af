r"""Exponential weights, the step that many learners share.

:math:`w_i \propto e^{-\eta L_i}` with :math:`L_i` what the agent has lost so far. An
agent that sleeps is charged what the pool pays, so its weight waits unchanged
(specialists; Freund et al. 1997). For any rates that never rise, chosen before each
case, the regret is at most :math:`\ln N / \eta_T + \sum_t \min(\eta_t s_t^2 / 8, s_t)`
with :math:`s_t` the reach of case t (Hoeffding).
"""

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
from scipy.special import logsumexp

from truepool.arrays import FloatArray
from truepool.learners.interface import FLOOR, Heard, Learner, State, check_rate
from truepool.weights import NOISE

CONSTANT, DOUBLING, GAP = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Exponential(Learner):
    """A learner whose weights are exponential in what agents have lost."""

    rule = 0

    @property
    def mode(self) -> int:
        """How the rate is set: constant, doubling, or by the mixability gap."""
        return CONSTANT

    def pace(self, agents: int, classes: int) -> float:
        """Rate, where it is constant."""
        return 0.0

    @property
    def sharing(self) -> float:
        """Share of the weight that is dealt out evenly after each case."""
        return 0.0

    def parameters(self, agents: int, classes: int) -> FloatArray:
        """Numbers for the compiled loop."""
        span = self.span(classes)
        rate = self.pace(agents, classes)
        factor = self.factor(agents)
        return np.array([float(self.mode), rate, self.sharing, 0.0, span, factor])

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        if self.mode == GAP:
            return _by_gap(state, heard)
        s = state.scalars.copy()
        log_n = log(len(state.agents))
        if s[0] == 0 and self.mode == DOUBLING:
            s[2] = 1.0
            s[1] = sqrt(8 * log_n / s[2])
        constant = self.mode == CONSTANT
        eta = self.pace(len(state.agents), state.classes) if constant else s[1]
        s[1] = eta
        awake = heard.awake
        logs = state.log_weights
        before = logsumexp(logs[awake])
        mix = (before - logsumexp(logs[awake] - eta * heard.losses[awake])) / eta
        charged = np.where(awake, heard.losses, mix)
        weights = np.maximum(np.exp(logs - eta * (charged - mix)), FLOOR)
        s[3] += heard.reach**2
        s[4] += min(eta * heard.reach**2 / 8, heard.reach)
        if self.sharing:
            s[5] -= np.log1p(-self.sharing) / eta
            weights = (1 - self.sharing) * weights + self.sharing / weights.size
        elif self.mode == DOUBLING and s[3] > s[2]:
            while s[2] < s[3]:
                s[2] *= 2
            s[1] = sqrt(8 * log_n / s[2])
            # exp(-eta L) at the new rate is a power of what it was at the old one.
            tempered = s[1] / eta * np.log(weights)
            weights = np.maximum(np.exp(tempered - logsumexp(tempered)), FLOOR)
        s[0] += 1
        return replace(state, stakes=weights, scalars=s)

    def bound(self, state: State) -> float | None:
        """Regret that theory allows after this state."""
        s, log_n = state.scalars, log(len(state.agents))
        if not s[0]:
            return 0.0
        if self.mode == GAP:
            return float(sqrt(log_n * s[3]) + s[5] * (4 / 3 * log_n + 2))
        return float(log_n / s[1] + s[4] + s[5])

    def _newcomer(self, state: State, share: float) -> FloatArray:
        if self.mode != GAP:
            return np.zeros(1)
        # Charged as much as gives it just this share at the present rate.
        eta = state.scalars[1]
        if not (np.isfinite(eta) and eta > 0):
            return np.array([state.memory[0].mean()])
        total = logsumexp(-eta * state.memory[0])
        return np.array([-(log(share / (1 - share)) + total) / eta])


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

    @property
    def mode(self) -> int:
        """Doubling unless a rate is given."""
        return DOUBLING if self.rate is None else CONSTANT

    def pace(self, agents: int, classes: int) -> float:
        """Rate, where it is constant."""
        return self.rate or 0.0


def from_losses(losses: FloatArray, eta: float) -> FloatArray:
    """Weights exponential in cumulative losses."""
    logs = -eta * (losses - losses.min())
    return np.asarray(np.maximum(np.exp(logs - logsumexp(logs)), FLOOR))


def _above_least(losses: FloatArray) -> FloatArray:
    """Losses above the least one; all 0 where rounding alone may tell them apart.

    A rate without a floor would make a winner of a rounding error.
    """
    above = losses - np.nanmin(losses)
    if np.nanmax(above) <= NOISE * np.nanmax(np.abs(losses)):
        return np.where(np.isnan(losses), np.nan, 0.0)
    return np.asarray(above)


def _by_gap(state: State, heard: Heard) -> State:
    """AdaHedge (de Rooij et al. 2014): the rate follows the mixability gap."""
    s = state.scalars.copy()
    log_n = log(len(state.agents))
    eta = np.inf if s[0] == 0 else s[1]
    awake = heard.awake
    g = _above_least(heard.losses)
    weights = state.weights[awake]
    mean = weights @ g[awake] / weights.sum()
    if eta == np.inf:
        mix = g[awake][weights > FLOOR].min()
    else:
        logs = np.log(weights)
        mix = (logsumexp(logs) - logsumexp(logs - eta * g[awake])) / eta
    memory = state.memory + np.where(awake, g, mix)
    reach = g[awake].max()
    s[2] += max(0.0, mean - mix)
    s[3] += reach**2
    s[5] = max(s[5], reach)
    s[1] = log_n / s[2] if s[2] > 0 else np.inf
    if s[1] == np.inf:
        leads = memory[0] <= memory[0].min()
        after = np.where(leads, 1.0 / leads.sum(), FLOOR)
    else:
        after = from_losses(memory[0], s[1])
    s[0] += 1
    return replace(state, stakes=after, memory=memory, scalars=s)
