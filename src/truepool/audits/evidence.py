"""Everything the checks look at, computed once and only when somebody looks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from truepool.audits.calibration import (
    FEWEST_CASES,
    FEWEST_OF_A_CLASS,
    calibration,
    supported,
)
from truepool.audits.judging import Judged, corrected
from truepool.audits.sampling import Sampling
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.diversity import correlation
from truepool.measures.inference import Resamples
from truepool.measures.losses import Loss
from truepool.pools.interface import Pool

LOOK = 50_000
"""Credit and robustness are estimated from at most this many cases."""


A = TypeVar("A")


@dataclass(frozen=True, eq=False)
class Evidence:
    """A panel, the rule it is pooled by, what errors cost, and all that follows."""

    panel: Panel
    pool: Pool
    costs: Costs
    threshold: float | None
    level: float
    resamples: int
    seed: int

    @cached_property
    def sampling(self) -> Sampling:
        """Random parts of the cases, and a note of each."""
        return Sampling(self.seed)

    @cached_property
    def loss(self) -> Loss:
        """What decisions cost."""
        return Loss("cost", self.costs, self.threshold)

    @cached_property
    def label(self) -> str:
        """What the pool is called beside the agents."""
        return "pool" if "pool" not in self.panel.agents else "the pool"

    @cached_property
    def shortage(self) -> str | None:
        """Why no interval can be given, or None where there are cases enough.

        Cases that only teach (the first ones in time) count as little as those that
        are not there.
        """
        some = (self.outcomes > 0).astype(np.int64)
        if supported(some):
            return None
        if len(some) < FEWEST_CASES:
            what = "outcomes" if len(some) == len(self.panel) else "tested outcomes"
            return f"{len(some)} {what} are fewer than the {FEWEST_CASES} it takes"
        ones = int(some.sum())
        what = "positives" if ones < FEWEST_OF_A_CLASS else "negatives"
        few = min(ones, len(some) - ones)
        return f"{few} {what} are fewer than the {FEWEST_OF_A_CLASS} it takes"

    # The pool, judged on cases it did not learn from

    @cached_property
    def judged(self) -> Judged:
        """The pool in its folds."""
        return Judged(self.panel, self.pool, self.sampling)

    @property
    def rows(self) -> IntArray:
        """Cases that are tested."""
        return self.judged.rows

    @property
    def pooled(self) -> FloatArray:
        """Pooled probabilities of the tested cases, (T', C)."""
        return self.judged.pooled

    @cached_property
    def outcomes(self) -> IntArray:
        """Outcomes of the tested cases."""
        return self.panel.outcomes[self.rows]

    @cached_property
    def cost(self) -> FloatArray:
        """Cost of each tested case, (T',)."""
        return self.loss.of(self.pooled, self.outcomes)

    def cost_of(self, panel: Panel) -> FloatArray:
        """Cost of each tested case had the panel been this one, relearned."""
        judged = self.judged
        values = panel.values[self.rows]
        pooled = judged.answers(values, self.rows, judged.learned(panel))
        return self.loss.of(pooled, self.outcomes)

    # Luck

    @cached_property
    def luck(self) -> Resamples:
        """Resamples of the tested cases."""
        return Resamples(len(self.rows), self.resamples, self.seed)

    @cached_property
    def looked(self) -> IntArray:
        """Tested cases that credit and robustness look at."""
        return self.sampling.part(self.rows, LOOK, "credit and robustness")

    @cached_property
    def looked_luck(self) -> Resamples:
        """Resamples of the looked-at cases."""
        return Resamples(len(self.looked), self.resamples, self.seed)

    def estimate(self, by_case: FloatArray) -> Estimate | None:
        """Mean with its BCa interval; None where the cases cannot support one."""
        if self.shortage:
            return None
        luck = self.luck if len(by_case) == len(self.rows) else self.looked_luck
        return Estimate(float(by_case.mean()), *luck.interval(by_case, self.level))

    # Calibration

    @cached_property
    def recalibrated(self) -> FloatArray:
        """The pool's probabilities, recalibrated out of fold, (T', C)."""
        return corrected(self.pooled, self.outcomes, self.sampling)

    @cached_property
    def calibrations(self) -> tuple[Calibration, ...]:
        """Of every agent, of the pool and of the pool recalibrated."""
        panel = self.panel
        agents = [
            calibration(agent, panel.values[:, i], panel.outcomes, self.level)
            for i, agent in enumerate(panel.agents)
        ]
        pools = [(self.label, self.pooled)]
        if not self.shortage:
            pools.append((f"{self.label}, recalibrated", self.recalibrated))
        judged = (calibration(n, p, self.outcomes, self.level) for n, p in pools)
        return (*agents, *judged)

    @property
    def pool_calibration(self) -> Calibration:
        """Of the pool."""
        return self.calibrations[len(self.panel.agents)]

    # How alike the agents are

    @cached_property
    def correlation(self) -> FloatArray:
        """Correlation of reports, (N, N)."""
        return correlation(self.panel)

    def changed(self, agent: int, values: FloatArray) -> Panel:
        """Return the panel with what one agent said (T, C) changed."""
        said = self.panel.values.copy()
        said[:, agent] = values
        return self.panel.with_reports(said)

    def without(self, agents: Iterable[int]) -> FloatArray:
        """Cost of each looked-at case with these agents silent, (T'',)."""
        said = self.panel.values[self.looked]
        said[:, list(agents)] = np.nan
        pooled = self.judged.answers(said, self.looked)
        return self.loss.of(pooled, self.panel.outcomes[self.looked])

    @cached_property
    def looked_cost(self) -> FloatArray:
        """Cost of each looked-at case with all agents, (T'',)."""
        return self.cost[np.searchsorted(self.rows, self.looked)]

    @cached_property
    def rises(self) -> FloatArray:
        """Rise of the cost of each looked-at case as an agent falls silent, (T'', N).

        The weights of those who still speak are scaled up: leave-one-out credit.
        """
        agents = range(len(self.panel.agents))
        return np.stack([self.without([i]) - self.looked_cost for i in agents], axis=1)

    # What others make of it

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        return {}

    def once(self, question: Callable[["Evidence"], A]) -> A:
        """Answer a question of this evidence, or give the answer given before."""
        if question not in self._kept:
            self._kept[question] = question(self)
        return cast(A, self._kept[question])
