"""Learners that look at the regret against each agent, scaled to [-1, 1]."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.kernels.arithmetic import log as exact_log
from truepool.learners.interface import Feedback, Learner


class Settings(NamedTuple):
    """The span of losses, and ln N."""

    span: float
    log_agents: float


@dataclass(frozen=True, kw_only=True)
class RegretLearner(Learner):
    """A learner based on cumulative regrets, of slopes or of own losses."""

    signal: Literal["own", "slope"] = "slope"

    @property
    def _needs_span(self) -> bool:
        return True

    def settings(self, agents: int, classes: int) -> Settings:
        """Return the numbers that the kernel needs."""
        return Settings(self.span(classes), exact_log(agents))

    def _regret(self, feedback: Feedback, classes: int) -> FloatArray:
        """How much worse the pool did than each agent (N,); 0 without a report."""
        gap = np.where(feedback.reported, feedback.mean - feedback.losses, 0.0)
        return np.asarray(gap / self.span(classes))
