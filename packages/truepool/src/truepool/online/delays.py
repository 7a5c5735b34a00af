"""Outcomes that become known later: which cases are settled after which decision."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, IntArray, read_only
from truepool.core.errors import SettingError
from truepool.core.numbers import as_rows
from truepool.online.loop import AT_ONCE, Delay
from truepool.panel.panel import Panel


def check_delays(delay: int | ArrayLike, cases: int) -> IntArray | None:
    """Delay of each case, or None if every outcome is known at once."""
    rule = (
        "a delay must be a whole number of cases, 0 or more: one for all, or one for "
        f"each of the {cases} cases"
    )
    late = as_rows(delay, rule, SettingError)
    fits = late.ndim == 0 or late.shape == (cases,)
    if not fits or late.dtype.kind not in "iu" or (late < 0).any():
        raise SettingError(f"{rule}; got {late.tolist()!r:.60}")
    if not late.any():
        return None
    return np.broadcast_to(np.minimum(late, cases).astype(np.int64), (cases,))


def count_unsettled(late: IntArray, losses: FloatArray) -> int:
    """Cases with a report whose outcome is not known at the end."""
    T = late.size
    return int(((np.arange(T) + late >= T) & ~np.isnan(losses)).sum())


def settling_order(late: IntArray) -> tuple[IntArray, IntArray]:
    """Cases by when their outcome is known; where those after each decision begin."""
    T = late.size
    arrival = np.arange(T) + late
    due = np.argsort(arrival, kind="stable")
    return due, np.searchsorted(arrival[due], np.arange(T + 1))


def arrivals(late: IntArray | None, T: int) -> list[IntArray]:
    """Cases whose outcome becomes known after each decision."""
    due, first = settling_order(np.zeros(T, int) if late is None else late)
    return np.split(due, first[1:])[:T]


def plan_delays(late: IntArray | None, T: int, N: int, path: FloatArray) -> Delay:
    """Return when the cases of a panel are settled, and room for their weights."""
    if late is None:
        return AT_ONCE
    due, first = settling_order(late)
    if path.size:  # the path keeps the weights of every case anyway
        return Delay(due, first, np.arange(T), path)
    longest = int(late.max()) + 1
    return Delay(due, first, np.arange(T) % longest, np.empty((longest, N)))


class WaitingCases:
    """Cases of earlier blocks that wait for their outcome, all for the same delay.

    Their reports follow those of the next block, where the loop finds them when they
    are due: it decides as many cases as its plan has, and settles any row.
    """

    def __init__(self, delay: int, agents: int, coordinates: int) -> None:
        self.delay = delay
        self.seen = 0
        self.values = np.empty((0, agents, coordinates))
        self.outcomes = np.empty(0, dtype=np.int64)
        self.pooled = np.empty((0, coordinates))
        self._weights = np.empty((delay + 1, agents))

    def plan(self, cases: int) -> Delay:
        """Return which rows are settled after each decision of the next block."""
        if not self.delay:
            return AT_ONCE
        held = len(self.outcomes)
        known = np.arange(cases) - self.delay
        known = known[known >= -self.seen]  # the oldest row that waits is never older
        due = np.where(known < 0, cases + held + known, known)
        first = np.maximum(np.arange(cases + 1) - (cases - len(known)), 0)
        numbers = self.seen + np.append(np.arange(cases), np.arange(-held, 0))
        return Delay(due, first, numbers % (self.delay + 1), self._weights)

    def after(self, panel: Panel) -> tuple[FloatArray, IntArray]:
        """Return the reports and outcomes of a block, and then of those who wait."""
        if not self.delay:
            return panel.values, panel.outcomes
        values = np.concatenate([panel.values, self.values])
        return read_only(values), np.append(panel.outcomes, self.outcomes)

    def add(self, panel: Panel, pooled: FloatArray) -> None:
        """Keep the latest cases, which wait when the next block begins."""
        self.seen += len(panel)
        held = min(self.delay, self.seen)
        for name, block in (
            ("values", panel.values),
            ("outcomes", panel.outcomes),
            ("pooled", pooled),
        ):
            both = np.concatenate([getattr(self, name), block])
            setattr(self, name, both[len(both) - held :])
