"""What happened in a replay, and how it compares with what hindsight knows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.arrays import FloatArray
from truepool.hindsight import Hindsight
from truepool.learners.interface import Learner, State
from truepool.panel import Panel
from truepool.standing import own_losses
from truepool.weights import effective_number


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
        return Hindsight(self._spoken.filled(), self.learner.loss).best()

    @cached_property
    def regret(self) -> FloatArray | None:
        """Cumulative loss beyond that of the best fixed weighting, (T,)."""
        if self.best_weights is None:
            return None
        heard = self._spoken.filled()
        pooled = np.einsum("n,tnc->tc", self.best_weights, heard.values)
        return self._beyond(self.learner.loss.of(pooled, heard.outcomes))

    @cached_property
    def best_agent(self) -> str:
        """Agent of least mean loss in hindsight."""
        lost = own_losses(self._spoken, self.learner.loss)
        return self.panel.agents[int(np.argmin(lost))]

    @cached_property
    def regret_to_agent(self) -> FloatArray:
        """Cumulative loss beyond that of the best single agent, (T,).

        Where that agent is silent, the mean of those who spoke stands in.
        """
        heard = self._spoken.filled()
        i = self.panel.agents.index(self.best_agent)
        return self._beyond(self.learner.loss.of(heard.values[:, i], heard.outcomes))

    @property
    def effective_agents(self) -> float:
        """How many equal agents the last weights amount to."""
        return effective_number(self.state.weights)

    @cached_property
    def _spoken(self) -> Panel:
        spoken = np.flatnonzero(~np.isnan(self.losses))
        return self.panel if spoken.size == len(self.panel) else self.panel.take(spoken)

    def _beyond(self, other: FloatArray) -> FloatArray:
        gap = np.zeros(len(self.losses))
        spoken = ~np.isnan(self.losses)
        gap[spoken] = self.losses[spoken] - other
        return np.asarray(gap.cumsum())

    def __repr__(self) -> str:
        spoken = self.losses[~np.isnan(self.losses)]
        return (
            f"Trace({self.learner.name}, {len(self.losses):,} cases, mean "
            f"{self.learner.loss.name} {spoken.mean():.4g}, "
            f"{self.effective_agents:.1f} effective agents)"
        )
