"""VCG weights over a sliding window."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.learners.contribution import (
    EXEMPTIONS,
    CreditLearner,
    by_mean_credit,
    set_by_mean_credit,
)
from truepool.learners.interface import Feedback, Kernel, State


class Memory(NamedTuple):
    """Per agent: the sum and number of recent contributions, and the contributions."""

    credit: FloatArray
    counts: FloatArray
    recent: FloatArray  # (length, N), NaN where there is none


class Settings(NamedTuple):
    """The span of losses."""

    span: float


@final
@dataclass(frozen=True, kw_only=True)
class Window(CreditLearner):
    """VCG weights of the last ``length`` settled cases (the paper's adaptive weights).

    Equal weights while no agent has contributed.
    """

    name: ClassVar[str] = "window"
    exemptions: ClassVar = EXEMPTIONS
    length: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length < 1:
            raise SettingError(f"a window needs at least 1 case; got {self.length}")

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        none = np.full((self.length, agents), np.nan)
        return Memory(np.zeros(agents), np.zeros(agents), none)

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        return Settings(self.span(classes))

    @property
    def kernel(self) -> Kernel | None:
        """One step of the window."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        recent = state.memory.recent.copy()
        recent[state.settled % self.length] = -feedback.losses
        credit, counts = np.nansum(recent, axis=0), (~np.isnan(recent)).sum(axis=0)
        weights = by_mean_credit(credit, counts, self.span(state.classes))
        return state.after(weights, Memory(credit, counts.astype(float), recent))


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    credit, counts, recent = memory
    losses, N, length = feedback.losses, weights.size, recent.shape[0]
    place = feedback.settled % length
    for i in range(N):
        old, new = recent[place, i], -losses[i]
        credit[i] += (new if new == new else 0.0) - (old if old == old else 0.0)
        counts[i] += (1.0 if new == new else 0.0) - (1.0 if old == old else 0.0)
        recent[place, i] = new
    if (
        place == length - 1
    ):  # sum afresh once per pass, so that rounding does not accumulate
        credit[:] = 0.0
        for row in range(length):
            for i in range(N):
                value = recent[row, i]
                credit[i] += value if value == value else 0.0
    set_by_mean_credit(weights, credit, counts, settings.span)
    return memory
