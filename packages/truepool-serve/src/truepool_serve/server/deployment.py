"""A deployed pool: its rules, and the entries that its ledger is made of.

An entry is made from its inputs, and records what followed from them: the decision, or
what each rule learned. `Deployment.recover` takes that over, so that a pool goes on as
it was on any machine. `Deployment.verify` makes each entry again, and compares.
"""

import base64
import json
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from typing import Any, ClassVar

import numpy as np

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
from truepool_serve.server.configuration import PoolConfig, RuleConfig, check_name
from truepool_serve.server.endpoints import Endpoint
from truepool_serve.server.rules import Rule

FIRST_RULE = "first"
"""Name of the rule that a pool was made with."""
MOST_RULES = 20
NO_POOL = "the ledger of a pool must begin with what the pool is"
START = bytes(32)
"""What the chain of hashes begins with."""
MOST_LEARNED = 500
"""Numbers of a rule that the entry of an outcome records. Of more it has a hash: with
10,000 agents each entry would take 100 kB. They are in the snapshots then."""
TOLERANCE = 1e-9
"""Relative difference that a number may have when it is computed again, by another
processor or version of a library. Their own differences are about 1e-13."""
SMALLEST = 1e-6
"""Numbers below this may differ as much as it may."""


class RecordError(LedgerError):
    """An entry that was changed, or that does not follow from those before it."""

    def __init__(self, record: int, sentence: str) -> None:
        super().__init__(sentence)
        self.record = record


@dataclass(frozen=True)
class Entry:
    """One line of the ledger of a pool.

    ``body`` is None once the case was erased. ``digest`` is the hash of all the rest,
    and ``chain`` that of the chain before and the digest. ``fitted`` are the files of
    the pools whose hashes the entry of a refit has, as far as they are kept.
    """

    COLUMNS: ClassVar = ("n", "kind", "case", "at", "body", "digest", "chain")

    n: int
    kind: str
    case: str | None
    at: float
    body: bytes | None
    digest: bytes
    chain: bytes
    fitted: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether it can be made again: nothing of it was erased."""
        if self.body is None:
            return False
        return self.kind != "refit" or set(self.content["pools"].values()) <= set(
            self.fitted
        )

    @property
    def content(self) -> dict[str, Any]:
        """The body as values."""
        if self.body is None:
            raise RecordError(self.n, f"record {self.n} was erased")
        try:
            content: dict[str, Any] = json.loads(self.body)
        except ValueError:
            raise RecordError(self.n, f"record {self.n} cannot be read") from None
        return content

    def check(self, before: bytes) -> None:
        """Refuse an entry that was changed, or that does not follow the one before."""
        if self.body is not None and self.digest != digest(
            self.kind, self.case, self.at, self.body
        ):
            raise RecordError(
                self.n, f"record {self.n} was changed: its digest does not match"
            )
        if self.chain != sha256(before + self.digest).digest():
            raise RecordError(
                self.n,
                f"record {self.n} does not follow record {self.n - 1}: a record was "
                "changed, removed or inserted",
            )
        for mark, file in self.fitted.items():
            if sha256(file).hexdigest() != mark:
                raise RecordError(
                    self.n, f"the pool that record {self.n} is about was changed"
                )


def digest(kind: str, case: str | None, at: float, body: bytes) -> bytes:
    """Hash of an entry; the salt in its body keeps an erased one from being guessed."""
    head = json.dumps([kind, case, float(at)])
    return sha256(head.encode() + b"\n" + body).digest()


class Deployment:
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
        self.rule_configs: dict[str, RuleConfig] = {}
        self.champion = FIRST_RULE
        self.withdrawn: set[str] = set()
        self.endpoints: dict[str, Endpoint] = {}

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

    def record(
        self,
        kind: str,
        case: str | None,
        at: float,
        content: Mapping[str, Any],
        by: str | None = None,
        fitted: Mapping[str, bytes] | None = None,
    ) -> Entry:
        """Apply what happened, and return the entry about it and whose token did it."""
        whole = self._apply(kind, case, content, fitted)
        whole |= {"salt": secrets.token_hex(8)}
        if by is not None:
            whole["by"] = by
        return self._append(kind, case, at, whole)

    def recover(self, entry: Entry) -> None:
        """Go on to the state after an entry; what it records is not computed again."""
        try:
            self._apply(
                entry.kind, entry.case, entry.content, entry.fitted, recorded=True
            )
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, TruepoolError):
                raise
            raise RecordError(
                entry.n, f"record {entry.n} ({entry.kind}) cannot be read: {error!r}"
            ) from error
        self.n, self.chain = entry.n, entry.chain

    def verify(self, entry: Entry) -> bool:
        """Make an entry again, and go on from what it records.

        Refuses one that comes out otherwise; returns whether all bits are the same.
        """
        entry.check(self.chain)
        written = entry.content
        again = self._apply(entry.kind, entry.case, written, entry.fitted)
        same = True
        for name, value in again.items():
            given = written.get(name)
            if name in ("learned", "hashes") and given is None:
                continue  # an older version recorded another hash
            if name == "learned":
                given, value = numbers(given), numbers(value)
                self._take_over(given)
            elif name == "decisions":  # those of the probabilities that are recorded
                value = self._decisions(written["pooled"], written.get("columns"))
            elif name == "decision":
                value = written["decisions"][written["champion"]]
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
        self.n, self.chain = entry.n, entry.chain
        return same

    def pack(self) -> dict[str, bytes]:
        """Return the whole state: of each rule by its name, and of the pool by ''."""
        return self.freeze()()

    def freeze(self) -> Callable[[], dict[str, bytes]]:
        """Return what packs the state of now, in another thread if need be."""
        own = {
            "pool": self.pool.to_dict(),
            "agents": self.agents,
            "active": self.active,
            "rules": {name: rule.to_dict() for name, rule in self.rule_configs.items()},
            "champion": self.champion,
            "withdrawn": sorted(self.withdrawn),
            "endpoints": {a: place.to_dict() for a, place in self.endpoints.items()},
            "chain": self.chain.hex(),
        }
        frozen = {name: rule.freeze() for name, rule in self.rules.items()}

        def pack() -> dict[str, bytes]:
            states = {name: state() for name, state in frozen.items()}
            return {"": json.dumps(own).encode(), **states}

        return pack

    @classmethod
    def unpack(cls, n: int, states: Mapping[str, bytes]) -> "Deployment":
        """Return the deployment after entry n."""
        try:
            return cls._unpack(n, states)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, TruepoolError):
                raise
            raise RecordError(
                n, f"the snapshot after record {n} cannot be read: {error!r}"
            ) from error

    @classmethod
    def _unpack(cls, n: int, states: Mapping[str, bytes]) -> "Deployment":
        own = json.loads(states[""])
        found = cls()
        found.n = found.snapshot = n
        found.chain = bytes.fromhex(own["chain"])
        pool = found.config = PoolConfig.parse(own["pool"])
        found.agents, found.active = tuple(own["agents"]), tuple(own["active"])
        found.champion = own["champion"]
        found.withdrawn = set(own.get("withdrawn", ()))
        for agent, place in own.get("endpoints", {}).items():
            found.endpoints[agent] = Endpoint.parse(place)
        for name, given in own["rules"].items():
            config = found.rule_configs[name] = RuleConfig.parse(given)
            rule = config.make(found.active, pool.labels, pool.costs, pool.open_cases)
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

    def _append(
        self, kind: str, case: str | None, at: float, content: Mapping[str, Any]
    ) -> Entry:
        body = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        mark = digest(kind, case, at, body)
        self.n += 1
        self.chain = sha256(self.chain + mark).digest()
        return Entry(self.n, kind, case, at, body, mark, self.chain)

    def _apply(
        self,
        kind: str,
        case: str | None,
        content: Mapping[str, Any],
        fitted: Mapping[str, bytes] | None = None,
        *,
        recorded: bool = False,
    ) -> dict[str, Any]:
        """Change the state by the inputs in the content; return it with its results.

        If these are ``recorded`` in the content, they are taken over.
        """
        if recorded and kind == "decide":
            return self._await_outcome(case or "", content)
        if recorded and kind == "settle":
            return self._settle(case or "", content, numbers(content.get("learned")))
        if kind == "refit":
            return self._refit(content, fitted or {})
        steps: dict[str, Callable[[str, Mapping[str, Any]], dict[str, Any]]] = {
            "create": self._create,
            "join": self._join,
            "leave": self._leave,
            "endpoint": self._endpoint,
            "challenge": self._challenge,
            "promote": self._promote,
            "withdraw": self._withdraw,
            "decide": self._decide,
            "settle": self._settle,
            "drop": self._drop,
            "erase": self._erase,
            "snapshot": self._note_snapshot,
        }
        if kind not in steps:
            raise LedgerError(f"no record is called {kind!r:.40}; upgrade truepool")
        return steps[kind](case or "", content)

    def _create(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        self.config = PoolConfig.parse(content["pool"])
        self.agents = self.active = self.config.agents
        self.rules = {FIRST_RULE: self.config.make_rule()}
        self.rule_configs = {FIRST_RULE: self.config.rule}
        return {"pool": self.config.to_dict()}

    def _join(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        agent = check_name("an agent", content["agent"])
        if agent in self.agents:
            raise SettingError(
                f"agent {agent!r} is or was in the pool; take a new name"
            )
        given = content.get("endpoint")
        endpoint = None if given is None else Endpoint.parse(given)
        for rule in self.rules.values():
            rule.join(agent)
        self.agents, self.active = (*self.agents, agent), (*self.active, agent)
        if endpoint is None:
            return {"agent": agent}
        self.endpoints[agent] = endpoint
        return {"agent": agent, "endpoint": endpoint.to_dict()}

    def _endpoint(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Register where an agent answers, or that it answers nowhere."""
        agent, given = content["agent"], content.get("endpoint")
        if agent not in self.active:
            raise RequestError("unknown", f"the pool has no agent {agent!r:.60}")
        if given is None:
            self.endpoints.pop(agent, None)
            return {"agent": agent, "endpoint": None}
        self.endpoints[agent] = Endpoint.parse(given)
        return {"agent": agent, "endpoint": self.endpoints[agent].to_dict()}

    def _leave(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        agent = content["agent"]
        for rule in self.rules.values():
            rule.leave(agent)
        self.active = tuple(name for name in self.active if name != agent)
        self.endpoints.pop(agent, None)
        return {"agent": agent}

    def _challenge(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        name = check_name("a challenger", content["name"])
        if name in self.rules:
            raise SettingError(f"a rule is called {name!r} already; take another name")
        if len(self.rules) >= MOST_RULES:
            raise SettingError(f"a pool has at most {MOST_RULES} rules; withdraw one")
        config = RuleConfig.parse(content["rule"])
        pool = self.pool
        self.rules[name] = config.make(
            self.active, pool.labels, pool.costs, pool.open_cases
        )
        self.rule_configs[name] = config
        return {"name": name, "rule": config.to_dict()}

    def _promote(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        self.champion = self._known_rule(content["name"])
        return {"name": self.champion}

    def _withdraw(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        name = self._known_rule(content["name"])
        if name == self.champion:
            raise SettingError(f"rule {name!r} decides; promote another one first")
        del self.rules[name], self.rule_configs[name]
        self.withdrawn.add(name)
        return {"name": name}

    def _decide(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        given, columns = content["reports"], content.get("columns") or {}
        # A ledger sorts them by name, and sums depend on the order in their last bit.
        reports = {agent: given[agent] for agent in self.agents if agent in given}
        champion = self.rules[self.champion]
        # The rule that decides comes first: it may refuse, and then nothing happened.
        pooled = {self.champion: champion.decide(case, reports)}
        decisions = {self.champion: self.decide(pooled[self.champion], columns)}
        for name, rule in self.rules.items():
            if name != self.champion:
                pooled[name] = rule.decide(case, reports)
                decisions[name] = self.decide(pooled[name], columns)
        weights, contributions = champion.explain(case, reports)
        result = {
            "reports": reports,
            "pooled": {name: _plain(values) for name, values in pooled.items()},
            "decisions": decisions,
            "champion": self.champion,
            "decision": decisions[self.champion],
            "weights": weights,
            "contributions": contributions,
        }
        others = {"columns": columns, "missing": content.get("missing")}
        return result | {name: value for name, value in others.items() if value}

    def _await_outcome(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Let the rules that decided a case wait for its outcome."""
        given = content["reports"]
        reports = {agent: given[agent] for agent in self.agents if agent in given}
        for name in content["pooled"]:
            self.rules[name].await_outcome(case, reports)
        return dict(content)

    def _decisions(
        self, pooled: Mapping[str, Any], columns: Mapping[str, Any] | None
    ) -> dict[str, int]:
        return {
            name: self.decide(from_classes(np.array(values)), columns or {})
            for name, values in pooled.items()
        }

    def _settle(
        self,
        case: str,
        content: Mapping[str, Any],
        recorded: Mapping[str, FloatArray] | None = None,
    ) -> dict[str, Any]:
        outcome, rules = content["outcome"], content["rules"]
        for name in rules:
            rule = self.rules[name]
            rule.settle(case, outcome, (recorded or {}).get(name))
            # In older ledgers a refit was no event: it was part of the outcome.
            if "weights" in content and (files := rule.fit()):
                rule.refit(files)
        found = {"outcome": outcome, "rules": rules}
        return found if recorded else found | self._learned(rules)

    def _learned(self, rules: Sequence[str]) -> dict[str, Any]:
        """What rules have learned; of many numbers only a hash."""
        learned, hashes = {}, {}
        for name in rules:
            found = (self.rules[name].learned + 0.0).astype("<f8")  # no -0.0
            if found.size > MOST_LEARNED:
                hashes[name] = sha256(found.tobytes()).hexdigest()
            elif found.size:
                learned[name] = base64.b64encode(found.tobytes()).decode()
        return {"learned": learned} | ({"hashes": hashes} if hashes else {})

    def _take_over(self, learned: Mapping[str, FloatArray]) -> None:
        for name, found in learned.items():
            self.rules[name].take_over(found)

    def _refit(
        self, content: Mapping[str, Any], fitted: Mapping[str, bytes]
    ) -> dict[str, Any]:
        """Let a rule go on with pools that were fitted to settled cases."""
        rule, hashes = self._known_rule(content["rule"]), content["pools"]
        missing = [name for name, mark in hashes.items() if mark not in fitted]
        if missing:
            raise KeyError(missing[0])
        self.rules[rule].refit({name: fitted[mark] for name, mark in hashes.items()})
        return {"rule": rule, "cases": content["cases"], "pools": hashes}

    def _drop(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        for name in content["rules"]:
            self.rules[name].drop(case)
        return {"rules": content["rules"]}

    def _erase(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        self.erasure = self.n + 1
        return {"entries": content["entries"]}

    def _note_snapshot(self, case: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Bind the state after an earlier entry to the chain."""
        self.snapshot = max(self.snapshot, content["of"])
        return {"of": content["of"], "states": content["states"]}

    def _known_rule(self, name: Any) -> str:
        if name not in self.rules:
            known = ", ".join(self.rules)
            raise SettingError(f"no rule is called {name!r:.60}; known: {known}")
        return str(name)


def check_snapshot(n: int, states: Mapping[str, bytes], bound: Entry | None) -> None:
    """Refuse a snapshot that is not the one that its entry is about.

    One of an older version has no entry.
    """
    marks = {name: sha256(state).hexdigest() for name, state in states.items()}
    if bound is not None and bound.content["states"] != marks:
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


def numbers(learned: Mapping[str, str] | None) -> dict[str, FloatArray]:
    """What each rule learned, as it is recorded in an entry."""
    return {
        name: np.frombuffer(base64.b64decode(text), "<f8").astype(np.float64)
        for name, text in (learned or {}).items()
    }


def _plain(pooled: FloatArray) -> list[float]:
    """Pooled coordinates as probabilities of every class."""
    return [float(p) for p in to_classes(pooled)]
