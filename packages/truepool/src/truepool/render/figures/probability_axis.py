"""An axis of probabilities: even, or in log-odds where events are rare."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from truepool.core.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axis import Axis

RARE = 0.05
"""Axes are in log-odds where the rarer outcome has a smaller share than this."""
SMALLEST, FARTHEST = 1e-6, 100
"""Smallest probability that is told from 0, and how many times smaller than the share
of the rarer outcome an axis begins."""
EVEN_TICKS = (0.0, 0.5, 1.0)
TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-4)
MARGIN = 0.03


@dataclass(frozen=True)
class ProbabilityAxis:
    """Where probabilities stand on an axis.

    In log-odds it reaches from ``low`` to ``high``; what lies beyond stands at the end.
    """

    log_odds: bool = False
    low: float = 0.0
    high: float = 1.0

    def place(self, p: FloatArray | float) -> FloatArray:
        """Return coordinates of probabilities."""
        if not self.log_odds:
            return np.asarray(p, dtype=np.float64)
        return np.asarray(logit(np.clip(p, self.low, self.high)))

    def mark(self, axis: "Axis", most: int = 4) -> None:
        """Set the limits of an axis, and at most so many ticks, in percent."""
        ends = self.place(np.array([self.low, self.high]))
        reach = MARGIN * float(ends[1] - ends[0])
        axis.set_view_interval(ends[0] - reach, ends[1] + reach, ignore=True)
        ticks = TICKS if self.log_odds else EVEN_TICKS
        shown = [tick for tick in ticks if self.low <= tick <= self.high]
        shown = shown[:: ceil(len(shown) / most)]
        axis.set_ticks(self.place(np.array(shown)), [_percent(tick) for tick in shown])


def axis_for(rate: float, probabilities: Iterable[FloatArray]) -> ProbabilityAxis:
    """Return an axis on which these can be read at this share of positive outcomes.

    >>> axis_for(0.37, [np.array([0.1, 0.9])])
    ProbabilityAxis(log_odds=False, low=0.0, high=1.0)
    >>> axis_for(0.002, [np.array([0.0, 0.0004, 0.06])])
    ProbabilityAxis(log_odds=True, low=0.0001, high=0.1)
    """
    if min(rate, 1 - rate) >= RARE:
        return ProbabilityAxis()
    p = np.concatenate([np.ravel(one) for one in probabilities])
    p = p[(p >= SMALLEST) & (p <= 1 - SMALLEST)]
    least = max(p.min(initial=0.01), min(rate, 1 - rate) / FARTHEST)
    low = max((t for t in TICKS if t <= least), default=SMALLEST)
    high = min((t for t in TICKS if t >= p.max(initial=0.1)), default=1 - SMALLEST)
    return ProbabilityAxis(True, low, high)


def _percent(p: float) -> str:
    """Return a round probability in percent, as short as it can be.

    >>> _percent(0.0001), _percent(0.5), _percent(1 - 1e-4)
    ('0.01', '50', '99.99')
    """
    return f"{100 * p:.6f}".rstrip("0").rstrip(".")
