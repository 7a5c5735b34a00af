"""Other pools on the same panel, and whether they are cheaper by more than luck."""

import numpy as np

from truepool.arrays import FloatArray
from truepool.audit.evidence import Evidence
from truepool.audit.values import Lead
from truepool.comparison import Comparison, Estimate, compare
from truepool.errors import SettingError
from truepool.inference import (
    Resamples,
    bonferroni,
    diebold_mariano,
    holm,
    paired_p_values,
    signed_rank_p_value,
)
from truepool.pools.auto import CANDIDATES

POOLS = tuple(name for name in CANDIDATES if name != "beta")
"""What is tried beside the pool in use; `platt` stands for logistic recalibration."""
TRIED = 10_000
"""Pools are tried on at most this many cases."""


def compared(evidence: Evidence) -> Comparison | None:
    """Cheap pools, the best agent and the pool in use, cross-validated; None if few."""
    if evidence.shortage is not None:
        return None
    every = np.arange(len(evidence.panel))
    cases = evidence.sampling.part(every, TRIED, "the comparison")
    if evidence.panel.times is not None:  # Diebold-Mariano looks at their order
        cases = cases[np.argsort(evidence.panel.times[cases], kind="stable")]
    own = evidence.pool
    pools = {name: name for name in POOLS} | {own.name: own}
    try:
        return compare(
            evidence.panel.take(cases),
            costs=evidence.costs,
            threshold=evidence.threshold,
            pools=pools,
            level=evidence.level,
            resamples=evidence.resamples,
            seed=evidence.seed,
        )
    except SettingError as error:
        evidence.sampling.withhold("comparison", str(error))
        return None


def leads(evidence: Evidence) -> tuple[Lead, ...]:
    """What every other pool would save a case against the one in use, least loss first.

    Paired t-tests are adjusted for the number of pools tried; Diebold-Mariano needs
    cases in time.
    """
    table = evidence.once(compared)
    if table is None:
        return ()
    mine = table.by_case[evidence.pool.name]
    others = [row.pool for row in table.rows if row.pool != evidence.pool.name]
    saved = np.stack([mine - table.by_case[pool] for pool in others], axis=1)
    chances = paired_p_values(saved)
    stepped, shared = holm(chances), bonferroni(chances)
    luck = Resamples(len(saved), evidence.resamples, evidence.seed)
    return tuple(
        Lead(
            pool,
            Estimate(float(gap.mean()), *luck.interval(gap, evidence.level)),
            float(chances[m]),
            float(stepped[m]),
            float(shared[m]),
            signed_rank_p_value(gap),
            _in_time(evidence, gap),
        )
        for m, (pool, gap) in enumerate(zip(others, saved.T, strict=True))
    )


def _in_time(evidence: Evidence, gap: FloatArray) -> float | None:
    return None if evidence.panel.times is None else diebold_mariano(gap)
