"""What happened to a pool, read from its ledger: settled cases, and what follows."""

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sqlalchemy import Connection, select

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import LedgerError, RequestError
from truepool.measures.inference import Resamples, unseen_differences, with_unseen
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.tables.export import describe, with_options
from truepool_serve.server import schema
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.deployment import NO_POOL, START, Entry

MOST_CASES = 1_000_000
"""Cases that one answer may be about."""
OUTCOME = "outcome"
"""Column of the outcomes in an export."""
LEVEL = 0.95
"""Of the interval of what a challenger would have saved."""


@dataclass(frozen=True)
class Case:
    """A settled case: the entry of its decision, and its outcome."""

    case: str
    at: float
    decision: dict[str, Any]
    outcome: int


@dataclass(frozen=True)
class History:
    """The last settled cases of a pool, in the order of their outcomes."""

    pool: PoolConfig
    agents: tuple[str, ...]
    cases: list[Case]

    @classmethod
    def read(
        cls,
        connection: Connection,
        number: int,
        pool: PoolConfig,
        agents: tuple[str, ...],
        last: int,
    ) -> "History":
        """Read the last settled cases; erased ones are gone."""
        if not 1 <= last <= MOST_CASES:
            raise RequestError(
                "invalid", f"ask for 1 to {MOST_CASES:,} cases; got {last}"
            )
        decided, settled = schema.entries.alias("d"), schema.entries.alias("s")
        statement = (
            select(decided.c.case, decided.c.at, decided.c.body, settled.c.body)
            .join(
                settled,
                (settled.c.pool == decided.c.pool) & (settled.c.case == decided.c.case),
            )
            .where(
                decided.c.pool == number,
                decided.c.kind == "decide",
                settled.c.kind == "settle",
            )
            .order_by(settled.c.n.desc())
            .limit(last)
        )
        cases = [
            Case(case, at, json.loads(decision), json.loads(outcome)["outcome"])
            for case, at, decision, outcome in connection.execute(statement)
        ]
        return cls(pool, agents, cases[::-1])

    @property
    def coordinates(self) -> int:
        """Numbers in a report: one for two labels, else one per label."""
        K = len(self.pool.labels.names)
        return 1 if K == 2 else K

    @property
    def values(self) -> FloatArray:
        """Coordinates (T, N, C) of the reports; NaN: no report."""
        C = self.coordinates
        missing = np.nan if C == 1 else [np.nan] * C
        reports = [
            [case.decision["reports"].get(agent, missing) for agent in self.agents]
            for case in self.cases
        ]
        shape = (len(self.cases), len(self.agents), C)
        return np.array(reports, dtype=np.float64).reshape(shape)

    @property
    def outcomes(self) -> IntArray:
        """Class number of each outcome."""
        return np.array([case.outcome for case in self.cases], dtype=np.int64)

    @property
    def costs(self) -> Costs:
        """What decisions on these cases cost."""
        return self.pool.costs.resolve(self._columns)

    @property
    def _columns(self) -> dict[str, list[float]]:
        names = self.pool.costs.columns
        return {n: [case.decision["columns"][n] for case in self.cases] for n in names}

    def panel(self) -> Panel:
        """Return the cases as a panel."""
        names, values = self.pool.labels.names, self.values
        binary = self.coordinates == 1
        return Panel(
            values[:, :, 0] if binary else values,
            [names[c.outcome] for c in self.cases] if binary else self.outcomes,
            self.agents,
            positive=self.pool.labels.positive,
            ids=[case.case for case in self.cases],
            times=np.array([case.at for case in self.cases]),
            columns=self._columns,
        )

    def audit(self) -> dict[str, Any]:
        """Audit the cases."""
        from truepool.audits import audit

        return audit(self.panel(), costs=self.pool.costs).to_dict()

    def to_parquet(self) -> bytes:
        """Return a table that ``truepool audit`` reads, with the costs of the pool."""
        names = self.pool.labels.names
        columns: dict[str, Any] = {
            "id": [case.case for case in self.cases],
            "time": [case.at for case in self.cases],
        }
        for agent in self.agents:
            given = [case.decision["reports"].get(agent) for case in self.cases]
            if len(names) == 2:
                columns[agent] = pa.array(given, pa.float64())
                continue
            for k, name in enumerate(names):
                part = [None if report is None else report[k] for report in given]
                columns[f"{agent}:{name}"] = pa.array(part, pa.float64())
        columns |= self._columns
        columns[OUTCOME] = [names[case.outcome] for case in self.cases]
        pool, stream = self.pool, io.BytesIO()
        options = describe(OUTCOME, pool.labels, pool.costs, pool.threshold)
        parquet.write_table(with_options(pa.table(columns), options), stream)
        return stream.getvalue()

    def evidence(self, champion: str, challenger: str) -> dict[str, Any]:
        """Return what a challenger would have saved per case that both decided."""
        both = [
            i
            for i, case in enumerate(self.cases)
            if {champion, challenger} <= case.decision["decisions"].keys()
        ]
        found: dict[str, Any] = {
            "champion": champion,
            "challenger": challenger,
            "cases": len(both),
            "currency": self.pool.costs.currency or None,
            "level": LEVEL,
        }
        if len(both) < 2:
            return found | {"cost": None, "saved_per_case": None, "interval": None}
        costs, outcomes = self.costs.take(np.array(both)), self.outcomes[both]
        paid = {
            rule: costs.cost_per_case(
                outcomes,
                np.array([self.cases[i].decision["decisions"][rule] for i in both]),
                len(self.pool.labels.names),
            )
            for rule in (champion, challenger)
        }
        saved = paid[champion] - paid[challenger]
        stakes = costs.stakes(outcomes, len(self.pool.labels.names))
        unseen = unseen_differences(stakes, outcomes)
        units = with_unseen(saved[:, None], unseen)[:, 0]
        return found | {
            "cost": {rule: float(each.mean()) for rule, each in paid.items()},
            "saved_per_case": float(saved.mean()),
            "interval": list(Resamples(len(units)).interval(units, LEVEL)),
        }


def outline(entries: Iterable[Entry]) -> tuple[PoolConfig, tuple[str, ...], int]:
    """What a pool is, its agents and its number of entries, without any rule.

    The entries are checked, but not replayed.
    """
    config, active, n, chain = None, [], 0, START
    for entry in entries:
        entry.check(chain)
        n, chain = entry.n, entry.chain
        if entry.kind == "create":
            config = PoolConfig.parse(entry.content["pool"])
            active = list(config.agents)
        elif entry.kind == "join":
            active.append(entry.content["agent"])
        elif entry.kind == "leave":
            active.remove(entry.content["agent"])
    if config is None:
        raise LedgerError(NO_POOL)
    return config, tuple(active), n
