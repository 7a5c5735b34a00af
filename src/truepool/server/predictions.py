"""Decisions on reports that come with the request, inside a transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from truepool.core.arrays import to_classes
from truepool.core.errors import RequestError
from truepool.server.operations import Operations, as_rows, probabilities

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


def record(operations: Operations, pool: str, case: str, given: Case) -> dict[str, Any]:
    """Store all reports on a case and decide it; the same again changes nothing."""
    reports, columns = given
    _, deployment = operations.find(pool)
    deployment.threshold(columns)  # refuses before anything is written
    operations.submit(pool, [(case, agent, r) for agent, r in reports.items()])
    return operations.decide(pool, case, columns)
