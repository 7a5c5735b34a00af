"""Logistic scaling of the pooled probability, updated case by case."""

from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray, IntArray, from_log_scale
from truepool.measures.calibration import clipped_log_scale, newton_terms

FIRMNESS = 5.0
"""How firmly no change is believed in before any case."""

FADING = 0.998
"""What is kept, a case, of the confidence in the scale so far: some 500 cases count."""

STRIDE, LEAST = 0.25, 0.1
"""No single case moves the scale further, or turns the pool around."""


@dataclass(frozen=True, eq=False)
class Recalibration:
    r"""A factor a and a shift b for the log-odds: :math:`a\,\mathrm{logit}\,p + b`.

    Learned by one Newton step a settled case on the log loss, from no change (a = 1,
    b = 0), and following when the pool changes. K classes share a and have a shift
    each. Pure: `learn` returns another one.

    >>> start = Recalibration.start(classes=2)
    >>> start.apply(np.array([0.8]))
    array([0.8])
    >>> bool(start.learn(np.array([0.8]), 1).apply(np.array([0.8]))[0] > 0.8)
    True
    """

    scale: FloatArray  # (1 + K - 1,): a, then b
    precision: FloatArray

    @classmethod
    def start(cls, classes: int) -> "Recalibration":
        """No change yet."""
        size = classes  # one factor and K - 1 shifts
        scale = np.zeros(size)
        scale[0] = 1.0
        return cls(scale, FIRMNESS * np.eye(size))

    def apply(self, pooled: FloatArray) -> FloatArray:
        """Scaled coordinates of pooled ones, (C,) or (T, C)."""
        z = clipped_log_scale(pooled)
        return from_log_scale(self.scale[0] * z + self.scale[1:])

    def learn(self, pooled: FloatArray, outcome: int) -> "Recalibration":
        """Return the scaling after one more case."""
        z = clipped_log_scale(pooled)[None]  # (1, K - 1)
        came = np.arange(1, z.size + 1)[None] == outcome
        gradient, curve = newton_terms(self.scale, z, came, np.ones(1))
        firm = FIRMNESS * np.eye(len(self.scale))
        # What was learned at an older scale fades: it was learned at the wrong place.
        faded = firm + FADING * (self.precision - firm)
        precision = faded + curve
        step = np.linalg.solve(precision, gradient)
        step *= min(1.0, STRIDE / max(float(np.abs(step).max()), STRIDE))
        scale = self.scale - step
        scale[0] = max(scale[0], LEAST)
        return Recalibration(scale, precision)


def recalibrated(
    pooled: FloatArray, outcomes: IntArray, arrivals: list[IntArray], classes: int
) -> tuple[FloatArray, Recalibration]:
    """Scale a whole series (T, C), each case by what was settled before it.

    ``arrivals[t]`` are the cases whose outcome comes after decision t.
    """
    now = Recalibration.start(classes)
    scaled = np.full_like(pooled, np.nan)
    for t, done in enumerate(arrivals):
        if not np.isnan(pooled[t, 0]):
            scaled[t] = now.apply(pooled[t])
        for case in done:
            if not np.isnan(pooled[case, 0]):
                now = now.learn(pooled[case], int(outcomes[case]))
    return scaled, now
