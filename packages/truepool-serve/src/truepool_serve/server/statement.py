"""Statements: what an agent contributed in a period, case by case and in sum.

A statement is made from the entries of a pool, of its ledger or of an export, and is
bound to them by the hash of the last one: whoever has the entries can make it again.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, LedgerError
from truepool.measures.inference import Resamples
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.misreports import warnings
from truepool_serve.server.records import START, Entry
from truepool_serve.server.settled import LEVEL, Decided, Settled
from truepool_serve.server.state import TOLERANCE, PoolState, relative_difference

VERSION = 1
"""Version of statements; one of a newer version is refused."""


@dataclass(frozen=True)
class Line:
    """A case: what its decision cost with and without the report of the agent."""

    case: str
    decided: int
    settled: int
    at: float
    report: Any
    outcome: str
    decision: str
    cost: float
    cost_without: float
    contribution: float


@dataclass(frozen=True)
class Statement:
    """What an agent contributed: V(m) - V(m without i), where V is minus the cost.

    ``total`` and ``per_case`` are a number and its interval. ``unknown`` cases are
    those that it reported on and whose rule has no contributions. ``entries`` and
    ``chain`` say which ledger this is from, and ``seal`` is the hash of all the rest.
    """

    statement: int
    pool: str
    agent: str
    start: float | None
    end: float | None
    currency: str | None
    level: float
    settled: int
    reported: int
    unknown: int
    total: list[float | None]
    per_case: list[float | None]
    warnings: list[str]
    entries: int
    chain: str
    lines: list[Line]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement with its seal."""
        found = asdict(self)
        return found | {"seal": seal(found)}


def seal(content: dict[str, Any]) -> str:
    """Hash of a statement, which contains that of the ledger."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


class _Period:
    """The cases of a pool that were settled in a period, read from its entries."""

    def __init__(self, start: float | None, end: float | None) -> None:
        self.start, self.end = start, end
        self.config: PoolConfig | None = None
        self.agents: set[str] = set()
        self.open: dict[str, Entry] = {}
        self.pairs: list[tuple[Entry, Entry]] = []
        self.n, self.chain = 0, START

    def read(self, entries: Iterable[Entry]) -> None:
        """Check and take up every entry."""
        for entry in entries:
            if entry.n != self.n + 1:
                raise LedgerError(f"record {self.n + 1} is missing")
            entry.check(self.chain)
            self.n, self.chain = entry.n, entry.chain
            if entry.body is not None:
                self._take(entry)

    def _take(self, entry: Entry) -> None:
        if entry.kind == "create":
            self.config = PoolConfig.parse(entry.record.pool)
            self.agents = set(self.config.agents)
        elif entry.kind == "join":
            self.agents.add(entry.record.agent)
        elif entry.kind == "decide":
            self.open[entry.case or ""] = entry
        elif entry.kind == "settle":
            decided = self.open.pop(entry.case or "")
            late = self.end is not None and entry.at >= self.end
            if not late and (self.start is None or entry.at >= self.start):
                self.pairs.append((decided, entry))


def make_statement(
    entries: Iterable[Entry], agent: str, start: float | None, end: float | None
) -> Statement:
    """Make the statement of an agent on the cases settled in [start, end)."""
    read = _Period(start, end)
    read.read(entries)
    if read.config is None:
        raise LedgerError("the ledger of a pool must begin with what the pool is")
    if agent not in read.agents:
        names = ", ".join(sorted(read.agents))
        raise AgentError(f"no agent is called {agent!r:.60}; known: {names}")
    pairs = [pair for pair in read.pairs if agent in pair[0].record.reports]
    settled = Settled(read.config, (agent,), [_decided(*pair) for pair in pairs])
    paid, without = settled.paid, settled.paid_without[:, 0]
    lines = [
        _line(read.config, agent, *pair, float(cost), float(other))
        for pair, cost, other in zip(pairs, paid, without, strict=True)
        if not np.isnan(other)
    ]
    credit = np.array([line.contribution for line in lines])
    sums = _total(credit)
    return Statement(
        statement=VERSION,
        pool=read.config.name,
        agent=agent,
        start=start,
        end=end,
        currency=read.config.costs.currency or None,
        level=LEVEL,
        settled=len(read.pairs),
        reported=len(pairs),
        unknown=len(pairs) - len(lines),
        total=sums,
        per_case=[x / len(lines) if x is not None and lines else None for x in sums],
        warnings=list(warnings(settled, agent)),
        entries=read.n,
        chain=read.chain.hex(),
        lines=lines,
    )


def _decided(decided: Entry, settled: Entry) -> Decided:
    outcome = settled.record.outcome
    place = decided.n, decided.case or "", decided.at
    return Decided(*place, decided.record, outcome, settled.n)


def _line(
    pool: PoolConfig,
    agent: str,
    decided: Entry,
    settled: Entry,
    cost: float,
    without: float,
) -> Line:
    names, record = pool.labels.names, decided.record
    return Line(
        case=decided.case or "",
        decided=decided.n,
        settled=settled.n,
        at=settled.at,
        report=record.reports[agent],
        outcome=str(names[settled.record.outcome]),
        decision=str(names[record.decision]),
        cost=cost,
        cost_without=without,
        contribution=without - cost,
    )


def _total(credit: FloatArray) -> list[float | None]:
    """Sum with its interval, by resampling the cases."""
    if len(credit) < 2:
        return [float(credit.sum()), None, None]
    low, high = Resamples(len(credit)).interval(credit, LEVEL)
    return [float(credit.sum()), len(credit) * low, len(credit) * high]


def read_statement(path: str) -> dict[str, Any]:
    """Read a statement from a file; whether it is right is another question."""
    try:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
    except OSError as error:
        reason = error.strerror or error
        raise LedgerError(f"{path!r} cannot be opened: {reason}") from None
    except (ValueError, RecursionError):
        given = None
    fields = {*Statement.__dataclass_fields__, "seal"}
    if not isinstance(given, dict) or set(given) != fields or not _sound(given):
        raise LedgerError(
            "a statement must be what `truepool ledger statement --json FILE` writes; "
            f"{path!r} is not"
        )
    if given["statement"] != VERSION:
        raise LedgerError(
            f"{path!r} is a statement of version {given['statement']!r:.20}; this "
            f"truepool knows version {VERSION}. Upgrade truepool."
        )
    return given


def _sound(given: dict[str, Any]) -> bool:
    """Whether the parts that say what the statement is about are of their kinds."""
    return (
        all(isinstance(given[name], str) for name in ("agent", "pool", "chain"))
        and isinstance(given["entries"], int)
        and all(isinstance(given[name], float | None) for name in ("start", "end"))
    )


def check_statement(given: dict[str, Any], entries: Iterable[Entry]) -> int:
    """Make a statement again from the entries, and refuse it if it differs.

    Every entry is replayed too, until one was erased; returns how many were.
    """
    last = given["entries"]
    found = list(islice(entries, max(last, 0)))
    if not 1 <= last <= len(found):
        raise LedgerError(
            f"the statement is about {last!r:.20} records; there are {len(found)}"
        )
    again = make_statement(found, given["agent"], given["start"], given["end"])
    for name, value in again.to_dict().items():
        if name != "seal" and _differ(given[name], value):
            raise LedgerError(
                f"the statement has another {_difference(name, given[name], value)}"
            )
    if given["seal"] != seal({k: v for k, v in given.items() if k != "seal"}):
        raise LedgerError("the statement has another 'seal' than its content gives")
    state = PoolState()
    for entry in found:
        if not entry.is_complete:
            break
        state.verify(entry)
    return state.n


def _differ(given: Any, made: Any) -> bool:
    return relative_difference(given, made) > TOLERANCE


def _difference(name: str, given: Any, made: Any) -> str:
    """Say where a part of a statement differs from what its records give, and how."""
    what = repr(name)
    if name == "lines" and isinstance(given, list):
        if len(given) != len(made):
            what, given, made = "number of cases", len(given), len(made)
        else:
            i = next(i for i, line in enumerate(made) if _differ(given[i], line))
            case, given, made = made[i]["case"], given[i], made[i]
            what = f"line for case {case!r:.60}"
            if isinstance(given, dict) and set(given) == set(made):
                field = next(key for key in made if _differ(given[key], made[key]))
                what = f"{field!r} of case {case!r:.60}"
                given, made = given[field], made[field]
    return f"{what} than its records give: {given!r:.80} instead of {made!r:.80}"
