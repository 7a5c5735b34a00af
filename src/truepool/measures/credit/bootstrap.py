"""Credit case by case, and bootstrap intervals of credit."""

from collections.abc import Iterable
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
from truepool.measures.inference import Resamples, percentile_interval
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
    parts = _parts(panel, method, as_loss(loss, costs, threshold), weights, seed)
    cases, N = panel.case_weights(sample_weight), len(panel.agents)
    draws, sums, means = _unit_sums(panel, parts, cases, resamples, seed)
    both = draws.means_of_sums(sums)
    per_report = both[:, :N] / np.where(both[:, N:] > 0, both[:, N:], 1.0)
    earned = np.apply_along_axis(by_credit, 1, per_report)
    ends = [draws.interval_of_sums(column, level) for column in sums[:, :N].T]
    low, high = np.array(ends).T
    weights_low, weights_high = percentile_interval(earned, level)
    credit = means[:N]
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
    parts = _parts(panel, method, as_loss(loss, costs, threshold), weights, seed)
    return np.concatenate([rise for _, rise in parts])


def _parts(
    panel: Panel, method: Method, loss: Loss, weights: ArrayLike | None, seed: int
) -> Iterable[tuple[slice, FloatArray]]:
    """Credit case by case, (block, N), block by block."""
    if method == "shapley":
        return credit_by_case(panel, loss.on(panel), seed=seed)
    if method == "leave-one-out":
        return increases_by_case(
            panel, loss.on(panel), weights_or_equal(panel, weights)
        )
    raise SettingError(f"method must be 'leave-one-out' or 'shapley'; got {method!r}")


def _unit_sums(
    panel: Panel,
    parts: Iterable[tuple[slice, FloatArray]],
    weights: FloatArray | None,
    resamples: int,
    seed: int,
) -> tuple[Resamples, FloatArray, FloatArray]:
    """Resamples, sums (G, 2 N) over what they draw, and means (2 N,) over all cases.

    The first N columns are credit, the others whether an agent reported. The sums are
    those of `independent_units`, made block by block: memory does not grow with the
    cases beyond that of the panel.
    """
    T, M, unit = len(panel), 2 * len(panel.agents), np.arange(len(panel))
    if panel.groups is not None:
        unit = np.unique(panel.groups.astype(str), return_inverse=True)[1]
    draws = Resamples(int(unit.max()) + 1, resamples, seed)
    sums, total = np.zeros((draws.groups, M)), np.zeros(M)
    for block, rise in parts:
        rows = np.hstack([rise, ~np.isnan(panel.values[block, :, 0])])
        if weights is not None:
            rows *= weights[block, None]
        draws.add(sums, unit[block], rows)
        total = np.vstack([total, rows]).sum(axis=0)
    if weights is None and panel.groups is None:
        return draws, sums, total / T
    w = np.ones(T) if weights is None else weights
    mass, mean = np.zeros((draws.groups, 1)), total / w.sum()
    draws.add(mass, unit, w[:, None])
    apart = (sums - mass * mean) * (draws.cases / w.sum())
    return draws, draws.sizes[:, None] * mean + apart, mean
