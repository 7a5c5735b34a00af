"""Can this pool be trusted? Findings, each with its evidence and what to do."""

from truepool.audits.auditor import audit
from truepool.audits.values import (
    AgentSummary,
    Audit,
    Calibration,
    Changes,
    CostCurve,
    Drift,
    Finding,
    Fix,
    Recommendation,
    Reliability,
)

__all__ = [
    "AgentSummary",
    "Audit",
    "Calibration",
    "Changes",
    "CostCurve",
    "Drift",
    "Finding",
    "Fix",
    "Recommendation",
    "Reliability",
    "audit",
]
