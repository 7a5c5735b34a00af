"""A jury of judges: whom to keep, what to decide, what to send to a person."""

from truepool_jury.juries.analysis import jury
from truepool_jury.juries.values import (
    Copy,
    Cost,
    Judge,
    Jury,
    OrderBias,
    Repetition,
    Review,
    Shortage,
)
from truepool_jury.juries.verdict_table import VerdictTable, read_verdicts

__all__ = [
    "Copy",
    "Cost",
    "Judge",
    "Jury",
    "OrderBias",
    "Repetition",
    "Review",
    "Shortage",
    "VerdictTable",
    "jury",
    "read_verdicts",
]
