"""What deciding elsewhere than the costs ask for costs."""

from collections.abc import Iterator
from functools import partial

from truepool.audits.evidence import Evidence
from truepool.audits.suspicion import Suspicion
from truepool.core.formatting import amount, number
from truepool.measures.inference import paired_p_values
from truepool.measures.losses import Loss

NOTICED = 0.05
"""A saving below this share of the pool's cost is small."""

name = "threshold"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test, where a threshold was given that is not the costs' own."""
    line = evidence.threshold
    if line is None or abs(line - evidence.costs.threshold) < 1e-9:
        return
    asked = evidence.costs.threshold
    best = Loss("cost", evidence.costs).of(evidence.pooled, evidence.outcomes)
    saved = evidence.cost - best
    saving = float(saved.mean())
    few = evidence.shortage is not None
    if saving <= 0:
        yield Suspicion(
            "threshold-kept",
            (),
            f"Deciding above {number(line)} costs {number(-saving)} a case less than "
            f"at the {number(asked)} that the costs ask for: the pool's "
            "probabilities are off.",
            "Recalibrate the pool and decide where the costs ask for it.",
            least="note",
            price=partial(evidence.estimate, saved),
            figure="threshold",
        )
        return
    yield Suspicion(
        "threshold",
        (),
        f"Deciding above {number(line)} costs {number(saving)} a case more than at "
        f"{number(asked)}, where a missed case at {amount(evidence.costs.fn)} and a "
        f"false alarm at {amount(evidence.costs.fp)} balance.",
        f"Decide above {number(asked)}{_other(line)}.",
        p_value=None if few else float(paired_p_values(saved[:, None])[0]),
        least="note" if few else None,
        matters=saving >= NOTICED * float(evidence.cost.mean()),
        price=partial(evidence.estimate, saved),
        figure="threshold",
    )


def _other(line: float) -> str:
    """Costs that would make the threshold in use right, where there are any."""
    if not 0 < line < 1:
        return ""
    ratio = number((1 - line) / line)
    return (
        f", or state the costs that make {number(line)} right: a missed case at "
        f"{ratio} false alarms"
    )
