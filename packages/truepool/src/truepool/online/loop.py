"""The loop over cases: one compiled call, or one update per case."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray, IntArray, read_only
from truepool.core.errors import LearnerError
from truepool.core.plugins import describe, origin
from truepool.learners.interface import Feedback, Learner, State, map_arrays
from truepool.measures.losses import Loss
from truepool.online.decision import Decision, decide, feedback

FEW_AGENTS, MANY_CASES = 8, 100_000
"""With so few agents who all report on so many cases, their number is compiled in: the
weights are then kept in registers, and a case takes half of the time."""
NONE = np.empty(0, dtype=np.int64)
NO_PATH = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Delay:
    """Which cases are settled after which decision, and where their weights are.

    Cases beyond the decisions of ``first`` were decided before: they are only settled.
    """

    due: IntArray
    first: IntArray
    slots: IntArray
    weights: FloatArray


AT_ONCE = Delay(NONE, NONE, NONE, NO_PATH)
# One late case, due after the only decision; its weights are in the last row.
ONE, FIRST, LAST = np.array([0]), np.array([0, 1]), np.array([-1])


def settle(learner: Learner, state: State, decision: Decision, outcome: int) -> State:
    """Return the state after the outcome of a case.

    The feedback is computed from the reports and the weights that decided the case,
    however late its outcome is.

    >>> from truepool.learners import make
    >>> learner = make("hedge", rate=1.0)
    >>> state = learner.start(("ada", "bob"))
    >>> case = decide(state, np.array([[0.2], [0.6]]))
    >>> settle(learner, state, case, 1).weights.round(3)
    array([0.382, 0.618])
    """
    if not is_compiled(learner):
        return apply_update(learner, state, decision, outcome)
    delay = AT_ONCE
    if decision.unnormalised is not state.unnormalised:
        delay = Delay(ONE, FIRST, LAST, decision.unnormalised[None])
    values, outcomes = read_only(decision.reports[None]), np.array([outcome])
    return run(learner, state, values, outcomes, delay, NO_PATH)[0]


def is_compiled(learner: Learner) -> bool:
    """Whether the learner runs in the compiled loop, or one update per case."""
    return kernels.online is not None and learner.kernel is not None


def run(
    learner: Learner,
    state: State,
    values: FloatArray,
    outcomes: IntArray,
    delay: Delay,
    path: FloatArray,
    complete: bool = False,
) -> tuple[State, FloatArray, FloatArray, int]:
    """Decide and settle every case: last state, pooled, losses, number skipped.

    ``complete`` says that no report is missing.
    """
    if not is_compiled(learner):
        return run_cases(learner, state, values.__getitem__, outcomes, delay, path)
    rows, N, C = values.shape
    T = delay.first.size - 1 if delay.first.size else rows
    pooled, losses = np.empty((T, C)), np.empty(T)
    fixed = complete and N <= FEW_AGENTS and T >= MANY_CASES and not delay.first.size
    loop, settings, *costs = program(learner, N, state.classes, fixed)
    weights, memory = state.unnormalised.copy(), map_arrays(np.copy, state.memory)
    # Outcomes are read-only: one signature, so that one compiled loop serves everyone.
    memory, settled, skipped = _call(
        learner,
        loop,
        settings,
        tuple(memory),
        state.settled,
        weights,
        values.reshape(rows, N * C),
        read_only(outcomes),
        *costs,
        pooled,
        losses,
        path,
        delay.due,
        delay.first,
        delay.slots,
        delay.weights,
    )
    kind = type(state.memory)
    if not isinstance(memory, tuple) or len(memory) != len(state.memory):
        raise _kernel_error(learner, f"it returned {memory!r:.60}, not the memory")
    if kind is not tuple:  # code compiled by another process has a class of its own
        memory = kind(*memory)
    state = State(weights, memory, state.agents, state.classes, settled)
    return state, pooled, losses, skipped


def apply_update(
    learner: Learner, state: State, decision: Decision, outcome: int
) -> State:
    """Return the state after one update in numpy, and check it."""
    after = learner.update(state, feedback(learner, state, decision, outcome))
    if not isinstance(after, State):
        raise LearnerError(
            "an update must return the state after the case; "
            f"{_update(learner)} returned {describe(after)}. "
            "End it with return state.after(weights, memory)."
        )
    weights = after.unnormalised
    shaped = np.shape(weights) == decision.unnormalised.shape
    sound = shaped and isinstance(weights, np.ndarray) and np.isfinite(weights).all()
    if not (sound and (weights >= 0).all() and weights.sum() > 0):
        raise LearnerError(
            "the weights after an update must be finite, non-negative, not all 0 and "
            f"one per agent; {_update(learner)} returned "
            f"{weights!r:.200} after case {state.settled}"
        )
    if after.settled != state.settled + 1:
        raise LearnerError(
            f"every update must count one more case; {_update(learner)} "
            f"went from {state.settled} to {after.settled}. "
            "Return state.after(weights, memory)."
        )
    return after


def _update(learner: Learner) -> str:
    """Name the update of a learner, and whose it is."""
    owner = origin(type(learner), "truepool.learners")
    return f"update() of learner {learner.name!r}{owner}"


def run_cases(
    learner: Learner,
    state: State,
    report: Callable[[int], FloatArray],
    outcomes: IntArray,
    delay: Delay,
    path: FloatArray,
    *,
    learn: Callable[[int], None] = lambda case: None,
) -> tuple[State, FloatArray, FloatArray, int]:
    """Run the same loop one case after another, on reports given when it is their turn.

    ``report`` returns those of a case, (N, C); ``learn`` is called with every case that
    is settled.
    """
    T = delay.first.size - 1 if delay.first.size else len(outcomes)
    C = 1 if state.classes == 2 else state.classes
    pooled, losses = np.full((T, C), np.nan), np.full(T, np.nan)
    waiting = _decided_before(report, range(T, len(outcomes)), delay)
    for t in range(T):
        if path.size:
            path[t] = state.unnormalised
        if delay.slots.size:
            delay.weights[delay.slots[t]] = state.unnormalised
        case = decide(state, report(t))
        if case is not None:
            waiting[t] = case
            pooled[t] = case.pooled
            losses[t] = learner.loss.evaluate(case.pooled, outcomes[t])
        ready = (
            delay.due[delay.first[t] : delay.first[t + 1]] if delay.first.size else [t]
        )
        for due in map(int, ready):
            if due in waiting:
                state = settle(learner, state, waiting.pop(due), int(outcomes[due]))
                learn(due)
    if path.size:
        path[-1] = state.unnormalised
    return state, pooled, losses, int(np.isnan(losses).sum())


def _decided_before(
    report: Callable[[int], FloatArray], cases: Iterable[int], delay: Delay
) -> dict[int, Decision]:
    """Decisions of earlier cases with a report, by the weights that are kept."""
    kept = {case: delay.weights[delay.slots[case]].copy() for case in cases}
    return {
        case: Decision(report(case), weights)
        for case, weights in kept.items()
        if not np.isnan(report(case)[:, 0]).all()
    }


def _call(learner: Learner, loop: Any, *arguments: Any) -> Any:
    """Call the compiled loop; a kernel that numba cannot compile is refused."""
    online: Any = kernels.online
    try:
        return loop(*arguments)
    except online.COMPILATION_ERROR as error:
        raise _kernel_error(learner, _reason(str(error))) from error


def _reason(message: str) -> str:
    """Return the first line of an error of numba that says what is wrong."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return next(line for line in lines if not line.startswith("Failed in"))


def _kernel_error(learner: Learner, reason: str) -> LearnerError:
    return LearnerError(
        "a kernel must be a plain function that numba can compile and that returns the "
        f"memory; that of learner {learner.name!r} is not: {reason:.200}. Change "
        "kernel, or remove it: update alone works too, only slower."
    )


@lru_cache(maxsize=256)
def program(
    learner: Learner, agents: int, classes: int, fixed: bool = False
) -> tuple[Any, ...]:
    """Return the compiled loop of a learner, and its constant arguments."""
    online: Any = kernels.online
    if not isinstance(learner.kernel, FunctionType):
        raise _kernel_error(learner, f"got {describe(learner.kernel)}")
    free = learner.kernel.__code__.co_freevars
    if free:
        reason = f"it uses {', '.join(free)} of the function that it is defined in"
        raise _kernel_error(learner, reason)
    loss, settings = learner.loss, learner.settings(agents, classes)
    tuples = (Feedback, type(learner.memory(agents)), type(settings))
    loop = online.specialise(
        learner.kernel,
        tuples,
        learner.signal,
        loss.name,
        classes == 2,
        agents if fixed else 0,
    )
    table, line = loss.costs.table(classes), _line(loss, classes)
    return loop, tuple(settings), loss.span(classes), table, line


def _line(loss: Loss, classes: int) -> float:
    if loss.threshold is not None:
        return loss.threshold
    return loss.costs.threshold if classes == 2 else 0.0
