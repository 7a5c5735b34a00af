"""What the pool costs if its best agent fails, stops reporting or turns hostile."""

from collections.abc import Iterator
from typing import NamedTuple

from truepool.audits.best_agent import best_agent
from truepool.audits.checks import Candidate, Check, Detail, Estimate, Evidence, Kind
from truepool.audits.findings import scaled
from truepool.audits.values import PER_THOUSAND
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


def check_robustness(evidence: Evidence) -> Iterator[Candidate]:
    """A note on the most expensive failure of the best agent."""
    studies = evidence.compute(robustness)
    if not studies:
        return
    worst = max(studies, key=lambda study: study.rise.value)
    rises = [(one.what, scaled(one.rise, PER_THOUSAND)) for one in studies]
    yield Candidate(
        "fragile",
        facts={
            "form": "costs" if worst.rise.value > 0 else "none",
            "agent": worst.who,
            "what": worst.what,
            "cost": PER_THOUSAND * worst.cost.value,
            "now": PER_THOUSAND * (worst.cost.value - worst.rise.value),
        },
        least="note",
        number=scaled(worst.rise, PER_THOUSAND),
        unit="cost-rise",
        details=tuple(Detail(what, rise) for what, rise in rises if rise),
    )


check = Check(
    "robustness",
    check_robustness,
    about="pool",
    kinds=(Kind("fragile", "pool", "fragile", "", "details", most="note"),),
)
