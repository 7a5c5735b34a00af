"""Logistic recalibration of the pooled probability, updated case by case."""

from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray, IntArray, from_log_scale
from truepool.measures.calibration import clipped_log_scale, newton_terms

PRIOR_PRECISION = 5.0
"""Precision of the prior, which is centred at no recalibration."""

DISCOUNT = 0.998
"""Share of the precision that is kept per case: a memory of about 500 cases."""

MAX_STEP, MIN_SLOPE = 0.25, 0.1
"""The largest step per case, and the smallest slope: the pool is never inverted."""


@dataclass(frozen=True, eq=False)
class Recalibration:
    r"""A factor a and a shift b for the log-odds: :math:`a\,\mathrm{logit}\,p + b`.

    Starts at a = 1, b = 0, takes one Newton step on the log loss per settled case, and
    discounts old cases. K classes share a and have one shift each. Immutable: `learn`
    returns a new one.

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
        """Return the identity."""
        size = classes  # one factor and K - 1 shifts
        scale = np.zeros(size)
        scale[0] = 1.0
        return cls(scale, PRIOR_PRECISION * np.eye(size))

    def apply(self, pooled: FloatArray) -> FloatArray:
        """Recalibrate pooled coordinates, (C,) or (T, C)."""
        z = clipped_log_scale(pooled)
        return from_log_scale(self.scale[0] * z + self.scale[1:])

    def learn(self, pooled: FloatArray, outcome: int) -> "Recalibration":
        """Return the recalibration after one more case."""
        z = clipped_log_scale(pooled)[None]  # (1, K - 1)
        truth = np.arange(1, z.size + 1)[None] == outcome
        gradient, curve = newton_terms(self.scale, z, truth, np.ones(1))
        prior = PRIOR_PRECISION * np.eye(len(self.scale))
        # The curvature of old cases is discounted: it was taken at other parameters.
        discounted = prior + DISCOUNT * (self.precision - prior)
        precision = discounted + curve
        step = np.linalg.solve(precision, gradient)
        step *= min(1.0, MAX_STEP / max(float(np.abs(step).max()), MAX_STEP))
        scale = self.scale - step
        scale[0] = max(scale[0], MIN_SLOPE)
        return Recalibration(scale, precision)


def recalibrate_series(
    pooled: FloatArray,
    outcomes: IntArray,
    arrivals: list[IntArray],
    now: Recalibration,
) -> tuple[FloatArray, Recalibration]:
    """Recalibrate a series (T, C), each case by the cases settled before it.

    ``arrivals[t]`` are the cases whose outcome becomes known after decision t; cases
    without one are not decided, but may become known.
    """
    scaled = np.full_like(pooled, np.nan)
    for t, done in enumerate(arrivals):
        if not np.isnan(pooled[t, 0]):
            scaled[t] = now.apply(pooled[t])
        for case in done:
            if not np.isnan(pooled[case, 0]):
                now = now.learn(pooled[case], int(outcomes[case]))
    return scaled, now
