"""Weights that are learned once and then stay."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from truepool.arrays import FloatArray
from truepool.errors import SettingError
from truepool.learners.contribution import Credited, by_mean_credit
from truepool.learners.interface import Heard, State


@final
@dataclass(frozen=True, kw_only=True)
class Static(Credited):
    """VCG weights of the first ``warmup`` settled cases, then fixed; 0: equal ones."""

    name: ClassVar[str] = "static"
    rule: ClassVar[int] = 6
    warmup: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warmup < 0:
            raise SettingError(f"warmup must not be negative; it is {self.warmup}")

    def parameters(self, agents: int, classes: int) -> FloatArray:
        """Numbers for the compiled loop."""
        numbers = super().parameters(agents, classes)
        numbers[3] = self.warmup
        return numbers

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        s, memory, weights = state.scalars.copy(), state.memory, state.weights
        if s[0] < self.warmup:
            memory = np.stack(
                [memory[0] - np.nan_to_num(heard.losses), memory[1] + heard.awake]
            )
            if s[0] + 1 >= self.warmup:
                span = self.span(state.classes)
                weights = by_mean_credit(memory[0], memory[1], span)
        s[0] += 1
        return replace(state, stakes=weights, memory=memory, scalars=s)
