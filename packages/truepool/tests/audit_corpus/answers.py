"""What an audit answers: the one place where the corpus reads an audit.

When the form of an audit changes, this file changes and nothing else of the corpus.
"""

OVER = ("constant-run", "reporting-gap")
"""Faults of a feed that works again: remarks about an agent, no diagnosis."""

NO_REPORTS, SOUND = "no-reports", "sound"


def answers(audit, names):
    """What an audit says, in plain values; ``names`` are the agents of the table.

    trust
        "no", "with care", "yes" or "unknown".
    pool
        Name of the recommended pool; None where none is recommended.
    first
        The first of the worst diagnoses, of outcome, agents or pool: [code, severity,
        who, since]. ``who`` are names, of a copy and then its source; ``since`` counts
        cases with an outcome before the change, None without a date.
    findings
        None: findings are evidence, and the record of an earlier form is kept to read.
    agents
        {name: [code, since]}: the one diagnosis of each agent.
    over
        {name: [code, since]}: faults of an agent's feed that works again.
    outcome
        [code, since]: the one diagnosis of the outcomes; None where they are sound.
    """
    grades = ("error", "warning")
    grave = [one for one in audit.diagnoses if one.severity in grades]
    grave.sort(key=lambda one: grades.index(one.severity))
    over = [f for f in audit.findings if f.code in OVER]
    return {
        "trust": audit.plan.trust,
        "pool": audit.plan.pool,
        "first": _first(grave[0]) if grave else None,
        "findings": None,
        "agents": {one.who: [_code(one), one.since] for one in audit.agents},
        "over": {f.who[0]: [f.code, f.since] for f in over},
        "outcome": None
        if audit.outcome.finding is None
        else [audit.outcome.code, audit.outcome.since],
    }


def _first(one):
    return [one.code, one.severity, list(one.finding.who), one.since]


def _code(one):
    return one.code if one.finding is not None else SOUND
