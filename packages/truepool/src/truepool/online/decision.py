"""One case: the decision before the outcome, and the feedback after it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray, read_only
from truepool.learners.interface import Feedback, Learner, State
from truepool.panel.weights import uniform


@dataclass(frozen=True, eq=False)
class Decision:
    """The reports (N, C) of one case, and the weights (N,) that decided it."""

    reports: FloatArray
    unnormalised: FloatArray

    @cached_property
    def pooled(self) -> FloatArray:
        """The pooled probability, as coordinates (C,)."""
        if kernels.online is None:
            values = read_only(self.reports[None])
            return np.asarray(kernels.linear(values, self.unnormalised)[0])
        pooled = np.empty((1, self.reports.shape[1]))
        pool = kernels.online.pooling(pooled.size == 1)
        pool(read_only(self.reports.reshape(1, -1)), self.unnormalised, pooled)
        return np.asarray(pooled[0])


def decide(state: State, reports: FloatArray) -> Decision | None:
    """Pool the reports (N, C) of one case; None if no agent reported.

    >>> from truepool.learners import make
    >>> state = make("hedge").start(("ada", "bob"))
    >>> decide(state, np.array([[0.2], [0.6]])).pooled
    array([0.4])
    """
    if np.isnan(reports[:, 0]).all():
        return None
    return Decision(reports, state.unnormalised)


def feedback(
    learner: Learner, state: State, decision: Decision, outcome: int
) -> Feedback:
    """Compute the feedback of an outcome, in numpy: the specification."""
    m, used, p = decision.reports, decision.unnormalised, decision.pooled
    loss, y, N = learner.loss, np.array(outcome), len(decision.reports)
    silent = np.isnan(m[:, 0])
    K = 2 if m.shape[1] == 1 else m.shape[1]
    span = loss.span(K)
    if learner.signal == "own":
        losses = loss.evaluate(np.nan_to_num(m, nan=0.5), np.full(N, outcome))
    elif learner.signal == "slope":
        slope = loss.slope(p, y)
        losses = m @ slope
        span = float(np.ptp(slope)) if slope.size > 1 else abs(float(slope[0]))
    else:
        base_weights = uniform(N) if learner.signal == "uniform" else used
        prior = np.full(m.shape[1], 1.0 / K)
        others = kernels.without(read_only(m[None]), base_weights, prior)[0]
        base = kernels.linear(read_only(m[None]), base_weights)[0]
        losses = loss.evaluate(base, y) - loss.evaluate(others, np.full(N, outcome))
    weights = used[~silent]
    if not weights.sum() > 0:  # agents without weight are pooled equally
        weights = np.ones(weights.size)
    return Feedback(
        np.where(silent, np.nan, losses),
        span,
        float(weights @ losses[~silent] / weights.sum()),
        used,
        state.settled,
        not silent.any(),
        float(state.unnormalised.sum()),
    )
