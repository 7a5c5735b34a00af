"""Learners that look at the regret towards each agent, scaled to [-1, 1]."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from truepool.arrays import FloatArray
from truepool.learners.interface import Heard, Learner, Signal


@dataclass(frozen=True, kw_only=True)
class Regretting(Learner):
    """A learner that keeps sums of regrets, of slopes or of own losses."""

    signal: Literal["own", "slope"] = "slope"

    @property
    def hears(self) -> Signal:
        """Slopes, or own losses."""
        return self.signal

    @property
    def _needs_span(self) -> bool:
        return True

    def _regret(self, heard: Heard, classes: int) -> FloatArray:
        """How much worse the pool did than each agent (N,); 0 for the silent."""
        gap = np.where(heard.awake, heard.mean - heard.losses, 0.0)
        return np.asarray(gap / self.span(classes))
