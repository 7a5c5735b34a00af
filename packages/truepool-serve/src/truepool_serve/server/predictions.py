"""Decisions on reports that come with the request, inside a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from truepool.core.arrays import to_classes
from truepool.core.errors import RequestError
from truepool.panel.labels import Labels
from truepool_serve.messages import AnyEndpoint, Decision, Label, check_name
from truepool_serve.server.operations import Operations
from truepool_serve.server.reports import as_rows, probabilities

Case = tuple[Mapping[str, Any], Mapping[str, float]]
"""Reports by agent, and what the costs depend on."""


class Scored(NamedTuple):
    """A decision that is not recorded."""

    decision: Label
    probabilities: dict[str, float]


def score(operations: Operations, pool: str, cases: Sequence[Case]) -> list[Scored]:
    """Pool and decide cases that are not recorded, by the weights of now."""
    _, state = operations.find(pool)
    rule, names = state.rules[state.champion], state.pool.labels.names
    rows = [
        as_rows(state, [("-", agent, report) for agent, report in reports.items()])
        for reports, _ in cases
    ]  # checked before the first is pooled
    answers = []
    for t, (own, (_, columns)) in enumerate(zip(rows, cases, strict=True)):
        if not own:
            raise RequestError("invalid", f"case {t} has no report; nothing to pool")
        reports = {state.agents[i]: probabilities(value) for _, i, value in own}
        pooled = rule.score(reports)
        decision = names[state.decide(pooled, columns)]
        shares = map(float, to_classes(pooled))
        pooled_by = dict(zip(map(str, names), shares, strict=True))
        answers.append(Scored(decision, pooled_by))
    return answers


@dataclass(frozen=True)
class Plan:
    """What to do to predict a case: the answer it has, or whom to ask."""

    answer: Decision | None
    endpoints: Mapping[str, AnyEndpoint]
    labels: Labels
    deadline: float | None


def plan(
    operations: Operations, pool: str, case: str, columns: Mapping[str, float] | None
) -> Plan:
    """Return whom to ask about a case: those with an endpoint and no report yet."""
    number, state = operations.find(pool)
    check_name("a case", case)
    known = state.pool
    state.threshold(columns or {})  # refuses before anybody is asked
    if operations.ledger.find_entry(number, case, "decide"):
        answer = operations.decide(pool, case)
        return Plan(answer, {}, known.labels, known.deadline)
    reported = operations.ledger.reports(number, case)
    there = {state.agents[i] for i in reported}
    asked = {a: e for a, e in state.endpoints.items() if a not in there}
    return Plan(None, asked, known.labels, known.deadline)


def conclude(
    operations: Operations,
    pool: str,
    case: str,
    collected: Mapping[str, Any],
    columns: Mapping[str, float] | None,
    missing: Mapping[str, str],
    by: str | None = None,
) -> Decision:
    """Store the reports that were collected, and decide.

    Meanwhile an agent may have left or reported by itself, or the case was decided:
    what is in the ledger stands.
    """
    number, state = operations.find(pool)
    if not operations.ledger.find_entry(number, case, "decide"):
        stored = operations.ledger.reports(number, case)
        there = {state.agents[i] for i in stored}
        new = [
            (case, agent, report)
            for agent, report in collected.items()
            if agent in state.active and agent not in there
        ]
        if not new and not there & set(state.active):
            reasons = "; ".join(f"{agent}: {why}" for agent, why in missing.items())
            raise RequestError(
                "unavailable",
                f"no agent has reported on case {case!r:.60}; "
                f"{reasons or 'none has an endpoint'}",
            )
        missing = {agent: why for agent, why in missing.items() if agent not in there}
        known = (there | {agent for _, agent, _ in new}) & set(state.active)
        state.check_quorum(case, known, missing)
        operations.submit(pool, new)
    return operations.decide(pool, case, columns, by, missing)
