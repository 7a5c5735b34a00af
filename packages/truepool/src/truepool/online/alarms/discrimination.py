"""Discrimination: how well an agent ranks positive cases, over time."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from truepool.core.arrays import FloatArray, IntArray, to_classes

WINDOW = 200
"""A case is ranked among this many reports, consecutive in time."""


def placements(values: FloatArray, outcomes: IntArray) -> FloatArray:
    r"""How high each agent ranks the cases of the rarer class, (T, N), in time order.

    The normal score of the report's rank among the `WINDOW` reports around it; NaN for
    cases of the other class. Its mean increases with the AUC: it is 0 for an
    uninformative agent, and does not depend on the level or scale of the reports. At
    low base rates these few cases hold nearly all the information. With K classes: the
    probability of the observed class minus its expectation at the base rates.

    >>> reports = np.linspace(0, 1, 8).reshape(8, 1, 1)
    >>> placements(reports, np.array([0, 0, 0, 1, 0, 0, 0, 1]))[[3, 7]].round(2).ravel()
    array([-0.14,  1.22])
    """
    if values.shape[2] > 1:
        return _excess_probability(values, outcomes)
    scores = np.full(values.shape[:2], np.nan)
    rarer = int(2 * outcomes.sum() <= len(outcomes))
    for i in range(values.shape[1]):
        known = np.flatnonzero(~np.isnan(values[:, i, 0]))
        scores[known, i] = _window_scores(values[known, i, 0])
    scores[outcomes != rarer] = np.nan
    return scores if rarer else -scores


def _window_scores(reports: FloatArray) -> FloatArray:
    """Normal scores by rank within windows of about `WINDOW` reports."""
    parts = max(1, len(reports) // WINDOW)
    size = -(-len(reports) // parts)
    padded = np.full(parts * size, np.nan)
    padded[: len(reports)] = reports
    blocks = padded.reshape(parts, size)
    ranks = rankdata(blocks, axis=1, nan_policy="omit")
    count = (~np.isnan(blocks)).sum(axis=1, keepdims=True)
    return np.asarray(ndtri(ranks / (count + 1)).ravel()[: len(reports)])


def _excess_probability(values: FloatArray, outcomes: IntArray) -> FloatArray:
    K = values.shape[2]
    share = np.bincount(outcomes, minlength=K) / len(outcomes)
    columns = [
        np.take_along_axis(to_classes(values[:, i]), outcomes[:, None], axis=1)[:, 0]
        - to_classes(values[:, i]) @ share
        for i in range(values.shape[1])
    ]
    return np.stack(columns, axis=1)
