"""What to do: one value from which verdict and advice are both worded."""

from truepool.audits.advising import advised, regime
from truepool.audits.comparing import compared
from truepool.audits.evidence import Evidence
from truepool.audits.robustness import best_agent
from truepool.audits.values import Finding, Fix, Recommendation, Trust

CURED_BY_A_POOL = (
    "under-confident-pool",
    "over-confident-pool",
    "biased-pool",
    "worse-than-best",
)
"""Warnings about the pool in use that another pool answers."""


def recommend(evidence: Evidence, findings: tuple[Finding, ...]) -> Recommendation:
    """Say what to fix first, then which pool to use, and why.

    An error is fixed before anything else. Warnings that the recommended pool answers
    are not listed again, nor are those about an agent that is to be fixed anyway.
    """
    faulty = {f.who[0] for f in findings if f.severity == "error" and f.who}
    chosen, table = advised(evidence, faulty), evidence.once(compared)
    usual, because = regime(evidence, findings)
    in_use = evidence.pool.name
    if chosen is None or table is None:
        fixes = _fixes(findings, faulty, change=False)
        trust = _trust(findings, blind=evidence.shortage is not None)
        return Recommendation(trust, fixes, in_use, None, regime=because, usual=usual)
    change = chosen.pool != in_use
    return Recommendation(
        _trust(findings, blind=False),
        _fixes(findings, faulty, change=change),
        in_use,
        chosen.pool,
        best_agent(evidence) if chosen.pool == "best-agent" else None,
        table[chosen.pool].loss.value,
        table[in_use].loss.value,
        chosen.saved if change else None,
        chosen.p_value,
        len(table.rows) - 1,
        chosen.why,
        because,
        usual,
        table[usual].loss.value,
    )


def _trust(findings: tuple[Finding, ...], *, blind: bool) -> Trust:
    grades = {finding.severity for finding in findings}
    if "error" in grades:
        return "no"
    if "warning" in grades:
        return "with care"
    return "unknown" if blind else "yes"


def _fixes(
    findings: tuple[Finding, ...], faulty: set[str], *, change: bool
) -> tuple[Fix, ...]:
    return tuple(
        Fix(f.code, f.who, f.severity, f.cost, f.since)
        for f in findings
        if f.severity == "error"
        or (
            f.severity == "warning"
            and not (change and f.code in CURED_BY_A_POOL)
            and not faulty.intersection(f.who[:1])
        )
    )
