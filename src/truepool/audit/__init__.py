"""Can this pool be trusted? Findings, each with its evidence and what to do."""

import sys
from types import ModuleType

from truepool.audit.auditing import audit
from truepool.audit.values import (
    Audit,
    Calibration,
    CaseStudy,
    Curve,
    Drift,
    Finding,
    Fix,
    Recommendation,
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
    "Fix",
    "Recommendation",
    "Reliability",
    "Standing",
    "audit",
]


class _Room(ModuleType):
    """A room that can be called: ``truepool.audit`` is the verb and its folder."""

    __call__ = staticmethod(audit)


sys.modules[__name__].__class__ = _Room
