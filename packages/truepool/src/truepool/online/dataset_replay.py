"""Replay a data set that is larger than memory: some cases at a time, in their order.

A learner needs its state and the next cases only, so the weights are those of a replay
in memory, to the last bit. What the regret needs are sums: losses of pool and agents,
and the products of the agents' errors.
"""

from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import FloatArray, IntArray, thin
from truepool.core.engine import one_blas_thread
from truepool.core.errors import PanelError
from truepool.learners.interface import Learner
from truepool.measures.fixed_weights import MAX_GRAM, FixedWeights, best_by_gram
from truepool.measures.losses import Loss, agent_loss_sums, over_mass
from truepool.online.delays import WaitingCases, check_delays
from truepool.online.loop import NO_PATH, Delay, run
from truepool.online.recalibration import Recalibration, recalibrate_series
from truepool.online.trace import ReplaySummary, WeightPath
from truepool.panel.panel import Panel
from truepool.tables.stream import PanelStream


def replay_dataset(
    learners: Sequence[Learner],
    panels: PanelStream,
    *,
    delay: int = 0,
    recalibrate: bool = False,
    drawn: int | None = None,
) -> list[ReplaySummary]:
    """Run learners over a data set, in the order of time if it has one, in one pass.

    Cases without any report are skipped and counted. ``drawn`` is the place of a
    learner whose weights are kept at `POINTS` cases.
    """
    T = panels.cases
    late = 0 if check_delays(delay, T) is None else min(delay, T)
    runs = [
        LearnerRun(learner, panels.agents, panels.classes, late, recalibrate)
        for learner in learners
    ]
    if drawn is not None:
        runs[drawn].path = PathRecord(T, len(panels.agents))
    with one_blas_thread():
        for panel in panels.in_order():
            for each in runs:
                each.advance(panel)
    counts = tuple(panels.totals.counts.tolist())
    return [each.summary(panels, counts) for each in runs]


class LearnerRun:
    """A learner on its way through the cases, and what it has lost so far."""

    def __init__(
        self,
        learner: Learner,
        agents: tuple[str, ...],
        classes: int,
        delay: int,
        recalibrate: bool,
    ) -> None:
        N = len(agents)
        self.learner = learner
        self.state = learner.start(agents, classes)
        self.waiting = WaitingCases(delay, N, 1 if classes == 2 else classes)
        self.recalibration = Recalibration.start(classes) if recalibrate else None
        self.lost, self.skipped = 0.0, 0
        self.own = np.zeros((2, N))
        self.filled = np.zeros(N)
        self.gram = np.zeros((N, N)) if N <= MAX_GRAM and learner.loss.squared else None
        self.path: PathRecord | None = None

    def advance(self, panel: Panel) -> tuple[FloatArray, FloatArray]:
        """Decide and settle the next cases: pooled (T, C), and losses (T,)."""
        cases, waiting, path = len(panel), self.waiting, NO_PATH
        if self.path is not None:
            path = np.empty((cases + 1, len(panel.agents)))
        values, outcomes = waiting.after(panel)
        plan, complete = waiting.plan(cases), panel.silent == 0
        self.state, decided, losses, skipped = run(
            self.learner, self.state, values, outcomes, plan, path, complete
        )
        pooled = self._recalibrate(decided, outcomes, plan)
        reported = np.flatnonzero(~np.isnan(losses))
        if self.recalibration is not None:
            losses[reported] = self.learner.loss.evaluate(
                pooled[reported], outcomes[reported]
            )
        if self.path is not None:
            lost = _losses_of_agents(panel, self.learner.loss, losses)
            self.path.add(waiting.seen, path, np.column_stack([losses, lost]))
        waiting.add(panel, decided)
        self.skipped += skipped
        if reported.size:
            kept = panel if len(reported) == cases else panel.take(reported)
            self._add(kept, pooled[reported], losses[reported])
        return pooled, losses

    def _recalibrate(
        self, decided: FloatArray, outcomes: IntArray, plan: Delay
    ) -> FloatArray:
        """Recalibrate the next cases, each by those settled before it, if at all."""
        if self.recalibration is None:
            return decided
        cases = len(decided)
        known = list(np.arange(cases)[:, None])
        if plan.first.size:
            known = np.split(plan.due, plan.first[1:])[:cases]
        series = np.concatenate([decided, self.waiting.pooled])
        series, self.recalibration = recalibrate_series(
            series, outcomes, known, self.recalibration
        )
        return series[:cases]

    def _add(self, panel: Panel, pooled: FloatArray, losses: FloatArray) -> None:
        """Add the losses of pool and agents on cases with reports."""
        own = agent_loss_sums(panel, self.learner.loss)
        self.lost += float(losses.sum())
        self.own += own
        self.filled += own[0]
        if panel.silent:  # an agent without a report is taken to agree with the pool
            self.filled += losses @ np.isnan(panel.values[:, :, 0])
        if self.gram is not None:
            filled = panel.fill_missing(pooled)
            self.gram += FixedWeights(filled, self.learner.loss).gram_sums()

    def summary(self, panels: PanelStream, counts: tuple[int, ...]) -> ReplaySummary:
        """Return what the replay came to."""
        learner, state, cases = self.learner, self.state, self.waiting.seen
        if self.skipped == cases:
            raise PanelError(
                f"a replay needs a case with a report; none of the {cases:,} cases has "
                "one"
            )
        best = int(np.argmin(over_mass(*self.own)))
        weights = None if self.gram is None else best_by_gram(self.gram)
        regret = None
        if self.gram is not None and weights is not None:
            regret = self.lost - float(weights @ self.gram @ weights)
        settled = not self.waiting.delay and self.recalibration is None
        return ReplaySummary(
            learner.name,
            learner,
            state,
            panels.labels,
            counts,
            cases,
            self.lost / (cases - self.skipped),
            regret,
            self.lost - float(self.filled[best]),
            state.agents[best],
            weights,
            learner.bound(state) if learner.loss.convex and settled else None,
            self.skipped,
            int((~np.isnan(self.waiting.pooled[:, 0])).sum()),
            None if self.path is None else self.path.end(best),
        )


class PathRecord:
    """Weights before some evenly spaced cases, and the losses between them."""

    def __init__(self, cases: int, agents: int) -> None:
        self.cases: IntArray = thin(cases + 1)
        self.weights = np.empty((len(self.cases), agents))
        self.lost = np.zeros((len(self.cases) - 1, agents + 1))
        self.counts = np.zeros(len(self.cases) - 1)

    def add(self, start: int, path: FloatArray, losses: FloatArray) -> None:
        """Keep weights (T + 1, N) from a case on, and losses (T, 1 + N) of the pool."""
        first, last = np.searchsorted(self.cases, [start, start + len(path)])
        kept = path[self.cases[first:last] - start]
        self.weights[first:last] = kept / kept.sum(axis=1, keepdims=True)
        known = np.flatnonzero(~np.isnan(losses[:, 0]))
        place = np.searchsorted(self.cases, start + known, side="right") - 1
        np.add.at(self.lost, place, losses[known])
        np.add.at(self.counts, place, 1.0)

    def end(self, agent: int) -> WeightPath:
        """Return the path; its losses are those of the pool and of an agent."""
        with np.errstate(invalid="ignore"):  # between two points nobody may report
            means = self.lost / self.counts[:, None]
        return WeightPath(self.cases, self.weights, means[:, 0], means[:, 1 + agent])


def _losses_of_agents(panel: Panel, loss: Loss, losses: FloatArray) -> FloatArray:
    """Losses (T, N) of the agents; of the pool where an agent did not report."""
    silent = np.isnan(panel.values[:, :, 0])
    values = np.where(silent[:, :, None], 0.5, panel.values)
    lost = loss.evaluate(values, panel.outcomes[:, None])
    return np.asarray(np.where(silent, losses[:, None], lost))
