"""A series of pooled probabilities with its outcomes, checked once for every score."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import (
    FloatArray,
    IntArray,
    as_case_weights,
    as_outcomes,
    as_pooled,
    classes,
)
from truepool.core.errors import SettingError


def check_series(
    pooled: ArrayLike, outcomes: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, IntArray, FloatArray | None]:
    """Return coordinates (T, C), outcomes (T,) and case weights (T,) or None."""
    p = as_pooled(pooled)
    y = as_outcomes(outcomes, classes(p.shape[1]))
    if len(p) != len(y) or not len(y):
        raise SettingError(
            "scores need at least one case, with one pooled probability per outcome; "
            f"got {len(p)} and {len(y)} outcomes"
        )
    return p, y, as_case_weights(sample_weight, len(y))


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part by whole, NaN where the whole is 0."""
    safe = np.where(whole > 0, whole, 1.0)
    return np.where(whole > 0, part / safe, np.nan)
