"""Losses in expectation over the outcome, for payments by a loss."""

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.measures.losses import Loss


def expected_loss(loss: Loss, pooled: FloatArray, chance: FloatArray) -> FloatArray:
    """Expected loss of pooled (T,) or (T, G), given Pr(y = 1) in each case (T,).

    >>> expected_loss(Loss("brier"), np.array([0.5]), np.array([0.3]))
    array([0.25])
    """
    likely = chance[:, None] if pooled.ndim == 2 else chance
    one, zero = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    values = pooled[..., None]
    return likely * loss.evaluate(values, one) + (1 - likely) * loss.evaluate(
        values, zero
    )
