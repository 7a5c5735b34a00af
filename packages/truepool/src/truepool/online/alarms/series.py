"""The series of one agent, such as its cost: when its mean changes, and by how much."""

from collections import deque
from dataclasses import dataclass
from typing import final

import numpy as np

from truepool.online.alarms.change_point import change
from truepool.online.alarms.conformal import RankDetector
from truepool.online.alarms.distribution import (
    LEVEL_CHANGE,
    LINK_FALL,
    OWN_SHARE,
    RELATIVE_FALL,
    SCALE_CHANGE,
)

COST_RISE, DISCRIMINATION_FALL = 0.1, 0.25
"""The smallest rise in cost, and fall in discrimination, that matter, as shares of the
former value."""

LEVEL, TEST_INTERVAL = 0.01, 10
"""An alarm needs the retrospective test to confirm the change in the mean at this
significance level; it is run at every tenth value."""


@dataclass(frozen=True)
class Change:
    """Where a change began, the agent's own means, and the rise of the contrast."""

    since: int
    before: float
    after: float
    contrast: float


@final
class SeriesDetector:
    """An agent's own series, and its contrast to the others', since the last alarm.

    Monitors the contrast, or the ``own`` series where that varies less.
    """

    def __init__(
        self, cases_per_false_alarm: float, seed: int, memory: int, own: bool
    ) -> None:
        self.detector = RankDetector(cases_per_false_alarm, seed, memory)
        self._own, self._seen = own, 0
        self._history: deque[tuple[int, float, float]] = deque(maxlen=memory)

    def update(self, case: int, own: float, contrast: float) -> Change | None:
        """Add a value and return the change, or None if there is none.

        The change is placed where the CUSUM is largest, and the detector is reset after
        it.
        """
        self._history.append((case, own, contrast))
        self._seen += 1
        alarmed = self.detector.update(own if self._own else contrast)
        if not alarmed or self._seen % TEST_INTERVAL:
            return None
        cases, mine, relative = map(np.array, zip(*self._history, strict=True))
        tested = change(mine if self._own else relative)
        cut = tested.place
        if tested.p_value >= LEVEL:  # the others' spread changed rather than this mean
            return None
        self.detector.reset()
        self._history.clear()
        return Change(
            int(cases[cut]),
            float(mine[:cut].mean()),
            float(mine[cut:].mean()),
            float(relative[cut:].mean() - relative[:cut].mean()),
        )


def matters(kind: str, found: Change) -> bool:
    """Whether a change is large, for the worse, and relative to the other agents."""
    rise = found.after - found.before
    mine = found.contrast * np.sign(rise) >= OWN_SHARE * abs(rise)
    match kind:
        case "level":
            return bool(mine and abs(rise) >= LEVEL_CHANGE)
        case "scale":
            return bool(mine and abs(rise) >= SCALE_CHANGE)
        case "link":
            return bool(mine and -rise >= max(LINK_FALL, RELATIVE_FALL * found.before))
        case "cost":
            return bool(mine and rise > COST_RISE * found.before)
        case "discrimination":
            return bool(mine and -rise > DISCRIMINATION_FALL * abs(found.before))
        case _:
            return True
