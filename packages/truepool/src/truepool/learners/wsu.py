"""Weighted-score update: the learner that gives agents no reason to misreport."""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.learners.interface import (
    FLOOR,
    Feedback,
    Kernel,
    Learner,
    Signal,
    State,
    check_rate,
    horizon_rate,
)


class Memory(NamedTuple):
    """Sums of squared distances to the mean loss, and the rate of the last case."""

    spread: FloatArray
    rate: float


class Settings(NamedTuple):
    """The rate, and the span of losses."""

    rate: float
    span: float


@final
@dataclass(frozen=True, kw_only=True)
class WSU(Learner):
    r"""Weighted-score update (Freeman, Pennock, Podimata & Wortman Vaughan, ICML 2020).

    :math:`w_i \leftarrow w_i (1 - \eta (\ell_i - \sum_j w_j \ell_j))`, with own losses
    scaled to [0, 1]: a wagering mechanism. An agent's expected next weight is linear in
    its own expected loss, so under a proper loss truth is its best report (myopically).
    Regret against the best agent at most
    :math:`\ln N / \eta + \eta \sum_t (\ell_i - \bar\ell)^2`.
    """

    name: ClassVar[str] = "wsu"
    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)
        if self.rate is not None and self.rate > 0.5:
            raise SettingError(f"the rate of wsu must be at most 0.5; got {self.rate}")

    @property
    def signal(self) -> Signal:
        """Own losses."""
        return "own"

    def learning_rate(self, agents: int) -> float:
        """The given rate, or sqrt(ln N / horizon), at most 0.5."""
        if self.rate is not None:
            return self.rate
        return min(0.5, horizon_rate(agents, self.horizon))

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        return Memory(np.zeros(agents), 0.0)

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        return Settings(self.learning_rate(agents), self.span(classes))

    @property
    def kernel(self) -> Kernel | None:
        """One step of the weighted-score update."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        rate, reported = self.learning_rate(len(state.agents)), feedback.reported
        gaps = np.where(reported, feedback.losses - feedback.mean, 0.0)
        gaps = gaps / self.span(state.classes)
        weights = state.weights * (1 - rate * gaps)
        weights[reported] *= state.weights[reported].sum() / weights[reported].sum()
        weights = np.maximum(weights, FLOOR)
        return state.after(weights, Memory(state.memory.spread + gaps**2, rate))

    def bound(self, state: State) -> float | None:
        """Upper bound on the regret against the best agent, up to this state."""
        if not state.settled:
            return 0.0
        rate, spread = state.memory.rate, state.memory.spread.max()
        span = self.span(state.classes)
        return float(span * (log(len(state.agents)) / rate + rate * spread))


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    spread, rate, losses = memory.spread, settings.rate, feedback.losses
    mean, floor = feedback.mean, FLOOR * feedback.mass
    unit, before, after = 1.0 / settings.span, 0.0, 0.0
    if not feedback.complete:
        for i in range(weights.size):
            if losses[i] == losses[i]:
                before += weights[i]
    for i in range(weights.size):
        gap = unit * (losses[i] - mean) if losses[i] == losses[i] else 0.0
        spread[i] += gap * gap
        weights[i] = max(weights[i], floor) * (1.0 - rate * gap)
    if not feedback.complete:  # agents without a report keep their weight
        for i in range(weights.size):
            if losses[i] == losses[i]:
                after += weights[i]
        for i in range(weights.size):
            if losses[i] == losses[i]:
                weights[i] *= before / after
    return Memory(spread, rate)
