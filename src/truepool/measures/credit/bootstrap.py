"""Credit case by case, and bootstrap intervals of credit."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.data.weights import by_credit
from truepool.measures.credit.removal import (
    credit_per_report,
    increases_by_case,
    weights_or_equal,
)
from truepool.measures.credit.shapley_values import credit_by_case
from truepool.measures.inference import (
    Resamples,
    independent_units,
    percentile_interval,
)
from truepool.measures.losses import Loss, as_loss

Method: TypeAlias = Literal["leave-one-out", "shapley"]


@dataclass(frozen=True, eq=False)
class CreditIntervals:
    """Credit and the weights it earns, with bootstrap intervals over the cases."""

    agents: tuple[str, ...]
    credit: FloatArray
    low: FloatArray
    high: FloatArray
    weights: FloatArray
    weights_low: FloatArray
    weights_high: FloatArray
    level: float


def intervals(
    panel: Panel,
    *,
    method: Method = "leave-one-out",
    loss: str | Loss = "brier",
    weights: ArrayLike | None = None,
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> CreditIntervals:
    """Bootstrap intervals, over the cases, of credit and of the weights it earns.

    Weights are proportional to positive credit, as the ``vcg`` and ``shapley`` pools
    set them (from credit per case in which the agent reported; ``credit`` itself is per
    case). Credit is a mean over cases and gets BCa intervals; a weight is not a mean
    and gets percentile intervals.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]] * 50, [1, 0] * 50)
    >>> intervals(panel, resamples=200).weights_low
    array([1., 0.])
    """
    by_case = contributions(
        panel,
        method=method,
        loss=loss,
        weights=weights,
        costs=costs,
        threshold=threshold,
        seed=seed,
    )
    present = (~np.isnan(panel.values[:, :, 0])).astype(np.float64)
    cases, N = panel.case_weights(sample_weight), len(panel.agents)
    parts = independent_units(np.hstack([by_case, present]), cases, panel.groups)
    by_case = parts[:, :N]
    draws = Resamples(len(parts), resamples, seed)
    both = draws.means(parts)
    per_report = both[:, :N] / np.where(both[:, N:] > 0, both[:, N:], 1.0)
    earned = np.apply_along_axis(by_credit, 1, per_report)
    ends = [draws.interval(column, level) for column in by_case.T]
    low, high = np.array(ends).T
    weights_low, weights_high = percentile_interval(earned, level)
    credit = by_case.mean(axis=0)
    return CreditIntervals(
        panel.agents,
        credit,
        low,
        high,
        by_credit(credit_per_report(credit, panel, cases)),
        weights_low,
        weights_high,
        level,
    )


def contributions(
    panel: Panel,
    *,
    method: Method = "leave-one-out",
    loss: str | Loss = "brier",
    weights: ArrayLike | None = None,
    costs: Costs | None = None,
    threshold: float | None = None,
    seed: int = 0,
) -> FloatArray:
    """Credit case by case, (T, N); its (weighted) mean over the cases is the credit.

    Shapley credit is exact up to 14 agents; above, it is the mean over 40 random
    orders of joining, drawn from ``seed``.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> contributions(panel).round(3)
    array([[ 0.16, -0.08],
           [ 0.16, -0.08]])
    """
    priced = as_loss(loss, costs, threshold).on(panel)
    if method == "shapley":
        parts = credit_by_case(panel, priced, seed=seed)
    elif method == "leave-one-out":
        parts = increases_by_case(panel, priced, weights_or_equal(panel, weights))
    else:
        raise SettingError(
            f"method must be 'leave-one-out' or 'shapley'; got {method!r}"
        )
    return np.concatenate([rise for _, rise in parts])
