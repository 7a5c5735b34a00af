"""What the pool costs and finds when only so many cases can be decided positive."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.topic import Topic
from truepool.audits.values import AtCapacity
from truepool.comparison import describe_pending
from truepool.core.arrays import IntArray
from truepool.core.formatting import percent
from truepool.measures.losses import Loss


def at_capacity(evidence: Evidence) -> AtCapacity | None:
    """Recall and cost of the pool within the capacity; None where there is none."""
    if evidence.capacity is None:
        return None
    competition, pooled = evidence.competition, evidence.pooled_competitors
    loss = Loss("cost", evidence.costs, evidence.threshold)
    wanted = replace(competition, capacity=None).decide(pooled, loss)
    within, decided = evidence.decisions, wanted[: competition.tested]
    cost = evidence.decision_cost
    return AtCapacity(
        str(evidence.capacity),
        int(wanted.sum()),
        int(evidence.competitor_decisions.sum()),
        evidence.recall(within),
        _share(evidence, within, within),
        evidence.estimate(cost),
        evidence.saving(cost - evidence.cost),
        _share(evidence, decided, evidence.outcomes),
        _share(evidence, decided, decided),
        competition.pending,
    )


def _share(evidence: Evidence, decisions: IntArray, whole: IntArray) -> float:
    """Share of these cases that are positive and decided so, by their weights."""
    if not whole.any():
        return float("nan")
    hits = evidence.mean((decisions * evidence.outcomes).astype(np.float64))
    return hits / evidence.mean(whole.astype(np.float64))


def check(evidence: Evidence) -> Iterator[Candidate]:
    """A note of what the capacity costs, if there is one."""
    found = evidence.compute(at_capacity)
    if found is None or found.recall is None or found.cost is None:
        return
    limit = f"With a capacity of {found.capacity}"
    if found.decided == found.wanted:
        yield Candidate(
            "capacity",
            (),
            f"{limit}, all {found.wanted:,} positive decisions fit."
            f"{_basis(evidence, found)}",
            "Nothing: the capacity is enough.",
            least="note",
            figure="capacity",
        )
        return
    now = found.cost.value - (0.0 if found.rise is None else found.rise.value)
    yield Candidate(
        "capacity",
        (),
        f"{limit}, {found.decided:,} of {found.wanted:,} positive decisions fit: "
        f"{percent(found.recall.value)} of the positives are found instead of "
        f"{percent(found.recall_without_limit)}, and a case costs "
        f"{evidence.money(found.cost.value)} instead of {evidence.money(now)}."
        f"{_basis(evidence, found)}",
        _advice(found),
        least="note",
        number=found.rise,
        unit=evidence.in_currency("cost of the limit per case"),
        figure="capacity",
    )


def _basis(evidence: Evidence, found: AtCapacity) -> str:
    """Say who competes for the capacity, and whose figures these are."""
    if not found.competing:
        return ""
    by_propensity = evidence.panel.propensity is not None
    return f" {describe_pending(found.competing, by_propensity=by_propensity)}"


def _advice(found: AtCapacity) -> str:
    if found.rise is not None and found.rise.high < 0:
        return (
            "More capacity would not have paid on these cases: those that did not fit "
            "would have cost more than they save."
        )
    if found.rise is not None and found.rise.low <= 0:
        return (
            "More capacity would not have made a significant difference to the cost on "
            "these cases."
        )
    return (
        "Decide the most valuable cases first, as truepool score --set capacity=LIMIT "
        "does, or weigh more capacity against what the limit costs."
    )


topic = Topic("capacity", check, few_cases=True, unsplit=True)
