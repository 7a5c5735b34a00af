"""A trial of misreports on real cases: chosen on some cases, measured on others."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.decisions import choose
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools import FixedPool, Pool, configure
from truepool.pools.mean import Mean
from truepool_lab.games.agent_view import AgentView, pooled_probability
from truepool_lab.games.payments import Payment
from truepool_lab.games.payoffs import Payoff, Steps
from truepool_lab.games.responses import TIE_TOLERANCE, Affine, Cut, Shift

Family: TypeAlias = Shift | Affine | Cut
FAMILIES: tuple[Family, ...] = (Shift(), Affine(), Cut())
SEARCH_CASES = 10_000
"""Cases on which a misreport is chosen where trying one takes more than a sort."""


@dataclass(frozen=True, eq=False)
class TrialResult:
    """Effect of one misreport in each test case, (T,).

    ``expected_gain`` is its gain per case where it was chosen, with the weights
    unchanged; ``fn`` and ``fp`` are the changes in missed cases and false alarms.
    """

    deviation: tuple[float, ...]
    expected_gain: float
    gains: FloatArray
    fn: FloatArray
    fp: FloatArray


@dataclass(frozen=True, eq=False)
class Trial:
    """What all misreports of a trial have in common."""

    payment: Payment
    pool: Pool
    costs: Costs
    threshold: float

    def run(
        self, panel: Panel, train: IntArray, test: IntArray
    ) -> list[list[TrialResult]]:
        """Choose each agent's best misreport of each family, and test it.

        Misreports are chosen on the cases ``train`` and measured on the cases ``test``.
        """
        training, testing = panel.take(train), panel.take(test)
        truthful = configure(self.pool).fit_panel(training)
        before = self.errors(truthful, testing.reports, testing.outcomes)
        results = []
        for i in range(len(panel.agents)):
            own = _agent_cases(self, testing, truthful, i)
            choices = self._choices(_agent_cases(self, training, truthful, i))
            results.append([
                self._result(own, training, family, deviation, gain, before)
                for family, (deviation, gain) in zip(FAMILIES, choices, strict=True)
            ])  # fmt: skip
        return results

    def errors(self, pool: Pool, reports: FloatArray, y: IntArray) -> FloatArray:
        """Missed cases and false alarms of a pool, (2, T)."""
        pooled = pooled_probability(pool, reports)[:, None]
        says = choose(pooled, self.costs, self.threshold)
        return np.stack([y * (1 - says), (1 - y) * says]).astype(np.float64)

    def _choices(self, own: "_AgentCases") -> list[tuple[tuple[float, ...], float]]:
        """Best deviation of each family, and its gain with the weights unchanged."""
        if not own.cases.size:
            return [((), 0.0)] * len(FAMILIES)
        if not isinstance(own.payoff, Steps) and len(own.cases) > SEARCH_CASES:
            step = -(-len(own.cases) // SEARCH_CASES)
            own = replace(own, cases=own.cases[::step])
        moves = [family.respond(own.payoff, own.truth) for family in FAMILIES]
        return [
            (m.deviation, m.gain) if m.gain > TIE_TOLERANCE else ((), 0.0)
            for m in moves
        ]

    def _result(
        self,
        own: "_AgentCases",
        training: Panel,
        family: Family,
        deviation: tuple[float, ...],
        expected_gain: float,
        before: FloatArray,
    ) -> TrialResult:
        testing = own.panel
        gains = np.zeros(len(testing))
        if not deviation:
            return TrialResult((), 0.0, gains, gains, gains)
        pool = own.pool
        if not isinstance(pool, Mean | FixedPool):
            misreported = _misreported(training, own.agent, family, deviation)
            pool = configure(self.pool).fit_panel(misreported)
        misreported = _misreported(testing, own.agent, family, deviation)
        gains[own.cases] = own.gains(misreported, pool)
        after = self.errors(pool, misreported.reports, testing.outcomes)
        return TrialResult(deviation, expected_gain, gains, *(after - before))


@dataclass(frozen=True, eq=False)
class _AgentCases:
    """One agent and the cases of a panel in which it has a report."""

    trial: Trial
    panel: Panel
    pool: Pool
    agent: int
    cases: IntArray

    @cached_property
    def payoff(self) -> Payoff:
        return self._payoff(self.panel, self.pool)

    @cached_property
    def truth(self) -> FloatArray:
        return np.ascontiguousarray(self.panel.reports[self.cases, self.agent])

    def gains(self, misreported: Panel, pool: Pool) -> FloatArray:
        """Gain of the agent in each case from a misreport, under this pool."""
        sent = misreported.reports[self.cases, self.agent]
        if pool is self.pool:
            return self.payoff.evaluate(sent) - self.payoff.evaluate(self.truth)
        payoff = self._payoff(misreported, pool)
        gains = payoff.evaluate(sent) + payoff.extra()
        return np.asarray(
            gains - self.payoff.evaluate(self.truth) - self.payoff.extra()
        )

    def _payoff(self, panel: Panel, pool: Pool) -> Payoff:
        part = panel if len(self.cases) == len(panel) else panel.take(self.cases)
        trial = self.trial
        view = AgentView(
            self.agent, part.reports, part.outcomes.astype(np.float64), pool,
            trial.costs, trial.threshold, missing=part.silent > 0,
        )  # fmt: skip
        return trial.payment.payoff(view)


def _agent_cases(trial: Trial, panel: Panel, pool: Pool, agent: int) -> _AgentCases:
    reported = ~np.isnan(panel.reports[:, agent])
    return _AgentCases(trial, panel, pool, agent, np.flatnonzero(reported))


def _misreported(
    panel: Panel, agent: int, family: Family, deviation: tuple[float, ...]
) -> Panel:
    """Return the panel with this agent's misreports; missing reports stay missing."""
    reports = panel.reports.copy()
    own = reports[:, agent].copy()
    reports[:, agent] = np.where(np.isnan(own), np.nan, family.apply(deviation, own))
    return panel.with_reports(reports)
