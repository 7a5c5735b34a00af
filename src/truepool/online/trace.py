"""What happened in a replay, and how it compares with what hindsight knows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.core import display
from truepool.core.arrays import FloatArray, IntArray
from truepool.data.panel import Panel
from truepool.data.weights import effective_number
from truepool.learners.interface import Learner, State
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import agent_losses


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened when a learner was replayed over a panel.

    ``pooled`` is (T,) for two classes, else (T, K); ``weights`` (T + 1, N), or None
    without the path; ``losses`` (T,), NaN where nobody spoke; ``bound`` the regret
    theory allows, or None where no theorem covers the run.
    """

    learner: Learner
    panel: Panel
    pooled: FloatArray
    weights: FloatArray | None
    losses: FloatArray
    state: State
    skipped: int
    unsettled: int
    bound: float | None

    @cached_property
    def best_weights(self) -> FloatArray | None:
        """Fixed weights of least loss in hindsight; None if the loss is not convex."""
        if not self.learner.loss.convex:
            return None
        return FixedWeights(self._filled, self.learner.loss).best()

    @cached_property
    def regret(self) -> FloatArray | None:
        """Cumulative loss beyond that of the best fixed weighting, (T,).

        In hindsight a silent agent is taken to agree with the pool: nobody can be
        blamed for not having followed what was not said.
        """
        if self.best_weights is None:
            return None
        pooled = np.einsum("n,tnc->tc", self.best_weights, self._filled.values)
        return self._beyond(pooled)

    @cached_property
    def best_agent(self) -> str:
        """Agent of least mean loss over the cases in which it spoke."""
        lost = agent_losses(self.panel.take(self._spoken), self.learner.loss)
        return self.panel.agents[int(np.argmin(lost))]

    @cached_property
    def regret_to_agent(self) -> FloatArray:
        """Cumulative loss beyond the best single agent's, (T,), where it spoke."""
        i = self.panel.agents.index(self.best_agent)
        return self._beyond(self._filled.values[:, i])

    @property
    def effective_agents(self) -> float:
        """How many equal agents the last weights amount to."""
        return effective_number(self.state.weights)

    @cached_property
    def _spoken(self) -> IntArray:
        return np.flatnonzero(~np.isnan(self.losses))

    @cached_property
    def _filled(self) -> Panel:
        """Cases with a report; agents without one agree with the pool."""
        words = self.pooled[self._spoken]
        words = words[:, None] if words.ndim == 1 else words
        return self.panel.take(self._spoken).fill_missing(words)

    def _beyond(self, pooled: FloatArray) -> FloatArray:
        """Cumulative loss beyond that of another series of pooled probabilities."""
        gap = np.zeros(len(self.losses))
        other = self.learner.loss.of(pooled, self._filled.outcomes)
        gap[self._spoken] = self.losses[self._spoken] - other
        return np.asarray(gap.cumsum())

    def _repr_html_(self) -> str:
        return str(display.render("html.notebook", "trace", self))

    def __repr__(self) -> str:
        spoken = self.losses[~np.isnan(self.losses)]
        return (
            f"Trace({self.learner.name}, {len(self.losses):,} cases, mean "
            f"{self.learner.loss.name} {spoken.mean():.4g}, "
            f"{self.effective_agents:.1f} effective agents)"
        )
