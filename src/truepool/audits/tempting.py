"""What agents could gain by misreporting under the pool in use."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.core.errors import SettingError
from truepool.games import Incentives, incentives, payments
from truepool.pools.interface import LinearPool

STRAIGHT, BENT = 5_000, 500
"""Misreports are tried on at most so many cases; on fewer where the pool is no weighted
mean, because each try must then be pooled anew."""


def tempting(evidence: Evidence) -> Incentives | None:
    """What agents could gain; None for more than two classes, few cases or models.

    Agents are paid by the score the pool is named after, or by what they save it.
    """
    pool, panel = evidence.pool, evidence.panel
    if evidence.shortage:
        return None
    if panel.classes != 2:
        evidence.sampling.withhold("incentives", "they are known for two classes only")
        return None
    if pool.complexity > 2:
        evidence.sampling.withhold(
            "incentives",
            f"{pool.name} would be relearned for every misreport, which takes long; "
            f"see truepool.games.incentives(panel, {pool.name!r})",
        )
        return None
    most = STRAIGHT if isinstance(pool, LinearPool) else BENT
    cases = evidence.sampling.part(np.arange(len(panel)), most, "incentives")
    try:
        return incentives(
            panel.take(cases),
            pool,
            evidence.costs,
            threshold=evidence.threshold,
            payment=pool.name if pool.name in payments.every() else "vcg",
            seed=evidence.seed,
        )
    except SettingError as error:
        evidence.sampling.withhold("incentives", str(error))
        return None
