"""Static VCG weights, recomputed on a sliding window."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from truepool.arrays import FloatArray
from truepool.errors import SettingError
from truepool.learners.contribution import RECOUNTED, Credited, by_mean_credit
from truepool.learners.interface import Heard, State


@final
@dataclass(frozen=True, kw_only=True)
class Window(Credited):
    """VCG weights of the last ``length`` settled cases (the paper's adaptive weights).

    Equal weights before anybody has contributed.
    """

    name: ClassVar[str] = "window"
    rule: ClassVar[int] = 4
    excused: ClassVar = RECOUNTED
    length: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length < 1:
            raise SettingError(f"a window needs at least 1 case; it is {self.length}")

    def _memory(self, agents: int) -> FloatArray:
        return np.zeros((2 + self.length, agents))

    def parameters(self, agents: int, classes: int) -> FloatArray:
        """Numbers for the compiled loop."""
        numbers = super().parameters(agents, classes)
        numbers[3] = self.length
        return numbers

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        s, memory = state.scalars.copy(), state.memory.copy()
        place = 2 + state.settled % self.length
        if state.settled >= self.length:
            old = memory[place]
            memory[0] -= np.nan_to_num(old)
            memory[1] -= ~np.isnan(old)
        memory[place] = -heard.losses
        memory[0] -= np.nan_to_num(heard.losses)
        memory[1] += heard.awake
        if place == 1 + self.length:  # made anew once a turn: no rounding piles up
            memory[0] = np.nansum(memory[2:], axis=0)
        s[0] += 1
        weights = by_mean_credit(memory[0], memory[1], self.span(state.classes))
        return replace(state, stakes=weights, memory=memory, scalars=s)
