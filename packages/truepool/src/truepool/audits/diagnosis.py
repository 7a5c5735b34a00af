"""One diagnosis of the outcome, each agent and the pool: the first that applies."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from truepool.audits import kinds
from truepool.audits.candidate import Candidate
from truepool.audits.kinds import SOUND, UNTESTED
from truepool.audits.values import SEVERITIES, Diagnosis, Finding, Subject

FITTING = 0.25
"""Agents explain a change of the pool if their reports make up this share of it."""


def diagnose(
    subject: Subject, who: str, findings: Iterable[Finding], *, untested: bool = False
) -> Diagnosis:
    """Return the diagnosis of the outcome, an agent or the pool.

    Of what was found about it, the first in the order of `kinds` that is severe enough
    to be a diagnosis; the rest is evidence. ``untested``: too few outcomes to say that
    nothing is wrong.
    """
    every = kinds.every()
    own = [
        finding
        for finding in findings
        if every[finding.code].subject == subject
        and (subject != "agent" or finding.who[:1] == (who,))
    ]
    own.sort(key=lambda finding: kinds.rank(finding.code))
    first = next((f for f in own if _is_diagnosis(f)), None)
    if first is None:
        code = UNTESTED if untested else SOUND
        return Diagnosis(subject, who, code, None, None, tuple(own))
    rest = tuple(finding for finding in own if finding is not first)
    worst = min((f.severity for f in own), key=SEVERITIES.index)
    return Diagnosis(subject, who, first.code, worst, first, rest)


def _is_diagnosis(finding: Finding) -> bool:
    least = kinds.every()[finding.code].at_least
    return SEVERITIES.index(finding.severity) <= SEVERITIES.index(least)


def allow_for_selection(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings in which nothing is blamed that missing outcomes alone may cause.

    Where outcomes are known mostly in cases of one decision, or the newest ones are not
    known yet, reports seem too high or too low, and pools that decide less often seem
    to cost less. A bias the other way is as bad as it is.
    """
    every = kinds.every()
    seem = [
        finding.facts.get("seems")
        for finding in findings
        if every[finding.code].selects and finding.severity != "note"
    ]
    return [
        replace(finding, severity="note")
        if every[finding.code].selected and any(_fits(finding, one) for one in seem)
        else finding
        for finding in findings
    ]


def _fits(finding: Finding, seems: str | None) -> bool:
    """Whether reports that only seem too high, or too low, are what was found."""
    if seems is None or finding.unit != "bias" or finding.number is None:
        return True
    return (finding.number.value > 0) == (seems == "high")


def explain_drift(pairs: Sequence[tuple[Candidate, Finding]]) -> list[Finding]:
    """Name the agents whose change explains that the pool got worse, if any do.

    Those that changed near the date of the pool: the one without whose reports since
    then most of the rise disappears, if that is at least `FITTING` of it, else all of
    them together. A slight change of an agent may explain it too.
    """
    return [_with_cause(one, found, pairs) for one, found in pairs]


def _with_cause(
    pool: Candidate, finding: Finding, pairs: Sequence[tuple[Candidate, Finding]]
) -> Finding:
    if pool.share is None:
        return finding
    since: dict[str, int] = {}
    for one, other in pairs:
        about = kinds.every()[one.code]
        if about.subject == "agent" and not about.over and _near(pool, one):
            since.setdefault(other.who[0], one.since or 0)
    shares = {who: pool.share(since, [who]) for who in since}
    most = max(shares, key=lambda who: shares[who], default=None)
    cause: tuple[str, ...] = ()
    if most is not None and shares[most] >= FITTING:
        cause = (most,)
    else:
        some = tuple(who for who, share in shares.items() if share > 0)
        if len(some) > 1 and pool.share(since, some) >= FITTING:
            cause = some
    form = "agents" if cause else "unknown"
    return replace(finding, facts={**finding.facts, "form": form, "agents": cause})


def _near(pool: Candidate, agent: Candidate) -> bool:
    """Whether two changes may have happened at the same time."""
    if pool.since is None or agent.since is None:
        return False
    first, last = pool.between or (pool.since, pool.since)
    early, late = agent.between or (agent.since, agent.since)
    return first <= late and early <= last
