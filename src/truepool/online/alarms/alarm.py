"""What a detector says when it finds a change."""

from dataclasses import dataclass
from typing import Any

POOL = "pool"
"""Whose alarm it is where the pool got worse."""
OUTCOMES = "outcomes"
"""Whose alarm it is where the share of positive outcomes changed."""


@dataclass(frozen=True)
class Alarm:
    """Something changed: an agent's reports, somebody's loss, or the outcomes.

    ``who`` is an agent, the ``pool`` or the ``outcomes``; ``case`` the index of the
    case (in the order of time) that set the alarm off; ``before`` and ``after`` what
    was measured on either side of the change; ``kind`` what was watched; ``since`` the
    index of the first case after the change, where the detector can tell; ``time`` the
    time of the case, where it has one.
    """

    who: str
    case: int
    before: float
    after: float
    kind: str = "loss"
    since: int | None = None
    time: Any = None
