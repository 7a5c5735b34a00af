"""Which agents got worse over time, in cost and in discrimination."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.score_levels import scores
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import steady_agents
from truepool.audits.kinds import SURE
from truepool.audits.timeline import dates
from truepool.audits.values import PER_THOUSAND, Drift
from truepool.comparison import Estimate
from truepool.core.arrays import BoolArray, FloatArray, IntArray, to_classes
from truepool.measures.groups import FEWEST_CASES
from truepool.measures.inference.bootstrap import standard_errors
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.online import replay
from truepool.online.alarms import alarms
from truepool.online.alarms.change_point import (
    Change,
    change,
    contrast_change,
    others,
)
from truepool.online.alarms.discrimination import WINDOW, placements
from truepool.online.alarms.series import COST_RISE, DISCRIMINATION_FALL
from truepool.panel.panel import Panel

DRIFT_CASES = 5_000
"""Largest number of cases, evenly spread over time, for detectors and learner."""
POINTS = 100
LEARNER = "gradient"


def losses_over_time(evidence: Evidence, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """Loss of each agent (T, N) and of the pool (T,), in the order of time.

    NaN where an agent has no report, or the pool only learned.
    """
    panel, order = evidence.panel, evidence.panel.order
    values = np.nan_to_num(panel.values, nan=0.5)
    agents = loss.evaluate(values, panel.outcomes[:, None])
    agents[np.isnan(panel.values[:, :, 0])] = np.nan
    pool = np.full(len(panel), np.nan)
    known = np.flatnonzero(evidence.validation.fold >= 0)
    pooled = evidence.validation.predict(panel.values[known], known)
    pool[known] = loss.take(known).evaluate(pooled, panel.outcomes[known])
    return agents[order], pool[order]


def drift_over_time(evidence: Evidence) -> Drift | None:
    """Losses and weights over time; None where the cases have no times."""
    panel = evidence.panel
    if panel.times is None:
        return None
    losses, pool = losses_over_time(evidence, Loss("brier"))
    order = panel.order
    every = order[_spread(len(order), DRIFT_CASES)]
    watched = panel.take(every)
    if len(every) < len(order):
        evidence.sampling.note("thinned-in-time", cases=len(every))
    trace = replay(LEARNER, watched)
    path = trace.weights
    if path is None:  # the replay keeps it
        raise AssertionError
    drawn = _spread(len(every), POINTS)
    cuts = np.linspace(0, len(order), min(POINTS, len(order)) + 1).astype(np.int64)
    series = {agent: losses[:, i] for i, agent in enumerate(panel.agents)}
    series[evidence.label] = pool
    middles = (cuts[:-1] + cuts[1:]) / 2
    raised = _alarms(evidence, watched, len(order) / len(every))
    dated = panel.times.dtype.kind == "M"
    return Drift(
        middles,
        {who: _block_means(column, cuts) for who, column in series.items()},
        path[drawn],
        LEARNER,
        raised,
        tuple(evidence.date(int(middle)) for middle in middles) if dated else (),
        tuple(evidence.date(case) for _, case, _, _ in raised) if dated else (),
        () if panel.ids is None else tuple(str(panel.ids[order[a[1]]]) for a in raised),
    )


def _alarms(
    evidence: Evidence, watched: Panel, step: float
) -> tuple[tuple[str, int, float, float], ...]:
    if not _has_river():
        evidence.sampling.note("no-river")
        return ()
    return tuple(
        (alarm.who, int(alarm.case * step), alarm.before, alarm.after)
        for alarm in alarms(watched)
    )


def _has_river() -> bool:
    return find_spec("river") is not None


def _spread(cases: int, most: int) -> IntArray:
    """Return at most ``most`` indices, evenly spread."""
    if cases <= most:
        return np.arange(cases)
    return np.linspace(0, cases - 1, most).astype(np.int64)


def _block_means(column: FloatArray, cuts: IntArray) -> FloatArray:
    """Means between the cuts, ignoring NaN; NaN where there is nothing else."""
    known = ~np.isnan(column)
    total = np.r_[0.0, np.cumsum(np.where(known, column, 0.0))]
    count = np.r_[0, np.cumsum(known)]
    size = count[cuts[1:]] - count[cuts[:-1]]
    sums = total[cuts[1:]] - total[cuts[:-1]]
    return np.where(size > 0, sums / np.maximum(size, 1), np.nan)


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent, of its cost and its discrimination beside the others'.

    Cases may get harder for all agents: that is drift of the pool, not of an agent. The
    others are those whose feed neither stopped nor became constant, and who did not get
    worse themselves, unless all did. The p-value is twice the smaller of the two.
    """
    panel = evidence.panel
    order = panel.order
    values, outcomes = panel.values[order], panel.outcomes[order]
    cost, _ = losses_over_time(evidence, evidence.loss)
    placed = placements(values, outcomes)
    peers = _peers(evidence.compute(steady_agents), cost, placed)
    beside, ranked = cost - others(cost, peers), placed - others(placed, peers)
    for i, agent in enumerate(panel.agents):
        in_cost = contrast_change(cost[:, i], beside[:, i])
        in_rank = contrast_change(placed[:, i], ranked[:, i])
        if len(in_cost[1]) < FEWEST_CASES:
            continue
        p_cost = _cost_p_value(*in_cost, beside[:, i])
        if i in evidence.compute(scores):  # deciding by them alone means nothing
            p_cost = 1.0
        p_rank = _rank_p_value(*in_rank, ranked[:, i])
        p = min(1.0, 2 * min(p_cost, p_rank))
        if p_cost <= p_rank:
            yield _cost_drift(evidence, i, agent, in_cost, beside[:, i], p)
        else:
            found, known = in_rank
            since = int(known[found.place])
            areas = [
                _area(values[part, i], outcomes[part])
                for part in (slice(None, since), slice(since, None))
            ]
            between = _dates(ranked[:, i], known, found.place)
            if panel.classes == 2:  # ranks change in the whole window of a change
                between = max(between[0] - WINDOW, 0), between[1] + WINDOW
            yield _discrimination_drift(evidence, i, agent, since, between, areas, p)


def _peers(steady: BoolArray, cost: FloatArray, placed: FloatArray) -> BoolArray:
    """Agents (N,) that the others are compared with: steady ones that did not fall.

    All steady ones where each of them fell, or nobody else is left.
    """
    level = SURE / (2 * len(steady))
    fell = np.zeros_like(steady)
    for i in np.flatnonzero(steady):
        in_cost, in_rank = (
            change(series[~np.isnan(series[:, i]), i]) for series in (cost, placed)
        )
        dearer = in_cost.p_value < level and in_cost.after > in_cost.before
        fell[i] = dearer or (in_rank.p_value < level and in_rank.after < in_rank.before)
    kept = steady & ~fell
    return kept if kept.any() else steady


def _cost_p_value(found: Change, known: IntArray, beside: FloatArray) -> float:
    """p-value if the agent's cost rose, both in itself and relative to the others."""
    rose = _gap(beside[known], found) > 0 and found.after > found.before
    return found.p_value if rose else 1.0


def _rank_p_value(found: Change, known: IntArray, ranked: FloatArray) -> float:
    """p-value if the agent discriminates less well than before."""
    fall = found.before - found.after
    fell = (
        fall > DISCRIMINATION_FALL * abs(found.before)
        and _gap(ranked[known], found) < 0
    )
    return found.p_value if fell else 1.0


def _gap(series: FloatArray, found: Change) -> float:
    """Increase of the mean of a series at a change."""
    return float(series[found.place :].mean() - series[: found.place].mean())


def _cost_drift(
    evidence: Evidence,
    i: int,
    agent: str,
    changed: tuple[Change, IntArray],
    beside: FloatArray,
    p: float,
) -> Candidate:
    found, known = changed
    since, order = int(known[found.place]), evidence.panel.order
    gap = _gap(beside[known], found)
    return Candidate(
        "drifted",
        (agent,),
        {
            "form": "cost",
            "from": evidence.position(since),
            "before": PER_THOUSAND * found.before,
            "after": PER_THOUSAND * found.after,
        },
        p_value=p,
        matters=gap > COST_RISE * found.before,
        number=estimate_rise(replace(found, before=0.0, after=gap), evidence.level),
        unit="cost-rise-beside",
        price=partial(evidence.saving_without, i, order[since:]),
        since=since,
        between=_dates(beside, known, found.place),
        broken=_is_uninformative(evidence, i, order[since:]),
    )


def _discrimination_drift(
    evidence: Evidence,
    i: int,
    agent: str,
    since: int,
    between: tuple[int, int],
    areas: list[float],
    p: float,
) -> Candidate:
    before, after = areas
    order = evidence.panel.order
    return Candidate(
        "drifted",
        (agent,),
        {
            "form": "area",
            "from": evidence.position(since),
            "before": before,
            "after": after,
        },
        p_value=p,
        number=Estimate(after - before, float("nan"), float("nan")),
        unit="auc-change",
        price=partial(evidence.saving_without, i, order[since:]),
        since=since,
        between=between,
        broken=_is_uninformative(evidence, i, order[since:]),
    )


def _area(reports: FloatArray, outcomes: IntArray) -> float:
    known = ~np.isnan(reports[:, 0])
    return auc(to_classes(reports[known]), outcomes[known])


def _dates(series: FloatArray, known: IntArray, place: int) -> tuple[int, int]:
    """Earliest and latest position in time of the first case after a change."""
    first, last = dates(series[known], place)
    return int(known[first]), int(known[last])


def _is_uninformative(evidence: Evidence, agent: int, cases: IntArray) -> bool:
    """Whether an agent's Brier loss on these cases is no better than a base rate."""
    part = evidence.panel.take(cases)
    reports = part.values[:, agent]
    known = ~np.isnan(reports[:, 0])
    outcomes, brier = part.outcomes[known], Loss("brier")
    rate = part.base_rate()
    plain = np.broadcast_to(rate, (len(outcomes), len(rate)))
    own = brier.evaluate(reports[known], outcomes).mean()
    return bool(own >= brier.evaluate(plain, outcomes).mean())


def _share(
    evidence: Evidence,
    found: Change,
    cases: IntArray,
    since: Mapping[str, int],
    agents: Collection[str],
) -> float:
    """Share of the pool's cost increase that disappears without these agents' reports.

    Each agent's reports are left out from its own change on; ``cases`` are the tested
    cases in the order of time.
    """
    panel = evidence.panel
    values = panel.values.copy()
    for who in agents:
        values[panel.order[since[who] :], panel.agents.index(who)] = np.nan
    pooled = evidence.validation.predict(values[cases], cases)
    cost = evidence.loss.take(cases).evaluate(pooled, panel.outcomes[cases])
    rise = _gap(cost, found)
    return 1 - rise / (found.after - found.before)


def estimate_rise(found: Change, level: float) -> Estimate:
    """Increase of a mean at a change per 1,000 cases, with its interval."""
    gap = found.after - found.before
    reach = standard_errors(level) * found.error
    return Estimate(*(PER_THOUSAND * x for x in (gap, gap - reach, gap + reach)))


def check_pool(evidence: Evidence) -> Iterator[Candidate]:
    """One test of the cost of the pool over time."""
    _, pool = losses_over_time(evidence, evidence.loss)
    known = np.flatnonzero(~np.isnan(pool))
    found = change(pool[known])
    since, order = int(known[found.place]), evidence.panel.order
    yield Candidate(
        "drifted-pool",
        facts={
            "from": evidence.position(since),
            "before": PER_THOUSAND * found.before,
            "after": PER_THOUSAND * found.after,
        },
        p_value=found.p_value if found.after > found.before else 1.0,
        matters=bool(found.after > (1 + COST_RISE) * found.before),
        number=estimate_rise(found, evidence.level),
        unit="cost-rise",
        since=since,
        between=_dates(pool, known, found.place),
        share=partial(_share, evidence, found, order[known]),
    )


checks = (
    Check("drift", check, timed=True, unsplit=True),
    Check("drift of the pool", check_pool, about="pool", timed=True, unsplit=True),
)
