"""Weights by exponentially averaged contributions."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.learners.contribution import (
    EXEMPTIONS,
    CreditLearner,
    Memory,
    by_mean_credit,
    set_by_mean_credit,
)
from truepool.learners.interface import Feedback, Kernel, State


class Settings(NamedTuple):
    """The weight of the last case, and the span of losses."""

    alpha: float
    span: float


@final
@dataclass(frozen=True, kw_only=True)
class EMA(CreditLearner):
    r"""Weights by :math:`D_i \leftarrow (1 - \alpha) D_i + \alpha \Delta_i`.

    This averages contributions, and weights follow from the average. The paper
    decays the weights themselves ("smooth decay of historical weights") and does not
    say of what the new ones are made.
    """

    name: ClassVar[str] = "ema"
    exemptions: ClassVar = EXEMPTIONS
    alpha: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha <= 1:
            raise SettingError(f"alpha must lie in (0, 1]; got {self.alpha!r}")

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        return Settings(float(self.alpha), self.span(classes))

    @property
    def kernel(self) -> Kernel | None:
        """One step of the average."""
        return _kernel

    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case."""
        credit, counts = state.memory
        moved = (1 - self.alpha) * credit - self.alpha * feedback.losses
        credit = np.where(feedback.reported, moved, credit)
        counts = np.maximum(counts, feedback.reported)
        weights = by_mean_credit(credit, counts, self.span(state.classes))
        return state.after(weights, Memory(credit, counts))


def _kernel(
    weights: FloatArray, memory: Memory, feedback: Feedback, settings: Settings
) -> Memory:
    credit, counts = memory
    losses, alpha = feedback.losses, settings.alpha
    for i in range(weights.size):
        moved = (1.0 - alpha) * credit[i] - alpha * losses[i]
        credit[i] = moved if losses[i] == losses[i] else credit[i]
        counts[i] = 1.0 if losses[i] == losses[i] else counts[i]
    set_by_mean_credit(weights, credit, counts, settings.span)
    return memory
