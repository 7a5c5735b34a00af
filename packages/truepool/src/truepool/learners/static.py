"""Weights that are learned once and then fixed."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.learners.contribution import (
    CreditLearner,
    Memory,
    by_mean_credit,
    set_by_mean_credit,
)
from truepool.learners.interface import Feedback, Kernel, State


class Settings(NamedTuple):
    """The number of cases to learn from, and the span of losses."""

    warmup: int
    span: float


@final
@dataclass(frozen=True, kw_only=True)
class Static(CreditLearner):
    """VCG weights of the first ``warmup`` cases, then fixed; equal if it is 0."""

    name: ClassVar[str] = "static"
    warmup: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warmup < 0:
            raise SettingError(f"warmup must not be negative; got {self.warmup}")

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        return Settings(self.warmup, self.span(classes))

    @property
    def kernel(self) -> Kernel | None:
        """One case of the warm-up, or after it."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        if state.settled >= self.warmup:
            return state.after(state.unnormalised)
        credit = state.memory.credit - np.nan_to_num(feedback.losses)
        counts = state.memory.counts + feedback.reported
        weights = state.unnormalised
        if state.settled + 1 == self.warmup:
            weights = by_mean_credit(credit, counts, self.span(state.classes))
        return state.after(weights, Memory(credit, counts))


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    if feedback.settled >= settings.warmup:
        return memory
    credit, counts = memory
    losses = feedback.losses
    for i in range(weights.size):
        if losses[i] == losses[i]:
            credit[i] -= losses[i]
            counts[i] += 1.0
    if feedback.settled + 1 == settings.warmup:
        set_by_mean_credit(weights, credit, counts, settings.span)
    return memory
