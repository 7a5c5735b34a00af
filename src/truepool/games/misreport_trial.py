"""Misreports tried out on real cases: chosen on some, measured on others."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.games.agent_view import Seat
from truepool.games.payments import Mechanism
from truepool.games.payoffs import Payoff, Steps
from truepool.games.responses import NO_BETTER, Affine, Cut, Shift
from truepool.measures.decisions import choose
from truepool.pools import Pool
from truepool.pools.interface import FixedPool, configure
from truepool.pools.mean import Mean

Family: TypeAlias = Shift | Affine | Cut
FAMILIES: tuple[Family, ...] = (Shift(), Affine(), Cut())
CHOOSING = 10_000
"""Cases on which a misreport is chosen where trying one is not a matter of sorting."""


@dataclass(frozen=True, eq=False)
class Lie:
    """What one misreport does in each test case, (T,)."""

    deviation: tuple[float, ...]
    promised: float
    gains: FloatArray
    missed: FloatArray
    alarms: FloatArray


@dataclass(frozen=True, eq=False)
class Bench:
    """What stays the same while misreports are tried."""

    rule: Mechanism
    pool: Pool
    costs: Costs
    line: float

    def trial(self, panel: Panel, learn: IntArray, test: IntArray) -> list[list[Lie]]:
        """Best misreport of each agent and family on some cases, tried on others."""
        told, asked = panel.take(learn), panel.take(test)
        honest = configure(self.pool).fit_panel(told)
        before = self.errors(honest, asked.reports, asked.outcomes)
        lies = []
        for i in range(len(panel.agents)):
            seated = _seated(self, asked, honest, i)
            choices = self._choices(_seated(self, told, honest, i))
            lies.append([
                self._tried(seated, told, family, deviation, promised, before)
                for family, (deviation, promised) in zip(FAMILIES, choices, strict=True)
            ])  # fmt: skip
        return lies

    def errors(self, pool: Pool, reports: FloatArray, y: IntArray) -> FloatArray:
        """Missed cases and false alarms of a pool, (2, T)."""
        pooled = pool.combine(np.ascontiguousarray(reports)[:, :, None])
        says = choose(pooled, self.costs, self.line)
        return np.stack([y * (1 - says), (1 - y) * says]).astype(np.float64)

    def _choices(self, seated: "_Seated") -> list[tuple[tuple[float, ...], float]]:
        """Deviation of each family, and what it promises with weights as they are."""
        if not seated.rows.size:
            return [((), 0.0)] * len(FAMILIES)
        if not isinstance(seated.payoff, Steps) and len(seated.rows) > CHOOSING:
            every = -(-len(seated.rows) // CHOOSING)
            seated = replace(seated, rows=seated.rows[::every])
        moves = [family.respond(seated.payoff, seated.truth) for family in FAMILIES]
        return [
            (m.deviation, m.gain) if m.gain > NO_BETTER else ((), 0.0) for m in moves
        ]

    def _tried(
        self,
        seated: "_Seated",
        told: Panel,
        family: Family,
        deviation: tuple[float, ...],
        promised: float,
        before: FloatArray,
    ) -> Lie:
        agent, asked = seated.agent, seated.panel
        gains = np.zeros(len(asked))
        if not deviation:
            return Lie((), 0.0, gains, gains, gains)
        pool = seated.pool
        if not isinstance(pool, Mean | FixedPool):
            lied = _lied(told, agent, family, deviation)
            pool = configure(self.pool).fit_panel(lied)
        lied = _lied(asked, agent, family, deviation)
        rows = seated.rows
        gains[rows] = seated.gains(lied, pool)
        after = self.errors(pool, lied.reports, asked.outcomes)
        return Lie(deviation, promised, gains, *(after - before))


@dataclass(frozen=True, eq=False)
class _Seated:
    """One agent before the cases of a panel in which it speaks."""

    bench: Bench
    panel: Panel
    pool: Pool
    agent: int
    rows: IntArray

    @cached_property
    def payoff(self) -> Payoff:
        return self._payoff(self.panel, self.pool)

    @cached_property
    def truth(self) -> FloatArray:
        return np.ascontiguousarray(self.panel.reports[self.rows, self.agent])

    def gains(self, lied: Panel, pool: Pool) -> FloatArray:
        """What the agent gains in each case by what it sent, under this pool."""
        sent = lied.reports[self.rows, self.agent]
        if pool is self.pool:
            return self.payoff.of(sent) - self.payoff.of(self.truth)
        lying = self._payoff(lied, pool)
        gains = lying.of(sent) + lying.extra()
        return np.asarray(gains - self.payoff.of(self.truth) - self.payoff.extra())

    def _payoff(self, panel: Panel, pool: Pool) -> Payoff:
        part = panel if len(self.rows) == len(panel) else panel.take(self.rows)
        bench = self.bench
        seat = Seat(
            self.agent, part.reports, part.outcomes.astype(np.float64), pool,
            bench.costs, bench.line, silences=part.silent > 0,
        )  # fmt: skip
        return bench.rule.payoff(seat)


def _seated(bench: Bench, panel: Panel, pool: Pool, agent: int) -> _Seated:
    spoke = ~np.isnan(panel.reports[:, agent])
    return _Seated(bench, panel, pool, agent, np.flatnonzero(spoke))


def _lied(
    panel: Panel, agent: int, family: Family, deviation: tuple[float, ...]
) -> Panel:
    """Return the panel had the agent misreported; where it was silent it still is."""
    reports = panel.reports.copy()
    said = reports[:, agent].copy()
    reports[:, agent] = np.where(np.isnan(said), np.nan, family.sent(deviation, said))
    return panel.with_reports(reports)
