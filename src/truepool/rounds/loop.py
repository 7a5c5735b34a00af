"""Any number of cases in their order: one compiled call, or one update a case."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from truepool import kernels
from truepool.arrays import FloatArray, IntArray, frozen
from truepool.learners.interface import Learner, State
from truepool.losses import Loss
from truepool.rounds.decision import Decision, decide, hear

NONE = np.empty(0, dtype=np.int64)
NO_PATH = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Delay:
    """Which cases settle after which decision, and where their stakes wait.

    The last row of ``kept`` is not for those who wait, but for the stakes of now.
    """

    due: IntArray
    first: IntArray
    slots: IntArray
    kept: FloatArray


AT_ONCE = Delay(NONE, NONE, NONE, NO_PATH)
# One late case, due after this call's only decision: its stakes are in the row before
# the last.
ONE, FIRST, LAST = np.array([0]), np.array([0, 1]), np.array([-2])
# One case of which nothing settles.
UNDECIDED = np.array([0, 0])


def pooled(learner: Learner, decision: Decision, classes: int) -> FloatArray:
    """Pool of one case (C,), by the very instructions that a replay executes."""
    if kernels.online is None:
        return decision.pooled
    nobody = State(decision.stakes, NO_PATH, np.zeros(0), (), classes)
    plan = Delay(ONE, UNDECIDED, LAST, np.empty((1, decision.stakes.size)))
    values = frozen(decision.reports[None])
    return np.asarray(run(learner, nobody, values, ONE, plan, NO_PATH)[0][0])


def settle(learner: Learner, state: State, decision: Decision, outcome: int) -> State:
    """Return the state after the outcome of a case has come.

    The case is judged by its own reports and by the weights it was decided with,
    however late its outcome comes.

    >>> from truepool.learners import named
    >>> learner = named("hedge", rate=1.0)
    >>> state = learner.start(("ada", "bob"))
    >>> case = decide(state, np.array([[0.2], [0.6]]))
    >>> settle(learner, state, case, 1).weights.round(3)
    array([0.382, 0.618])
    """
    if kernels.online is None:
        heard = hear(learner, decision, outcome, len(state.agents))
        return learner.update(state, heard)
    new = state.copy()
    plan = AT_ONCE
    if decision.stakes is not state.stakes:
        plan = Delay(ONE, FIRST, LAST, np.stack([decision.stakes, state.stakes]))
    outcomes = np.array([outcome])
    run(learner, new, frozen(decision.reports[None]), outcomes, plan, NO_PATH)
    return new


def run(
    learner: Learner,
    state: State,
    values: FloatArray,
    outcomes: IntArray,
    plan: Delay,
    path: FloatArray,
) -> tuple[FloatArray, FloatArray, int]:
    """Decide and settle every case; the state's arrays are written to."""
    T, _, C = values.shape
    pooled, losses = np.empty((T, C)), np.empty(T)
    if kernels.online is None:
        skipped = _plain_run(
            learner, state, values, outcomes, plan, path, pooled, losses
        )
        return pooled, losses, skipped
    skipped = kernels.online.run(
        *program(learner, state.stakes.size, state.classes),
        state.stakes,
        state.memory,
        state.scalars,
        values,
        frozen(outcomes),  # one signature, one compiled loop, for all who call it
        pooled,
        losses,
        path,
        plan.due,
        plan.first,
        plan.slots,
        plan.kept,
    )
    return pooled, losses, int(skipped)


def _plain_run(
    learner: Learner,
    state: State,
    values: FloatArray,
    outcomes: IntArray,
    plan: Delay,
    path: FloatArray,
    pooled: FloatArray,
    losses: FloatArray,
) -> int:
    """Run the same loop, one ``learner.update`` a case."""
    now, skipped = state, 0
    waiting: dict[int, Decision] = {}
    for t in range(len(values)):
        if path.size:
            path[t] = now.stakes
        case = decide(now, values[t])
        pooled[t] = np.nan if case is None else case.pooled
        losses[t] = np.nan
        if case is None:
            skipped += 1
        else:
            losses[t] = learner.loss.of(case.pooled, outcomes[t])
            waiting[t] = case
        ready = plan.due[plan.first[t] : plan.first[t + 1]] if plan.first.size else [t]
        for done in ready:
            settled = waiting.pop(int(done), None)
            if settled is not None:
                y = int(outcomes[done])
                now = learner.update(now, hear(learner, settled, y, len(now.agents)))
    if path.size:
        path[-1] = now.stakes
    state.stakes[:], state.memory[:], state.scalars[:] = (
        now.stakes,
        now.memory,
        now.scalars,
    )
    return skipped


@lru_cache(maxsize=256)
def program(learner: Learner, agents: int, classes: int) -> tuple[Any, ...]:
    """Return what the compiled loop has to know of a learner, made once."""
    table = learner.loss.costs.table(classes)
    line = _line(learner.loss, classes)
    return (*learner.codes, table, line, learner.parameters(agents, classes))


def _line(loss: Loss, classes: int) -> float:
    if loss.threshold is not None:
        return loss.threshold
    return loss.costs.threshold if classes == 2 else 0.0
