"""The verdict of an audit, in one sentence."""

from truepool.audit.values import SEVERITIES, Audit
from truepool.render.numbers import number

OPENINGS = {
    "error": "Do not trust this pool as it is",
    "warning": "Use this pool with care",
    None: "Nothing speaks against this pool",
}


def sentence(audit: Audit) -> str:
    """Say whether the pool can be trusted, and what the worst finding costs."""
    counts = {
        level: sum(finding.severity == level for finding in audit.findings)
        for level in SEVERITIES[:2]
    }
    told = [_counted(count, level) for level, count in counts.items() if count]
    where = f"on {audit.cases:,} settled cases of {len(audit.agents)} agents"
    worst = next((level for level, count in counts.items() if count), None)
    opening = OPENINGS[worst]
    if not told:
        missing = ", but not everything could be told" if audit.withheld else ""
        return f"{opening}: no error and no warning {where}{missing}."
    return f"{opening}: {' and '.join(told)} {where}{_dearest(audit)}."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _dearest(audit: Audit) -> str:
    costs = [
        finding.cost.value
        for finding in audit.findings
        if finding.cost is not None and finding.severity != "note"
    ]
    if not costs or max(costs) <= 0:
        return ""
    return f"; the dearest costs {number(max(costs))} a case"
