"""How much hangs on one agent."""

from collections.abc import Iterator

from truepool.audits.evidence import Evidence
from truepool.audits.robustness import robustness
from truepool.audits.suspicion import Suspicion
from truepool.audits.values import CaseStudy
from truepool.core.formatting import number

name = "robustness"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """A note: the worst that the best agent could do."""
    studies = evidence.once(robustness)
    if not studies:
        return
    worst = max(studies, key=lambda study: study.rise.value)
    yield Suspicion(
        "fragile",
        (worst.who,),
        _told(worst),
        "Watch it by alarms on its loss; robust pools (`median`, `trimmed`, `krum`) "
        "and online weights limit the damage.",
        least="note",
        number=worst.rise,
        unit="rise of the cost a case",
        figure="robustness",
    )


def _told(worst: CaseStudy) -> str:
    cost = worst.cost.value
    if worst.rise.value <= 0:
        return f"Whatever {worst.who} says, decisions get no dearer than they are."
    return (
        f"If {worst.who} {worst.what}, a case costs {number(cost)} instead of "
        f"{number(cost - worst.rise.value)}."
    )
