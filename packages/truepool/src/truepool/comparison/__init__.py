"""Every pool side by side on one panel, tested on cases it was not fitted on."""

from truepool.comparison.competition import Competition, describe_pending
from truepool.comparison.cross_validation import choose_pools, compare, tabulate
from truepool.comparison.tested_cases import (
    BASELINES,
    estimate_cost,
    estimate_difference,
)
from truepool.comparison.values import (
    Comparison,
    Estimate,
    GroupComparison,
    Row,
    is_significant,
)

__all__ = [
    "BASELINES",
    "Comparison",
    "Competition",
    "Estimate",
    "GroupComparison",
    "Row",
    "choose_pools",
    "compare",
    "describe_pending",
    "estimate_cost",
    "estimate_difference",
    "is_significant",
    "tabulate",
]
