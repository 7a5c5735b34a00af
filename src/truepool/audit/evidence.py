"""Everything the checks look at, computed once and only when somebody looks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.base import clone

from truepool.arrays import FloatArray, IntArray, from_log_scale, log_scale
from truepool.audit.calibration import (
    FEWEST_CASES,
    FEWEST_OF_A_CLASS,
    calibration,
    supported,
)
from truepool.audit.values import Calibration, CaseStudy
from truepool.comparison import Comparison, Estimate
from truepool.costs import Costs
from truepool.diversity import correlation
from truepool.errors import SettingError
from truepool.folds import splits
from truepool.games import Incentives, incentives, mechanisms
from truepool.inference import Resamples
from truepool.losses import Loss
from truepool.panel import Panel
from truepool.pools.interface import LinearPool, Pool
from truepool.pools.recalibrated import fit_scaling

FOLDS = 5
LEARN = 50_000
"""A pool or a correction learns from at most this many cases of a fold."""
LOOK = 50_000
"""Credit and robustness are estimated from at most this many cases."""

TEMPTED, TEMPTED_BENT = 5_000, 500
"""Misreports are tried on at most so many cases; on fewer where the pool is no weighted
mean, because each try must then be pooled anew."""


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
    sampled: list[str] = field(default_factory=list)
    withheld: list[tuple[str, str]] = field(default_factory=list)

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
        """Why no interval can be given, or None where there are cases enough."""
        some = (self.panel.outcomes > 0).astype(np.int64)
        if supported(some):
            return None
        if len(some) < FEWEST_CASES:
            return f"{len(some)} outcomes are fewer than the {FEWEST_CASES} it takes"
        ones = int(some.sum())
        what = "positives" if ones < FEWEST_OF_A_CLASS else "negatives"
        few = min(ones, len(some) - ones)
        return f"{few} {what} are fewer than the {FEWEST_OF_A_CLASS} it takes"

    # The pool, judged on cases it did not learn from

    @cached_property
    def pairs(self) -> list[tuple[IntArray, IntArray]]:
        """Folds; one fold of everything where nothing is learned or can be held out."""
        everything = np.arange(len(self.panel))
        if self.pool.complexity == 0:
            return [(everything, everything)]
        outcomes, times = self.panel.outcomes, self.panel.times
        for folds in (FOLDS, 2):
            try:
                return splits(outcomes, folds, self.seed, times=times)
            except SettingError:
                continue
        self.withheld.append((
            "how the pool does on new cases",
            "the cases are too few to hold any back: it is judged on what it learned "
            "from",
        ))  # fmt: skip
        return [(everything, everything)]

    @cached_property
    def fitted(self) -> list[Pool]:
        """One pool a fold, learned from (at most `LEARN` of) the others' cases."""
        return self.fitted_on(self.panel)

    def fitted_on(self, panel: Panel) -> list[Pool]:
        """Pools learned in the same folds from another panel of the same cases."""
        return [
            clone(self.pool).fit_panel(panel.take(self.thinned(learn, LEARN, "learn")))
            for learn, _ in self.pairs
        ]

    @cached_property
    def fold(self) -> IntArray:
        """Fold that tests each case, (T,); -1 for cases that only teach."""
        fold = np.full(len(self.panel), -1)
        for f, (_, test) in enumerate(self.pairs):
            fold[test] = f
        return fold

    @cached_property
    def rows(self) -> IntArray:
        """Cases that are tested."""
        return np.flatnonzero(self.fold >= 0)

    @cached_property
    def outcomes(self) -> IntArray:
        """Outcomes of the tested cases."""
        return self.panel.outcomes[self.rows]

    def answers(
        self, values: FloatArray, cases: IntArray, pools: list[Pool] | None = None
    ) -> FloatArray:
        """Pool reports (T', N, C) on these cases; the base rate where all are silent.

        Each case is pooled by a pool that never saw it.
        """
        pooled = np.empty((len(cases), values.shape[2]))
        mute = np.isnan(values[:, :, 0]).all(axis=1)
        folds = self.fold[cases]
        for f, pool in enumerate(self.fitted if pools is None else pools):
            mine = np.flatnonzero((folds == f) & ~mute)
            if mine.size:
                whole = mine.size == len(cases)
                pooled[mine] = pool.combine(values if whole else values[mine])
        pooled[mute] = self.panel.base_rate()
        return pooled

    @cached_property
    def pooled(self) -> FloatArray:
        """Pooled probabilities of the tested cases, (T', C)."""
        return self.answers(self._values(self.rows), self.rows)

    def _values(self, cases: IntArray) -> FloatArray:
        """Reports of these cases, without a copy where they are all."""
        values = self.panel.values
        return values if len(cases) == len(values) else values[cases]

    @cached_property
    def cost(self) -> FloatArray:
        """Cost of each tested case, (T',)."""
        return self.loss.of(self.pooled, self.outcomes)

    def cost_of(self, panel: Panel) -> FloatArray:
        """Cost of each tested case had the panel been this one, relearned."""
        pools = self.fitted_on(panel)
        pooled = self.answers(panel.values[self.rows], self.rows, pools)
        return self.loss.of(pooled, self.outcomes)

    # Luck

    @cached_property
    def luck(self) -> Resamples:
        """Resamples of the tested cases."""
        return Resamples(len(self.rows), self.resamples, self.seed)

    @cached_property
    def looked(self) -> IntArray:
        """Tested cases that credit and robustness look at."""
        return self.thinned(self.rows, LOOK, "credit and robustness")

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

    def thinned(self, cases: IntArray, most: int, what: str) -> IntArray:
        """At most so many of the cases, drawn at random, in their order."""
        if len(cases) <= most:
            return cases
        note = {
            "learn": f"Whatever learns did so from {most:,} random cases of its fold"
        }.get(what, f"Estimated from {most:,} random cases: {what}")
        if f"{note}." not in self.sampled:
            self.sampled.append(f"{note}.")
        rng = np.random.default_rng([self.seed, most])
        return np.sort(rng.choice(cases, most, replace=False))

    # Calibration

    def corrected(self, said: FloatArray, outcomes: IntArray) -> FloatArray:
        """Probabilities (T, C) scaled and shifted on the log scale, out of fold."""
        spoke = np.flatnonzero(~np.isnan(said[:, 0]))
        moved = said.copy()
        for learn, test in splits(outcomes[spoke], FOLDS, self.seed):
            some = spoke[self.thinned(learn, LEARN, "learn")]
            factor, shift = fit_scaling(
                log_scale(said[some]), outcomes[some], np.ones(len(some)), shift=True
            )
            cases = spoke[test]
            moved[cases] = from_log_scale(factor * log_scale(said[cases]) + shift)
        return moved

    @cached_property
    def recalibrated(self) -> FloatArray:
        """The pool's probabilities, recalibrated out of fold, (T', C)."""
        return self.corrected(self.pooled, self.outcomes)

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
        return self.panel.saying(said)

    def without(self, agents: Iterable[int]) -> FloatArray:
        """Cost of each looked-at case with these agents silent, (T'',)."""
        said = self.panel.values[self.looked]
        said[:, list(agents)] = np.nan
        pooled = self.answers(said, self.looked)
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

    # What other rooms make of it

    @cached_property
    def comparison(self) -> Comparison | None:
        """The pool beside others, cross-validated."""
        from truepool.audit.advising import compared

        return compared(self)

    @cached_property
    def robustness(self) -> tuple[CaseStudy, ...]:
        """The pool with its best agent failing."""
        from truepool.audit.robustness import robustness

        return robustness(self)

    @cached_property
    def incentives(self) -> Incentives | None:
        """What agents could gain by misreporting; None for more than two classes.

        Agents are paid by the score the pool is named after, or by what they save it.
        """
        if self.shortage or self.panel.classes != 2:
            return None
        if self.pool.complexity > 2:
            self.withheld.append((
                "incentives",
                f"{self.pool.name} would be relearned for every misreport, which takes "
                f"long; see truepool.games.incentives(panel, {self.pool.name!r})",
            ))  # fmt: skip
            return None
        rule = self.pool.name if self.pool.name in mechanisms.every() else "vcg"
        most = TEMPTED if isinstance(self.pool, LinearPool) else TEMPTED_BENT
        cases = self.thinned(np.arange(len(self.panel)), most, "incentives")
        try:
            return incentives(
                self.panel.take(cases),
                self.pool,
                self.costs,
                threshold=self.threshold,
                mechanism=rule,
                seed=self.seed,
            )
        except SettingError as error:
            self.withheld.append(("incentives", str(error)))
            return None
