"""A jury of judges: whom to keep, what to decide, what to send to a person."""

from truepool.juries.analysis import jury
from truepool.juries.values import (
    Copy,
    Cost,
    Judge,
    Jury,
    OrderBias,
    Repetition,
    Review,
    Shortage,
)

__all__ = [
    "Copy",
    "Cost",
    "Judge",
    "Jury",
    "OrderBias",
    "Repetition",
    "Review",
    "Shortage",
    "jury",
]
