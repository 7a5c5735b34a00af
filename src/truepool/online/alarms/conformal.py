"""Sequential detection of a change, with a known rate of false alarms."""

from bisect import bisect_left, bisect_right, insort
from math import pi, sqrt
from typing import final

import numpy as np

MILD, STRONG = 0.4, 0.9

MEMORY = 10_000
"""Values that are remembered; beyond, each new one takes the place of a random one."""

WARM_UP = 30
"""Values that are only remembered before anything can be called a change."""


SMALLEST = 1e-12


def bets(u: float) -> tuple[float, ...]:
    """Densities of a rank that would mean a change.

    Higher or lower ranks, a little or much; very low, very high, wider, narrower.

    >>> [round(bet, 2) for bet in bets(0.9)]
    [1.32, 0.68, 1.72, 0.28, 0.53, 1.58, 1.06, 0.24]
    """
    v = 1.0 - u
    low, high, lean = sqrt(u), sqrt(v), u - v
    return (
        1 + MILD * lean, 1 - MILD * lean, 1 + STRONG * lean, 1 - STRONG * lean,
        0.5 / low, 0.5 / high, 1 / (pi * low * high), 30 * u * u * v * v,
    )  # fmt: skip


BETS = len(bets(0.5))


@final
class RankDetector:
    r"""Watch a series for a change of its distribution, one value at a time.

    The rank of each value among the earlier ones is uniform as long as nothing changes,
    whatever the distribution (a conformal p-value, Vovk et al. 2005); ties are broken
    at random. Each density :math:`f` of the rank :math:`u` in `bets` is a bet against
    that, and the evidence for a change at any place up to now,

    .. math:: R_t = (R_{t-1} + 1) \, f(u_t),

    averaged over the bets (Shiryaev-Roberts), has mean t where nothing changed: it
    exceeds ``every`` on average not before ``every`` values were seen. This supposes
    that values are exchangeable; where they follow each other closely it is exceeded
    sooner.

    >>> rng = np.random.default_rng(0)
    >>> watch = RankDetector(every=10_000, seed=0)
    >>> [t for t in range(410) if watch.update(rng.normal() + 2 * (t >= 400))]
    [407, 408, 409]
    """

    def __init__(self, every: float, seed: int = 0) -> None:
        self.every = every
        self._rng = np.random.default_rng(seed)
        self.forget()

    def forget(self) -> None:
        """Start anew."""
        self._sorted: list[float] = []
        self._order: list[float] = []
        self._evidence = [0.0] * BETS

    def update(self, value: float) -> bool:
        """Take one value in, and say whether the series has changed.

        Once it has, it says so until it is told to `forget`.
        """
        seen = len(self._sorted)
        if seen >= WARM_UP:
            self._bet(value, seen)
        self._remember(value)
        return sum(self._evidence) >= self.every * BETS

    def _bet(self, value: float, seen: int) -> None:
        low, high = bisect_left(self._sorted, value), bisect_right(self._sorted, value)
        u = (low + self._rng.random() * (high - low + 1)) / (seen + 1)
        odds = bets(min(max(u, SMALLEST), 1 - SMALLEST))
        self._evidence = [
            (r + 1) * f for r, f in zip(self._evidence, odds, strict=True)
        ]

    def _remember(self, value: float) -> None:
        if len(self._order) < MEMORY:
            self._order.append(value)
        else:
            place = int(self._rng.integers(MEMORY))
            gone, self._order[place] = self._order[place], value
            del self._sorted[bisect_left(self._sorted, gone)]
        insort(self._sorted, value)
