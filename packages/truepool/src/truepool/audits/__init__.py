"""Can this pool be trusted? One diagnosis of each agent, one plan, and the evidence."""

from truepool.audits.auditor import audit
from truepool.audits.values import (
    AgentSet,
    AgentSummary,
    Audit,
    Calibration,
    Change,
    Changes,
    CostCurve,
    Diagnosis,
    Drift,
    Finding,
    Note,
    Operation,
    Plan,
    Reliability,
    Step,
    Tradeoff,
)

__all__ = [
    "AgentSet",
    "AgentSummary",
    "Audit",
    "Calibration",
    "Change",
    "Changes",
    "CostCurve",
    "Diagnosis",
    "Drift",
    "Finding",
    "Note",
    "Operation",
    "Plan",
    "Reliability",
    "Step",
    "Tradeoff",
    "audit",
]
