"""Credit case by case, and bootstrap intervals of credit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.measures.credit.removal import (
    credit_per_report,
    increases_by_case,
    shrunk_credit,
    weights_or_equal,
)
from truepool.measures.credit.shapley_values import credit_by_case
from truepool.measures.inference import Resamples, percentile_interval
from truepool.measures.losses import Loss, as_loss
from truepool.measures.shrinkage import reports_are_rare, shrink
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.weights import by_credit

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
    set them (from credit per case in which the agent reported, which ``vcg`` shrinks
    towards the crowd's where less than half of the cells are filled; ``credit`` itself
    is per case). Credit is a mean over cases and gets BCa intervals; a weight is not a
    mean and gets percentile intervals.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]] * 50, [1, 0] * 50)
    >>> intervals(panel, resamples=200).weights_low
    array([1., 0.])
    """
    priced = as_loss(loss, costs, threshold)
    parts = _parts(panel, method, priced, weights, seed)
    cases, N = panel.case_weights(sample_weight), len(panel.agents)
    rare = method == "leave-one-out" and reports_are_rare(panel)
    draws, sums, means = _unit_sums(panel, parts, cases, resamples, seed, rare)
    drawn = draws.means_of_sums(sums)
    credit = means[:N]
    if rare:
        mass = float(len(panel) if cases is None else cases.sum())
        per_report = np.array([_shrunk(row, N, mass) for row in drawn])
        w = weights_or_equal(panel, weights)
        own = shrunk_credit(panel, priced.on(panel), w, cases)
    else:
        reported = drawn[:, N:]
        per_report = drawn[:, :N] / np.where(reported > 0, reported, 1.0)
        own = credit_per_report(credit, panel, cases)
    earned = np.apply_along_axis(by_credit, 1, per_report)
    ends = [draws.interval_of_sums(column, level) for column in sums[:, :N].T]
    low, high = np.array(ends).T
    weights_low, weights_high = percentile_interval(earned, level)
    return CreditIntervals(
        panel.agents,
        credit,
        low,
        high,
        by_credit(own),
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


def _shrunk(means: FloatArray, N: int, mass: float) -> FloatArray:
    """Credit per report (N,), shrunk, from means of the columns of `_unit_sums`."""
    credit, reported, squares, weight = means[:-1].reshape(4, N)
    with np.errstate(invalid="ignore"):
        own, counts = credit / reported, mass * reported**2 / weight
    within = max(0.0, float(np.nansum(squares - credit * own) / reported.sum()))
    return np.nan_to_num(shrink(own, counts, within, mass / float(means[-1])))


def _unit_sums(
    panel: Panel,
    parts: Iterable[tuple[slice, FloatArray]],
    weights: FloatArray | None,
    resamples: int,
    seed: int,
    squares: bool,
) -> tuple[Resamples, FloatArray, FloatArray]:
    """Resamples, sums (G, M) over what they draw, and means (M,) over all cases.

    The first N columns are credit, the next whether an agent reported. With ``squares``
    those of the credit, of the weight of each report and of that of the case follow.
    The sums are those of `independent_units`, made block by block: memory does not grow
    with the cases beyond that of the panel.
    """
    T, N, unit = len(panel), len(panel.agents), np.arange(len(panel))
    M = 4 * N + 1 if squares else 2 * N
    if panel.groups is not None:
        unit = np.unique(panel.groups.astype(str), return_inverse=True)[1]
    draws = Resamples(int(unit.max()) + 1, resamples, seed)
    sums, total = np.zeros((draws.groups, M)), np.zeros(M)
    for block, rise in parts:
        reported = ~np.isnan(panel.values[block, :, 0])
        rows = np.hstack([rise, reported])
        if squares:
            w = np.ones(len(rise)) if weights is None else weights[block]
            rows = np.hstack([rows, rise**2, reported * w[:, None], w[:, None]])
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
