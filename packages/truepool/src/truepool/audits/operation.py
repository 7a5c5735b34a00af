"""What deciding by a pool means in operation: alerts, hits, money, each with limits."""

from functools import partial

import numpy as np

from truepool.audits.comparison import try_pools
from truepool.audits.evidence import Evidence, cases_per_month
from truepool.audits.findings import scaled
from truepool.audits.plan import Treated
from truepool.audits.refits import decided_by, pooled_by, tested_cases
from truepool.audits.values import PER_THOUSAND, Operation, Plan
from truepool.comparison import Estimate, estimate_cost
from truepool.core.arrays import BoolArray, IntArray
from truepool.measures.inference import (
    Resamples,
    independent_units,
    share_interval,
    unseen_errors,
)

FEWEST_DAYS = 5
"""With fewer days nothing is said about a day."""


def operations(given: Evidence, treated: Treated, plan: Plan) -> tuple[Operation, ...]:
    """Measure the pool in use, the one of the plan and the alternative.

    The pool in use is measured as it is today, that of the plan once all steps are
    taken: on the same cases, of which neither has learned.
    """
    if given.compute(try_pools) is None:
        return ()
    left = [a for a in given.panel.agents if a not in treated.without]
    others = [(plan.pool, treated.evidence, left), (plan.alternative, given, None)]
    rows = []
    for pool, evidence, agents in others:
        if pool is None or (pool == given.in_use and not treated.evidence.treated):
            continue
        pooled = pooled_by(evidence, pool, agents)
        if pooled is not None:
            cases, decided = tested_cases(evidence), decided_by(evidence, pooled)
            rows.append(_operation(evidence, pool, cases, decided))
    cases = tested_cases(given) if rows else given.cases
    decided = given.decisions[np.searchsorted(given.cases, cases)]
    return (_operation(given, given.in_use, cases, decided), *rows)


def _paid(evidence: Evidence, cases: IntArray, decided: IntArray) -> Estimate | None:
    """Cost per case of these decisions, with its interval."""
    panel, K = evidence.panel, evidence.panel.classes
    costs, y = evidence.loss.take(cases).costs, panel.outcomes[cases]
    cost = costs.cost_per_case(y, decided, K)
    weights, groups = evidence.weights_of(cases), evidence.groups_of(cases)
    units = independent_units(cost[:, None], weights, groups)[:, 0]
    excess = cost - costs.cost_per_case(y, y, K)
    unseen = unseen_errors(excess, costs.stakes(y, K), y, weights, groups)
    drawn = Resamples(len(units), evidence.resamples, evidence.seed)
    return estimate_cost(units, unseen, drawn, evidence.level)


def _operation(
    evidence: Evidence,
    pool: str,
    cases: IntArray,
    decided: IntArray,
) -> Operation:
    cost = _paid(evidence, cases, decided)
    paid = scaled(cost, PER_THOUSAND), scaled(cost, cases_per_month(evidence))
    if evidence.panel.classes > 2:
        return Operation(pool, len(cases), *paid)
    positive, alert = evidence.panel.outcomes[cases] > 0, decided > 0
    share = partial(_share, evidence, cases)
    recall = share(alert, positive)
    return Operation(
        pool,
        len(cases),
        *paid,
        _alerts_per_day(evidence, cases, alert),
        share(alert, np.ones_like(alert)),
        share(positive, alert, unseen=alert),
        recall,
        _recall_of_money(evidence, cases, alert, positive, recall),
        share(alert, ~positive),
    )


def _share(
    evidence: Evidence,
    cases: IntArray,
    hits: BoolArray,
    members: BoolArray,
    unseen: BoolArray | None = None,
) -> Estimate | None:
    """Share of the members that are hits, by the weights of the cases; None of none."""
    weights, groups = evidence.weights_of(cases), evidence.groups_of(cases)
    w = np.ones(len(cases)) if weights is None else weights
    if not members.any():
        return None
    limits = share_interval(hits, members, evidence.level, weights, groups, unseen)
    return Estimate(float(w @ (hits & members) / (w @ members)), *limits)


def _recall_of_money(
    evidence: Evidence,
    cases: IntArray,
    alert: BoolArray,
    positive: BoolArray,
    recall: Estimate | None,
) -> Estimate | None:
    """Share of what positive cases could cost that the pool finds.

    The wider of two intervals: of the ratio, by resampling, and that of recall, with
    a miss and a hit at what they cost on average. None where every case costs the same.
    """
    if recall is None or evidence.costs.constant:
        return None
    outcomes = evidence.panel.outcomes[cases]
    stakes = evidence.loss.take(cases).costs.stakes(outcomes, 2) * positive
    weights, groups = evidence.weights_of(cases), evidence.groups_of(cases)
    w = np.ones(len(cases)) if weights is None else weights
    total = float(w @ stakes)
    if not total > 0:
        return None
    value = float(w @ (stakes * alert)) / total
    apart = (stakes * (alert - value)) * (w.sum() / total)
    units = independent_units(apart[:, None], weights, groups)[:, 0]
    drawn = Resamples(len(units), evidence.resamples, evidence.seed)
    low, high = (value + end for end in drawn.interval(units, evidence.level))
    typical = total / float(w @ positive)
    missed, found = (
        float(np.average(stakes[part], weights=w[part])) if part.any() else typical
        for part in (positive & ~alert, positive & alert)
    )
    bounds = [_in_money(end, missed / found) for end in (recall.low, recall.high)]
    return Estimate(value, max(0.0, min(low, *bounds)), min(1.0, max(high, *bounds)))


def _in_money(recall: float, ratio: float) -> float:
    """Recall where a missed case is worth so many times as much as one that is found.

    >>> _in_money(0.5, 3.0), _in_money(0.0, 3.0)
    (0.25, 0.0)
    """
    return 0.0 if recall <= 0 else 1 / (1 + (1 / recall - 1) * ratio)


def _alerts_per_day(
    evidence: Evidence, cases: IntArray, alert: BoolArray
) -> Estimate | None:
    """Positive decisions per day, with an interval over the days; None without dates.

    Days without a case count too.
    """
    times = evidence.panel.times
    if times is None or times.dtype.kind != "M":
        return None
    day = times[cases].astype("datetime64[D]").astype(np.int64)
    day -= day.min()
    if day.max() + 1 < FEWEST_DAYS:
        return None
    weights = evidence.weights_of(cases)
    counted = alert * (np.ones(len(alert)) if weights is None else weights)
    counts = np.bincount(day, counted).astype(np.float64)
    drawn = Resamples(len(counts), evidence.resamples, evidence.seed)
    return Estimate(float(counts.mean()), *drawn.interval(counts, evidence.level))
