"""What every learner is: settings, a state that goes in and comes out, a guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log, sqrt
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from truepool.arrays import BoolArray, FloatArray
from truepool.errors import AgentError, SettingError
from truepool.losses import NAMES, Loss
from truepool.weights import uniform

Signal: TypeAlias = Literal["own", "slope", "marginal", "uniform"]
SIGNALS: dict[str, int] = {"own": 0, "slope": 1, "marginal": 2, "uniform": 3}
FLOOR = 1e-30
"""No weight falls below this: far too little to matter, and never 0/0."""


@dataclass(frozen=True, eq=False)
class State:
    """What a learner knows after some settled cases. Old states stay valid.

    ``stakes`` (N,) are the weights up to a common factor: few agents would otherwise
    spend most of a case's time on scaling them.
    """

    stakes: FloatArray
    memory: FloatArray
    scalars: FloatArray
    agents: tuple[str, ...]
    classes: int

    @property
    def settled(self) -> int:
        """How many cases have been settled."""
        return int(self.scalars[0])

    @property
    def weights(self) -> FloatArray:
        """What part each agent has in the pool."""
        return shares(self.stakes)

    @property
    def log_weights(self) -> FloatArray:
        """Weights on the log scale."""
        return np.asarray(np.log(np.maximum(self.weights, FLOOR)))

    def copy(self) -> "State":
        """Return the same knowledge in arrays of its own."""
        arrays = (self.stakes.copy(), self.memory.copy(), self.scalars.copy())
        return State(*arrays, self.agents, self.classes)


@dataclass(frozen=True, eq=False)
class Heard:
    """What one settled case says of each agent.

    ``losses`` (N,) is smaller for the better, NaN for the silent; ``reach`` bounds how
    far apart they can lie; ``used`` are the stakes the case was decided with.
    """

    losses: FloatArray
    reach: float
    used: FloatArray

    @property
    def awake(self) -> BoolArray:
        """Who spoke."""
        return ~np.isnan(self.losses)

    @property
    def mean(self) -> float:
        """Mean loss under the stakes that were used."""
        used, losses = self.used[self.awake], self.losses[self.awake]
        if not used.sum() > 0:  # weightless agents are pooled equally
            return float(losses.mean())
        return float(used @ losses / used.sum())


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """Weights that follow the settled cases.

    A learner is written by what it listens to (``signal``) and by `update`, the plain
    specification of one step; the compiled round loop mirrors it (``rule``).

    Parameters
    ----------
    loss : Loss
        What is to be kept small.
    horizon : int
        How many cases are expected; rates that need it use it.
    """

    name: ClassVar[str]
    rule: ClassVar[int]
    excused: ClassVar[Mapping[str, str]] = {}

    loss: Loss = field(default_factory=lambda: Loss("brier"))
    horizon: int = 10_000

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise SettingError(f"the horizon must be at least 1; it is {self.horizon}")
        if self.hears == "slope" and not self.loss.convex:
            raise SettingError(
                f"{self.name} follows slopes, which need a convex loss; "
                f"{self.loss.name!r} is not. Use brier, log or cost-brier."
            )
        if self.hears == "slope" and self.loss.name == "log" and self._needs_span:
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
    def hears(self) -> Signal:
        """What the learner listens to.

        ``own`` losses of single agents, the ``slope`` of the pool's loss (so that it
        learns the best mixture), or contributions: ``marginal`` ones to the pool as
        it is, or those to the ``uniform`` pool.
        """

    @abstractmethod
    def update(self, state: State, heard: Heard) -> State:
        """Return the state after one more settled case: the specification."""

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
            raise AgentError(f"every agent needs a name of its own; {agents} came")
        if classes < 2:
            raise SettingError(f"there must be at least 2 classes; {classes} came")
        N = len(agents)
        return State(uniform(N), self._memory(N), np.zeros(8), agents, classes)

    def _memory(self, agents: int) -> FloatArray:
        return np.zeros((1, agents))

    def span(self, classes: int) -> float:
        """How far apart two agents' signals of one case can lie."""
        return self.loss.span(classes, of_slopes=self.hears == "slope")

    def factor(self, agents: int) -> float:
        """What contributions are multiplied with."""
        return 1.0

    def parameters(self, agents: int, classes: int) -> FloatArray:
        """Numbers for the compiled loop: mode, rate, share, extra, span, factor."""
        return np.array([0.0, 0.0, 0.0, 0.0, self.span(classes), 1.0])

    @property
    def codes(self) -> tuple[int, int, int]:
        """Rule, signal and loss, as the compiled loop numbers them."""
        return self.rule, SIGNALS[self.hears], NAMES.index(self.loss.name)

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
        memory = np.column_stack([state.memory, self._newcomer(state, share)])
        return replace(
            state, stakes=weights, memory=memory, agents=(*state.agents, agent)
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
        memory = np.delete(state.memory, i, axis=1)
        return replace(state, stakes=weights, memory=memory, agents=agents)

    def _newcomer(self, state: State, share: float) -> FloatArray:
        """Memory (R,) of an agent that joins now."""
        return self._memory(2)[:, 0]


def shares(stakes: FloatArray) -> FloatArray:
    """Scale stakes to weights, which sum to 1.

    >>> shares(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.asarray(stakes / stakes.sum())


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
