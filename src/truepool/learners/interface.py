"""What every learner is: settings, a state that goes in and comes out, a guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from truepool.core.arrays import BoolArray, FloatArray
from truepool.core.errors import AgentError, SettingError
from truepool.core.kernels.arithmetic import log
from truepool.data.weights import uniform
from truepool.measures.losses import Loss

Signal: TypeAlias = Literal["own", "slope", "marginal", "uniform"]
Memory: TypeAlias = Any
"""A NamedTuple of numbers, and of arrays whose last axis is the agents."""

FLOOR = 1e-30
"""No weight falls below this: far too little to matter, and never 0/0."""


@dataclass(frozen=True, eq=False)
class State:
    """What a learner knows after some settled cases. Old states stay valid.

    ``unnormalised`` (N,) are the weights up to a common factor: with few agents,
    scaling them would take most of a case's time. ``memory`` is the learner's own.
    """

    unnormalised: FloatArray
    memory: Memory
    agents: tuple[str, ...]
    classes: int
    settled: int = 0

    @property
    def weights(self) -> FloatArray:
        """Weight of each agent in the pool; they sum to 1.

        >>> State(np.array([1.0, 3.0]), (), ("ada", "bob"), 2).weights
        array([0.25, 0.75])
        """
        return np.asarray(self.unnormalised / self.unnormalised.sum())

    @property
    def log_weights(self) -> FloatArray:
        """Weights on the log scale."""
        return np.asarray(np.log(np.maximum(self.weights, FLOOR)))

    def after(self, weights: FloatArray, memory: Memory | None = None) -> "State":
        """Return the state after one more case, with these weights up to a factor."""
        kept = self.memory if memory is None else memory
        return replace(
            self, unnormalised=weights, memory=kept, settled=self.settled + 1
        )

    def copy(self) -> "State":
        """Return the same knowledge in arrays of its own."""
        memory = by_field(np.copy, self.memory)
        return replace(self, unnormalised=self.unnormalised.copy(), memory=memory)


class Feedback(NamedTuple):
    """What the outcome of one case says about each agent.

    ``losses`` (N,) are smaller for the better, NaN where there was no report; ``reach``
    bounds how far apart they can lie; ``mean`` is their mean under ``used`` (N,), the
    unnormalised weights that the case was decided with; ``settled`` counts the cases
    before it; ``complete`` says whether everybody reported; ``mass`` is the sum of the
    unnormalised weights now.
    """

    losses: FloatArray
    reach: float
    mean: float
    used: FloatArray
    settled: int
    complete: bool
    mass: float

    @property
    def awake(self) -> BoolArray:
        """Who reported."""
        return ~np.isnan(self.losses)


Kernel: TypeAlias = Callable[[FloatArray, Any, Feedback, Any], Any]
"""``kernel(weights, memory, feedback, settings) -> memory``: see `Learner.kernel`."""


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """Online weights.

    A learner is written by what it is told about each case (`signal`) and by `update`,
    which is all it needs. A `kernel`, the same update for numba, makes it fast.

    Parameters
    ----------
    loss : Loss
        What is to be kept small.
    horizon : int
        How many cases are expected; rates that need it use it.
    """

    name: ClassVar[str]
    exemptions: ClassVar[Mapping[str, str]] = {}

    loss: Loss = field(default_factory=lambda: Loss("brier"))
    horizon: int = 10_000

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise SettingError(f"the horizon must be at least 1; it is {self.horizon}")
        if self.signal == "slope" and not self.loss.convex:
            raise SettingError(
                f"{self.name} follows slopes, which need a convex loss; "
                f"{self.loss.name!r} is not. Use brier, log or cost-brier."
            )
        if self.signal == "slope" and self.loss.name == "log" and self._needs_span:
            raise SettingError(
                f"{self.name} scales by how far slopes can lie apart, which the log "
                "loss does not bound. Use signal='own', or gradient or adahedge."
            )

    @property
    def _needs_span(self) -> bool:
        """Whether the learner must know beforehand how far signals can lie apart."""
        return False

    @property
    @abstractmethod
    def signal(self) -> Signal:
        """What the learner is told about each agent.

        Its ``own`` loss, the ``slope`` of the pool's loss (so that it learns the best
        mixture), or minus its contribution: the ``marginal`` one to the pool as it is,
        or that to the ``uniform`` pool.
        """

    @abstractmethod
    def update(self, state: State, feedback: Feedback) -> State:
        """Return the state after one more case: the specification, in numpy."""

    @property
    def kernel(self) -> Kernel | None:
        """The same update as a function that numba can compile, or None.

        ``kernel(weights, memory, feedback, settings)`` changes ``weights`` and the
        arrays of ``memory`` in place and returns the memory with its new numbers. It
        may overwrite ``feedback.losses``, need not scale the weights, and may call
        plain functions of its module.
        """
        return None

    def settings(self, agents: int, classes: int) -> Any:
        """Return the numbers that `kernel` needs, as a NamedTuple."""
        return ()

    def memory(self, agents: int) -> Memory:
        """Return the memory before any case."""
        return ()

    def bound(self, state: State) -> float | None:
        """Regret that theory allows after this state, or None where none holds.

        For agents that were there from the start: who joins later brings no theorem.
        """
        return None

    def start(self, agents: tuple[str, ...], classes: int = 2) -> State:
        """State before any case: equal weights."""
        if len(agents) < 2:
            raise AgentError(f"pooling needs at least 2 agents; there is {len(agents)}")
        if len(set(agents)) < len(agents):
            raise AgentError(f"every agent needs a name of its own; got {agents}")
        if classes < 2:
            raise SettingError(f"there must be at least 2 classes; got {classes}")
        N = len(agents)
        return State(uniform(N), self.memory(N), agents, classes)

    def span(self, classes: int) -> float:
        """How far apart two agents' signals of one case can lie."""
        return self.loss.span(classes, of_slopes=self.signal == "slope")

    def join(self, state: State, agent: str, prior: float | None = None) -> State:
        """Let an agent in at weight ``prior`` (1 / N by default); others make room."""
        if agent in state.agents:
            raise AgentError(f"agent {agent!r} is there already")
        N = len(state.agents) + 1
        share = 1.0 / N if prior is None else prior
        if not 0 < share < 1:
            raise SettingError(
                f"a prior weight must lie between 0 and 1; it is {share}"
            )
        weights = np.append(state.weights * (1 - share), share)
        fresh = self._newcomer(state, share)
        memory = by_field(
            lambda old, new: np.concatenate([old, new[..., -1:]], axis=-1),
            state.memory,
            fresh,
        )
        return replace(
            state, unnormalised=weights, memory=memory, agents=(*state.agents, agent)
        )

    def leave(self, state: State, agent: str) -> State:
        """Let an agent go; its weight goes to the others in proportion."""
        if agent not in state.agents:
            raise AgentError(
                f"no agent is called {agent!r}; known: {', '.join(state.agents)}"
            )
        if len(state.agents) == 2:
            raise AgentError("pooling needs at least 2 agents; none of 2 can leave")
        i = state.agents.index(agent)
        weights = np.delete(state.weights, i)
        total = weights.sum()
        weights = weights / total if total > 0 else uniform(weights.size)
        agents = tuple(name for name in state.agents if name != agent)
        memory = by_field(lambda old: np.delete(old, i, axis=-1), state.memory)
        return replace(state, unnormalised=weights, memory=memory, agents=agents)

    def _newcomer(self, state: State, share: float) -> Memory:
        """Memory whose last agent is the one that joins now."""
        return self.memory(len(state.agents) + 1)


def by_field(
    change: Callable[..., FloatArray], memory: Memory, *others: Memory
) -> Memory:
    """Return the memory with its arrays changed and its numbers as they are."""
    fields = [
        change(old, *more) if isinstance(old, np.ndarray) else old
        for old, *more in zip(memory, *others, strict=True)
    ]
    return type(memory)(*fields) if fields else memory


def horizon_rate(agents: int, horizon: int) -> float:
    r"""Rate of thm:regret, :math:`\sqrt{\ln N / T}`.

    >>> round(horizon_rate(5, 1000), 4)
    0.0401
    """
    return sqrt(log(agents) / horizon)


def check_rate(rate: float | None) -> None:
    """Refuse a rate that is not positive."""
    if rate is not None and not (np.isfinite(rate) and rate > 0):
        raise SettingError(f"a rate must be a positive number; it is {rate!r}")
