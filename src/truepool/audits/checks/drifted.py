"""Who got worse as time went by: in the user's cost, and in telling cases apart."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from truepool.audits.attribution import dates
from truepool.audits.calibration import FEWEST_CASES
from truepool.audits.drifting import costs_in_time, rise, silenced
from truepool.audits.evidence import Evidence
from truepool.audits.severity import FEEDS
from truepool.audits.suspicion import Suspicion
from truepool.audits.values import Finding
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, to_classes
from truepool.core.formatting import number
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.online.alarms.change_point import (
    Change,
    change,
    change_beside,
    others,
)
from truepool.online.alarms.discrimination import placements
from truepool.online.alarms.monitor import BLINDER, DEARER

name = "drift"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test per agent, of its cost and its discrimination beside the others'.

    Cases may get harder for everybody: that is the pool's drift, nobody's fault. The
    p-value is twice the smaller of the two.
    """
    panel = evidence.panel
    if panel.times is None:
        return
    order = panel.order
    values, outcomes = panel.values[order], panel.outcomes[order]
    cost, pool = costs_in_time(evidence)
    beside = cost - others(cost)
    placed = placements(values, outcomes)
    ranked = placed - others(placed)
    for i, agent in enumerate(panel.agents):
        paid = change_beside(cost[:, i], beside[:, i])
        told = change_beside(placed[:, i], ranked[:, i])
        if len(paid[1]) < FEWEST_CASES:
            continue
        p_cost = _dearer(*paid, beside[:, i])
        p_rank = _blinder(*told, ranked[:, i])
        p = min(1.0, 2 * min(p_cost, p_rank))
        if p_cost <= p_rank:
            yield _costly(evidence, i, agent, paid, beside[:, i], p)
        else:
            found, known = told
            since = int(known[found.place])
            areas = [
                _area(values[part, i], outcomes[part])
                for part in (slice(None, since), slice(since, None))
            ]
            between = _dates(ranked[:, i], known, found.place)
            yield _blind(evidence, i, agent, since, between, areas, p)
    known = np.flatnonzero(~np.isnan(pool))
    yield _pool(evidence, change(pool[known]), pool, known)


def _dearer(found: Change, known: IntArray, beside: FloatArray) -> float:
    """p-value where the agent's cost rose, beside the others' and for itself."""
    rose = _gap(beside[known], found) > 0 and found.after > found.before
    return found.p_value if rose else 1.0


def _blinder(found: Change, known: IntArray, ranked: FloatArray) -> float:
    """p-value where the agent tells cases apart less well than it did."""
    fall = found.before - found.after
    fell = fall > BLINDER * abs(found.before) and _gap(ranked[known], found) < 0
    return found.p_value if fell else 1.0


def _gap(series: FloatArray, found: Change) -> float:
    """How far a series rose at a change."""
    return float(series[found.place :].mean() - series[: found.place].mean())


def _costly(
    evidence: Evidence,
    i: int,
    agent: str,
    paid: tuple[Change, IntArray],
    beside: FloatArray,
    p: float,
) -> Suspicion:
    found, known = paid
    since, order = int(known[found.place]), evidence.panel.order
    gap = _gap(beside[known], found)
    return Suspicion(
        "drifted",
        (agent,),
        f"{agent} got worse from case {since:,} of {len(order):,} on: deciding by it "
        f"alone cost {number(found.before)} per case and costs {number(found.after)}, "
        "while the other agents' cost did not rise as much.",
        _advice(agent),
        p_value=p,
        matters=gap > DEARER * found.before,
        number=rise(
            Change(found.place, 0.0, gap, found.p_value, found.error), evidence.level
        ),
        unit="rise of its cost per case beside the others'",
        price=partial(silenced, evidence, i, order[since:]),
        figure="drift",
        since=since,
        between=_dates(beside, known, found.place),
        broken=_knows_nothing(evidence, i, order[since:]),
    )


def _blind(
    evidence: Evidence,
    i: int,
    agent: str,
    since: int,
    between: tuple[int, int],
    areas: list[float],
    p: float,
) -> Suspicion:
    before, after = areas
    order = evidence.panel.order
    return Suspicion(
        "drifted",
        (agent,),
        f"{agent} got worse from case {since:,} of {len(order):,} on: it tells "
        f"positive from negative cases less well (AUC {before:.2f} before, {after:.2f} "
        "since), while the other agents do not.",
        _advice(agent),
        p_value=p,
        number=Estimate(after - before, float("nan"), float("nan")),
        unit="change of its AUC",
        price=partial(silenced, evidence, i, order[since:]),
        figure="drift",
        since=since,
        between=between,
        broken=_knows_nothing(evidence, i, order[since:]),
    )


def _advice(agent: str) -> str:
    return (
        f"Retrain or replace {agent}; meanwhile leave it out or use online weights "
        "(`truepool replay`)."
    )


def _area(said: FloatArray, outcomes: IntArray) -> float:
    known = ~np.isnan(said[:, 0])
    return auc(to_classes(said[known]), outcomes[known])


def _dates(series: FloatArray, known: IntArray, place: int) -> tuple[int, int]:
    """Earliest and latest position in time of the first case after a change."""
    first, last = dates(series[known], place)
    return int(known[first]), int(known[last])


def _knows_nothing(evidence: Evidence, agent: int, cases: IntArray) -> bool:
    """Whether an agent's Brier loss on these cases is no better than a base rate."""
    part = evidence.panel.take(cases)
    said = part.values[:, agent]
    known = ~np.isnan(said[:, 0])
    if not known.any():
        return False
    outcomes, brier = part.outcomes[known], Loss("brier")
    rate = part.base_rate()
    plain = np.broadcast_to(rate, (len(outcomes), len(rate)))
    own = brier.of(said[known], outcomes).mean()
    return bool(own >= brier.of(plain, outcomes).mean())


def _share(
    evidence: Evidence, found: Change, cases: IntArray, causes: Sequence[Finding]
) -> float:
    """Share of the rise of the pool's cost that goes if these agents fall silent.

    Each from its own change on; ``cases`` are the tested ones in time.
    """
    panel = evidence.panel
    said = panel.values.copy()
    for cause in causes:
        late = panel.order[cause.since :]
        said[late, panel.agents.index(cause.who[0])] = np.nan
    pooled = evidence.judged.answers(said[cases], cases)
    lost = evidence.loss.of(pooled, panel.outcomes[cases])
    rise = float(lost[found.place :].mean() - lost[: found.place].mean())
    return 1 - rise / (found.after - found.before)


def _pool(
    evidence: Evidence, found: Change, pool: FloatArray, known: IntArray
) -> Suspicion:
    since, order = int(known[found.place]), evidence.panel.order
    return Suspicion(
        "drifted-pool",
        (),
        f"The pool got worse from case {since:,} of {len(order):,} on: it cost "
        f"{number(found.before)} per case and costs {number(found.after)}.",
        "Use online weights (`truepool replay`), and find out whether the cases "
        "themselves changed.",
        p_value=found.p_value if found.after > found.before else 1.0,
        matters=bool(found.after > (1 + DEARER) * found.before),
        most="warning",
        number=rise(found, evidence.level),
        unit="rise of the cost per case",
        figure="drift",
        explained_by=(*FEEDS, "drifted", "rescaled-feed"),
        since=since,
        between=_dates(pool, known, found.place),
        share=partial(_share, evidence, found, order[known]),
        unexplained="No agent changed near that case in a way that accounts for it: "
        "the cause is unknown.",
    )
