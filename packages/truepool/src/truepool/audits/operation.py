"""What deciding by a pool means in operation: alerts, hits, money, each with limits."""

from dataclasses import replace
from functools import partial

import numpy as np

from truepool.audits.cross_validation import CrossValidation
from truepool.audits.evidence import Evidence
from truepool.audits.topics.comparison import compare_pools, try_pools
from truepool.audits.values import Operation
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, IntArray
from truepool.measures.inference import (
    Resamples,
    independent_units,
    share_interval,
)

MONTH = 365.25 / 12
"""Days of a month."""

FEWEST_DAYS = 5
"""With fewer days nothing is said about a day."""


def operations(evidence: Evidence, pools: list[str]) -> tuple[Operation, ...]:
    """Measure pools of the comparison on the cases that it tested, two classes only.

    The pool in use is measured on all cases that it did not learn from, if it was saved
    or learns nothing.
    """
    tried, table = evidence.compute(try_pools), evidence.compute(compare_pools)
    if tried is None or table is None or evidence.panel.classes > 2:
        return ()
    competition = tried.competition
    tested = competition.cases[: competition.tested]
    found = []
    for name in dict.fromkeys(pools):
        if name == evidence.in_use:
            every = _on_every_case(evidence)
            cost = every.estimate(every.decision_cost)
            found.append(_operation(every, name, every.cases, every.decisions, cost))
            continue
        decided = competition.decide(tried.pooled[name], evidence.planned_loss)
        decided = decided[: competition.tested]
        found.append(_operation(evidence, name, tested, decided, table[name].loss))
    return tuple(found)


def _on_every_case(evidence: Evidence) -> Evidence:
    """Evidence in which a pool that learns nothing is tested on every case.

    Elsewhere it is tested on those of the pools that it is compared with. Within a
    capacity cases compete, so it stays with these.
    """
    pool, panel = evidence.pool, evidence.panel
    if pool.complexity or evidence.validation.saved or evidence.capacity is not None:
        return evidence
    (fitted,) = evidence.validation.pools
    every = replace(evidence)
    vars(every)["validation"] = CrossValidation(panel, fitted, evidence.sampling)
    return every


def cases_per_month(evidence: Evidence) -> float | None:
    """Cases in a month of the table, with an outcome or without; None without dates."""
    panel = evidence.unsplit.panel
    if panel.times is None or panel.times.dtype.kind != "M":
        return None
    times = panel.times
    if panel.pending is not None and panel.pending.times is not None:
        times = np.concatenate([times, panel.pending.times])
    days = float(np.ptp(times.astype("datetime64[s]").astype(np.int64))) / 86_400
    # By propensity a case stands for others that are among those without an outcome.
    each = 1.0 if panel.weights is None else float(panel.weights.mean())
    return None if days < 1 else len(times) * each / days * MONTH


def _operation(
    evidence: Evidence,
    pool: str,
    cases: IntArray,
    decided: IntArray,
    cost: Estimate | None,
) -> Operation:
    positive, alert = evidence.panel.outcomes[cases] > 0, decided > 0
    share = partial(_share, evidence, cases)
    recall = share(alert, positive)
    return Operation(
        pool,
        len(cases),
        cost,
        scaled(cost, cases_per_month(evidence)),
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


def scaled(estimate: Estimate | None, factor: float | None) -> Estimate | None:
    """Return an estimate times a number, if both are known."""
    if estimate is None or factor is None:
        return None
    ends = (estimate.value, estimate.low, estimate.high)
    return Estimate(*(factor * end for end in ends))
