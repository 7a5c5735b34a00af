"""Shapley credit: the decrease of the loss as an agent joins, over all orders."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import (
    FloatArray,
    IntArray,
    blocks,
    case_mean,
)
from truepool.core.errors import SettingError
from truepool.core.seeds import check_seed
from truepool.measures.fixed_weights import FixedWeights, linear_pools
from truepool.measures.losses import Loss, as_loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports

EXACT_LIMIT = 14
"""Shapley credit is exact up to this many agents (2^14 coalitions), sampled above."""

ORDERS = 40
"""Random orders from which credit is sampled case by case."""
MOST_ORDERS, MOST_CHEAP_ORDERS, CHEAP_WORK = 400, 20_000, 250_000_000
"""Most random orders from which credit is sampled; where a squared loss makes an order
cheap, as many as take this many additions, but not more than the second number."""
SPARSE_WORK = 100_000_000
"""Random orders of sparse reports are as many as take this many additions."""


@dataclass(frozen=True, eq=False)
class SampledCredit:
    """Shapley credit estimated from random orders, with its standard errors."""

    credit: FloatArray
    standard_errors: FloatArray
    orders: int
    converged: bool


def shapley(
    panel: Panel,
    *,
    loss: str | Loss = "brier",
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
) -> FloatArray:
    """Shapley credit (N,) under the equal-weight pool of each coalition.

    Exact up to 14 agents, estimated by `sample_shapley` above. The credits sum to the
    decrease of the mean loss from the prior (the base rate) to the pool of all.

    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> shapley(panel).round(3)
    array([ 0.2 , -0.04])
    """
    check_seed(seed)
    priced = as_loss(loss, costs, threshold).on(panel)
    if len(panel.agents) > EXACT_LIMIT:
        return sample_shapley(
            panel, loss=priced, sample_weight=sample_weight, seed=seed
        ).credit
    cases = panel.case_weights(sample_weight)
    past = FixedWeights(panel, priced, cases)
    if past.gram is None:
        parts = credit_by_case(panel, priced, cases)
        return np.asarray(
            sum(past.case_weights[part] @ credit for part, credit in parts)
        )
    members, sign = _coalitions(len(panel.agents))
    size = np.maximum(members.sum(axis=1, keepdims=True), 1)
    lost = past.losses(members / size)
    lost[0] = _prior_loss(panel, priced, cases)
    return np.asarray(lost @ sign)


def sample_shapley(
    panel: Panel,
    *,
    loss: str | Loss = "brier",
    costs: Costs | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    tolerance: float = 0.05,
    orders: tuple[int, int] | None = None,
    seed: int = 0,
) -> SampledCredit:
    """Shapley credit from random orders of joining, each used forwards and backwards.

    Stops when the largest standard error is below ``tolerance`` times the largest
    credit, but not before ``orders[0]`` orders and never after ``orders[1]``: 20 and
    400 by default; up to 20,000 where a squared loss, no missing reports and few agents
    or cases make an order cheap, and fewer where a million reports and more make it
    expensive.
    """
    check_seed(seed)
    cheap = as_loss(loss, costs, threshold).squared and not panel.silent
    fewest, most = orders or (20, _most_orders(panel) if cheap else MOST_ORDERS)
    if orders is None and panel.sparse is not None:
        affordable = int(SPARSE_WORK // len(panel.sparse.values))
        most = max(fewest, min(most, affordable))
    if not (4 <= fewest <= most and tolerance >= 0):
        raise SettingError(
            "sampling needs 4 <= fewest <= most orders and a tolerance of at least 0; "
            f"got orders={orders}, tolerance={tolerance!r}"
        )
    priced = as_loss(loss, costs, threshold).on(panel)
    cases = panel.case_weights(sample_weight)
    past = FixedWeights(panel, priced, cases)
    start = _prior_loss(panel, priced, cases)
    rng = np.random.default_rng(seed)
    N = len(panel.agents)
    mean, squares, pairs = np.zeros(N), np.zeros(N), 0
    while True:
        order = rng.permutation(N)
        drawn = (
            _decreases(past, order, start) + _decreases(past, order[::-1], start)
        ) / 2
        pairs += 1
        step = drawn - mean
        mean += step / pairs
        squares += step * (drawn - mean)
        if 2 * pairs < fewest:
            continue
        error = np.sqrt(squares / (pairs - 1) / pairs)
        enough = bool(error.max() <= tolerance * np.abs(mean).max())
        if enough or 2 * pairs >= most:
            return SampledCredit(mean, error, 2 * pairs, enough)


def _most_orders(panel: Panel) -> int:
    """Return how many orders the cheap ways of `_decreases` may take."""
    T, N, C = panel.shape
    affordable = int(CHEAP_WORK // (N * min(N, T * C)))
    return min(MOST_CHEAP_ORDERS, max(MOST_ORDERS, affordable))


def credit_by_case(
    panel: Panel, loss: Loss, cases: FloatArray | None = None, seed: int = 0
) -> Iterator[tuple[slice, FloatArray]]:
    """Shapley credit case by case, (block, N), block by block.

    Exact up to `EXACT_LIMIT` agents; above, the mean over `ORDERS` random orders.
    """
    if len(panel.agents) > EXACT_LIMIT:
        return _sampled_shares(panel, loss, cases, seed)
    return _exact_shares(panel, loss, cases)


def _exact_shares(
    panel: Panel, loss: Loss, cases: FloatArray | None
) -> Iterator[tuple[slice, FloatArray]]:
    members, sign = _coalitions(len(panel.agents))
    prior = panel.base_rate(cases)
    for part in blocks(len(panel), len(members) * panel.values.shape[2]):
        pooled, mass = linear_pools(panel.values[part], members)
        pooled[mass == 0] = prior
        yield part, loss.take(part).evaluate(pooled, panel.outcomes[part]).T @ sign


def _sampled_shares(
    panel: Panel, loss: Loss, cases: FloatArray | None, seed: int
) -> Iterator[tuple[slice, FloatArray]]:
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(len(panel.agents)) for _ in range(ORDERS // 2)]
    prior = panel.base_rate(cases)
    for part in blocks(len(panel), panel.values[0].size):
        values, outcomes = panel.values[part], panel.outcomes[part]
        pooled, own = np.broadcast_to(prior, (len(values), prior.size)), loss.take(part)
        start = own.evaluate(pooled, outcomes)[:, None]
        total = np.zeros(values.shape[:2])
        for order in [way for one in drawn for way in (one, one[::-1])]:
            path = _losses_on_joining(values[:, order], outcomes, own, prior)
            total[:, order] -= np.diff(path, axis=1, prepend=start)
        yield part, total / (2 * len(drawn))


def _coalitions(agents: int) -> tuple[FloatArray, FloatArray]:
    r"""Every coalition (2^N, N), and the weight of its loss in each agent's credit.

    :math:`|S|!\,(N-|S|-1)!/N!` for a coalition that i could join, minus that
    for the coalition that results.
    """
    bits = (np.arange(1 << agents)[:, None] >> np.arange(agents)) & 1
    members = bits.astype(np.float64)
    orders = [factorial(s) * factorial(agents - s - 1) for s in range(agents)]
    chance = np.array(orders) / factorial(agents)
    size = members.sum(axis=1).astype(np.int64)
    joinable = chance[np.minimum(size, agents - 1)][:, None]
    joined = chance[np.maximum(size - 1, 0)][:, None]
    return members, np.where(members == 1, -joined, joinable)


def _prior_loss(panel: Panel, loss: Loss, cases: FloatArray | None) -> float:
    prior = panel.base_rate(cases)
    pooled = np.broadcast_to(prior, (len(panel), prior.size))
    return float(case_mean(loss.evaluate(pooled, panel.outcomes), cases))


def _decreases(past: FixedWeights, order: IntArray, start: float) -> FloatArray:
    """Decrease of the mean loss as each agent joins in this order, (N,)."""
    N = order.size
    if past.panel.sparse is not None:
        return _sparse_decreases(past, past.panel.sparse, order)
    if past.gram is not None and N <= past.panel.values[:, 0].size:
        # The loss of k equal weights is the mean of the first k rows and columns of G.
        sums = past.gram[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1)
        path = np.diagonal(sums) / np.arange(1, N + 1) ** 2
    else:
        path = _path(past, order)
    credit = np.empty(N)
    credit[order] = -np.diff(path, prepend=start)
    return credit


def _sparse_decreases(
    past: FixedWeights, cells: SparseReports, order: IntArray
) -> FloatArray:
    """Decrease of the mean loss as each agent joins in this order, (N,).

    Only the cells count: an agent without a report on a case changes nothing there.
    """
    joined, case, first = cells.in_order(order), cells.case, cells.starts[:-1]
    mean = cells.linear(np.ones(order.size))[case]
    # Sums of what lies around the mean of each case stay small: little is rounded.
    totals = np.append(0.0, (cells.values[joined] - mean).cumsum())
    count = np.arange(1, len(case) + 1) - first[case]
    pooled = np.clip(mean + (totals[1:] - totals[first][case]) / count, 0.0, 1.0)
    after = past.loss.take(case).evaluate(pooled[:, None], past.panel.outcomes[case])
    before = np.append(0.0, after[:-1])
    whole = np.broadcast_to(past.prior, (len(past.panel), 1))
    opened = cells.counts > 0
    before[first[opened]] = past.loss.evaluate(whole, past.panel.outcomes)[opened]
    change = np.empty(len(case))
    change[joined] = (before - after) * past.case_weights[case]
    return cells.by_agent(change)


def _path(past: FixedWeights, order: IntArray) -> FloatArray:
    """Mean loss of the pool of the first 1, 2, .. N agents of the order, (N,)."""
    panel = past.panel
    path = np.zeros(order.size)
    for part in blocks(len(panel), panel.values[0].size):
        values = panel.values[part][:, order]
        path += past.case_weights[part] @ _losses_on_joining(
            values, panel.outcomes[part], past.loss.take(part), past.prior
        )
    return path


def _losses_on_joining(
    values: FloatArray, outcomes: IntArray, loss: Loss, prior: FloatArray
) -> FloatArray:
    """Loss (T, N) of the equal pool of the first 1, 2, .. N agents of (T, N, C)."""
    present = (~np.isnan(values[:, :, :1])).cumsum(axis=1)
    pooled = np.nan_to_num(values).cumsum(axis=1) / np.maximum(present, 1)
    pooled = np.where(present > 0, np.clip(pooled, 0.0, 1.0), prior)
    return loss.evaluate(pooled, outcomes[:, None])
