"""Operations on pools, inside a transaction: what a request may do to the ledger.

Each refuses before it changes anything. All protocols come here, through `Coordinator`.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, groupby
from operator import itemgetter
from queue import SimpleQueue
from typing import Any

from truepool.core.errors import LedgerError, RequestError, TruepoolError
from truepool_serve.server.configuration import PoolConfig, RuleConfig, check_name
from truepool_serve.server.databases import Row
from truepool_serve.server.deployment import (
    Deployment,
    Entry,
    RecordError,
    check_snapshot,
)
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.reports import (
    Report,
    as_rows,
    check_columns,
    known_reports,
    probabilities,
)
from truepool_serve.server.rules import RefitJob, name_pool
from truepool_serve.server.writer import attempt

OWN = ("erase", "snapshot")
"""Entries that a snapshot is taken with, or that are about one."""
LOGGER = logging.getLogger("truepool_serve.server")
SNAPSHOT_EVERY = 10_000
"""Entries of a pool between two snapshots: what a restart replays at most."""


class Operations:
    """The pools of a ledger, and what can be done to them."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.pools: dict[str, tuple[int, Deployment]] = {}
        self.unverified: dict[str, RecordError] = {}
        self.due: SimpleQueue[tuple[str, str] | None] = SimpleQueue()
        # A coordinator packs in another thread: 200,000 open cases take half a second.
        self.take_snapshot: (
            Callable[[str, int, Callable[[], dict[str, bytes]]], None] | None
        ) = None

    def reset(self) -> None:
        """Forget all that is in memory; it is read from the ledger again."""
        self.pools.clear()

    def find(self, name: str) -> tuple[int, Deployment]:
        """Return the number and the present state of a pool.

        What other coordinators did meanwhile is replayed first, and until the end of
        the transaction they wait.
        """
        known = self.pools.get(name)
        if known is not None and name in self.ledger.locked:
            return known
        if known is None or self.ledger.shared:
            number = self.ledger.lock_pool(name)
            if number is None or (known is not None and known[0] != number):
                self.pools.pop(name, None)  # another coordinator deleted it
                known = None
            if number is None:
                number = self.ledger.pool_number(name)
            try:
                with name_pool(name):
                    deployment = known[1] if known else self._load(number, name)
                    known = number, self._catch_up(number, deployment, name)
            except RecordError as error:  # of this pool, and of no other
                self.mark(name, error)
                raise RequestError(
                    "unavailable", f"pool {name!r:.60} cannot be recovered: {error}"
                ) from error
            if name not in self.pools:
                self._note_due(name, known[1])
            self.pools[name] = known
        return known

    def mark(self, name: str, error: RecordError | None) -> None:
        """Note that the records of a pool are not as they should be, or that they are.

        It changes nothing that the pool does.
        """
        before = self.unverified.get(name)
        if error is None:
            self.unverified.pop(name, None)
        else:
            self.unverified[name] = error
        if error is not None and (before is None or before.record != error.record):
            LOGGER.error(
                "unverified",
                extra={
                    "fields": {
                        "pool": name,
                        "record": error.record,
                        "reason": str(error),
                    }
                },
            )

    def _catch_up(self, number: int, deployment: Deployment, name: str) -> Deployment:
        """Replay the entries after the state in memory."""
        for entry in self.ledger.entries(number, deployment.n):
            if entry.body is None and name in self.pools:
                # Erased by another coordinator: only a snapshot knows what it did.
                del self.pools[name]
                return self._catch_up(number, self._load(number, name), name)
            try:
                entry.check(deployment.chain)
            except RecordError as error:  # verification is apart, and stops nobody
                if name not in self.unverified:
                    self.mark(name, error)
            deployment.recover(entry)
        return deployment

    def _load(self, number: int, name: str) -> Deployment:
        """State of a pool at its last snapshot that is as its entry says."""
        numbers = self.ledger.snapshot_numbers(number)[::-1]
        bound = self.ledger.snapshot_entries(number, min(numbers, default=0))
        for n in numbers:
            states = self.ledger.snapshot(number, n)
            try:
                check_snapshot(n, states, bound.get(n))
                return Deployment.unpack(n, states)
            except RecordError as error:
                self.mark(name, error)
        return Deployment()

    def check_agent(self, pool: str, agent: str | None) -> None:
        """Refuse an agent that the pool does not have."""
        _, deployment = self.find(pool)
        if agent not in deployment.active:
            raise RequestError("unknown", f"pool {pool!r} has no agent {agent!r:.60}")

    def create(self, given: Any) -> dict[str, Any]:
        """Deploy a pool; the same one again changes nothing."""
        config = PoolConfig.parse(given)
        config.rule.check_new()
        config.make_rule()  # refuses before anything is written
        number = self.ledger.create_pool(config.name)
        if number is None:  # it is there
            _, old = self.find(config.name)
            differ = config.differences(old.pool)
            if differ:
                raise RequestError(
                    "conflict",
                    f"there is another pool called {config.name!r}, with other "
                    f"{', '.join(differ)}",
                )
            return old.pool.to_dict()
        deployment = Deployment()
        self.pools[config.name] = number, deployment
        self._record(number, deployment, "create", None, {"pool": config.to_dict()})
        return config.to_dict()

    def delete(self, pool: str) -> dict[str, Any]:
        """Remove a pool with all that is known of it."""
        number, deployment = self.find(pool)
        self.ledger.delete_pool(number, pool)
        self.pools.pop(pool, None)
        self.unverified.pop(pool, None)
        return {"name": pool, "entries": deployment.n}

    def change(
        self, pool: str, kind: str, content: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Let an agent join or leave; start, promote or withdraw a challenger.

        To promote a rule without any outcome is allowed, as for a pool fitted before,
        and the answer warns of it.
        """
        number, deployment = self.find(pool)
        if kind == "promote" and content["name"] == deployment.champion:
            return describe(deployment)
        if kind == "challenge":
            deployment.check_new_rule(content["name"])
            RuleConfig.parse(content["rule"]).check_new()
        previous = deployment.champion
        # If a rule refuses, others may have changed: the pool is then read again.
        del self.pools[pool]
        self._record(number, deployment, kind, None, content)
        self.pools[pool] = number, deployment
        found = describe(deployment)
        if kind == "promote" and not self.ledger.has_outcome(number, content["name"]):
            found["warning"] = (
                f"rule {content['name']!r} has decided no case with a known outcome; "
                f"to go back, promote {previous!r}"
            )
        return found

    def submit(self, pool: str, reports: Sequence[Report]) -> dict[str, int]:
        """Store reports on cases that are not decided, all or none of them.

        A report that is there already is counted, and one with another value is a
        conflict.
        """
        number, deployment = self.find(pool)
        rows = as_rows(deployment, reports)
        if not rows:
            return {"stored": 0, "repeated": 0}
        at = time.time()
        if self._has_room(number, deployment, rows) and self.ledger.add_reports(
            number, rows, at
        ):
            return {"stored": len(rows), "repeated": 0}
        new: dict[tuple[str, int], bytes] = {}
        for case, agent, value in rows:
            old = new.get((case, agent), self.ledger.reports(number, case).get(agent))
            if old is None and self.ledger.find_entry(number, case, "decide"):
                raise RequestError(
                    "conflict",
                    f"case {case!r} is decided; the report of "
                    f"{deployment.agents[agent]!r} came too late",
                )
            if old is not None and old != value:
                raise RequestError(
                    "conflict",
                    f"{deployment.agents[agent]!r} has reported "
                    f"{probabilities(old)} on case {case!r}; got "
                    f"{probabilities(value)}. A report cannot be changed. To correct "
                    "it, erase the case (DELETE, as admin) and send all of it again.",
                )
            if old is None:
                new[case, agent] = value
        rest = [(case, agent, value) for (case, agent), value in new.items()]
        if not self._has_room(number, deployment, rest):
            raise RequestError(
                "too-many",
                f"at most {deployment.pool.open_cases:,} reports of an agent of pool "
                f"{pool!r} may wait for a decision (open_cases); decide or erase cases "
                "first",
            )
        if rest:
            self.ledger.add_reports(number, rest, at)
        return {"stored": len(rest), "repeated": len(rows) - len(rest)}

    def submit_all(self, requests: Sequence[tuple[str, Sequence[Report]]]) -> list[Any]:
        """Store the reports of several requests, and answer each as if it came alone.

        Mostly all are new: then they are written together.
        """
        answers: list[Any] = []
        for pool, same in groupby(requests, itemgetter(0)):
            batches = [reports for _, reports in same]
            if len(batches) > 1 and self._submit_new(pool, batches):
                answers += [{"stored": len(b), "repeated": 0} for b in batches]
            else:
                answers += [attempt(partial(self.submit, pool, b)) for b in batches]
        return answers

    def _submit_new(self, pool: str, batches: list[Sequence[Report]]) -> bool:
        """Store all batches, or nothing if any of them is refused or not all new."""
        try:
            number, deployment = self.find(pool)
            rows = as_rows(deployment, chain.from_iterable(batches))
        except LedgerError:
            raise
        except TruepoolError:
            return False
        return (
            bool(rows)
            and self._has_room(number, deployment, rows)
            and self.ledger.add_reports(number, rows, time.time())
        )

    def _has_room(
        self, number: int, deployment: Deployment, rows: Sequence[Row]
    ) -> bool:
        """Whether so many reports may wait; what one agent has is no other's."""
        waiting, most = self.ledger.waiting(number), deployment.pool.open_cases
        return all(
            waiting.get(agent, 0) + new <= most
            for agent, new in Counter(map(itemgetter(1), rows)).items()
        )

    def decide(
        self,
        pool: str,
        case: str,
        columns: Mapping[str, Any] | None = None,
        by: str | None = None,
        missing: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Decide a case by its reports; the same answer if asked again.

        ``missing`` says why agents that were asked did not report.
        """
        number, deployment = self.find(pool)
        check_name("a case", case)
        entry = self.ledger.find_entry(number, case, "decide")
        if entry is not None:
            _check_same_columns(entry, case, columns)
        else:
            stored = self.ledger.reports(number, case)
            reports = known_reports(deployment, case, stored)
            content = {"reports": reports, "columns": check_columns(columns)}
            content["missing"] = dict(missing or {})
            deployment.check_quorum(case, reports)
            deployment.check_open(case)
            entry = self._record(number, deployment, "decide", case, content, by)
            self.ledger.change_waiting(number, dict.fromkeys(stored, 1), -1)
        return answer(deployment, entry)

    def decide_all(
        self,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any] | None]],
        by: str | None = None,
    ) -> list[dict[str, Any]]:
        """Decide cases by the reports on them, all or none."""
        number, deployment = self.find(pool)
        if len({case for case, _ in cases}) < len(cases):
            raise RequestError("invalid", "a batch names each case once")
        new = 0
        for case, columns in cases:
            check_name("a case", case)
            entry = self.ledger.find_entry(number, case, "decide")
            if entry is not None:
                _check_same_columns(entry, case, columns)
                continue
            new += 1
            reports = self.ledger.reports(number, case)
            deployment.check_quorum(case, known_reports(deployment, case, reports))
            deployment.threshold(check_columns(columns))
            deployment.check_open(case, new)
        return [self.decide(pool, case, columns, by) for case, columns in cases]

    def record_all(
        self,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any], Mapping[str, float]]],
        by: str | None = None,
    ) -> list[dict[str, Any]]:
        """Store all reports on cases and decide these, all or none."""
        number, deployment = self.find(pool)
        if len({case for case, _, _ in cases}) < len(cases):
            raise RequestError("invalid", "a batch names each case once")
        new = 0
        for case, reports, columns in cases:
            check_name("a case", case)
            entry = self.ledger.find_entry(number, case, "decide")
            if entry is not None:
                _check_same_columns(entry, case, columns)
                continue
            new += 1
            stored = self.ledger.reports(number, case)
            there = {deployment.agents[i]: value for i, value in stored.items()}
            if not {*there, *reports} & set(deployment.active):
                raise RequestError("invalid", f"case {case!r:.60} has no report")
            deployment.check_quorum(case, {*there, *reports} & set(deployment.active))
            deployment.threshold(check_columns(columns))
            deployment.check_open(case, new)
        given = [
            (case, agent, report)
            for case, reports, _ in cases
            for agent, report in reports.items()
        ]
        self.submit(pool, given)
        return [self.decide(pool, case, columns, by) for case, _, columns in cases]

    def settle(
        self, pool: str, outcomes: Sequence[tuple[str, Any]], by: str | None = None
    ) -> dict[str, int]:
        """Learn from the outcomes of decided cases, all or none of them.

        The same outcome again changes nothing; another one is a conflict.
        """
        number, deployment = self.find(pool)
        new: dict[str, dict[str, Any]] = {}
        for case, outcome in outcomes:
            check_name("a case", case)
            label = deployment.number(outcome, case)
            settled = self.ledger.find_entry(number, case, "settle")
            known = settled.content if settled else new.get(case)
            if known is None:
                new[case] = self._settlement(number, deployment, case, label)
            elif known["outcome"] != label:
                names = deployment.pool.labels.names
                raise RequestError(
                    "conflict",
                    f"case {case!r} was settled as {names[known['outcome']]!r}; got "
                    f"{names[label]!r}. An outcome cannot be changed. To correct it, "
                    "erase the case (DELETE, as admin), then send its reports, decide "
                    "and settle it again; the weights keep what they learned.",
                )
        for case, content in new.items():
            self._record(number, deployment, "settle", case, content, by)
        self._note_due(pool, deployment)
        return {"settled": len(new), "repeated": len(outcomes) - len(new)}

    def refit_job(self, pool: str, rule: str) -> RefitJob | None:
        """What to fit for a rule, if that is still due."""
        _, deployment = self.find(pool)
        known = deployment.rules.get(rule)
        return None if known is None else known.refit_job

    def refit(
        self, pool: str, rule: str, job: RefitJob, files: Mapping[str, bytes]
    ) -> bool:
        """Let a rule go on with pools that were fitted elsewhere, if still due.

        Another coordinator may have been faster.
        """
        number, deployment = self.find(pool)
        known = deployment.rules.get(rule)
        if known is None or known.refit_job is None:
            return False
        marks = {name: sha256(file).hexdigest() for name, file in files.items()}
        fitted = {marks[name]: file for name, file in files.items()}
        self.ledger.add_fitted(fitted)
        content = {"rule": rule, "cases": job.settled, "pools": marks}
        self._record(number, deployment, "refit", None, content, fitted=fitted)
        return True

    def _note_due(self, pool: str, deployment: Deployment) -> None:
        """Say which rules are to be fitted again; somebody else does it."""
        for name, rule in deployment.rules.items():
            if rule.refit_job is not None:
                self.due.put((pool, name))

    def case(self, pool: str, case: str, only: str | None = None) -> dict[str, Any]:
        """Return what is known of a case; to an agent its own report, and no other."""
        number, deployment = self.find(pool)
        check_name("a case", case)
        stored = self.ledger.reports(number, case)
        decided = self.ledger.find_entry(number, case, "decide")
        settled = self.ledger.find_entry(number, case, "settle")
        reports = {deployment.agents[i]: probabilities(v) for i, v in stored.items()}
        if only is not None:
            reports = {agent: r for agent, r in reports.items() if agent == only}
        if not reports and (decided is None or only is not None):
            raise RequestError("unknown", f"nothing is known of a case {case!r:.60}")
        names = deployment.pool.labels.names
        found: dict[str, Any] = {"case": case, "reports": reports, "decision": None}
        if decided is not None:
            found["decision"] = answer(deployment, decided)
            if only is not None:
                kept = ("case", "decision", "at")
                found["decision"] = {name: found["decision"][name] for name in kept}
        found["outcome"] = settled and names[settled.content["outcome"]]
        if only is None:
            found["settled_by"] = settled and settled.content.get("by")
        return found

    def _settlement(
        self, number: int, deployment: Deployment, case: str, label: int
    ) -> dict[str, Any]:
        decided = self.ledger.find_entry(number, case, "decide")
        if decided is None:
            raise RequestError(
                "unknown",
                f"case {case!r} was not decided; a case is decided before its outcome",
            )
        rules = [name for name in decided.content["pooled"] if name in deployment.rules]
        return {"outcome": label, "rules": rules}

    def erase(self, pool: str, cases: Sequence[str]) -> dict[str, Any]:
        """Remove what is known of cases; the chain of hashes stays verifiable."""
        number, deployment = self.find(pool)
        gone: list[int] = []
        for case in cases:
            check_name("a case", case)
            kinds = ("decide", "settle", "drop")
            found = {kind: self.ledger.find_entry(number, case, kind) for kind in kinds}
            decided = found["decide"]
            if decided and not (found["settle"] or found["drop"]):
                rules = [r for r in decided.content["pooled"] if r in deployment.rules]
                found["drop"] = self._record(
                    number, deployment, "drop", case, {"rules": rules}
                )
            entries = [entry.n for entry in found.values() if entry is not None]
            if not entries and not self.ledger.reports(number, case):
                raise RequestError(
                    "unknown", f"nothing is known of a case {case!r:.60}"
                )
            self.ledger.erase(number, case, min(entries, default=deployment.n + 1))
            gone += entries
        if gone:
            self._record(number, deployment, "erase", None, {"entries": gone})
            # What cannot be replayed any more must be in a snapshot.
            self._keep(number, deployment, deployment.n, deployment.pack())
        return {"cases": len(cases), "entries": gone}

    def _record(
        self,
        number: int,
        deployment: Deployment,
        kind: str,
        case: str | None,
        content: Mapping[str, Any],
        by: str | None = None,
        fitted: Mapping[str, bytes] | None = None,
    ) -> Entry:
        entry = deployment.record(kind, case, time.time(), content, by, fitted)
        self.ledger.append(number, entry)
        if deployment.n - deployment.snapshot >= SNAPSHOT_EVERY and kind not in OWN:
            deployment.snapshot = deployment.n  # and no second one meanwhile
            if self.take_snapshot is None:
                self._keep(number, deployment, deployment.n, deployment.pack())
            else:
                name, n = deployment.pool.name, deployment.n
                self.take_snapshot(name, n, deployment.freeze())
        return entry

    def keep_snapshot(self, pool: str, n: int, states: Mapping[str, bytes]) -> None:
        """Keep the state after an entry, unless a case was erased since."""
        number, deployment = self.find(pool)
        if deployment.erasure <= n:
            self._keep(number, deployment, n, states)

    def _keep(
        self, number: int, deployment: Deployment, n: int, states: Mapping[str, bytes]
    ) -> None:
        self.ledger.add_snapshot(number, n, states)
        marks = {name: sha256(state).hexdigest() for name, state in states.items()}
        content = {"of": n, "states": marks}
        self._record(number, deployment, "snapshot", None, content)


def _check_same_columns(
    entry: Entry, case: str, columns: Mapping[str, Any] | None
) -> None:
    """Refuse to answer a decision that was made at other costs."""
    known = entry.content.get("columns") or {}
    if columns and check_columns(columns) != known:
        raise RequestError(
            "conflict",
            f"case {case!r:.60} was decided with columns {known!r:.80}; got "
            f"{dict(columns)!r:.80}. A decision cannot be changed; to see it, ask "
            "without columns.",
        )


def answer(deployment: Deployment, entry: Entry) -> dict[str, Any]:
    """Return what the caller of a decision gets."""
    content, labels = entry.content, deployment.pool.labels
    pooled = content["pooled"][content["champion"]]
    columns = content.get("columns") or {}
    return {
        "case": entry.case,
        "decision": labels.names[content["decision"]],
        "probability": pooled[1] if len(pooled) == 2 else None,
        "probabilities": dict(zip(map(str, labels.names), pooled, strict=True)),
        "threshold": deployment.threshold(columns),
        "reported": list(content["reports"]),
        "missing": content.get("missing", {}),
        "weights": content["weights"],
        "contributions": content["contributions"],
        "rule": content["champion"],
        "n": entry.n,
        "at": entry.at,
        "by": content.get("by"),
    }


def describe(deployment: Deployment) -> dict[str, Any]:
    """Return what a pool is and how it stands, with the rule that decides now."""
    champion = deployment.rules[deployment.champion]
    deciding = deployment.rule_configs[deployment.champion]
    return {
        **replace(deployment.pool, rule=deciding).to_dict(),
        "agents": list(deployment.active),
        "rule": deployment.champion,
        "challengers": [
            name for name in deployment.rules if name != deployment.champion
        ],
        "weights": champion.weights,
        "endpoints": {a: place.to_dict() for a, place in deployment.endpoints.items()},
        "entries": deployment.n,
    }
