"""Whether the pool means what it says; a mean of calibrated agents does not."""

from collections.abc import Iterator
from functools import partial

from truepool.audits.calibration import biased, matters
from truepool.audits.checks.agents_calibrated import shown_gap
from truepool.audits.evidence import Evidence
from truepool.audits.severity import BROKEN, SURE
from truepool.audits.suspicion import Suspicion
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.measures.losses import Loss

LEANS = 1.05
"""A slope above this is worth recalibrating a pool for."""

AGENTS_FAULTS = (
    *BROKEN,
    "drifted",
    "over-confident",
    "under-confident",
    "biased",
)

name = "calibration of the pool"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test of the pool; under-confidence is what means do, and no error."""
    judged = evidence.pool_calibration
    if judged.p_value is None:
        return
    steep = judged.slope is not None and judged.slope.low > 1
    if steep and not (biased(judged) and judged.slope.value < LEANS):  # type: ignore[union-attr]
        yield _under_confident(evidence, judged)
    else:
        yield _miscalibrated(evidence, judged)


def _under_confident(evidence: Evidence, judged: Calibration) -> Suspicion:
    agents = evidence.calibrations[: len(evidence.panel.agents)]
    sound = not any(
        matters(one) and one.p_value is not None and one.p_value < SURE
        for one in agents
    )
    plain = evidence.pool.name == "mean"
    if sound and plain:
        start = "Every agent is calibrated, yet their mean is under-confident"
    else:
        start = f"The pool ({evidence.pool.name}) is under-confident"
    slope = judged.slope
    return Suspicion(
        "under-confident-pool",
        (),
        f"{start}: {shown_gap(judged)}.",
        "Recalibrate the pool: `platt`, `beta` or `extremized` around the mean learn "
        "how far to move it (Ranjan & Gneiting 2010).",
        p_value=judged.p_value,
        matters=slope is not None and slope.value > LEANS,
        most="warning",
        number=slope,
        unit="calibration slope",
        price=partial(_price, evidence),
        figure="reliability",
    )


def _miscalibrated(evidence: Evidence, judged: Calibration) -> Suspicion:
    sure = judged.slope is not None and judged.slope.high < 1
    what = "is over-confident" if sure else "is off"
    return Suspicion(
        "over-confident-pool" if sure else "biased-pool",
        (),
        f"The pool ({evidence.pool.name}) {what}: {shown_gap(judged)}.",
        "Recalibrate the pool on cases with a known outcome, for example with `platt` "
        "or `isotonic` around it.",
        p_value=judged.p_value,
        matters=matters(judged),
        number=judged.slope if sure else judged.bias,
        unit="calibration slope" if sure else "bias",
        price=partial(_price, evidence),
        figure="reliability",
        explained_by=AGENTS_FAULTS,
    )


def _price(evidence: Evidence) -> Estimate | None:
    """What the pool costs more than the same pool recalibrated.

    Both decide where the costs ask for it: what another threshold costs is a finding
    of its own, and the two add up.
    """
    loss = Loss("cost", evidence.costs)
    as_is, mended = (
        loss.of(pooled, evidence.outcomes)
        for pooled in (evidence.pooled, evidence.recalibrated)
    )
    return evidence.estimate(as_is - mended)
