"""Leave-one-out credit: the increase of the loss when an agent is removed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from truepool.core import kernels
from truepool.core.arrays import BoolArray, FloatArray, blocks, case_mean
from truepool.core.errors import PanelError, SettingError
from truepool.core.seeds import check_seed
from truepool.measures.losses import Loss, as_loss
from truepool.measures.shrinkage import cells_of, shrink_means
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports
from truepool.panel.weights import as_weights, uniform


def leave_one_out(
    panel: Panel,
    *,
    loss: str | Loss = "brier",
    weights: ArrayLike | None = None,
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    removals: int | None = None,
    seed: int = 0,
    prior: FloatArray | None = None,
) -> FloatArray:
    """Credit (N,) of each agent: the increase of the mean loss when it is left out.

    All N removals share one sum per case, so the cost is O(T N). ``weights`` are the
    pool's (equal by default). ``removals=k`` removes only k of those who reported on a
    case, at random (k-LOO, apd:approx_vcg): the mean increase over the cases that an
    agent was removed from, each counted by n / k where n > k agents reported, times the
    share of the cases that it reported on. It is right on average, and exact at k = N.
    Without its only report a case has the ``prior`` (C,), by default the base rate of
    the panel.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> leave_one_out(panel).round(3)
    array([ 0.16, -0.08])
    """
    check_seed(seed)
    w = weights_or_equal(panel, weights)
    T, K = len(panel), panel.classes
    cases = panel.case_weights(sample_weight)
    priced = as_loss(loss, costs, threshold).on(panel)
    mass = T if cases is None else cases.sum()
    if removals is not None:
        return _sampled_removals(panel, priced, w, cases, removals, seed)
    if panel.sparse is not None:
        cells = panel.sparse
        rise = report_increases(panel, cells, priced, w, cases)
        rise = rise if cases is None else rise * cases[cells.case]
        return cells.by_agent(rise) / mass
    prior = panel.base_rate(cases) if prior is None else prior
    compiled = priced.squared or (priced.name == "cost" and not priced.per_case)
    if K == 2 and compiled:
        return np.asarray(_compiled(panel, priced, w, cases, prior) / mass)
    total = np.zeros(len(panel.agents))
    for part, increase in increases_by_case(panel, priced, w, cases, prior):
        total += increase.sum(axis=0) if cases is None else cases[part] @ increase
    return total / mass


def increases_by_case(
    panel: Panel,
    loss: Loss,
    weights: FloatArray,
    cases: FloatArray | None = None,
    prior: FloatArray | None = None,
) -> Iterator[tuple[slice, FloatArray]]:
    """Leave-one-out increases of the loss, (block, N), block by block."""
    prior = panel.base_rate(cases) if prior is None else prior
    for part in blocks(len(panel), panel.values[0].size):
        values, outcomes = panel.values[part], panel.outcomes[part]
        others, own = kernels.without(values, weights, prior), loss.take(part)
        base = own.evaluate(kernels.linear(values, weights), outcomes)
        yield part, own.evaluate(others, outcomes[:, None]) - base[:, None]


def report_increases(
    panel: Panel,
    cells: SparseReports,
    loss: Loss,
    weights: FloatArray,
    cases: FloatArray | None = None,
) -> FloatArray:
    """Leave-one-out increase of the loss for each report, (M,)."""
    prior = float(panel.base_rate(cases)[0])
    pooled = cells.linear(weights)[:, None]
    base = loss.evaluate(pooled, panel.outcomes)
    others = cells.without(weights, prior)[:, None]
    outcomes = panel.outcomes[cells.case]
    return loss.take(cells.case).evaluate(others, outcomes) - base[cells.case]


@dataclass(frozen=True, eq=False)
class SampledRemovals:
    """Leave-one-out credit from some removals per case, with its standard errors."""

    credit: FloatArray
    standard_errors: FloatArray
    removals: int


def sample_removals(
    panel: Panel,
    removals: int,
    *,
    loss: str | Loss = "brier",
    weights: ArrayLike | None = None,
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
) -> SampledRemovals:
    r"""Leave-one-out credit from ``removals`` of the reports on each case, at random.

    A report on a case with n of them is removed with probability
    :math:`\pi = \min(k / n, 1)` and counts :math:`1 / \pi` times: unbiased, with
    variance :math:`\sum d^2 (1 - \pi) / \pi` over the increases d of all reports of an
    agent, from which the standard errors are computed. Two classes.

    >>> panel = Panel([[0.9, 0.5, 0.7], [0.1, 0.5, 0.2]] * 50, [1, 0] * 50)
    >>> sampled = sample_removals(panel, 1)
    >>> bool((abs(sampled.credit - leave_one_out(panel)) < 0.05).all())
    True
    """
    if removals < 1:
        raise SettingError(f"removals must be at least 1; got {removals!r}")
    if panel.classes != 2:
        raise PanelError(
            f"sampled removals need a panel of two classes; got {panel.classes}. Use "
            "leave_one_out(panel, removals=...)."
        )
    w, cases = weights_or_equal(panel, weights), panel.case_weights(sample_weight)
    priced = as_loss(loss, costs, threshold).on(panel)
    cells = cells_of(panel)
    rise = report_increases(panel, cells, priced, w, cases)
    rise = rise if cases is None else rise * cases[cells.case]
    removed, chance = _draw_removals(cells, removals, seed)
    drawn = np.where(removed, rise, 0.0) / chance
    mass = len(panel) if cases is None else cases.sum()
    variance = cells.by_agent(rise**2 * (1.0 - chance) / chance)
    return SampledRemovals(
        cells.by_agent(drawn) / mass, np.sqrt(variance) / mass, removals
    )


def weights_or_equal(panel: Panel, weights: ArrayLike | None) -> FloatArray:
    """Return the weights, checked, or equal weights for None."""
    N = len(panel.agents)
    return uniform(N) if weights is None else as_weights(weights, N)


def credit_per_report(
    credit: FloatArray, panel: Panel, case_weights: FloatArray | None = None
) -> FloatArray:
    """Credit per case in which the agent reported.

    >>> panel = Panel([[0.9, 0.5], [float("nan"), 0.5]], [1, 0])
    >>> credit_per_report(np.array([0.1, 0.1]), panel)
    array([0.2, 0.1])
    """
    return credit / report_rate(panel, case_weights)


def shrunk_credit(
    panel: Panel, loss: Loss, weights: FloatArray, cases: FloatArray | None = None
) -> FloatArray:
    """Leave-one-out credit per report (N,), shrunk towards the crowd's.

    It is 0 for an agent without a report.
    """
    cells = cells_of(panel)
    rise = report_increases(panel, cells, loss, weights, cases)
    return np.nan_to_num(shrink_means(cells, rise, cases))


def report_rate(panel: Panel, case_weights: FloatArray | None = None) -> FloatArray:
    """Share of the cases (N,) in which each agent reported; 1 if it never did."""
    if not panel.silent:
        return np.ones(len(panel.agents))
    if case_weights is None:
        share = panel.report_counts / len(panel)
    elif panel.sparse is not None:
        own = case_weights[panel.sparse.case]
        share = panel.sparse.by_agent(own) / case_weights.sum()
    else:
        present = (~np.isnan(panel.values[:, :, 0])).astype(np.float64)
        share = np.asarray(case_mean(present, case_weights))
    return np.where(share > 0, share, 1.0)


def report_mass(panel: Panel) -> tuple[FloatArray, float]:
    """Weight of the cases that each agent reported on, (N,), and that of all cases."""
    cases = panel.case_weights()
    mass = float(len(panel)) if cases is None else float(cases.sum())
    if not panel.silent:
        return np.full(len(panel.agents), mass), mass
    present = (~np.isnan(panel.values[:, :, 0])).astype(np.float64)
    return np.asarray(present.sum(axis=0) if cases is None else cases @ present), mass


def _compiled(
    panel: Panel,
    loss: Loss,
    weights: FloatArray,
    cases: FloatArray | None,
    base_rate: FloatArray,
) -> FloatArray:
    prior = float(base_rate[0])
    scale = np.ones(2) if loss.per_case else loss.scale
    case_weights = np.empty(0) if cases is None else cases
    if loss.per_case:  # a cost per case is one more weight of its error
        factors = loss.factors(panel.outcomes, 2)[:, 0]
        case_weights = factors if cases is None else cases * factors
    common = (panel.reports, panel.outcomes, weights, scale)
    if loss.squared:
        return np.asarray(kernels.squared_credit(*common, prior, case_weights))
    line = float(loss.costs.threshold if loss.threshold is None else loss.threshold)
    return np.asarray(kernels.threshold_credit(*common, line, prior, case_weights))


def _sampled_removals(
    panel: Panel,
    loss: Loss,
    weights: FloatArray,
    cases: FloatArray | None,
    removals: int,
    seed: int,
) -> FloatArray:
    N = len(panel.agents)
    if not 1 <= removals <= N:
        raise SettingError(
            f"removals must lie between 1 and the number of agents, {N}; "
            f"got {removals!r}"
        )
    if panel.sparse is not None:
        cells = panel.sparse
        rise = report_increases(panel, cells, loss, weights, cases)
        removed, chance = _draw_removals(cells, removals, seed)
        counted = removed / chance
        if cases is not None:
            counted *= cases[cells.case]
        total, tried = cells.by_agent(counted * rise), cells.by_agent(counted)
    else:
        total, tried = _sum_removals(panel, loss, weights, cases, removals, seed)
    share = report_rate(panel, cases)
    return np.asarray(share * total / np.where(tried > 0, tried, 1.0))


def _draw_removals(
    cells: SparseReports, removals: int, seed: int
) -> tuple[BoolArray, FloatArray]:
    """Which reports (M,) are removed, and the chance of each to be."""
    draw = np.random.default_rng(seed).random(len(cells.values))
    rank = np.empty(len(draw), dtype=np.int64)
    order = np.lexsort((draw, cells.case))
    rank[order] = np.arange(len(draw)) - cells.starts[:-1][cells.case]
    chance = np.minimum(removals / np.maximum(cells.counts, 1), 1.0)[cells.case]
    return rank < removals, chance


def _sum_removals(
    panel: Panel,
    loss: Loss,
    weights: FloatArray,
    cases: FloatArray | None,
    removals: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Increases (N,) of the removals drawn from a table, and how much they count.

    The draws are those of `_draw_removals`: one number per report, case by case.
    """
    rng = np.random.default_rng(seed)
    N = len(panel.agents)
    total, tried = np.zeros(N), np.zeros(N)
    for part, increase in increases_by_case(panel, loss, weights, cases):
        reported = ~np.isnan(panel.values[part][:, :, 0])
        draw = np.full(reported.shape, np.inf)
        draw[reported] = rng.random(int(reported.sum()))
        rank = draw.argsort(axis=1).argsort(axis=1)
        count = np.maximum(reported.sum(axis=1, keepdims=True), 1)
        chance = np.minimum(removals / count, 1.0)
        counted = (reported & (rank < removals)) / chance
        if cases is not None:
            counted *= cases[part, None]
        total += (counted * increase).sum(axis=0)
        tried += counted.sum(axis=0)
    return total, tried
