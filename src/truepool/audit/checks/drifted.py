"""Who got worse as time went by."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from truepool.arrays import FloatArray, IntArray
from truepool.audit.attribution import dates
from truepool.audit.calibration import FEWEST_CASES
from truepool.audit.drifting import Change, change, losses_in_time
from truepool.audit.evidence import Evidence
from truepool.audit.severity import FEEDS
from truepool.audit.suspicion import Suspicion
from truepool.audit.values import Finding
from truepool.comparison import Estimate
from truepool.formatting import number
from truepool.losses import Loss

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
    since = _place(known, found.place)
    yield Suspicion(
        "drifted-pool",
        (),
        f"The pool got worse from case {since:,} of {len(order):,} on: its Brier loss "
        f"rose from {number(found.before)} to {number(found.after)}.",
        "Use online weights (`truepool replay`), and find out whether the cases "
        "themselves changed.",
        p_value=found.p_value if found.after > found.before else 1.0,
        matters=bool(found.after > (1 + RISE) * found.before),
        most="warning",
        number=found.rise(evidence.level),
        unit="rise of the Brier loss",
        figure="drift",
        explained_by=(*FEEDS, "drifted"),
        since=since,
        between=_dates(pool, known, found.place),
        share=partial(_share, evidence, found, order[known]),
        unexplained="No agent changed near that case in a way that accounts for it: "
        "the cause is unknown.",
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
        f"Retrain or replace {agent}; until then leave it out or use online weights "
        "(`truepool replay`).",
        p_value=found.p_value if worse else 1.0,
        matters=bool(found.after - found.before > RISE * before),
        number=found.rise(evidence.level),
        unit="rise of the Brier loss beside the others'",
        price=partial(_price, evidence, i, order[since:]),
        figure="drift",
        since=since,
        between=_dates(beside, known, found.place),
        broken=bool(after >= _base_rate_loss(evidence, order[known[found.place :]])),
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


def _dates(series: FloatArray, known: IntArray, place: int) -> tuple[int, int]:
    """Earliest and latest position in time of that case."""
    first, last = dates(series[known], place)
    return _place(known, first), _place(known, last)


def _price(evidence: Evidence, agent: int, since: IntArray) -> Estimate | None:
    """What the pool costs more than had the agent fallen silent when it drifted."""
    looked = evidence.looked
    said = evidence.panel.values[looked]
    said[np.isin(looked, since), agent] = np.nan
    outcomes = evidence.panel.outcomes[looked]
    silenced = evidence.loss.of(evidence.judged.answers(said, looked), outcomes)
    return evidence.estimate(evidence.looked_cost - silenced)


def _base_rate_loss(evidence: Evidence, cases: IntArray) -> float:
    """Brier loss of always reporting the base rate of these cases."""
    part = evidence.panel.take(cases)
    rate = part.base_rate()
    said = np.broadcast_to(rate, (len(cases), len(rate)))
    return float(Loss("brier").of(said, part.outcomes).mean())


def _share(
    evidence: Evidence, found: Change, cases: IntArray, causes: Sequence[Finding]
) -> float:
    """Share of the rise of the pool's loss that goes if these agents fall silent.

    Each from its own change on; ``cases`` are the tested ones in time.
    """
    panel = evidence.panel
    said = panel.values.copy()
    for cause in causes:
        late = panel.order[cause.since :]
        said[late, panel.agents.index(cause.who[0])] = np.nan
    pooled = evidence.judged.answers(said[cases], cases)
    lost = Loss("brier").of(pooled, panel.outcomes[cases])
    rise = float(lost[found.place :].mean() - lost[: found.place].mean())
    return 1 - rise / (found.after - found.before)
