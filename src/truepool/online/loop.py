"""Any number of cases in their order: one compiled call, or one update per case."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, read_only
from truepool.core.errors import LearnerError
from truepool.learners.interface import Feedback, Learner, State, by_field
from truepool.measures.losses import Loss
from truepool.online.decision import Decision, decide, feedback

NONE = np.empty(0, dtype=np.int64)
NO_PATH = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Delay:
    """Which cases settle after which decision, and where their weights wait."""

    due: IntArray
    first: IntArray
    slots: IntArray
    kept: FloatArray


AT_ONCE = Delay(NONE, NONE, NONE, NO_PATH)
# One late case, due after this call's only decision: its weights are in the last row.
ONE, FIRST, LAST = np.array([0]), np.array([0, 1]), np.array([-1])


def settle(learner: Learner, state: State, decision: Decision, outcome: int) -> State:
    """Return the state after the outcome of a case has come.

    The case is judged by its own reports and by the weights it was decided with,
    however late its outcome comes.

    >>> from truepool.learners import make
    >>> learner = make("hedge", rate=1.0)
    >>> state = learner.start(("ada", "bob"))
    >>> case = decide(state, np.array([[0.2], [0.6]]))
    >>> settle(learner, state, case, 1).weights.round(3)
    array([0.382, 0.618])
    """
    if not compiles(learner):
        return updated(learner, state, decision, outcome)
    plan = AT_ONCE
    if decision.unnormalised is not state.unnormalised:
        plan = Delay(ONE, FIRST, LAST, decision.unnormalised[None])
    values, outcomes = read_only(decision.reports[None]), np.array([outcome])
    return run(learner, state, values, outcomes, plan, NO_PATH)[0]


def compiles(learner: Learner) -> bool:
    """Whether the learner runs in the compiled loop, or one update per case."""
    return kernels.online is not None and learner.kernel is not None


def run(
    learner: Learner,
    state: State,
    values: FloatArray,
    outcomes: IntArray,
    plan: Delay,
    path: FloatArray,
) -> tuple[State, FloatArray, FloatArray, int]:
    """Decide and settle every case: the last state, pools, losses, how many skipped."""
    T, N, C = values.shape
    pooled, losses = np.empty((T, C)), np.empty(T)
    if not compiles(learner):
        state, skipped = _run_plain(
            learner, state, values, outcomes, plan, path, pooled, losses
        )
        return state, pooled, losses, skipped
    loop, settings, *costs = program(learner, N, state.classes)
    weights, memory = state.unnormalised.copy(), by_field(np.copy, state.memory)
    memory, settled, skipped = loop(
        settings,
        tuple(memory),
        state.settled,
        weights,
        values.reshape(T, N * C),
        read_only(outcomes),  # one signature, one compiled loop, for all who call it
        *costs,
        pooled,
        losses,
        path,
        plan.due,
        plan.first,
        plan.slots,
        plan.kept,
    )
    state = State(weights, memory, state.agents, state.classes, settled)
    return state, pooled, losses, skipped


def updated(learner: Learner, state: State, decision: Decision, outcome: int) -> State:
    """Return the state after one plain update, checked."""
    after = learner.update(state, feedback(learner, state, decision, outcome))
    weights = after.unnormalised
    sound = weights.shape == decision.unnormalised.shape and np.isfinite(weights).all()
    if not (sound and (weights >= 0).all() and weights.sum() > 0):
        raise LearnerError(
            "weights after an update must be finite, one per agent, not negative and "
            f"not all 0; update() of learner {learner.name!r} returned "
            f"{weights!r:.200} after case {state.settled}"
        )
    if after.settled != state.settled + 1:
        raise LearnerError(
            f"a state must count its cases; update() of learner {learner.name!r} "
            f"returned one with {after.settled} cases after {state.settled}. "
            "Return state.after(weights, memory)."
        )
    return after


def _run_plain(
    learner: Learner,
    state: State,
    values: FloatArray,
    outcomes: IntArray,
    plan: Delay,
    path: FloatArray,
    pooled: FloatArray,
    losses: FloatArray,
) -> tuple[State, int]:
    """Run the same loop, one ``learner.update`` per case."""
    skipped = 0
    waiting: dict[int, Decision] = {}
    for t in range(len(values)):
        if path.size:
            path[t] = state.unnormalised
        case = decide(state, values[t])
        pooled[t] = np.nan if case is None else case.pooled
        losses[t] = np.nan
        if case is None:
            skipped += 1
        else:
            losses[t] = learner.loss.of(case.pooled, outcomes[t])
            waiting[t] = case
        ready = plan.due[plan.first[t] : plan.first[t + 1]] if plan.first.size else [t]
        for done in ready:
            decision = waiting.pop(int(done), None)
            if decision is not None:
                state = updated(learner, state, decision, int(outcomes[done]))
    if path.size:
        path[-1] = state.unnormalised
    return state, skipped


@lru_cache(maxsize=256)
def program(learner: Learner, agents: int, classes: int) -> tuple[Any, ...]:
    """Return the compiled loop and the numbers of a learner, made once."""
    online: Any = kernels.online
    loss, settings = learner.loss, learner.settings(agents, classes)
    tuples = (Feedback, type(learner.memory(agents)), type(settings))
    loop = online.specialise(
        learner.kernel, tuples, learner.signal, loss.name, classes == 2
    )
    table, line = loss.costs.table(classes), _line(loss, classes)
    return loop, tuple(settings), loss.span(classes), table, line


def _line(loss: Loss, classes: int) -> float:
    if loss.threshold is not None:
        return loss.threshold
    return loss.costs.threshold if classes == 2 else 0.0
