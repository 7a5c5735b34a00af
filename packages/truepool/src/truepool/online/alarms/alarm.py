"""An alarm: what a detector reports when it finds a change."""

from dataclasses import dataclass
from typing import Any

POOL = "pool"
"""The name in an alarm about the pool's own cost."""
OUTCOMES = "outcomes"
"""The name in an alarm about the share of positive outcomes."""


@dataclass(frozen=True)
class Alarm:
    """A change in an agent's reports, in a loss, or in the outcomes.

    ``who`` is an agent, the ``pool`` or the ``outcomes``; ``case`` the index of the
    case (in time order) that raised the alarm; ``before`` and ``after`` the measurement
    on either side of the change; ``kind`` what was monitored; ``since`` the index of
    the first case after the change, if the detector can tell; ``time`` the time of the
    case, if it has one.
    """

    who: str
    case: int
    before: float
    after: float
    kind: str = "loss"
    since: int | None = None
    time: Any = None
