"""Pools by rank: what remains when the extremes of a case are cut off."""

import numpy as np

from truepool.arrays import FloatArray, scaled_to_one


def trimmed_mean(values: FloatArray, share: float) -> FloatArray:
    """Mean of (T, N, C) over agents, without this share of them at each end: (T, C).

    A share of 0.5 leaves the middle one or two: the median. Silent agents do not
    count. For K classes each class is cut by itself and the rest scaled to sum to 1.

    >>> trimmed_mean(np.array([[[0.1], [0.2], [0.9]]]), 0.5)
    array([[0.2]])
    """
    count = (~np.isnan(values)).sum(axis=1)  # (T, C)
    cut = np.minimum(np.floor(share * count + 1e-9).astype(np.int64), (count - 1) // 2)
    ranked = np.sort(values, axis=1)  # NaN goes last
    rank = np.arange(values.shape[1])[:, None]
    kept = (rank >= cut[:, None]) & (rank < (count - cut)[:, None])
    mean = np.where(kept, ranked, 0.0).sum(axis=1) / (count - 2 * cut)
    return scaled_to_one(np.asarray(mean))
