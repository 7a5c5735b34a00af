"""What two pools decide at other costs: sums over cases by where a decision turns."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.plan import Treated
from truepool.audits.refits import pooled_by, tested_cases
from truepool.audits.values import Plan, Tradeoff
from truepool.core.arrays import FloatArray, IntArray

BINS = 400
"""Groups of cases with about the same ratio; each decides as one."""

REACH = 1000.0
"""Ratios are between the present one divided by this, and times this."""

CERTAIN = 1e-12
"""Keeps the logarithm of odds finite."""

TIE = 1e-9
"""What is this close to its turn is negative, so that rounding never decides."""


def tradeoff(evidence: Evidence, treated: Treated, plan: Plan) -> Tradeoff | None:
    r"""Count cases by the ratio of costs at which they are decided otherwise.

    A case is positive where :math:`p\,a > (1 - p)\,b`, with what a miss costs, a, and
    what a false alarm costs, b. With one a for all cases the ratio is a / b, and it
    turns at :math:`(1 - p) / p`; where a differs by case it is b, and turns at
    :math:`p\,a / (1 - p)`. None with more classes, within a capacity, and where right
    decisions cost something.
    """
    panel, costs = evidence.panel, evidence.costs
    if panel.classes > 2 or evidence.capacity is not None or plan.pool is None:
        return None
    if any(np.ndim(x) or x != 0 for x in (costs.tp, costs.tn)) or np.ndim(costs.fp):
        return None
    if isinstance(costs.fp, str):
        return None
    by_amount = not costs.constant
    changes = plan.change or treated.evidence.treated
    cases = tested_cases(evidence) if changes else evidence.cases
    pooled = evidence.pooled[np.searchsorted(evidence.cases, cases)]
    pools = [(plan.in_use, evidence, cases, pooled)]
    if changes:
        own, tested = treated.evidence, tested_cases(treated.evidence)
        left = [name for name in panel.agents if name not in treated.without]
        then = pooled_by(own, plan.pool, left)
        if then is None:
            return None
        pools.append((plan.pool, own, tested, then[: len(tested)]))
    now = float(costs.fp) if by_amount else float(costs.fn / costs.fp)
    edges = np.linspace(np.log(now / REACH), np.log(now * REACH), BINS + 1)
    rows = [_counted(*pool[1:], edges, by_amount=by_amount) for pool in pools]
    positives, negatives, missed = (
        np.stack([row[k] for row in rows]) for k in range(3)
    )
    names = tuple(name for name, *_ in pools)
    return Tradeoff(names, edges, positives, negatives, missed, by_amount, now)


def _counted(
    evidence: Evidence,
    cases: IntArray,
    pooled: FloatArray,
    edges: FloatArray,
    *,
    by_amount: bool,
) -> list[FloatArray]:
    """Positive and negative cases, and what missing the first costs, in each group."""
    y, weights = evidence.panel.outcomes[cases], evidence.weights_of(cases)
    weights = np.ones(len(cases)) if weights is None else weights
    fn = evidence.loss.take(cases).costs.fn
    stakes = np.broadcast_to(fn, len(cases)).astype(np.float64)
    p = np.clip(pooled[:, 0], CERTAIN, 1 - CERTAIN)
    odds = np.log(p) - np.log1p(-p)
    worth = odds + np.log(np.maximum(stakes, CERTAIN)) if by_amount else odds
    turn = (worth - TIE) * (1 if by_amount else -1)
    place = np.clip(np.searchsorted(edges, turn) - 1, 0, BINS - 1)
    return [_sums(place, w) for w in (weights * y, weights * (1 - y),
                                      weights * y * stakes)]  # fmt: skip


def _sums(place: IntArray, amounts: FloatArray) -> FloatArray:
    return np.bincount(place, amounts, BINS).astype(np.float64)
