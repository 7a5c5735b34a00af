"""Operations on pools, inside a transaction: what a request may do to the ledger.

Each refuses before it changes anything. All protocols come here, through `Coordinator`.
"""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain, groupby
from operator import itemgetter
from queue import SimpleQueue
from typing import Any

from msgspec import UNSET, structs

from truepool.core.errors import LedgerError, RequestError, TruepoolError
from truepool_serve.messages import (
    Case,
    Decision,
    Deletion,
    Erasure,
    Pool,
    PoolStatus,
    Receipt,
    Settlement,
    check_name,
)
from truepool_serve.server import records
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.databases import Row
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.records import Entry, Record, RecordError, seal
from truepool_serve.server.reports import (
    Report,
    as_rows,
    check_columns,
    known_reports,
    probabilities,
)
from truepool_serve.server.rules import RefitJob, name_pool
from truepool_serve.server.state import PoolState, check_snapshot
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
        self.pools: dict[str, tuple[int, PoolState]] = {}
        self.unverified: dict[str, RecordError] = {}
        self.due: SimpleQueue[tuple[str, str] | None] = SimpleQueue()
        # A coordinator packs in another thread: 200,000 open cases take half a second.
        self.take_snapshot: (
            Callable[[str, int, Callable[[], dict[str, bytes]]], None] | None
        ) = None

    def reset(self) -> None:
        """Forget all that is in memory; it is read from the ledger again."""
        self.pools.clear()

    def find(self, name: str) -> tuple[int, PoolState]:
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
                    state = known[1] if known else self._load(number, name)
                    known = number, self._catch_up(number, state, name)
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

    def _catch_up(self, number: int, state: PoolState, name: str) -> PoolState:
        """Replay the entries after the state in memory."""
        for entry in self.ledger.entries(number, state.n):
            if entry.body is None and name in self.pools:
                # Erased by another coordinator: only a snapshot knows what it did.
                del self.pools[name]
                return self._catch_up(number, self._load(number, name), name)
            try:
                entry.check(state.chain)
            except RecordError as error:  # verification is apart, and stops nobody
                if name not in self.unverified:
                    self.mark(name, error)
            state.recover(entry)
        return state

    def _load(self, number: int, name: str) -> PoolState:
        """State of a pool at its last snapshot that is as its entry says."""
        numbers = self.ledger.snapshot_numbers(number)[::-1]
        bound = self.ledger.snapshot_entries(number, min(numbers, default=0))
        for n in numbers:
            states = self.ledger.snapshot(number, n)
            try:
                check_snapshot(n, states, bound.get(n))
                return PoolState.unpack(n, states)
            except RecordError as error:
                self.mark(name, error)
        return PoolState()

    def check_agent(self, pool: str, agent: str | None) -> None:
        """Refuse an agent that the pool does not have."""
        _, state = self.find(pool)
        if agent not in state.active:
            raise RequestError("unknown", f"pool {pool!r} has no agent {agent!r:.60}")

    def create(self, given: Pool) -> Pool:
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
            return old.pool.message
        state = PoolState()
        self.pools[config.name] = number, state
        self._record(number, state, records.Create(pool=config.message))
        return config.message

    def delete(self, pool: str) -> Deletion:
        """Remove a pool with all that is known of it."""
        number, state = self.find(pool)
        self.ledger.delete_pool(number, pool)
        self.pools.pop(pool, None)
        self.unverified.pop(pool, None)
        return Deletion(name=pool, entries=state.n)

    def change(self, pool: str, record: Record) -> PoolStatus:
        """Let an agent join or leave; start, promote or withdraw a challenger.

        To promote a rule without any outcome is allowed, as for a pool fitted before,
        and the answer warns of it.
        """
        number, state = self.find(pool)
        promoted = record.name if isinstance(record, records.Promote) else None
        if promoted == state.champion:
            return describe(state)
        if isinstance(record, records.Challenge):
            state.check_new_rule(record.name)
            record.rule.check_new()
        previous = state.champion
        # If a rule refuses, others may have changed: the pool is then read again.
        del self.pools[pool]
        self._record(number, state, record)
        self.pools[pool] = number, state
        found = describe(state)
        if promoted is None or self.ledger.has_outcome(number, promoted):
            return found
        warning = (
            f"rule {promoted!r} has decided no case with a known outcome; to go back, "
            f"promote {previous!r}"
        )
        return structs.replace(found, warning=warning)

    def submit(self, pool: str, reports: Sequence[Report]) -> Receipt:
        """Store reports on cases that are not decided, all or none of them.

        A report that is there already is counted, and one with another value is a
        conflict.
        """
        number, state = self.find(pool)
        rows = as_rows(state, reports)
        if not rows:
            return Receipt(stored=0, repeated=0)
        at = time.time()
        if self._has_room(number, state, rows) and self.ledger.add_reports(
            number, rows, at
        ):
            return Receipt(stored=len(rows), repeated=0)
        new: dict[tuple[str, int], bytes] = {}
        for case, agent, value in rows:
            old = new.get((case, agent), self.ledger.reports(number, case).get(agent))
            if old is None and self.ledger.find_entry(number, case, "decide"):
                raise RequestError(
                    "conflict",
                    f"case {case!r} is decided; the report of "
                    f"{state.agents[agent]!r} came too late",
                )
            if old is not None and old != value:
                raise RequestError(
                    "conflict",
                    f"{state.agents[agent]!r} has reported "
                    f"{probabilities(old)} on case {case!r}; got "
                    f"{probabilities(value)}. A report cannot be changed. To correct "
                    "it, erase the case (DELETE, as admin) and send all of it again.",
                )
            if old is None:
                new[case, agent] = value
        rest = [(case, agent, value) for (case, agent), value in new.items()]
        if not self._has_room(number, state, rest):
            raise RequestError(
                "too-many",
                f"at most {state.pool.open_cases:,} reports of an agent of pool "
                f"{pool!r} may wait for a decision (open_cases); decide or erase cases "
                "first",
            )
        if rest:
            self.ledger.add_reports(number, rest, at)
        return Receipt(stored=len(rest), repeated=len(rows) - len(rest))

    def submit_all(self, requests: Sequence[tuple[str, Sequence[Report]]]) -> list[Any]:
        """Store the reports of several requests, and answer each as if it came alone.

        Mostly all are new: then they are written together.
        """
        answers: list[Any] = []
        for pool, same in groupby(requests, itemgetter(0)):
            batches = [reports for _, reports in same]
            if len(batches) > 1 and self._submit_new(pool, batches):
                answers += [Receipt(stored=len(b), repeated=0) for b in batches]
            else:
                answers += [attempt(partial(self.submit, pool, b)) for b in batches]
        return answers

    def _submit_new(self, pool: str, batches: list[Sequence[Report]]) -> bool:
        """Store all batches, or nothing if any of them is refused or not all new."""
        try:
            number, state = self.find(pool)
            rows = as_rows(state, chain.from_iterable(batches))
        except LedgerError:
            raise
        except TruepoolError:
            return False
        return (
            bool(rows)
            and self._has_room(number, state, rows)
            and self.ledger.add_reports(number, rows, time.time())
        )

    def _has_room(self, number: int, state: PoolState, rows: Sequence[Row]) -> bool:
        """Whether so many reports may wait; what one agent has is no other's."""
        waiting, most = self.ledger.waiting(number), state.pool.open_cases
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
    ) -> Decision:
        """Decide a case by its reports; the same answer if asked again.

        ``missing`` says why agents that were asked did not report.
        """
        number, state = self.find(pool)
        check_name("a case", case)
        entry = self.ledger.find_entry(number, case, "decide")
        if entry is not None:
            _check_same_columns(entry, case, columns)
        else:
            stored = self.ledger.reports(number, case)
            reports = known_reports(state, case, stored)
            record = records.Decide(
                reports=reports,
                columns=check_columns(columns),
                missing=dict(missing or {}),
            )
            state.check_quorum(case, reports)
            state.check_open(case)
            entry = self._record(number, state, record, case, by)
            self.ledger.change_waiting(number, dict.fromkeys(stored, 1), -1)
        return answer(state, entry)

    def decide_all(
        self,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any] | None]],
        by: str | None = None,
    ) -> list[Decision]:
        """Decide cases by the reports on them, all or none."""
        number, state = self.find(pool)
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
            state.check_quorum(case, known_reports(state, case, reports))
            state.threshold(check_columns(columns))
            state.check_open(case, new)
        return [self.decide(pool, case, columns, by) for case, columns in cases]

    def record_all(
        self,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any], Mapping[str, float]]],
        by: str | None = None,
    ) -> list[Decision]:
        """Store all reports on cases and decide these, all or none."""
        number, state = self.find(pool)
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
            there = {state.agents[i]: value for i, value in stored.items()}
            if not {*there, *reports} & set(state.active):
                raise RequestError("invalid", f"case {case!r:.60} has no report")
            state.check_quorum(case, {*there, *reports} & set(state.active))
            state.threshold(check_columns(columns))
            state.check_open(case, new)
        given = [
            (case, agent, report)
            for case, reports, _ in cases
            for agent, report in reports.items()
        ]
        self.submit(pool, given)
        return [self.decide(pool, case, columns, by) for case, _, columns in cases]

    def settle(
        self, pool: str, outcomes: Sequence[tuple[str, Any]], by: str | None = None
    ) -> Settlement:
        """Learn from the outcomes of decided cases, all or none of them.

        The same outcome again changes nothing; another one is a conflict.
        """
        number, state = self.find(pool)
        new: dict[str, records.Settle] = {}
        for case, outcome in outcomes:
            check_name("a case", case)
            label = state.number(outcome, case)
            settled = self.ledger.find_entry(number, case, "settle")
            known = settled.record if settled else new.get(case)
            if known is None:
                new[case] = self._settlement(number, state, case, label)
            elif known.outcome != label:
                names = state.pool.labels.names
                raise RequestError(
                    "conflict",
                    f"case {case!r} was settled as {names[known.outcome]!r}; got "
                    f"{names[label]!r}. An outcome cannot be changed. To correct it, "
                    "erase the case (DELETE, as admin), then send its reports, decide "
                    "and settle it again; the weights keep what they learned.",
                )
        for case, record in new.items():
            self._record(number, state, record, case, by)
        self._note_due(pool, state)
        return Settlement(settled=len(new), repeated=len(outcomes) - len(new))

    def refit_job(self, pool: str, rule: str) -> RefitJob | None:
        """What to fit for a rule, if that is still due."""
        _, state = self.find(pool)
        known = state.rules.get(rule)
        return None if known is None else known.refit_job

    def refit(
        self, pool: str, rule: str, job: RefitJob, files: Mapping[str, bytes]
    ) -> bool:
        """Let a rule go on with pools that were fitted elsewhere, if still due.

        Another coordinator may have been faster.
        """
        number, state = self.find(pool)
        known = state.rules.get(rule)
        if known is None or known.refit_job is None:
            return False
        marks = {name: sha256(file).hexdigest() for name, file in files.items()}
        fitted = {marks[name]: file for name, file in files.items()}
        self.ledger.add_fitted(fitted)
        record = records.Refit(rule=rule, cases=job.settled, pools=marks)
        self._record(number, state, record, fitted=fitted)
        return True

    def _note_due(self, pool: str, state: PoolState) -> None:
        """Say which rules are to be fitted again; somebody else does it."""
        for name, rule in state.rules.items():
            if rule.refit_job is not None:
                self.due.put((pool, name))

    def case(self, pool: str, case: str, only: str | None = None) -> Case:
        """Return what is known of a case; to an agent its own report, and no other."""
        number, state = self.find(pool)
        check_name("a case", case)
        stored = self.ledger.reports(number, case)
        decided = self.ledger.find_entry(number, case, "decide")
        settled = self.ledger.find_entry(number, case, "settle")
        reports = {state.agents[i]: probabilities(v) for i, v in stored.items()}
        if only is not None:
            reports = {agent: r for agent, r in reports.items() if agent == only}
        if not reports and (decided is None or only is not None):
            raise RequestError("unknown", f"nothing is known of a case {case!r:.60}")
        names = state.pool.labels.names
        decision = None if decided is None else answer(state, decided)
        if decision is not None and only is not None:
            decision = Decision(
                case=decision.case, decision=decision.decision, at=decision.at
            )
        by = None if settled is None else settled.record.by
        return Case(
            case=case,
            reports=reports,
            decision=decision,
            outcome=None if settled is None else names[settled.record.outcome],
            settled_by=UNSET if only is not None else by,
        )

    def _settlement(
        self, number: int, state: PoolState, case: str, label: int
    ) -> records.Settle:
        decided = self.ledger.find_entry(number, case, "decide")
        if decided is None:
            raise RequestError(
                "unknown",
                f"case {case!r} was not decided; a case is decided before its outcome",
            )
        if self.ledger.find_entry(number, case, "drop"):
            raise RequestError("unknown", f"case {case!r} is being erased")
        rules = [name for name in decided.record.pooled if name in state.rules]
        return records.Settle(outcome=label, rules=rules)

    def prepare_erasure(
        self, pool: str, cases: Sequence[str]
    ) -> tuple[int, Callable[[], dict[str, bytes]]] | None:
        """Let cases wait no longer, and return what packs the state without them.

        What is erased cannot be replayed, so that a snapshot must hold what came of it.
        None: there is one already. To pack takes long, and may be done elsewhere.
        """
        number, state = self.find(pool)
        last = 0
        for case in cases:
            known = self._entries_of(number, case)
            decided = known.get("decide")
            if decided and not known.keys() & {"settle", "drop"}:
                rules = [r for r in decided.record.pooled if r in state.rules]
                record = records.Drop(rules=rules)
                known["drop"] = self._record(number, state, record, case)
            if not known and not self.ledger.reports(number, case):
                raise RequestError(
                    "unknown", f"nothing is known of a case {case!r:.60}"
                )
            last = max([last, *(entry.n for entry in known.values())])
        if max(self.ledger.snapshot_numbers(number), default=0) >= last:
            return None
        return state.n, state.freeze()

    def erase(
        self,
        pool: str,
        cases: Sequence[str],
        snapshot: tuple[int, Mapping[str, bytes]] | None = None,
    ) -> Erasure:
        """Remove what is known of cases; the chain of hashes stays verifiable.

        ``snapshot`` is the state after an entry, as `prepare_erasure` gave it. Where it
        is missing or too old, the state is packed here and now.
        """
        found = self.prepare_erasure(pool, cases)
        number, state = self.find(pool)
        if found is not None:
            n, pack = found
            if snapshot is None or state.erasure > snapshot[0]:
                snapshot = n, pack()
            elif not self._covers(number, cases, snapshot[0]):
                snapshot = n, pack()
            self._keep(number, state, *snapshot)
        gone: list[int] = []
        for case in cases:
            entries = [entry.n for entry in self._entries_of(number, case).values()]
            self.ledger.erase(number, case, entries)
            gone += entries
        if gone:
            self._record(number, state, records.Erase(entries=gone))
        return Erasure(cases=len(cases), entries=gone)

    def _entries_of(self, number: int, case: str) -> dict[str, Entry]:
        """Return the entries about a case, by kind."""
        check_name("a case", case)
        kinds = ("decide", "settle", "drop")
        found = ((kind, self.ledger.find_entry(number, case, kind)) for kind in kinds)
        return {kind: entry for kind, entry in found if entry is not None}

    def _covers(self, number: int, cases: Sequence[str], n: int) -> bool:
        """Whether a snapshot after an entry comes after all entries about cases."""
        every = (self._entries_of(number, case).values() for case in cases)
        return all(entry.n <= n for entries in every for entry in entries)

    def _record(
        self,
        number: int,
        state: PoolState,
        record: Record,
        case: str | None = None,
        by: str | None = None,
        fitted: Mapping[str, bytes] | None = None,
    ) -> Entry:
        """Apply what happened, and write the entry about it and whose token did it."""
        found = state.apply(record, case or "", fitted)
        salt = secrets.token_hex(8)
        entry = seal(
            found, state.n + 1, case, time.time(), state.chain, salt=salt, by=by
        )
        state.follow(entry)
        self.ledger.append(number, entry)
        if state.n - state.snapshot >= SNAPSHOT_EVERY and entry.kind not in OWN:
            state.snapshot = state.n  # and no second one meanwhile
            if self.take_snapshot is None:
                self._keep(number, state, state.n, state.pack())
            else:
                self.take_snapshot(state.pool.name, state.n, state.freeze())
        return entry

    def keep_snapshot(self, pool: str, n: int, states: Mapping[str, bytes]) -> None:
        """Keep the state after an entry, unless a case was erased since."""
        number, state = self.find(pool)
        if state.erasure <= n:
            self._keep(number, state, n, states)

    def _keep(
        self, number: int, state: PoolState, n: int, states: Mapping[str, bytes]
    ) -> None:
        if n in self.ledger.snapshot_numbers(number):
            return
        self.ledger.add_snapshot(number, n, states)
        marks = {name: sha256(part).hexdigest() for name, part in states.items()}
        self._record(number, state, records.Snapshot(of=n, states=marks))


def _check_same_columns(
    entry: Entry, case: str, columns: Mapping[str, Any] | None
) -> None:
    """Refuse to answer a decision that was made at other costs."""
    known = entry.record.columns
    if columns and check_columns(columns) != known:
        raise RequestError(
            "conflict",
            f"case {case!r:.60} was decided with columns {known!r:.80}; got "
            f"{dict(columns)!r:.80}. A decision cannot be changed; to see it, ask "
            "without columns.",
        )


def answer(state: PoolState, entry: Entry) -> Decision:
    """Return what the caller of a decision gets."""
    record, labels = entry.record, state.pool.labels
    pooled = record.pooled[record.champion]
    return Decision(
        case=entry.case or "",
        decision=labels.names[record.decision],
        at=entry.at,
        probability=pooled[1] if len(pooled) == 2 else None,
        probabilities=dict(zip(map(str, labels.names), pooled, strict=True)),
        threshold=state.threshold(record.columns),
        reported=list(record.reports),
        missing=record.missing,
        weights=record.weights,
        contributions=record.contributions,
        rule=record.champion,
        n=entry.n,
        by=record.by,
    )


def describe(state: PoolState) -> PoolStatus:
    """Return what a pool is and how it stands, with the rule that decides now."""
    deciding = state.rule_configs[state.champion]
    whole = structs.asdict(state.pool.message) | structs.asdict(deciding)
    return PoolStatus(
        **whole | {"agents": list(state.active)},
        rule=state.champion,
        challengers=[name for name in state.rules if name != state.champion],
        weights=state.rules[state.champion].weights,
        endpoints=dict(state.endpoints),
        entries=state.n,
    )
