"""What the pool costs if its best agent fails, stops reporting or turns hostile."""

from collections.abc import Iterator
from typing import NamedTuple

from truepool.audits.best_agent import best_agent
from truepool.audits.topics import Candidate, Detail, Estimate, Evidence
from truepool.core.arrays import FloatArray
from truepool_lab.stress.constant import ConstantLow
from truepool_lab.stress.interface import Stress
from truepool_lab.stress.label_flip import LabelFlip
from truepool_lab.stress.noise import RandomNoise

FAILURES: tuple[tuple[str, Stress], ...] = (
    ("reports noise", RandomNoise()),
    ("always reports near 0", ConstantLow()),
    ("reports the opposite", LabelFlip()),
)
SURE_OF = "is always nearly sure of {}"
"""What reporting near 0 is with more than two classes: the first one gets the rest."""


class Failure(NamedTuple):
    """What the pool would cost if an agent failed."""

    what: str
    who: str
    cost: Estimate
    rise: Estimate


def robustness(evidence: Evidence) -> tuple[Failure, ...]:
    """Cost per case if the best agent changed after the pool was fitted."""
    if evidence.shortage is not None:
        return ()
    who = evidence.compute(best_agent)
    i = evidence.panel.agents.index(who)
    part = evidence.panel.take(evidence.cases)
    studies = [_study(evidence, "stops reporting", who, evidence.cost_rises[:, i])]
    for what, stress in FAILURES:
        values = stress(part, who, seed=evidence.seed).values
        pooled = evidence.validation.predict(values, evidence.cases)
        cost = evidence.tested_loss.evaluate(pooled, part.outcomes)
        if isinstance(stress, ConstantLow) and part.classes > 2:
            what = SURE_OF.format(part.labels.names[0])
        studies.append(_study(evidence, what, who, cost - evidence.cost))
    return tuple(studies)


def _study(evidence: Evidence, what: str, who: str, rise: FloatArray) -> Failure:
    cost, by = evidence.estimate(evidence.cost + rise), evidence.saving(rise)
    if cost is None or by is None:  # there are enough cases
        raise AssertionError
    return Failure(what, who, cost, by)


def check(evidence: Evidence) -> Iterator[Candidate]:
    """A note on the most expensive failure of the best agent."""
    studies = evidence.compute(robustness)
    if not studies:
        return
    worst = max(studies, key=lambda study: study.rise.value)
    yield Candidate(
        "fragile",
        (worst.who,),
        _sentence(evidence, worst),
        "Set an alarm on its loss; robust pools (`median`, `trimmed`, `krum`) "
        "and online weights limit the damage.",
        least="note",
        number=worst.rise,
        unit=evidence.in_currency("rise in the cost per case"),
        figure="details",
        details=tuple(Detail(one.what, one.rise) for one in studies),
    )


def _sentence(evidence: Evidence, worst: Failure) -> str:
    cost = worst.cost.value
    if worst.rise.value <= 0:
        return (
            f"Whatever {worst.who} reports, decisions{evidence.unlimited} cost no "
            "more than now."
        )
    return (
        f"If {worst.who} {worst.what}, a case costs {evidence.money(cost)} instead of "
        f"{evidence.money(cost - worst.rise.value)}{evidence.unlimited}."
    )
