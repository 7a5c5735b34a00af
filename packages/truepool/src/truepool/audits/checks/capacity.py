"""What the pool costs and finds when only so many cases can be decided positive."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.audits.findings import scaled
from truepool.audits.values import PER_THOUSAND, AtCapacity
from truepool.core.arrays import IntArray
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
        scaled(evidence.estimate(cost), PER_THOUSAND),
        scaled(evidence.saving(cost - evidence.cost), PER_THOUSAND),
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
    fits = found.decided == found.wanted
    yield Candidate(
        "capacity",
        facts={
            "form": "fits" if fits else "cut",
            "capacity": found.capacity,
            "wanted": found.wanted,
            "decided": found.decided,
            "recall": found.recall.value,
            "recall_without": found.recall_without_limit,
        },
        least="note",
        number=None if fits else found.rise,
        unit="" if fits else "limit",
    )


checks = (Check("capacity", check, about="pool", few_cases=True, unsplit=True),)
