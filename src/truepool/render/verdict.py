"""The verdict of an audit, in one sentence."""

from truepool.audit.values import SEVERITIES, Audit
from truepool.formatting import counted
from truepool.render.numbers import number

MENDED = "saved a case if mended"
"""What the cost of a finding is called; below 0, mending it alone is no cure."""

OPENINGS = {
    "error": "Do not trust this pool as it is",
    "warning": "Use this pool with care",
}


def sentence(audit: Audit) -> str:
    """Say whether the pool can be trusted, and what the worst finding costs."""
    where = f"on {audit.cases:,} settled cases of {len(audit.agents)} agents"
    counts = {level: audit.count(level) for level in SEVERITIES[:2]}
    told = [counted(count, level) for level, count in counts.items() if count]
    worst = audit.worst()
    if worst in OPENINGS:
        return f"{OPENINGS[worst]}: {' and '.join(told)} {where}{_dearest(audit)}."
    blind = dict(audit.withheld).get("calibration of the pool")
    if blind is not None:
        return f"Too little is known to judge this pool: {blind}."
    missing = ", but not everything could be told" if audit.withheld else ""
    return (
        f"Nothing speaks against this pool: no error and no warning {where}{missing}."
    )


def withheld(audit: Audit) -> dict[str, str]:
    """What is not told, by the reason."""
    told: dict[str, str] = {}
    for what, why in audit.withheld:
        told[why] = f"{told[why]}, {what}" if why in told else what
    return told


def _dearest(audit: Audit) -> str:
    costs = [
        finding.cost.value
        for finding in audit.findings
        if finding.cost is not None and finding.severity != "note"
    ]
    if not costs or max(costs) <= 0:
        return ""
    return f"; the dearest costs {number(max(costs))} a case"
