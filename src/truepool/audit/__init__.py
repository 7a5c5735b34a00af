"""Can this pool be trusted? Findings, each with its evidence and what to do."""

from truepool.audit.values import (
    Audit,
    Calibration,
    CaseStudy,
    Curve,
    Drift,
    Finding,
    Reliability,
    Standing,
)

__all__ = [
    "Audit",
    "Calibration",
    "CaseStudy",
    "Curve",
    "Drift",
    "Finding",
    "Reliability",
    "Standing",
]
