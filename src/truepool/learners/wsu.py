"""Weighted-score update: the learner that gives agents no reason to shade."""

from dataclasses import dataclass, replace
from math import log
from typing import ClassVar, final

import numpy as np

from truepool.arrays import FloatArray
from truepool.errors import SettingError
from truepool.learners.interface import (
    FLOOR,
    Heard,
    Learner,
    Signal,
    State,
    check_rate,
    horizon_rate,
)


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
    rule: ClassVar[int] = 1
    rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)
        if self.rate is not None and self.rate > 0.5:
            raise SettingError(
                f"the rate of wsu must be at most 0.5; it is {self.rate}"
            )

    @property
    def hears(self) -> Signal:
        """Own losses."""
        return "own"

    def pace(self, agents: int, classes: int) -> float:
        """Rate: the one given, or sqrt(ln N / horizon)."""
        if self.rate is not None:
            return self.rate
        return min(0.5, horizon_rate(agents, self.horizon))

    def parameters(self, agents: int, classes: int) -> FloatArray:
        """Numbers for the compiled loop."""
        span = self.span(classes)
        return np.array([0.0, self.pace(agents, classes), 0.0, 0.0, span, 1.0])

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        s = state.scalars.copy()
        s[0] += 1
        s[1] = self.pace(len(state.agents), state.classes)
        awake = heard.awake
        gaps = np.where(awake, heard.losses - heard.mean, 0.0)
        gaps = gaps / self.span(state.classes)
        weights = state.weights * (1 - s[1] * gaps)
        weights[awake] *= state.weights[awake].sum() / weights[awake].sum()
        weights = np.maximum(weights, FLOOR)
        memory = state.memory + gaps**2
        return replace(state, stakes=weights, memory=memory, scalars=s)

    def bound(self, state: State) -> float | None:
        """Regret against the best agent that theory allows after this state."""
        if not state.settled:
            return 0.0
        rate, spread = state.scalars[1], state.memory[0].max()
        span = self.span(state.classes)
        return float(span * (log(len(state.agents)) / rate + rate * spread))
