"""Weights by exponentially averaged contributions."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from truepool.arrays import FloatArray
from truepool.errors import SettingError
from truepool.learners.contribution import RECOUNTED, Credited, by_mean_credit
from truepool.learners.interface import Heard, State


@final
@dataclass(frozen=True, kw_only=True)
class EMA(Credited):
    r"""Weights by :math:`D_i \leftarrow (1 - \alpha) D_i + \alpha \Delta_i`."""

    name: ClassVar[str] = "ema"
    rule: ClassVar[int] = 5
    excused: ClassVar = RECOUNTED
    alpha: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha <= 1:
            raise SettingError(f"alpha must lie in (0, 1]; it is {self.alpha!r}")

    def parameters(self, agents: int, classes: int) -> FloatArray:
        """Numbers for the compiled loop."""
        numbers = super().parameters(agents, classes)
        numbers[3] = self.alpha
        return numbers

    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case."""
        s = state.scalars.copy()
        s[0] += 1
        credit, seen = state.memory
        moved = (1 - self.alpha) * credit - self.alpha * heard.losses
        credit = np.where(heard.awake, moved, credit)
        seen = np.maximum(seen, heard.awake)
        weights = by_mean_credit(credit, seen, self.span(state.classes))
        memory = np.stack([credit, seen])
        return replace(state, stakes=weights, memory=memory, scalars=s)
