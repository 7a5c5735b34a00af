"""Who got worse as time went by: in the user's cost, and in telling cases apart."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from truepool.alarms.change_point import (
    Change,
    change,
    change_beside,
    others,
)
from truepool.alarms.discrimination import placements
from truepool.alarms.monitor import BLINDER, DEARER
from truepool.arrays import FloatArray, IntArray, to_classes
from truepool.audit.calibration import FEWEST_CASES
from truepool.audit.drifting import costs_in_time, rise, silenced
from truepool.audit.evidence import Evidence
from truepool.audit.suspicion import BROKEN, Suspicion
from truepool.comparison import Estimate
from truepool.numerals import number
from truepool.scores import auc


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
            yield _blind(evidence, i, agent, since, areas, order, p)
    known = np.flatnonzero(~np.isnan(pool))
    yield _pool(evidence, change(pool[known]), known)


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
    )


def _blind(
    evidence: Evidence,
    i: int,
    agent: str,
    since: int,
    areas: list[float],
    order: IntArray,
    p: float,
) -> Suspicion:
    before, after = areas
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
    )


def _advice(agent: str) -> str:
    return (
        f"Retrain or replace {agent}; meanwhile leave it out or use online weights "
        "(`truepool replay`)."
    )


def _area(said: FloatArray, outcomes: IntArray) -> float:
    known = ~np.isnan(said[:, 0])
    return auc(to_classes(said[known]), outcomes[known])


def _pool(evidence: Evidence, found: Change, known: IntArray) -> Suspicion:
    since = int(known[found.place])
    return Suspicion(
        "drifted-pool",
        (),
        f"The pool got worse from case {since:,} on: it cost {number(found.before)} "
        f"per case and costs {number(found.after)}.",
        "Let the weights follow: replay the panel with an online learner "
        "(`truepool replay`), and see whether the cases themselves changed.",
        p_value=found.p_value if found.after > found.before else 1.0,
        matters=bool(found.after > (1 + DEARER) * found.before),
        most="warning",
        number=rise(found, evidence.level),
        unit="rise of the cost per case",
        figure="drift",
        explained_by=(*BROKEN, "drifted"),
        since=since,
    )
