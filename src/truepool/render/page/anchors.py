"""Where on the page a finding finds its evidence."""

ANCHORS = {
    "reliability": "calibration",
    "weights": "figure-weights",
    "credit": "figure-credit",
    "incentives": "standing",
    "correlation": "redundancy",
    "threshold": "figure-threshold",
    "decision": "figure-decision",
    "comparison": "mechanisms",
    "drift": "time",
    "robustness": "robustness",
}
"""By what `truepool.audit.Finding.figure` may name."""
