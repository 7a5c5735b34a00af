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
from truepool_serve.server import access
from truepool_serve.server.access import AGENT, Access, Caller, read_trail
from truepool_serve.server.agent_calls import AgentCalls, check_deadline, check_features
from truepool_serve.server.alarms import Alarms
from truepool_serve.server.answers import Answer, after
from truepool_serve.server.deployment import RecordError
from truepool_serve.server.history import History
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.metrics import Metrics
from truepool_serve.server.operations import Operations, describe
from truepool_serve.server.predictions import Case, Plan, conclude, plan, score
from truepool_serve.server.reports import Report
from truepool_serve.server.rules import RefitJob
from truepool_serve.server.writer import JointOperation, Writer

PROBE_EVERY = 0.1
"""Seconds between two writes that only show that one can write: anyone may ask."""


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

    def create(self, caller: Caller, given: Any) -> Answer:
        """Deploy a pool."""
        caller.check("register")
        return self._with_trail(caller, "create", self.operations.create, given)

    def change(
        self, caller: Caller, pool: str, kind: str, content: Mapping[str, Any]
    ) -> Answer:
        """Change the agents or the rules of a pool."""
        caller.check("register", pool)
        act = self.operations.change
        action = kind
        if kind == "endpoint":
            action = "remove-endpoint" if content["endpoint"] is None else "endpoint"
        return self._with_trail(caller, action, act, pool, kind, content)

    def report(self, caller: Caller, pool: str, reports: Sequence[Report]) -> Answer:
        """Store reports."""
        caller.check("report", pool)
        if caller.agent is not None:
            for case, agent, _ in reports:
                caller.check_agent(agent, case)
        return self.writer.submit_jointly(self._reporting, (pool, reports))

    def decide(
        self, caller: Caller, pool: str, case: str, columns: Mapping[str, Any] | None
    ) -> Answer:
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
    ) -> dict[str, Any]:
        """Ask the agents of a pool about a case, and decide by whoever answered."""
        caller.check("decide", pool)
        check_features(features)
        check_deadline(deadline, None)
        act = self.operations
        found: Plan = await after(
            self.writer.submit(lambda: plan(act, pool, case, columns))
        )
        if found.answer is not None:
            return found.answer
        seconds = check_deadline(deadline, found.deadline)
        reports, missing = await self.calls.fan_out(
            found.endpoints, found.labels, case, features, seconds
        )
        decided = self.writer.submit(
            lambda: conclude(act, pool, case, reports, columns, missing, caller.token),
            self._count_decision(pool),
        )
        answer: dict[str, Any] = await after(decided)
        return answer

    def score(self, caller: Caller, pool: str, cases: Sequence[Case]) -> Answer:
        """Decide cases that are not recorded."""
        caller.check("decide", pool)
        return self.writer.submit(lambda: score(self.operations, pool, cases))

    def decide_all(
        self,
        caller: Caller,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any] | None]],
    ) -> Answer:
        """Decide cases, all or none."""
        caller.check("decide", pool)
        by = caller.token
        return self.writer.submit(
            lambda: {"decisions": self.operations.decide_all(pool, cases, by)},
            self._count_decision(pool, len(cases)),
        )

    def record(
        self,
        caller: Caller,
        pool: str,
        cases: Sequence[tuple[str, Mapping[str, Any], Mapping[str, float]]],
    ) -> Answer:
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
    ) -> Answer:
        """Learn from outcomes."""
        caller.check("settle", pool)
        by = caller.token
        return self.writer.submit(
            lambda: self.operations.settle(pool, outcomes, by),
            lambda found: self.metrics.outcomes.labels(pool).inc(found["settled"]),
        )

    def erase(self, caller: Caller, pool: str, case: str) -> Answer:
        """Remove what is known of a case."""
        caller.check("erase", pool)
        return self._with_trail(caller, "erase", self.operations.erase, pool, [case])

    def delete(self, caller: Caller, pool: str) -> Answer:
        """Remove a pool with all its records; the trail says who did it."""
        caller.check("erase", pool)
        return self._with_tokens(
            self._with_trail(caller, "delete", self.operations.delete, pool)
        )

    def issue(
        self, caller: Caller, role: str, pool: str | None, agent: str | None
    ) -> Answer:
        """Make a token."""
        caller.check("tokens")

        def act() -> dict[str, Any]:
            if pool is not None:
                self.operations.check_agent(pool, agent)
            return self.access.issue(role, pool, agent)

        return self._with_tokens(self._with_trail(caller, "issue", act))

    def revoke(self, caller: Caller, token: str) -> Answer:
        """Make a token invalid."""
        caller.check("tokens")
        return self._with_tokens(
            self._with_trail(caller, "revoke", self.access.revoke, token)
        )

    def rotate(self, caller: Caller, token: str, grace: float) -> Answer:
        """Make a token in place of another, which stays valid for some seconds."""
        caller.check("tokens")
        return self._with_tokens(
            self._with_trail(caller, "rotate", self.access.rotate, token, grace)
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
        """Write something, as a full disk or a lost database does not allow."""
        if time.monotonic() - self._probed > PROBE_EVERY:
            await after(self.writer.submit(self.ledger.touch))
            self._probed = time.monotonic()

    # what only reads

    def tokens(self, caller: Caller) -> Answer:
        """Return all tokens, without what is secret."""
        caller.check("tokens")
        return self.writer.submit(self.access.list)

    def trail(self, caller: Caller, last: int) -> Answer:
        """Return who did what."""
        caller.check("trail")
        return self.writer.submit(lambda: read_trail(self.ledger, last))

    def pools(self, caller: Caller) -> Answer:
        """Return the names of all pools."""
        caller.check("read")
        return self.writer.submit(self.ledger.pool_names)

    def describe(self, caller: Caller, pool: str) -> Answer:
        """Return what a pool is, and its weights."""
        caller.check("read", pool)
        return self.writer.submit(lambda: describe(self.operations.find(pool)[1]))

    def case(self, caller: Caller, pool: str, case: str) -> Answer:
        """Return what is known of a case; an agent sees its own report only."""
        caller.check("see-own", pool)
        only = caller.agent if caller.role == AGENT else None
        return self.writer.submit(lambda: self.operations.case(pool, case, only))

    def alarms_of(self, caller: Caller, pool: str) -> Answer:
        """Return the alarms of a pool that last."""
        caller.check("read", pool)
        find = self.operations.find
        return self.writer.submit(lambda: find(pool) and self.alarms.of(pool))

    def history(self, caller: Caller, pool: str, last: int) -> History:
        """Return the last settled cases of a pool."""
        caller.check("read", pool)
        find = self.operations.find
        number, deployment = self.writer.submit(lambda: find(pool)).result()
        with self.ledger.reader() as connection:
            return History.read(
                connection, number, deployment.pool, deployment.active, last
            )

    def evidence(self, caller: Caller, pool: str, last: int) -> list[dict[str, Any]]:
        """Return what each challenger would have saved."""
        history = self.history(caller, pool, last)
        found = self.describe(caller, pool).result()
        return [history.evidence(found["rule"], name) for name in found["challengers"]]

    def _with_trail(
        self, caller: Caller, action: str, act: Callable[..., Any], *words: Any
    ) -> Answer:
        """Do something and note who did it, in one transaction."""

        def both() -> Any:
            answer = act(*words)
            target = next((word for word in words if isinstance(word, str)), None)
            # A new pool or token has its name in the answer only.
            given = answer.get("name", answer.get("id"))
            detail = _detail(words, answer)
            access.record(self.ledger, caller, action, target or given, detail)
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
                stored[pool] = stored.get(pool, 0) + answer["stored"]
        for pool, number in stored.items():
            self.metrics.reports.labels(pool).inc(number)

    def _with_tokens(self, answer: Answer) -> Answer:
        answer.result()
        self.access.read()
        return answer


def _detail(words: tuple[Any, ...], answer: Any) -> str:
    """Say about whom an action was: an agent or a rule; never the name of a case."""
    content = words[-1] if words and isinstance(words[-1], dict) else answer
    return " ".join(
        str(content[name])
        for name in ("agent", "name", "role")
        if isinstance(content.get(name), str)
    )
