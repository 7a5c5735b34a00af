"""The state of a pool: its rules, and what records change about it.

`PoolState.apply` takes what happened and returns the record of it, with what followed:
the decision, or what each rule learned. It knows no ledger and no clock.
`PoolState.recover` takes over what is recorded, so that a pool goes on as it was on any
machine. `PoolState.verify` makes each record again, and compares.
"""

import base64
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from math import inf
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, Struct, structs

from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.core.errors import (
    LedgerError,
    OutcomeError,
    RequestError,
    SettingError,
    TruepoolError,
)
from truepool.measures.decisions import choose
from truepool.panel.costs import Costs
from truepool.panel.labels import format_choice
from truepool.panel.row_names import named_cases
from truepool_serve import messages
from truepool_serve.messages import AnyEndpoint, Pool, check_name
from truepool_serve.server import records
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.records import START, Entry, Record, RecordError
from truepool_serve.server.rules import Rule

FIRST_RULE = "first"
"""Name of the rule that a pool was made with."""
MOST_RULES = 20
NO_POOL = "the ledger of a pool must begin with what the pool is"
MOST_LEARNED = 500
"""Numbers of a rule that the entry of an outcome records. Of more it has a hash: with
10,000 agents each entry would take 100 kB. They are in the snapshots then."""
TOLERANCE = 1e-9
"""Relative difference that a number may have when it is computed again, by another
processor or version of a library. Their own differences are about 1e-13."""
SMALLEST = 1e-6
"""Numbers below this may differ as much as it may."""


class Head(Struct, frozen=True, kw_only=True):
    """What a snapshot has beside the states of the rules."""

    pool: Pool
    agents: list[str]
    active: list[str]
    rules: dict[str, messages.Rule]
    champion: str
    withdrawn: list[str] = []
    endpoints: dict[str, AnyEndpoint] = {}
    chain: str


class PoolState:
    """The state of a pool after its last entry."""

    def __init__(self) -> None:
        self.n = 0
        self.chain = START
        # The entries of the last snapshot and of the last erasure.
        self.snapshot = self.erasure = 0
        self.config: PoolConfig | None = None
        self.agents: tuple[str, ...] = ()
        self.active: tuple[str, ...] = ()
        self._places: tuple[tuple[str, ...], dict[str, int]] = ((), {})
        self.rules: dict[str, Rule] = {}
        self.rule_configs: dict[str, messages.Rule] = {}
        self.champion = FIRST_RULE
        self.withdrawn: set[str] = set()
        self.endpoints: dict[str, AnyEndpoint] = {}

    @property
    def pool(self) -> PoolConfig:
        """What the pool was made with."""
        if self.config is None:
            raise LedgerError(NO_POOL)
        return self.config

    @property
    def places(self) -> dict[str, int]:
        """Number of each agent that may report."""
        known, places = self._places
        if known is not self.active:
            every = {agent: i for i, agent in enumerate(self.agents)}
            places = {agent: every[agent] for agent in self.active}
            self._places = self.active, places
        return places

    def apply(
        self,
        record: Record,
        case: str = "",
        fitted: Mapping[str, bytes] | None = None,
    ) -> Record:
        """Let something happen, and return the record of it, with what followed.

        If a rule refuses, others may have changed: the state is of no more use.
        """
        if isinstance(record, records.Refit):
            return self._refit(record, fitted or {})
        return STEPS[type(record)](self, record, case)

    def follow(self, entry: Entry) -> None:
        """Note the number and the chain of an entry that was applied."""
        self.n, self.chain = entry.n, entry.chain

    def recover(self, entry: Entry) -> None:
        """Go on to the state after an entry; what it records is not computed again."""
        record, case = entry.record, entry.case or ""
        try:
            if isinstance(record, records.Decide):
                self._await_outcome(record, case)
            elif isinstance(record, records.Settle):
                self._settle(record, case, numbers(record.learned))
            else:
                self.apply(record, case, entry.fitted)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, TruepoolError):
                raise
            raise RecordError(
                entry.n, f"record {entry.n} ({entry.kind}) cannot be read: {error!r}"
            ) from error
        self.follow(entry)

    def verify(self, entry: Entry) -> bool:
        """Make an entry again, and go on from what it records.

        Refuses one that comes out otherwise; returns whether all bits are the same.
        """
        entry.check(self.chain)
        written = entry.record
        again: Any = self.apply(written, entry.case or "", entry.fitted)
        same = True
        for name in written.RESULTS:
            given, value = getattr(written, name), getattr(again, name)
            if name in ("learned", "hashes") and not given:
                continue  # an older version recorded another hash
            if name == "learned":
                given, value = numbers(given), numbers(value)
                self._take_over(given)
            elif name == "decisions":  # those of the probabilities that are recorded
                value = self._decisions(written.pooled, written.columns)
            elif name == "decision":
                value = written.decisions[written.champion]
            elif name == "hashes":  # of what is too large to be recorded
                same = same and given == value
                continue
            difference = relative_difference(given, value)
            if difference > TOLERANCE:
                raise RecordError(
                    entry.n,
                    f"record {entry.n} ({entry.kind} {entry.case or ''}) has another "
                    f"{name} than its replay: {given!r:.80} instead of {value!r:.80}",
                )
            same = same and not difference
        self.follow(entry)
        return same

    def pack(self) -> dict[str, bytes]:
        """Return the whole state: of each rule by its name, and of the pool by ''."""
        return self.freeze()()

    def freeze(self) -> Callable[[], dict[str, bytes]]:
        """Return what packs the state of now, in another thread if need be."""
        own = Head(
            pool=self.pool.message,
            agents=list(self.agents),
            active=list(self.active),
            rules=dict(self.rule_configs),
            champion=self.champion,
            withdrawn=sorted(self.withdrawn),
            endpoints=dict(self.endpoints),
            chain=self.chain.hex(),
        )
        frozen = {name: rule.freeze() for name, rule in self.rules.items()}

        def pack() -> dict[str, bytes]:
            states = {name: state() for name, state in frozen.items()}
            return {"": msgspec.json.encode(own), **states}

        return pack

    @classmethod
    def unpack(cls, n: int, states: Mapping[str, bytes]) -> "PoolState":
        """Return the state after entry n."""
        try:
            return cls._unpack(n, states)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, TruepoolError):
                raise
            raise RecordError(
                n, f"the snapshot after record {n} cannot be read: {error!r}"
            ) from error

    @classmethod
    def _unpack(cls, n: int, states: Mapping[str, bytes]) -> "PoolState":
        own = msgspec.json.decode(states[""], type=Head)
        found = cls()
        found.n = found.snapshot = n
        found.chain = bytes.fromhex(own.chain)
        pool = found.config = PoolConfig.parse(own.pool)
        found.agents, found.active = tuple(own.agents), tuple(own.active)
        found.champion, found.withdrawn = own.champion, set(own.withdrawn)
        found.endpoints = dict(own.endpoints)
        for name, config in own.rules.items():
            found.rule_configs[name] = config
            rule = pool.make_rule(config, found.active)
            rule.unpack(states[name])
            found.rules[name] = rule
        return found

    def number(self, outcome: Any, case: str) -> int:
        """Class number of the label of a case."""
        try:
            return int(self.pool.labels.encode([outcome])[0])
        except OutcomeError:
            raise OutcomeError(
                f"an outcome must be {format_choice(self.pool.labels.names)}; case "
                f"{case!r:.60} has {outcome!r:.60}"
            ) from None

    def decide(self, pooled: FloatArray, columns: Mapping[str, Any]) -> int:
        """Class number with the lowest expected cost, for pooled coordinates (C,)."""
        return int(choose(pooled[None], self._costs(columns), self.pool.threshold)[0])

    def check_quorum(
        self,
        case: str,
        reported: Collection[str],
        missing: Mapping[str, str] | None = None,
    ) -> None:
        """Refuse to decide a case by fewer agents than the pool wants."""
        least = self.pool.min_agents
        if len(reported) < least:
            raise RequestError(
                "unavailable",
                f"a case of this pool is decided by at least {least} agents "
                f"(min_agents); case {case!r:.60} has {len(reported)}. "
                + "".join(f"{agent}: {why}. " for agent, why in (missing or {}).items())
                + "It is not decided: ask again when more have reported.",
            )

    def check_open(self, case: str, more: int = 1) -> None:
        """Refuse to decide a case while too many wait for an outcome."""
        most = self.pool.open_cases
        if any(rule.waiting + more > most for rule in self.rules.values()):
            raise RequestError(
                "too-many",
                f"at most {most:,} cases of a pool may wait for an outcome "
                f"(open_cases); case {case!r} is one too many. Settle or erase others "
                "first.",
            )

    def check_new_rule(self, name: str) -> None:
        """Refuse the name of a rule that was withdrawn: its cases would be counted."""
        if name in self.withdrawn:
            raise SettingError(
                f"a rule called {name!r} was withdrawn, and the ledger has its "
                "decisions; take a new name"
            )

    def threshold(self, columns: Mapping[str, Any]) -> float | None:
        """Threshold of a case; None for K > 2 classes."""
        if len(self.pool.labels.names) > 2:
            return None
        if self.pool.threshold is not None:
            return self.pool.threshold
        return float(np.ravel(self._costs(columns).threshold)[0])

    def _costs(self, columns: Mapping[str, Any]) -> Costs:
        """Costs of one case."""
        costs = self.pool.costs
        if costs.constant:
            return costs
        missing = [name for name in costs.columns if name not in columns]
        if missing:
            raise SettingError(
                f"the costs of a case depend on {missing[0]!r}; give it in 'columns'"
            )
        with named_cases(lambda _: "this case"):
            return costs.resolve({name: [columns[name]] for name in costs.columns})

    def _create(self, record: records.Create, case: str) -> Record:
        self.config = PoolConfig.parse(record.pool)
        self.agents = self.active = self.config.agents
        self.rules = {FIRST_RULE: self.config.make_rule()}
        self.rule_configs = {FIRST_RULE: self.config.rule}
        return structs.replace(record, pool=self.config.message)

    def _join(self, record: records.Join, case: str) -> Record:
        agent = check_name("an agent", record.agent)
        if agent in self.agents:
            raise SettingError(
                f"agent {agent!r} is or was in the pool; take a new name"
            )
        for rule in self.rules.values():
            rule.join(agent)
        self.agents, self.active = (*self.agents, agent), (*self.active, agent)
        if record.endpoint is not None:
            self.endpoints[agent] = record.endpoint
        return record

    def _endpoint(self, record: records.SetEndpoint, case: str) -> Record:
        """Register where an agent answers, or that it answers nowhere."""
        agent = record.agent
        if agent not in self.active:
            raise RequestError("unknown", f"the pool has no agent {agent!r:.60}")
        if record.endpoint is None:
            self.endpoints.pop(agent, None)
        else:
            self.endpoints[agent] = record.endpoint
        return record

    def _leave(self, record: records.Leave, case: str) -> Record:
        for rule in self.rules.values():
            rule.leave(record.agent)
        self.active = tuple(name for name in self.active if name != record.agent)
        self.endpoints.pop(record.agent, None)
        return record

    def _challenge(self, record: records.Challenge, case: str) -> Record:
        name = check_name("a challenger", record.name)
        if name in self.rules:
            raise SettingError(f"a rule is called {name!r} already; take another name")
        if len(self.rules) >= MOST_RULES:
            raise SettingError(f"a pool has at most {MOST_RULES} rules; withdraw one")
        self.rules[name] = self.pool.make_rule(record.rule, self.active)
        self.rule_configs[name] = record.rule
        return record

    def _promote(self, record: records.Promote, case: str) -> Record:
        self.champion = self._known_rule(record.name)
        return record

    def _withdraw(self, record: records.Withdraw, case: str) -> Record:
        name = self._known_rule(record.name)
        if name == self.champion:
            raise SettingError(f"rule {name!r} decides; promote another one first")
        del self.rules[name], self.rule_configs[name]
        self.withdrawn.add(name)
        return record

    def _decide(self, record: records.Decide, case: str) -> Record:
        columns, reports = record.columns, self._in_order(record.reports)
        champion = self.rules[self.champion]
        # The rule that decides comes first: it may refuse, and then nothing happened.
        pooled = {self.champion: champion.decide(case, reports)}
        decisions = {self.champion: self.decide(pooled[self.champion], columns)}
        for name, rule in self.rules.items():
            if name != self.champion:
                pooled[name] = rule.decide(case, reports)
                decisions[name] = self.decide(pooled[name], columns)
        weights, contributions = champion.explain(case, reports)
        return structs.replace(
            record,
            reports=reports,
            pooled={name: _plain(values) for name, values in pooled.items()},
            decisions=decisions,
            champion=self.champion,
            decision=decisions[self.champion],
            weights=weights,
            contributions=contributions,
        )

    def _in_order(self, reports: Mapping[str, Any]) -> dict[str, Any]:
        """Reports in the order of the agents.

        A ledger sorts them by name, and sums depend on the order in their last bit.
        """
        return {agent: reports[agent] for agent in self.agents if agent in reports}

    def _await_outcome(self, record: records.Decide, case: str) -> None:
        """Let the rules that decided a case wait for its outcome."""
        reports = self._in_order(record.reports)
        for name in record.pooled:
            self.rules[name].await_outcome(case, reports)

    def _decisions(
        self, pooled: Mapping[str, Any], columns: Mapping[str, Any]
    ) -> dict[str, int]:
        return {
            name: self.decide(from_classes(np.array(values)), columns)
            for name, values in pooled.items()
        }

    def _settle(
        self,
        record: records.Settle,
        case: str,
        recorded: Mapping[str, FloatArray] | None = None,
    ) -> Record:
        for name in record.rules:
            rule = self.rules[name]
            rule.settle(case, record.outcome, (recorded or {}).get(name))
            # In older ledgers a refit was no event: it was part of the outcome.
            if record.weights is not UNSET and (files := rule.fit()):
                rule.refit(files)
        return record if recorded else self._learned(record)

    def _learned(self, record: records.Settle) -> Record:
        """Add what rules have learned; of many numbers only a hash."""
        learned, hashes = {}, {}
        for name in record.rules:
            found = (self.rules[name].learned + 0.0).astype("<f8")  # no -0.0
            if found.size > MOST_LEARNED:
                hashes[name] = sha256(found.tobytes()).hexdigest()
            elif found.size:
                learned[name] = base64.b64encode(found.tobytes()).decode()
        return structs.replace(record, learned=learned, hashes=hashes or UNSET)

    def _take_over(self, learned: Mapping[str, FloatArray]) -> None:
        for name, found in learned.items():
            self.rules[name].take_over(found)

    def _refit(self, record: records.Refit, fitted: Mapping[str, bytes]) -> Record:
        """Let a rule go on with pools that were fitted to settled cases."""
        files = {name: fitted[mark] for name, mark in record.pools.items()}
        self.rules[self._known_rule(record.rule)].refit(files)
        return record

    def _drop(self, record: records.Drop, case: str) -> Record:
        for name in record.rules:
            self.rules[name].drop(case)
        return record

    def _erase(self, record: records.Erase, case: str) -> Record:
        self.erasure = self.n + 1
        return record

    def _note_snapshot(self, record: records.Snapshot, case: str) -> Record:
        """Bind the state after an earlier entry to the chain."""
        self.snapshot = max(self.snapshot, record.of)
        return record

    def _known_rule(self, name: Any) -> str:
        if name not in self.rules:
            known = ", ".join(self.rules)
            raise SettingError(f"no rule is called {name!r:.60}; known: {known}")
        return str(name)


STEPS: dict[type[Record], Callable[[PoolState, Any, str], Record]] = {
    records.Create: PoolState._create,
    records.Join: PoolState._join,
    records.SetEndpoint: PoolState._endpoint,
    records.Leave: PoolState._leave,
    records.Challenge: PoolState._challenge,
    records.Promote: PoolState._promote,
    records.Withdraw: PoolState._withdraw,
    records.Decide: PoolState._decide,
    records.Settle: PoolState._settle,
    records.Drop: PoolState._drop,
    records.Erase: PoolState._erase,
    records.Snapshot: PoolState._note_snapshot,
}


def check_snapshot(n: int, states: Mapping[str, bytes], bound: Entry | None) -> None:
    """Refuse a snapshot that is not the one that its entry is about.

    One of an older version has no entry.
    """
    marks = {name: sha256(state).hexdigest() for name, state in states.items()}
    if bound is not None and bound.record.states != marks:
        raise RecordError(
            n,
            f"the snapshot after record {n} was changed: record {bound.n} has "
            "other hashes",
        )


def relative_difference(one: Any, other: Any) -> float:
    """Largest relative difference of the numbers in two values; inf of other values.

    >>> relative_difference({"a": [0.5, 2]}, {"a": [0.5 + 1e-12, 2]}) < 1e-11
    True
    >>> relative_difference({"a": [0.5]}, {"b": [0.5]})
    inf
    """
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape:
            return inf
        one, other = one.ravel().tolist(), other.ravel().tolist()
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if one.keys() != other.keys():
            return inf
        return max((relative_difference(one[k], other[k]) for k in one), default=0.0)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return inf
        pairs = zip(one, other, strict=True)
        return max((relative_difference(*pair) for pair in pairs), default=0.0)
    if one == other or (one != one and other != other):
        return 0.0
    if not (isinstance(one, float) and isinstance(other, float | int)):
        return inf
    difference = abs(one - other) / max(abs(one), abs(other), SMALLEST)
    return difference if difference == difference else inf


def numbers(learned: Any) -> dict[str, FloatArray]:
    """What each rule learned, as it is recorded in an entry."""
    return {
        name: np.frombuffer(base64.b64decode(text), "<f8").astype(np.float64)
        for name, text in (learned or {}).items()
    }


def _plain(pooled: FloatArray) -> list[float]:
    """Pooled coordinates as probabilities of every class."""
    return [float(p) for p in to_classes(pooled)]
