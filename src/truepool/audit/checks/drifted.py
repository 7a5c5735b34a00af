"""Who got worse as time went by."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from truepool.arrays import FloatArray, IntArray
from truepool.audit.calibration import FEWEST_CASES
from truepool.audit.drifting import change, losses_in_time
from truepool.audit.evidence import Evidence
from truepool.audit.suspicion import Suspicion
from truepool.comparison import Estimate
from truepool.formatting import number

RISE = 0.1
"""A rise below this share of the loss before it is small."""

name = "drift"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test an agent, of its loss beside the others'; one of the pool's own loss.

    Cases may get harder for everybody: that is the pool's drift, nobody's fault.
    """
    if evidence.panel.times is None:
        return
    lost, pool, order = losses_in_time(evidence)
    for i, agent in enumerate(evidence.panel.agents):
        beside = lost[:, i] - _others(lost, i)
        yield from _agent(evidence, i, agent, lost[:, i], beside, order)
    known = np.flatnonzero(~np.isnan(pool))
    found = change(pool[known])
    yield Suspicion(
        "drifted-pool",
        (),
        f"The pool got worse from case {_place(known, found.place):,} on: its Brier "
        f"loss was {number(found.before)} and is {number(found.after)}.",
        "Let the weights follow: replay the panel with an online learner "
        "(`truepool replay`), and see whether the cases themselves changed.",
        p_value=found.p_value if found.after > found.before else 1.0,
        matters=bool(found.after > (1 + RISE) * found.before),
        most="warning",
        number=found.rise(evidence.level),
        unit="rise of the Brier loss",
        figure="drift",
        explained_by=("drifted",),
    )


def _agent(
    evidence: Evidence,
    i: int,
    agent: str,
    own: FloatArray,
    beside: FloatArray,
    order: IntArray,
) -> Iterator[Suspicion]:
    known = np.flatnonzero(~np.isnan(beside))
    if len(known) < FEWEST_CASES:
        return
    found = change(beside[known])
    since = _place(known, found.place)
    before, after = (own[part].mean() for part in np.split(known, [found.place]))
    worse = found.after > found.before
    yield Suspicion(
        "drifted",
        (agent,),
        f"{agent} got worse from case {since:,} of {len(order):,} on: its Brier loss "
        f"rose from {number(before)} to {number(after)} while the others' did not.",
        f"Retrain or replace {agent}; meanwhile leave it out or use weights that "
        "follow (`truepool replay`).",
        p_value=found.p_value if worse else 1.0,
        matters=bool(found.after - found.before > RISE * before),
        number=found.rise(evidence.level),
        unit="rise of the Brier loss beside the others'",
        price=partial(_price, evidence, i, order[since:]),
        figure="drift",
    )


def _others(lost: FloatArray, i: int) -> FloatArray:
    """Mean loss of the others who spoke, (T,); NaN where nobody did."""
    others = np.delete(lost, i, axis=1)
    count = (~np.isnan(others)).sum(axis=1)
    total = np.nansum(others, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _place(known: IntArray, place: int) -> int:
    """Position in time of the first case after the change."""
    return int(known[place])


def _price(evidence: Evidence, agent: int, since: IntArray) -> Estimate | None:
    """What the pool costs more than had the agent fallen silent when it drifted."""
    looked = evidence.looked
    said = evidence.panel.values[looked]
    said[np.isin(looked, since), agent] = np.nan
    outcomes = evidence.panel.outcomes[looked]
    silenced = evidence.loss.of(evidence.judged.answers(said, looked), outcomes)
    return evidence.estimate(evidence.looked_cost - silenced)
