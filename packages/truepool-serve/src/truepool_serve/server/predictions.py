"""Decisions on reports that come with the request, inside a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from truepool.core.arrays import to_classes
from truepool.core.errors import RequestError
from truepool.panel.labels import Labels
from truepool_serve.server.configuration import check_name
from truepool_serve.server.endpoints import Endpoint
from truepool_serve.server.operations import Operations
from truepool_serve.server.reports import as_rows, probabilities

Case = tuple[Mapping[str, Any], Mapping[str, float]]
"""Reports by agent, and what the costs depend on."""


def score(
    operations: Operations, pool: str, cases: Sequence[Case]
) -> list[dict[str, Any]]:
    """Pool and decide cases that are not recorded, by the weights of now."""
    _, deployment = operations.find(pool)
    rule, names = deployment.rules[deployment.champion], deployment.pool.labels.names
    rows = [
        as_rows(deployment, [("-", agent, report) for agent, report in reports.items()])
        for reports, _ in cases
    ]  # checked before the first is pooled
    answers = []
    for t, (own, (_, columns)) in enumerate(zip(rows, cases, strict=True)):
        if not own:
            raise RequestError("invalid", f"case {t} has no report; nothing to pool")
        reports = {deployment.agents[i]: probabilities(value) for _, i, value in own}
        pooled = rule.score(reports)
        decision = names[deployment.decide(pooled, columns)]
        shares = map(float, to_classes(pooled))
        answers.append(
            {
                "decision": decision,
                "probabilities": dict(zip(names, shares, strict=True)),
            }
        )
    return answers


@dataclass(frozen=True)
class Plan:
    """What to do to predict a case: the answer it has, or whom to ask."""

    answer: dict[str, Any] | None
    endpoints: Mapping[str, Endpoint]
    labels: Labels
    deadline: float | None


def plan(
    operations: Operations, pool: str, case: str, columns: Mapping[str, float] | None
) -> Plan:
    """Return whom to ask about a case: those with an endpoint and no report yet."""
    number, deployment = operations.find(pool)
    check_name("a case", case)
    known = deployment.pool
    deployment.threshold(columns or {})  # refuses before anybody is asked
    if operations.ledger.find_entry(number, case, "decide"):
        answer = operations.decide(pool, case)
        return Plan(answer, {}, known.labels, known.deadline)
    reported = operations.ledger.reports(number, case)
    there = {deployment.agents[i] for i in reported}
    asked = {a: e for a, e in deployment.endpoints.items() if a not in there}
    return Plan(None, asked, known.labels, known.deadline)


def conclude(
    operations: Operations,
    pool: str,
    case: str,
    collected: Mapping[str, Any],
    columns: Mapping[str, float] | None,
    missing: Mapping[str, str],
    by: str | None = None,
) -> dict[str, Any]:
    """Store the reports that were collected, and decide.

    Meanwhile an agent may have left or reported by itself, or the case was decided:
    what is in the ledger stands.
    """
    number, deployment = operations.find(pool)
    if not operations.ledger.find_entry(number, case, "decide"):
        stored = operations.ledger.reports(number, case)
        there = {deployment.agents[i] for i in stored}
        new = [
            (case, agent, report)
            for agent, report in collected.items()
            if agent in deployment.active and agent not in there
        ]
        if not new and not there & set(deployment.active):
            reasons = "; ".join(f"{agent}: {why}" for agent, why in missing.items())
            raise RequestError(
                "unavailable",
                f"no agent has reported on case {case!r:.60}; "
                f"{reasons or 'none has an endpoint'}",
            )
        missing = {agent: why for agent, why in missing.items() if agent not in there}
        known = (there | {agent for _, agent, _ in new}) & set(deployment.active)
        deployment.check_quorum(case, known, missing)
        operations.submit(pool, new)
    return operations.decide(pool, case, columns, by, missing)
