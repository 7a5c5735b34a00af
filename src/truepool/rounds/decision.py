"""One case: decide before the outcome, hear what it says of each agent after it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool import kernels
from truepool.arrays import FloatArray, frozen
from truepool.learners.interface import Heard, Learner, State
from truepool.weights import uniform


@dataclass(frozen=True, eq=False)
class Decision:
    """One case as it was decided: what was said (N, C), and the stakes then (N,)."""

    reports: FloatArray
    stakes: FloatArray

    @cached_property
    def pooled(self) -> FloatArray:
        """The pool, as coordinates (C,)."""
        return np.asarray(kernels.linear(frozen(self.reports[None]), self.stakes)[0])


def decide(state: State, reports: FloatArray) -> Decision | None:
    """Pool the reports (N, C) of one case; None where nobody spoke.

    >>> from truepool.learners import named
    >>> state = named("hedge").start(("ada", "bob"))
    >>> decide(state, np.array([[0.2], [0.6]])).pooled
    array([0.4])
    """
    if np.isnan(reports[:, 0]).all():
        return None
    return Decision(reports, state.stakes)


def hear(learner: Learner, decision: Decision, outcome: int, agents: int) -> Heard:
    """Return what a settled case says of each agent: the plain specification."""
    m, used, p = decision.reports, decision.stakes, decision.pooled
    loss, y = learner.loss, np.array(outcome)
    silent = np.isnan(m[:, 0])
    K = 2 if m.shape[1] == 1 else m.shape[1]
    reach = loss.span(K)
    if learner.hears == "own":
        heard = loss.of(np.nan_to_num(m, nan=0.5), np.full(agents, outcome))
    elif learner.hears == "slope":
        slope = loss.slope(p, y)
        heard = m @ slope
        reach = float(np.ptp(slope)) if slope.size > 1 else abs(float(slope[0]))
    else:
        even = learner.hears == "uniform"
        at = uniform(agents) if even else used
        prior = np.full(m.shape[1], 1.0 / K)
        rest = kernels.without(frozen(m[None]), at, prior)[0]
        base = kernels.linear(frozen(m[None]), at)[0]
        factor = learner.factor(agents)
        heard = factor * (loss.of(base, y) - loss.of(rest, np.full(agents, outcome)))
        reach *= factor
    return Heard(np.where(silent, np.nan, heard), reach, used)
