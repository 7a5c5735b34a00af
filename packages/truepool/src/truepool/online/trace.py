"""The trace of a replay, its regret against the best choice in hindsight, its sum."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truepool.core import display
from truepool.core.arrays import FloatArray, IntArray
from truepool.learners.interface import Learner, State
from truepool.measures.fixed_weights import FixedWeights, has_best
from truepool.measures.shrinkage import comparable_losses
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.panel.weights import effective_number


@dataclass(frozen=True, eq=False)
class WeightPath:
    """Weights (P, N) before each of P cases, and mean losses (P - 1,) in between.

    ``agent_losses`` are those of the best agent.
    """

    cases: IntArray
    weights: FloatArray
    losses: FloatArray
    agent_losses: FloatArray


@dataclass(frozen=True, eq=False)
class ReplaySummary:
    """What a replay comes to: totals over all cases, and the state at the end.

    ``regret`` and ``best_weights`` are None where best weights are not sought;
    ``path`` is there for a replay that was read batch by batch, if asked for.
    """

    name: str
    learner: Learner
    state: State
    labels: Labels
    counts: tuple[int, ...]
    cases: int
    mean_loss: float
    regret: float | None
    regret_to_agent: float
    best_agent: str
    best_weights: FloatArray | None
    bound: float | None
    skipped: int
    unsettled: int
    path: WeightPath | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents."""
        return self.state.agents

    @property
    def effective_agents(self) -> float:
        """Effective number of agents under the final weights."""
        return effective_number(self.state.weights)


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened when a learner was replayed over a panel.

    ``pooled`` is (T,) for two classes, else (T, K); ``weights`` (T + 1, N), or None
    without the path, which is dropped too where it has more than 50,000,000 numbers;
    ``losses`` (T,), NaN in cases without reports; ``bound`` an upper
    bound on the regret, or None if no theorem applies; ``name`` that of the learner, or
    "auto", whose agents include the pools that it refits.
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
    name: str

    @cached_property
    def best_weights(self) -> FloatArray | None:
        """Fixed weights with the lowest loss in hindsight.

        None if the loss is not convex, or if it is not squared and agents are many.
        """
        if not has_best(self.learner.loss, self.panel):
            return None
        loss = self.learner.loss
        if self.panel.sparse is not None and loss.squared:
            reported = self.panel.take(self._reported)
            return FixedWeights(reported, loss).best_filled(self._pooled[:, 0])
        return FixedWeights(self._filled_panel, loss).best()

    @cached_property
    def regret(self) -> FloatArray | None:
        """Cumulative loss minus that of the best fixed weighting, (T,).

        In hindsight an agent without a report is taken to agree with the pool.
        """
        if self.best_weights is None:
            return None
        return self._excess_loss(self._pooled_by(self.best_weights))

    @cached_property
    def best_agent(self) -> str:
        """Agent with the lowest mean loss over the cases it reported on.

        As in the pool ``best-agent``, the loss is shrunk where reports are rare.
        """
        lost = comparable_losses(self.panel.take(self._reported), self.learner.loss)
        return self.panel.agents[int(np.argmin(lost))]

    @cached_property
    def regret_to_agent(self) -> FloatArray:
        """Cumulative loss minus that of the best agent, where it reported, (T,)."""
        i = self.panel.agents.index(self.best_agent)
        alone = np.zeros(len(self.panel.agents))
        alone[i] = 1.0
        return self._excess_loss(self._pooled_by(alone))

    @property
    def effective_agents(self) -> float:
        """Effective number of agents under the final weights."""
        return effective_number(self.state.weights)

    @cached_property
    def summary(self) -> ReplaySummary:
        """Totals over all cases, and the state at the end."""
        return ReplaySummary(
            self.name,
            self.learner,
            self.state,
            self.panel.labels,
            self.panel.counts,
            len(self.losses),
            float(np.nanmean(self.losses)),
            None if self.regret is None else float(self.regret[-1]),
            float(self.regret_to_agent[-1]),
            self.best_agent,
            self.best_weights,
            self.bound,
            self.skipped,
            self.unsettled,
        )

    @cached_property
    def _reported(self) -> IntArray:
        return np.flatnonzero(~np.isnan(self.losses))

    @cached_property
    def _filled_panel(self) -> Panel:
        """Panel of the cases with reports; missing reports are those of the pool."""
        return self.panel.take(self._reported).fill_missing(self._pooled)

    @property
    def _pooled(self) -> FloatArray:
        """Pooled coordinates of the cases with reports, (T', C)."""
        pooled = self.pooled[self._reported]
        return pooled[:, None] if pooled.ndim == 1 else pooled

    def _pooled_by(self, weights: FloatArray) -> FloatArray:
        """Pool of fixed weights (N,) on those cases, missing reports filled in."""
        if self.panel.sparse is None:
            values = self._filled_panel.values
            return np.asarray(np.einsum("n,tnc->tc", weights, values))
        cells, pooled = self.panel.sparse.take(self._reported), self._pooled[:, 0]
        apart = weights[cells.agent] * (cells.values - pooled[cells.case])
        return np.clip(pooled + cells.by_case(apart), 0.0, 1.0)[:, None]

    def _excess_loss(self, pooled: FloatArray) -> FloatArray:
        """Cumulative loss minus that of another series of pooled probabilities."""
        gap = np.zeros(len(self.losses))
        outcomes = self.panel.outcomes[self._reported]
        other = self.learner.loss.evaluate(pooled, outcomes)
        gap[self._reported] = self.losses[self._reported] - other
        return np.asarray(gap.cumsum())

    def _repr_html_(self) -> str:
        return str(display.render("truepool.pages.notebook", "trace", self))

    def __repr__(self) -> str:
        losses = self.losses[~np.isnan(self.losses)]
        return (
            f"Trace({self.name}, {len(self.losses):,} cases, mean "
            f"{self.learner.loss.name} {losses.mean():.4g}, "
            f"{self.effective_agents:.1f} effective agents)"
        )
