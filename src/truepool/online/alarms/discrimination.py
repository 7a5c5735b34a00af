"""Discrimination: how well an agent ranks positive cases, over time."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from truepool.core.arrays import FloatArray, IntArray, to_classes

WINDOW = 200
"""Reports, consecutive in time, among which a case is ranked."""


def placements(values: FloatArray, outcomes: IntArray) -> FloatArray:
    r"""How far up each agent ranks the cases of the rarer class, (T, N), in time order.

    The normal score of the report's rank among the `WINDOW` reports around it; NaN for
    cases of the other class. Its mean rises with the AUC: 0 for an agent that tells
    nothing, and a change of level or scale that leaves the ranks alone does not touch
    it. At low base rates all there is to know lies in these few cases. With K classes:
    the probability given to what happened less what chance would give.

    >>> said = np.linspace(0, 1, 8).reshape(8, 1, 1)
    >>> placements(said, np.array([0, 0, 0, 1, 0, 0, 0, 1]))[[3, 7]].round(2).ravel()
    array([-0.14,  1.22])
    """
    if values.shape[2] > 1:
        return _leaning(values, outcomes)
    placed = np.full(values.shape[:2], np.nan)
    rarer = int(2 * outcomes.sum() <= len(outcomes))
    for i in range(values.shape[1]):
        known = np.flatnonzero(~np.isnan(values[:, i, 0]))
        placed[known, i] = _local_scores(values[known, i, 0])
    placed[outcomes != rarer] = np.nan
    return placed if rarer else -placed


def _local_scores(reports: FloatArray) -> FloatArray:
    """Normal scores by rank within windows of about `WINDOW`."""
    parts = max(1, len(reports) // WINDOW)
    size = -(-len(reports) // parts)
    padded = np.full(parts * size, np.nan)
    padded[: len(reports)] = reports
    blocks = padded.reshape(parts, size)
    ranks = rankdata(blocks, axis=1, nan_policy="omit")
    count = (~np.isnan(blocks)).sum(axis=1, keepdims=True)
    return np.asarray(ndtri(ranks / (count + 1)).ravel()[: len(reports)])


def _leaning(values: FloatArray, outcomes: IntArray) -> FloatArray:
    K = values.shape[2]
    share = np.bincount(outcomes, minlength=K) / len(outcomes)
    columns = [
        np.take_along_axis(to_classes(values[:, i]), outcomes[:, None], axis=1)[:, 0]
        - to_classes(values[:, i]) @ share
        for i in range(values.shape[1])
    ]
    return np.stack(columns, axis=1)
