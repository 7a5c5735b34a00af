"""The coordinator: the one core behind every protocol.

What changes the ledger goes through the writer and is answered after its commit. What
only reads has a connection of its own, so that a long export keeps nobody waiting.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from truepool.core.errors import RequestError
from truepool_serve import messages
from truepool_serve.messages import (
    Action,
    Alarm,
    Challengers,
    Decision,
    Decisions,
    Deletion,
    Erasure,
    Pool,
    PoolStatus,
    Receipt,
    Revocation,
    Settlement,
    Token,
    TokenState,
)
from truepool_serve.server import access
from truepool_serve.server.access import AGENT, Access, Caller, read_trail
from truepool_serve.server.agent_calls import DEADLINE, AgentCalls
from truepool_serve.server.alarms import Alarms
from truepool_serve.server.answers import Answer, Found, after
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.metrics import Metrics
from truepool_serve.server.operations import Operations, describe
from truepool_serve.server.predictions import Case, Plan, Scored, conclude, plan, score
from truepool_serve.server.records import Record, RecordError, SetEndpoint
from truepool_serve.server.reports import Report
from truepool_serve.server.rules import RefitJob
from truepool_serve.server.settled import Settled
from truepool_serve.server.writer import JointOperation, Writer

PROBE_EVERY = 0.1
"""Seconds between two writes that only show that one can write: anyone may ask."""


FAILED_FOR = 5.0
"""Seconds after a failed commit in which a coordinator is not ready."""


class Coordinator:
    """Pools of a ledger, and who may do what with them."""

    def __init__(
        self, place: str | Path, *, create: bool = True, rate: float | None = None
    ) -> None:
        self.ledger = Ledger(place, create=create)
        self.operations = Operations(self.ledger)
        self.access = Access(self.ledger, rate)
        try:
            with self.ledger.transaction():
                for name in self.ledger.pool_names():  # recovered now, not later
                    with suppress(RequestError):  # that pool is unavailable
                        self.operations.find(name)
        except BaseException:
            self.access.close()
            self.ledger.close()
            raise
        self.metrics = Metrics()
        self.writer = Writer(
            self.ledger.transaction, self.operations.reset, self.metrics
        )
        self._reporting = JointOperation(
            self.operations.submit_all, self._count_reports
        )
        self.calls = AgentCalls()
        self.alarms = Alarms(self)
        self.access.on_end = lambda: self.writer.submit(self.access.end)
        self.metrics.watch(self.operations, self.writer.queue, self.alarms)
        self._probed = -PROBE_EVERY

    def close(self) -> None:
        """Finish what was asked, and close the ledger."""
        self.writer.close()
        self.access.close()
        self.ledger.close()

    def __enter__(self) -> "Coordinator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # what changes the ledger

    def create(self, caller: Caller, given: Pool) -> Answer[Pool]:
        """Deploy a pool."""
        caller.check("register")
        return self._with_trail(
            caller, "create", lambda: self.operations.create(given), given.name
        )

    def change(self, caller: Caller, pool: str, record: Record) -> Answer[PoolStatus]:
        """Change the agents or the rules of a pool."""
        caller.check("register", pool)
        action = record.KIND
        if isinstance(record, SetEndpoint) and record.endpoint is None:
            action = "remove-endpoint"
        about = getattr(record, "agent", None) or getattr(record, "name", None)
        return self._with_trail(
            caller, action, lambda: self.operations.change(pool, record), pool, about
        )

    def report(
        self, caller: Caller, pool: str, reports: Sequence[Report]
    ) -> Answer[Receipt]:
        """Store reports."""
        caller.check("report", pool)
        if caller.agent is not None:
            for case, agent, _ in reports:
                caller.check_agent(agent, case)
        return self.writer.submit_jointly(self._reporting, (pool, reports))

    def decide(
        self, caller: Caller, pool: str, case: str, columns: Mapping[str, Any] | None
    ) -> Answer[Decision]:
        """Decide a case."""
        caller.check("decide", pool)
        by = caller.token
        return self.writer.submit(
            lambda: self.operations.decide(pool, case, columns, by),
            self._count_decision(pool),
        )

    async def predict(
        self,
        caller: Caller,
        pool: str,
        case: str,
        features: Mapping[str, Any],
        columns: Mapping[str, Any] | None = None,
        deadline: float | None = None,
    ) -> Decision:
        """Ask the agents of a pool about a case, and decide by whoever answered."""
        caller.check("decide", pool)
        act = self.operations
        found: Plan = await after(
            self.writer.submit(lambda: plan(act, pool, case, columns))
        )
        if found.answer is not None:
            return found.answer
        seconds = deadline or found.deadline or DEADLINE
        reports, missing = await self.calls.fan_out(
            found.endpoints, found.labels, case, features, seconds
        )
        decided = self.writer.submit(
            lambda: conclude(act, pool, case, reports, columns, missing, caller.token),
            self._count_decision(pool),
        )
        return await after(decided)

    def score(
        self, caller: Caller, pool: str, cases: Sequence[Case]
    ) -> Answer[list[Scored]]:
        """Decide cases that are not recorded."""
        caller.check("decide", pool)
        return self.writer.submit(lambda: score(self.operations, pool, cases))

    def decide_all(
        self,
        caller: Caller,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any] | None]],
    ) -> Answer[Decisions]:
        """Decide cases, all or none."""
        caller.check("decide", pool)
        by = caller.token
        return self.writer.submit(
            lambda: Decisions(decisions=self.operations.decide_all(pool, cases, by)),
            self._count_decision(pool, len(cases)),
        )

    def record(
        self,
        caller: Caller,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any], Mapping[str, float]]],
    ) -> Answer[list[Decision]]:
        """Store all reports on cases, and decide these, all or none."""
        caller.check("report", pool)
        caller.check("decide", pool)
        by = caller.token
        return self.writer.submit(
            lambda: self.operations.record_all(pool, cases, by),
            self._count_decision(pool, len(cases)),
        )

    def settle(
        self, caller: Caller, pool: str, outcomes: Sequence[tuple[str, Any]]
    ) -> Answer[Settlement]:
        """Learn from outcomes."""
        caller.check("settle", pool)
        by = caller.token
        return self.writer.submit(
            lambda: self.operations.settle(pool, outcomes, by),
            lambda found: self.metrics.outcomes.labels(pool).inc(found.settled),
        )

    def erase(self, caller: Caller, pool: str, case: str) -> Answer[Erasure]:
        """Remove what is known of a case.

        The state without it is packed in this thread: 200,000 open cases take a second,
        in which others are answered.
        """
        caller.check("erase", pool)
        act = self.operations
        found = self.writer.submit(lambda: act.prepare_erasure(pool, [case])).result()
        snapshot = None if found is None else (found[0], found[1]())
        return self._with_trail(
            caller, "erase", lambda: act.erase(pool, [case], snapshot), pool
        )

    def delete(self, caller: Caller, pool: str) -> Answer[Deletion]:
        """Remove a pool with all its records; the trail says who did it."""
        caller.check("erase", pool)
        return self._with_tokens(
            self._with_trail(
                caller, "delete", lambda: self.operations.delete(pool), pool
            )
        )

    def issue(
        self, caller: Caller, role: str, pool: str | None, agent: str | None
    ) -> Answer[Token]:
        """Make a token."""
        caller.check("tokens")

        def act() -> Token:
            if pool is not None:
                self.operations.check_agent(pool, agent)
            return self.access.issue(role, pool, agent)

        return self._with_tokens(self._with_trail(caller, "issue", act))

    def revoke(self, caller: Caller, token: str) -> Answer[Revocation]:
        """Make a token invalid."""
        caller.check("tokens")
        return self._with_tokens(
            self._with_trail(caller, "revoke", lambda: self.access.revoke(token), token)
        )

    def rotate(self, caller: Caller, token: str, grace: float) -> Answer[Token]:
        """Make a token in place of another, which stays valid for some seconds."""
        caller.check("tokens")
        return self._with_tokens(
            self._with_trail(
                caller, "rotate", lambda: self.access.rotate(token, grace), token
            )
        )

    # what the coordinator does by itself

    def refit(self, pool: str, rule: str, fit: Callable[[RefitJob], Any]) -> bool:
        """Fit the pools of a rule outside the writer; return whether they were taken.

        ``fit`` may take long: until it is done, the rule goes on as it is.
        """
        act = self.operations
        job = self.writer.submit(lambda: act.refit_job(pool, rule)).result()
        if job is None:
            return False
        files = fit(job)
        if not files:
            return False
        found = self.writer.submit(lambda: act.refit(pool, rule, job, files)).result()
        return bool(found)

    def mark(self, found: Mapping[str, RecordError | None]) -> None:
        """Note which pools were verified, and at which record others were not."""

        def act() -> None:
            for pool in set(self.operations.unverified) - set(found):
                self.operations.mark(pool, None)
            for pool, error in found.items():
                self.operations.mark(pool, error)

        self.writer.submit(act).result()

    async def check_ready(self) -> None:
        """Write something, as a lost database or a read-only disk does not allow.

        On a disk that is nearly full a page can be written again, but no new one: so a
        commit that failed lately counts too.
        """
        self.writer.check(FAILED_FOR)
        if time.monotonic() - self._probed > PROBE_EVERY:
            await after(self.writer.submit(self.ledger.touch))
            self._probed = time.monotonic()

    # what only reads

    def tokens(self, caller: Caller) -> Answer[list[TokenState]]:
        """Return all tokens, without what is secret."""
        caller.check("tokens")
        return self.writer.submit(self.access.list)

    def trail(self, caller: Caller, last: int) -> Answer[list[Action]]:
        """Return who did what."""
        caller.check("trail")
        return self.writer.submit(lambda: read_trail(self.ledger, last))

    def pools(self, caller: Caller) -> Answer[list[str]]:
        """Return the names of all pools."""
        caller.check("read")
        return self.writer.submit(self.ledger.pool_names)

    def describe(self, caller: Caller, pool: str) -> Answer[PoolStatus]:
        """Return what a pool is, and its weights."""
        caller.check("read", pool)
        return self.writer.submit(lambda: describe(self.operations.find(pool)[1]))

    def case(self, caller: Caller, pool: str, case: str) -> Answer[messages.Case]:
        """Return what is known of a case; an agent sees its own report only."""
        caller.check("see-own", pool)
        only = caller.agent if caller.role == AGENT else None
        return self.writer.submit(lambda: self.operations.case(pool, case, only))

    def alarms_of(self, caller: Caller, pool: str) -> Answer[list[Alarm]]:
        """Return the alarms of a pool that last."""
        caller.check("read", pool)
        find = self.operations.find
        return self.writer.submit(lambda: self.alarms.of(find(pool)[1].pool.name))

    def settled(self, caller: Caller, pool: str, last: int) -> Settled:
        """Return the last settled cases of a pool."""
        caller.check("read", pool)
        find = self.operations.find
        number, state = self.writer.submit(lambda: find(pool)).result()
        with self.ledger.reader() as reader:
            return Settled(state.pool, state.active, reader.settled(number, last))

    def evidence(self, caller: Caller, pool: str, last: int) -> Challengers:
        """Return what each challenger would have saved."""
        settled = self.settled(caller, pool, last)
        found = self.describe(caller, pool).result()
        return Challengers(
            challengers=[
                settled.evidence(found.rule, name) for name in found.challengers
            ]
        )

    def _with_trail(
        self,
        caller: Caller,
        action: str,
        act: Callable[[], Found],
        target: str | None = None,
        about: str | None = None,
    ) -> Answer[Found]:
        """Do something and note who did it, in one transaction.

        ``about`` is an agent or a rule; never the name of a case.
        """

        def both() -> Found:
            answer = act()
            found, detail = target, about
            if isinstance(answer, Token):  # what it is about is known only now
                found = target or answer.id
                detail = " ".join(filter(None, (answer.agent, answer.role)))
            access.record(self.ledger, caller, action, found, detail or "")
            return answer

        return self.writer.submit(both)

    def _count_decision(self, pool: str, cases: int = 1) -> Callable[[Any], None]:
        return lambda _: self.metrics.decisions.labels(pool).inc(cases)

    def _count_reports(
        self, requests: list[tuple[str, Sequence[Report]]], answers: list[Any]
    ) -> None:
        stored: dict[str, int] = {}
        for (pool, _), answer in zip(requests, answers, strict=True):
            if not isinstance(answer, BaseException):
                stored[pool] = stored.get(pool, 0) + answer.stored
        for pool, number in stored.items():
            self.metrics.reports.labels(pool).inc(number)

    def _with_tokens(self, answer: Answer[Found]) -> Answer[Found]:
        answer.result()
        self.access.read()
        return answer
