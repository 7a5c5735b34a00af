"""Calibration error without bins."""

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray
from truepool.measures.scores.probability import check_series

CELLS = 2_048
"""Cells of the line from 0 to 1 on which residuals are smoothed."""

HALVINGS = 40


def smooth_ece(
    pooled: ArrayLike, outcomes: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Smooth calibration error (Błasiok & Nakkiran 2023).

    Residuals :math:`y - p` are smoothed along p by a Gaussian that is reflected at 0
    and 1,

    .. math:: \mathrm{smECE}_\sigma = \int_0^1 \Big| \frac1n \sum_t
              \tilde K_\sigma(p_t, s)\,(y_t - p_t) \Big|\, ds,

    and the answer is the one :math:`\sigma` with :math:`\mathrm{smECE}_\sigma =
    \sigma`. No bins are chosen, and a small change of p changes it little. K > 2: of
    the confidence in the likeliest class, as in `ece`.

    >>> round(smooth_ece([0.2] * 100, [1] * 30 + [0] * 70), 3)
    0.1
    """
    p, y, w = check_series(pooled, outcomes, sample_weight)
    if p.shape[1] == 1:
        confidence, correct = p[:, 0], y.astype(np.float64)
    else:
        confidence, correct = p.max(axis=1), (p.argmax(axis=1) == y).astype(np.float64)
    share = np.full(len(confidence), 1 / len(confidence)) if w is None else w / w.sum()
    return _fixed_point(_residuals(confidence, (correct - confidence) * share))


def _residuals(confidence: FloatArray, mass: FloatArray) -> FloatArray:
    """Residuals in the cells of the line, each shared between its two neighbours."""
    place = np.clip(confidence * CELLS - 0.5, 0.0, CELLS - 1.0)
    left = np.minimum(place.astype(np.int64), CELLS - 2)
    right = place - left
    total = np.bincount(left, mass * (1 - right), CELLS)
    return np.asarray(total + np.bincount(left + 1, mass * right, CELLS))


def _fixed_point(residuals: FloatArray) -> float:
    """Width at which the smoothed error equals the width, by halving."""
    from scipy.fft import dct, idct

    # Cosines are what reflection at both ends leaves as they are: smoothing by a
    # Gaussian only makes each of them smaller.
    waves = dct(residuals, norm="ortho")
    pitch = np.pi * np.arange(CELLS)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        width = (low + high) / 2
        smoothed = idct(waves * np.exp(-((pitch * width) ** 2) / 2), norm="ortho")
        if np.abs(smoothed).sum() > width:
            low = width
        else:
            high = width
    return (low + high) / 2
