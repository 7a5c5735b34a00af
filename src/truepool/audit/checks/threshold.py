"""What deciding elsewhere than the costs ask for costs."""

from collections.abc import Iterator
from functools import partial

from truepool.audit.evidence import Evidence
from truepool.audit.suspicion import Suspicion
from truepool.inference import paired_p_values
from truepool.losses import Loss

NOTICED = 0.05
"""A saving below this share of the pool's cost is small."""


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
            f"Deciding above {line:.3g} costs {-saving:.3g} a case less than at the "
            f"{asked:.3g} that the costs ask for: the pool's probabilities are off.",
            "Recalibrate the pool and decide where the costs ask for it.",
            least="note",
            price=partial(evidence.estimate, saved),
            figure="threshold",
        )
        return
    yield Suspicion(
        "threshold",
        (),
        f"Deciding above {line:.3g} costs {saving:.3g} a case more than at "
        f"{asked:.3g}, where a missed case at {evidence.costs.fn:g} and a false alarm "
        f"at {evidence.costs.fp:g} balance.",
        f"Decide above {asked:.3g}, or state the costs that make {line:.3g} right: "
        f"a missed case at {(1 - line) / line if line else float('inf'):.3g} false "
        "alarms.",
        p_value=None if few else float(paired_p_values(saved[:, None])[0]),
        least="note" if few else None,
        matters=saving >= NOTICED * float(evidence.cost.mean()),
        price=partial(evidence.estimate, saved),
        figure="threshold",
    )
