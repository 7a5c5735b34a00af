"""The interface of learners: settings, an update of the state, a regret bound."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from truepool.core.arrays import BoolArray, FloatArray
from truepool.core.errors import AgentError, SettingError
from truepool.core.kernels.arithmetic import log
from truepool.measures.losses import Loss
from truepool.panel.weights import uniform

Signal: TypeAlias = Literal["own", "slope", "marginal", "uniform"]
Memory: TypeAlias = Any
"""A NamedTuple of numbers, and of arrays whose last axis is the agents."""

FLOOR = 1e-30
"""No weight falls below this: negligible, but it avoids 0/0."""


@dataclass(frozen=True, eq=False)
class State:
    """The state of a learner after some settled cases. Old states stay valid.

    ``unnormalised`` (N,) are the weights up to a common factor: with few agents,
    normalising them would take most of the time. ``memory`` belongs to the learner.
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
        new_memory = self.memory if memory is None else memory
        return replace(
            self, unnormalised=weights, memory=new_memory, settled=self.settled + 1
        )

    def copy(self) -> "State":
        """Return the same state with arrays of its own."""
        memory = map_arrays(np.copy, self.memory)
        return replace(self, unnormalised=self.unnormalised.copy(), memory=memory)


class Feedback(NamedTuple):
    """What a learner gets about each agent once the outcome of a case is known."""

    losses: FloatArray
    """Losses (N,), smaller for better agents; NaN without a report."""
    span: float
    """Bound on their range."""
    mean: float
    """Their mean under the weights that decided the case."""
    decision_weights: FloatArray
    """The unnormalised weights (N,) that decided the case."""
    settled: int
    """Number of cases before it."""
    complete: bool
    """Whether all agents reported."""
    mass: float
    """Sum of the current unnormalised weights."""

    @property
    def reported(self) -> BoolArray:
        """Which agents reported."""
        return ~np.isnan(self.losses)


Kernel: TypeAlias = Callable[[FloatArray, Any, Feedback, Any], Any]
"""``kernel(weights, memory, feedback, settings) -> memory``: see `Learner.kernel`."""


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """Online weights.

    A learner needs a `signal`, what it gets about each agent, and an `update`. A
    `kernel`, the same update for numba, makes it fast.

    Parameters
    ----------
    loss : Loss
        The loss to minimise.
    horizon : int
        The expected number of cases, for learning rates that depend on it.
    """

    name: ClassVar[str]
    exemptions: ClassVar[Mapping[str, str]] = {}
    guarded: ClassVar[tuple[str, ...]] = ("memory", "update", "bound")
    """Methods whose errors name the plug-in that wrote them."""

    loss: Loss = field(default_factory=lambda: Loss("brier"))
    horizon: int = 10_000

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise SettingError(f"the horizon must be at least 1; got {self.horizon}")
        if self.signal not in get_args(Signal):
            raise SettingError(
                f"a signal must be one of {', '.join(get_args(Signal))}; the learner "
                f"{self.name!r} has {self.signal!r}"
            )
        if self.signal == "slope" and not self.loss.convex:
            raise SettingError(
                f"{self.name} needs a convex loss; {self.loss.name!r} is not convex. "
                "Use brier, log or cost-brier."
            )
        if self.signal == "slope" and self.loss.name == "log" and self._needs_span:
            raise SettingError(
                f"{self.name} needs a loss with bounded slopes; those of the log loss "
                "are unbounded. Use signal='own', or gradient or adahedge."
            )

    @property
    def _needs_span(self) -> bool:
        """Whether the learner must know the range of its signals in advance."""
        return False

    @property
    @abstractmethod
    def signal(self) -> Signal:
        """What the learner gets about each agent.

        Its ``own`` loss, the ``slope`` of the pool's loss (to learn the best
        weighting), or minus its contribution, to the current pool (``marginal``) or to
        the ``uniform`` pool.
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
        """Upper bound on the regret up to this state, or None if there is no theorem.

        It holds for the agents present from the start, not for those that join later.
        """
        return None

    def start(self, agents: tuple[str, ...], classes: int = 2) -> State:
        """Return the state before any case: equal weights."""
        if len(agents) < 2:
            raise AgentError(f"pooling needs at least 2 agents; got {len(agents)}")
        if len(set(agents)) < len(agents):
            raise AgentError(f"agent names must be unique; got {agents}")
        if classes < 2:
            raise SettingError(f"there must be at least 2 classes; got {classes}")
        N = len(agents)
        return State(uniform(N), self.memory(N), agents, classes)

    def span(self, classes: int) -> float:
        """Return the largest possible difference between the signals of two agents."""
        return self.loss.span(classes, of_slopes=self.signal == "slope")

    def join(self, state: State, agent: str, prior: float | None = None) -> State:
        """Add an agent with weight ``prior``, 1 / N by default; scale the others."""
        if agent in state.agents:
            raise AgentError(f"the new agent must have a new name; {agent!r} is taken")
        N = len(state.agents) + 1
        share = 1.0 / N if prior is None else prior
        if not 0 < share < 1:
            raise SettingError(f"a prior weight must lie between 0 and 1; got {share}")
        weights = np.append(state.weights * (1 - share), share)
        fresh = self._newcomer(state, share)
        memory = map_arrays(
            lambda old, new: np.concatenate([old, new[..., -1:]], axis=-1),
            state.memory,
            fresh,
        )
        return replace(
            state, unnormalised=weights, memory=memory, agents=(*state.agents, agent)
        )

    def leave(self, state: State, agent: str) -> State:
        """Remove an agent; its weight goes to the others in proportion."""
        if agent not in state.agents:
            raise AgentError(
                f"no agent is called {agent!r}; known: {', '.join(state.agents)}"
            )
        if len(state.agents) == 2:
            raise AgentError(
                f"pooling needs at least 2 agents; {agent!r} is one of only 2"
            )
        i = state.agents.index(agent)
        weights = np.delete(state.weights, i)
        total = weights.sum()
        weights = weights / total if total > 0 else uniform(weights.size)
        agents = tuple(name for name in state.agents if name != agent)
        memory = map_arrays(lambda old: np.delete(old, i, axis=-1), state.memory)
        return replace(state, unnormalised=weights, memory=memory, agents=agents)

    def _newcomer(self, state: State, share: float) -> Memory:
        """Return a memory whose last agent is the new one."""
        return self.memory(len(state.agents) + 1)


def map_arrays(
    change: Callable[..., FloatArray], memory: Memory, *others: Memory
) -> Memory:
    """Apply a function to the arrays of a memory and keep its numbers."""
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
    """Check that a rate is positive."""
    if isinstance(rate, bool) or (
        rate is not None and not (np.isfinite(rate) and rate > 0)
    ):
        raise SettingError(f"a rate must be a positive number; got {rate!r}")
