"""What each agent is worth: credit in the user's costs, and the weight it earns."""

import numpy as np

from truepool.arrays import FloatArray
from truepool.audit.evidence import Evidence
from truepool.audit.tempting import tempting
from truepool.audit.values import Standing
from truepool.comparison import Estimate
from truepool.credit import contributions
from truepool.inference import Resamples, middle
from truepool.losses import Loss, own_losses
from truepool.panel import Panel
from truepool.weights import by_credit

EXACT_AGENTS = 10
WORK = 20_000_000
"""Up to so many agents Shapley credit is exact, on as many cases as this much work
allows; above, the mean over random orders of joining."""
ORDERS = 40
FEWEST = 2_000


def standings(evidence: Evidence) -> tuple[Standing, ...]:
    """One row an agent, in the order of the panel."""
    panel = evidence.panel
    few = evidence.shortage is not None
    rises = None if few else evidence.rises
    shares = None if few else shapley(evidence)
    weights = None if few else earned(evidence)
    found = evidence.once(tempting)
    brier, cost = own_brier(evidence), own_losses(panel, evidence.loss)
    spoke = 1 - np.isnan(panel.values[:, :, 0]).mean(axis=0)
    return tuple(
        Standing(
            agent,
            float(spoke[i]),
            float(brier[i]),
            float(cost[i]),
            None if weights is None else weights[i],
            None if rises is None else evidence.estimate(rises[:, i]),
            None if shares is None else shares[i],
            None if found is None else max(0.0, found[agent].best.gain),
        )
        for i, agent in enumerate(panel.agents)
    )


def own_brier(evidence: Evidence) -> FloatArray:
    """Brier loss of each agent's own reports, (N,)."""
    return own_losses(evidence.panel, Loss("brier"))


def prior_brier(evidence: Evidence) -> float:
    """Brier loss of saying the base rate every time."""
    panel = evidence.panel
    prior = np.broadcast_to(panel.base_rate(), (len(panel), panel.values.shape[2]))
    return float(Loss("brier").of(prior, panel.outcomes).mean())


def earned(evidence: Evidence) -> list[Estimate]:
    """Weight that leave-one-out credit earns each agent, as ``vcg`` sets it."""
    part = evidence.panel.take(evidence.looked)
    by_case = contributions(part, loss="brier")
    spoke = (~np.isnan(part.values[:, :, 0])).astype(np.float64)
    N = len(part.agents)
    drawn = evidence.looked_luck.means(np.hstack([by_case, spoke]))
    when_spoken = drawn[:, :N] / np.where(drawn[:, N:] > 0, drawn[:, N:], 1.0)
    low, high = middle(np.apply_along_axis(by_credit, 1, when_spoken), evidence.level)
    share = np.maximum(spoke.mean(axis=0), 1 / len(part))
    weights = by_credit(by_case.mean(axis=0) / share)
    triples = zip(weights, low, high, strict=True)
    return [Estimate(*map(float, triple)) for triple in triples]


def shapley(evidence: Evidence) -> list[Estimate]:
    """Shapley credit in the user's costs, with intervals over the cases."""
    N = len(evidence.panel.agents)
    if N <= EXACT_AGENTS:
        most = max(FEWEST, WORK >> N)
    else:
        most = max(FEWEST, WORK // (N * ORDERS * 10))
    cases = evidence.sampling.part(evidence.looked, most, "Shapley credit")
    part = evidence.panel.take(cases)
    if N <= EXACT_AGENTS:
        by_case = contributions(part, method="shapley", loss=evidence.loss)
    else:
        by_case = joining(part, evidence.loss, evidence.seed)
    luck = Resamples(len(cases), evidence.resamples, evidence.seed)
    return [
        Estimate(float(column.mean()), *luck.interval(column, evidence.level))
        for column in by_case.T
    ]


def joining(panel: Panel, loss: Loss, seed: int, orders: int = ORDERS) -> FloatArray:
    """Shapley credit case by case from random orders, used forwards and backwards.

    >>> joining(Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0]), Loss("brier"), 0).round(2)
    array([[ 0.2 , -0.04],
           [ 0.2 , -0.04]])
    """
    rng = np.random.default_rng(seed)
    T, N, C = panel.values.shape
    prior = panel.base_rate()
    start = loss.of(np.broadcast_to(prior, (T, C)), panel.outcomes)
    total = np.zeros((T, N))
    heard = np.nan_to_num(panel.values)
    spoke = (~np.isnan(panel.values[:, :, :1])).astype(np.float64)
    for _ in range(orders // 2):
        order = rng.permutation(N)
        for path in (order, order[::-1]):
            count = spoke[:, path].cumsum(axis=1)
            pooled = heard[:, path].cumsum(axis=1) / np.maximum(count, 1)
            pooled = np.where(count > 0, np.clip(pooled, 0.0, 1.0), prior)
            lost = loss.of(pooled, panel.outcomes[:, None])
            total[:, path] -= np.diff(lost, axis=1, prepend=start[:, None])
    return total / (2 * (orders // 2))
