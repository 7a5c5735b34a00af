"""Weights by contributions to the uniform pool: no bound, but easy to explain."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.kernels.arithmetic import total
from truepool.learners.interface import Learner, Signal
from truepool.panel.weights import ROUNDING_ERROR, by_credit

EXEMPTIONS = {
    "asleep": "weights are shares of all positive credit, which others change",
    "joining": "a newcomer without a contribution has no weight",
}


class Memory(NamedTuple):
    """Per agent: the sum, or average, of contributions, and their number."""

    credit: FloatArray
    counts: FloatArray


@dataclass(frozen=True, kw_only=True)
class CreditLearner(Learner):
    """A learner whose weights are proportional to positive mean contributions."""

    @property
    def signal(self) -> Signal:
        """Contributions to the uniform pool."""
        return "uniform"

    def memory(self, agents: int) -> Any:
        """Return the memory before any case."""
        return Memory(np.zeros(agents), np.zeros(agents))


def by_mean_credit(credit: FloatArray, counts: FloatArray, span: float) -> FloatArray:
    """Weights by positive mean credit, in units of the span; equal if none is."""
    return by_credit(credit / np.where(counts > 0, counts, 1.0) / span)


def set_by_mean_credit(
    weights: FloatArray, credit: FloatArray, counts: FloatArray, span: float
) -> None:
    """`by_mean_credit`, for kernels."""
    for i in range(weights.size):
        mean = credit[i] / max(counts[i], 1.0)
        weights[i] = mean if mean > ROUNDING_ERROR * span else 0.0
    if not total(weights) > 0.0:
        weights[:] = 1.0
