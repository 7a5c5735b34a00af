"""The settled cases of a pool as arrays: what every sum about the past is made from.

They are read from a ledger, or made of the entries of an export. Exports, audits,
credit, weights over time, statements, yardsticks and the dashboard use these arrays.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import LedgerError
from truepool.measures.decisions import choose
from truepool.measures.inference import Resamples, unseen_differences, with_unseen
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.tables.export import describe, with_options
from truepool_serve.messages import Evidence
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.records import START, Decide, Entry
from truepool_serve.server.state import NO_POOL

OUTCOME = "outcome"
"""Column of the outcomes in an export."""
LEVEL = 0.95
"""Of the interval of what a challenger would have saved."""


@dataclass(frozen=True)
class Decided:
    """A decision by the number and time of its entry, and what came of it.

    ``settled`` is the number of the entry of the outcome, None while there is none.
    """

    n: int
    case: str
    at: float
    record: Decide
    outcome: int | None = None
    settled: int | None = None


@dataclass(frozen=True)
class Settled:
    """Cases of a pool whose outcome is known (T), and the agents (N) to look at."""

    pool: PoolConfig
    agents: tuple[str, ...]
    cases: Sequence[Decided]

    @property
    def coordinates(self) -> int:
        """Numbers in a report: one for two labels, else one per label."""
        K = len(self.pool.labels.names)
        return 1 if K == 2 else K

    def where(self, chosen: Iterable[Decided]) -> "Settled":
        """Return some of the cases."""
        return replace(self, cases=list(chosen))

    @cached_property
    def values(self) -> FloatArray:
        """Coordinates (T, N, C) of the reports; NaN: no report."""
        missing: Any = np.nan if self.coordinates == 1 else [np.nan] * self.coordinates
        return self._of_agents(lambda one: one.record.reports, missing)

    @cached_property
    def changes(self) -> FloatArray:
        """How much each report changed the pooled coordinates, (T, N, C).

        0 where an agent did not report, NaN where no contribution is known.
        """
        unknown = dict.fromkeys(self.agents, [np.nan] * self.coordinates)
        return self._of_agents(
            lambda one: (
                unknown
                if one.record.contributions is None
                else one.record.contributions
            ),
            [0.0] * self.coordinates,
        )

    @cached_property
    def pooled(self) -> FloatArray:
        """Pooled coordinates (T, C) of the rule that decided each case."""
        found = [
            one.record.pooled[one.record.champion][-self.coordinates :]
            for one in self.cases
        ]
        shape = (len(self.cases), self.coordinates)
        return np.array(found, dtype=np.float64).reshape(shape)

    @cached_property
    def weights(self) -> FloatArray:
        """Weight (T, N) of each agent in the rule that decided; NaN: it has none."""
        found = [
            [(one.record.weights or {}).get(agent, np.nan) for agent in self.agents]
            for one in self.cases
        ]
        shape = (len(self.cases), len(self.agents))
        return np.array(found, dtype=np.float64).reshape(shape)

    def decisions(self, rule: str) -> FloatArray:
        """What a rule decided (T,), as class numbers; NaN where it did not run."""
        found = [one.record.decisions.get(rule, np.nan) for one in self.cases]
        return np.array(found, dtype=np.float64)

    @cached_property
    def times(self) -> FloatArray:
        """When each case was decided (T,)."""
        return np.array([one.at for one in self.cases], dtype=np.float64)

    @cached_property
    def outcomes(self) -> IntArray:
        """Class number of each outcome (T,)."""
        return np.array([one.outcome for one in self.cases], dtype=np.int64)

    @cached_property
    def columns(self) -> dict[str, list[float]]:
        """What the costs of the cases depend on."""
        names = self.pool.costs.columns
        return {n: [one.record.columns[n] for one in self.cases] for n in names}

    @cached_property
    def costs(self) -> Costs:
        """What decisions on these cases cost."""
        return self.pool.costs.resolve(self.columns)

    @cached_property
    def paid(self) -> FloatArray:
        """What the decisions cost (T,)."""
        if not self.cases:
            return np.empty(0)
        return self.cost_of(choose(self.pooled, self.costs, self.pool.threshold))

    @cached_property
    def paid_without(self) -> FloatArray:
        """What the decisions without each agent would have cost (T, N).

        NaN where no contribution is known: the rule does not pool by weights.
        """
        if not self.cases:
            return np.empty((0, len(self.agents)))
        unknown = np.asarray(np.isnan(self.changes).any(axis=2))
        others = self.pooled[:, None] - self.changes
        filled = np.where(unknown[:, :, None], 0.0, others)
        beside = self.costs.shape((len(self.cases), 1))
        decisions = choose(filled, beside, self.pool.threshold)
        K = len(self.pool.labels.names)
        cost = beside.cost_per_case(self.outcomes[:, None], decisions, K)
        return np.where(unknown, np.nan, cost)

    @property
    def savings(self) -> FloatArray:
        """What the report of each agent saved in each case (T, N); negative: it cost.

        V(m) - V(m without i), in costs: 0 where an agent did not report.
        """
        return np.asarray(self.paid_without - self.paid[:, None])

    def cost_of(self, decisions: IntArray) -> FloatArray:
        """What decisions (T,) cost."""
        K = len(self.pool.labels.names)
        return np.asarray(self.costs.cost_per_case(self.outcomes, decisions, K))

    def panel(self) -> Panel:
        """Return the cases as a panel."""
        names, binary = self.pool.labels.names, self.coordinates == 1
        return Panel(
            self.values[:, :, 0] if binary else self.values,
            [names[k] for k in self.outcomes] if binary else self.outcomes,
            self.agents,
            positive=self.pool.labels.positive,
            ids=[one.case for one in self.cases],
            times=self.times,
            columns=self.columns,
        )

    def audit(self) -> Any:
        """Audit the cases."""
        from truepool.audits import audit

        return audit(self.panel(), costs=self.pool.costs).to_dict()

    def to_parquet(self) -> bytes:
        """Return a table that ``truepool audit`` reads, with the costs of the pool."""
        names = self.pool.labels.names
        columns: dict[str, Any] = {
            "id": [one.case for one in self.cases],
            "time": self.times,
        }
        for i, agent in enumerate(self.agents):
            for k in range(self.coordinates):
                name = agent if self.coordinates == 1 else f"{agent}:{names[k]}"
                columns[name] = pa.array(self.values[:, i, k], from_pandas=True)
        columns |= self.columns
        columns[OUTCOME] = [names[k] for k in self.outcomes]
        pool, stream = self.pool, io.BytesIO()
        options = describe(OUTCOME, pool.labels, pool.costs, pool.threshold)
        parquet.write_table(with_options(pa.table(columns), options), stream)
        return stream.getvalue()

    def evidence(self, champion: str, challenger: str) -> Evidence:
        """Return what a challenger would have saved per case that both decided."""
        both = {champion, challenger}
        seen = self.where(
            one for one in self.cases if both <= one.record.decisions.keys()
        )
        found: dict[str, Any] = {
            "champion": champion,
            "challenger": challenger,
            "cases": len(seen.cases),
            "currency": self.pool.costs.currency or None,
            "level": LEVEL,
        }
        if len(seen.cases) < 2:
            return Evidence(**found, cost=None, saved_per_case=None, interval=None)
        paid = {
            rule: seen.cost_of(seen.decisions(rule).astype(np.int64))
            for rule in (champion, challenger)
        }
        saved = paid[champion] - paid[challenger]
        stakes = seen.costs.stakes(seen.outcomes, len(self.pool.labels.names))
        unseen = unseen_differences(stakes, seen.outcomes)
        units = with_unseen(saved[:, None], unseen)[:, 0]
        low, high = Resamples(len(units)).interval(units, LEVEL)
        return Evidence(
            **found,
            cost={rule: float(each.mean()) for rule, each in paid.items()},
            saved_per_case=float(saved.mean()),
            interval=[float(low), float(high)],
        )

    def _of_agents(
        self, read: Callable[[Decided], Mapping[str, Any]], missing: Any
    ) -> FloatArray:
        found = [
            [known.get(agent, missing) for agent in self.agents]
            for known in map(read, self.cases)
        ]
        shape = (len(self.cases), len(self.agents), self.coordinates)
        return np.array(found, dtype=np.float64).reshape(shape)


def outline(entries: Iterable[Entry]) -> tuple[PoolConfig, tuple[str, ...], int]:
    """What a pool is, its agents and its number of entries, without any rule.

    The entries are checked, but not replayed.
    """
    config, active, n, chain = None, [], 0, START
    for entry in entries:
        entry.check(chain)
        n, chain = entry.n, entry.chain
        if entry.kind == "create":
            config = PoolConfig.parse(entry.record.pool)
            active = list(config.agents)
        elif entry.kind == "join":
            active.append(entry.record.agent)
        elif entry.kind == "leave":
            active.remove(entry.record.agent)
    if config is None:
        raise LedgerError(NO_POOL)
    return config, tuple(active), n
