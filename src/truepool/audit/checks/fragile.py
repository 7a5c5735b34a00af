"""How much hangs on one agent."""

from collections.abc import Iterator

from truepool.audit.evidence import Evidence
from truepool.audit.robustness import robustness
from truepool.audit.suspicion import Suspicion


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """A note: the worst that the best agent could do."""
    studies = evidence.once(robustness)
    if not studies:
        return
    worst = max(studies, key=lambda study: study.rise.value)
    yield Suspicion(
        "fragile",
        (worst.who,),
        f"If {worst.who} {worst.what}, a case costs {worst.cost.value:.3g} instead of "
        f"{worst.cost.value - worst.rise.value:.3g}.",
        "Watch it by alarms on its loss; robust pools (`median`, `trimmed`, `krum`) "
        "and online weights limit the damage.",
        least="note",
        number=worst.rise,
        unit="cost a case",
        figure="robustness",
    )
