"""Weights by contributions to the uniform pool: no guarantee, easy to explain."""

from dataclasses import dataclass

import numpy as np

from truepool.arrays import FloatArray
from truepool.learners.interface import Learner, Signal
from truepool.weights import by_credit

RECOUNTED = {
    "asleep": "weights are shares of all positive credit, which others may add to",
    "joining": "a newcomer without a contribution has no weight",
}


@dataclass(frozen=True, kw_only=True)
class Credited(Learner):
    """A learner whose weights are proportional to positive mean contributions."""

    @property
    def hears(self) -> Signal:
        """Contributions to the uniform pool."""
        return "uniform"

    def _memory(self, agents: int) -> FloatArray:
        return np.zeros((2, agents))


def by_mean_credit(credit: FloatArray, count: FloatArray, span: float) -> FloatArray:
    """Weights by positive mean credit in units of the loss; equal if there is none."""
    return by_credit(credit / np.where(count > 0, count, 1.0) / span)
