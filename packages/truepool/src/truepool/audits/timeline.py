"""Cases with and without an outcome, in the order of time, and when things changed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.measures.inference.hypothesis_tests import long_run_variance
from truepool.panel.panel import Panel

NEAR = 0.02
"""Changes closer than this share of the cases count as simultaneous, however precisely
each is dated."""

CRITICAL = 7.35
r"""Likelihood ratio beyond which a date is ruled out at the 5 % level,
:math:`-2 \log(1 - \sqrt{.95})` (Hansen 2000)."""


@dataclass(frozen=True)
class Position:
    """Where a case is in time: its place among so many, from 0, its id and date."""

    place: int
    cases: int
    id: str | None = None
    date: str = ""

    def __str__(self) -> str:
        """Return the position, counted from 1.

        >>> str(Position(819, 1550, "A7", "2026-03-24")), str(Position(0, 5))
        ('case 820 of 1,550 (id A7, 2026-03-24)', 'case 1 of 5')
        """
        known = [] if self.id is None else [f"id {self.id}"]
        known += [self.date] if self.date else []
        shown = f" ({', '.join(known)})" if known else ""
        return f"case {self.place + 1:,} of {self.cases:,}{shown}"


def format_date(time: Any) -> str:
    """Return a time as precise as it is.

    >>> format_date(np.datetime64("2024-05-15T13:05:00"))
    '2024-05-15 13:05'
    """
    return str(np.datetime_as_string(time, unit="auto")).replace("T", " ")


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

    def position(self, place: int) -> Position:
        """Return where a case is in time."""
        name = None if self.ids is None else str(self.ids[place])
        return Position(place, len(self), name, self.date(place))

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


def dates(series: FloatArray, place: int) -> tuple[int, int]:
    r"""Earliest and latest place at which a mean may have changed, at the 95 % level.

    A split at k explains :math:`W_k^2\, T / (k (T - k))` of the sum of squares, where
    W is the CUSUM; a date is ruled out where that is `CRITICAL` long-run variances less
    than the split at ``place`` explains. Where the mean rose twice the CUSUM may peak
    anywhere between; these dates still reach one of the two. Never narrower than
    `NEAR` on either side.

    >>> dates(np.r_[np.tile([0.0, 1.0], 500), np.tile([2.0, 3.0], 500)], 1000)
    (960, 1040)
    """
    T = len(series)
    k = np.arange(1, T)
    gained = np.cumsum(series - series.mean())[:-1] ** 2 * T / (k * (T - k))
    means = series[:place].mean(), series[place:].mean()
    rest = series - np.where(np.arange(T) < place, *means)
    variance = max(long_run_variance(rest, int(np.cbrt(T))), 0.0)
    possible = k[gained >= gained[place - 1] - CRITICAL * variance]
    near = int(np.ceil(NEAR * T))
    first, last = min(possible[0], place - near), max(possible[-1], place + near)
    return max(int(first), 0), min(int(last), T - 1)
