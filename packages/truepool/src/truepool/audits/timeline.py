"""Cases with and without an outcome, in the order of time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truepool.audits.attribution import NEAR
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.panel.panel import Panel


def format_date(time: Any) -> str:
    """Return a time as precise as it is.

    >>> format_date(np.datetime64("2024-05-15T13:05:00"))
    '2024-05-15 13:05'
    """
    return str(np.datetime_as_string(time, unit="auto")).replace("T", " ")


def position_of(place: int, cases: int, name: Any, date: str) -> str:
    """Return the position of a case, counted from 1, with its id and date if any.

    >>> position_of(819, 1550, "A7", "2026-03-24"), position_of(0, 5, None, "")
    ('case 820 of 1,550 (id A7, 2026-03-24)', 'case 1 of 5')
    """
    known = [*([] if name is None else [f"id {name}"]), *([date] if date else [])]
    return f"case {place + 1:,} of {cases:,}" + (
        f" ({', '.join(known)})" if known else ""
    )


@dataclass(frozen=True, eq=False)
class Timeline:
    """Reports (S, N, C) of all cases, with and without an outcome, in time order.

    ``cases`` are indices into the panel, -1 for a case without an outcome; ``resolved``
    is the number of cases with an outcome before each.
    """

    values: FloatArray
    cases: IntArray
    resolved: IntArray
    times: Array | None
    ids: Array | None = None

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.values)

    def describe(self, place: int) -> str:
        """Return the position of a case in time, in words."""
        name = None if self.ids is None else self.ids[place]
        return position_of(place, len(self), name, self.date(place))

    def date(self, place: int) -> str:
        """Return when a case was, whether it has an outcome; empty without dates."""
        return "" if self.times is None else format_date(self.times[place])

    def between(self, place: int, share: float = NEAR) -> tuple[int, int]:
        """Earliest and latest place of a change, counted in cases with an outcome."""
        near = int(np.ceil(share * len(self)))
        first, last = max(place - near, 0), min(place + near, len(self) - 1)
        return int(self.resolved[first]), int(self.resolved[last])

    def since(self, place: int, stop: int | None = None) -> IntArray:
        """Cases with an outcome from this place on, or up to another."""
        cases = self.cases[place:stop]
        return cases[cases >= 0]


def timeline(panel: Panel) -> Timeline:
    """Put cases with and without an outcome in the order of time, or of the table."""
    pending, order = panel.pending, panel.order_with_pending
    values, times, cases = panel.values, panel.times, np.arange(len(panel))
    if pending is not None:
        values = np.concatenate([values, pending.values])
        cases = np.r_[cases, np.full(len(pending), -1)]
        if times is not None and pending.times is not None:
            times = np.concatenate([times, pending.times])
    cases = cases[order]
    resolved = np.r_[0, np.cumsum(cases >= 0)[:-1]]
    ids = panel.ids
    if ids is not None and pending is not None:
        ids = None if pending.ids is None else np.concatenate([ids, pending.ids])
    return Timeline(
        values[order],
        cases,
        resolved,
        times[order] if times is not None and times.dtype.kind == "M" else None,
        None if ids is None else ids[order],
    )
