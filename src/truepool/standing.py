"""How each agent stands on its own, over the cases in which it spoke."""

import numpy as np

from truepool.arrays import FloatArray
from truepool.hindsight import blocks
from truepool.losses import Loss
from truepool.panel import Panel


def own_losses(
    panel: Panel, loss: Loss, case_weights: FloatArray | None = None
) -> FloatArray:
    """Mean loss (N,) of each agent's own reports; infinite if it never spoke.

    >>> own_losses(Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0]), Loss("brier")).round(3)
    array([0.01, 0.25])
    """
    lost = np.empty(panel.values.shape[:2])
    for part in blocks(len(panel), panel.values[0].size):
        spoken = np.nan_to_num(panel.values[part], nan=0.5)
        lost[part] = loss.of(spoken, panel.outcomes[part][:, None])
    lost[np.isnan(panel.values[:, :, 0])] = np.nan
    return spoken_mean(lost, case_weights)


def spoken_mean(
    by_case: FloatArray, case_weights: FloatArray | None = None
) -> FloatArray:
    """Mean (N,) of (T, N) over the cases that are not NaN; infinite if there are none.

    >>> spoken_mean(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([ 2., inf])
    """
    share = (~np.isnan(by_case)).astype(np.float64)
    if case_weights is not None:
        share *= case_weights[:, None]
    mass = share.sum(axis=0)
    total = (np.nan_to_num(by_case) * share).sum(axis=0)
    return np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), np.inf)
