"""Sequential change detection with a known false alarm rate."""

from bisect import bisect_left, bisect_right, insort
from math import pi, sqrt
from typing import final

import numpy as np

MILD_SLOPE, STRONG_SLOPE = 0.4, 0.9
"""Slopes of the linear densities that bet on higher or lower ranks."""

MEMORY = 10_000
"""How many values are kept; after that, each new one replaces a random one."""

WARM_UP = 30
"""How many values are collected before the first test."""

RANK_CLIP = 1e-12
"""Ranks are kept this far from 0 and 1, where densities are infinite."""


def bets(u: float) -> tuple[float, ...]:
    """Densities of the rank under eight kinds of change.

    Slightly or much higher or lower ranks; very low, very high, more extreme, more
    central ones.

    >>> [round(bet, 2) for bet in bets(0.9)]
    [1.32, 0.68, 1.72, 0.28, 0.53, 1.58, 1.06, 0.24]
    """
    v = 1.0 - u
    low, high, lean = sqrt(u), sqrt(v), u - v
    return (
        1 + MILD_SLOPE * lean, 1 - MILD_SLOPE * lean,
        1 + STRONG_SLOPE * lean, 1 - STRONG_SLOPE * lean,
        0.5 / low, 0.5 / high, 1 / (pi * low * high), 30 * u * u * v * v,
    )  # fmt: skip


BETS = len(bets(0.5))


@final
class RankDetector:
    r"""Monitor a series for a change in its distribution, one value at a time.

    The rank of each value among the earlier ones is uniform as long as nothing changes,
    whatever the distribution (a conformal p-value, Vovk et al. 2005); ties are broken
    at random. Each density :math:`f` of the rank :math:`u` in `bets` is a bet against
    that, and the evidence for a change at any earlier time,

    .. math:: R_t = (R_{t-1} + 1) \, f(u_t),

    averaged over the bets (Shiryaev-Roberts), has mean t while nothing changes, so the
    mean time to a false alarm is at least ``cases_per_false_alarm``. This assumes that
    values are exchangeable; with autocorrelated values false alarms are more frequent.

    >>> rng = np.random.default_rng(0)
    >>> detector = RankDetector(cases_per_false_alarm=10_000, seed=0)
    >>> [t for t in range(410) if detector.update(rng.normal() + 2 * (t >= 400))]
    [407, 408, 409]
    """

    def __init__(
        self, cases_per_false_alarm: float, seed: int = 0, memory: int = MEMORY
    ) -> None:
        self.cases_per_false_alarm, self.memory = cases_per_false_alarm, memory
        self._rng = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        """Discard all values and evidence."""
        self._sorted: list[float] = []
        self._order: list[float] = []
        self._evidence = [0.0] * BETS

    def update(self, value: float) -> bool:
        """Add one value and return whether the series has changed.

        Stays True after a change until `reset`.
        """
        seen = len(self._sorted)
        if seen >= WARM_UP:
            self._bet(value, seen)
        self._remember(value)
        return sum(self._evidence) >= self.cases_per_false_alarm * BETS

    def _bet(self, value: float, seen: int) -> None:
        low, high = bisect_left(self._sorted, value), bisect_right(self._sorted, value)
        u = (low + self._rng.random() * (high - low + 1)) / (seen + 1)
        odds = bets(min(max(u, RANK_CLIP), 1 - RANK_CLIP))
        self._evidence = [
            (r + 1) * f for r, f in zip(self._evidence, odds, strict=True)
        ]

    def _remember(self, value: float) -> None:
        if len(self._order) < self.memory:
            self._order.append(value)
        else:
            place = int(self._rng.integers(self.memory))
            gone, self._order[place] = self._order[place], value
            del self._sorted[bisect_left(self._sorted, gone)]
        insort(self._sorted, value)
