"""Other pools on the same panel, and whether they are cheaper by more than luck."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.values import Lead
from truepool.comparison import (
    Comparison,
    Estimate,
    choose_pools,
    cross_validate,
    tabulate,
)
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.measures.folds import evaluation_cases
from truepool.measures.inference import (
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


def folds(evidence: Evidence) -> list[tuple[IntArray, IntArray]]:
    """Folds of the audit, of which at most `TRIED` cases are tested."""
    pairs = evidence.judged.folds
    cases = evidence.sampling.part(evaluation_cases(pairs), TRIED, "the comparison")
    return [
        (evidence.sampling.lessons(learn), np.intersect1d(test, cases))
        for learn, test in pairs
    ]


def compared(evidence: Evidence) -> Comparison | None:
    """Cheap pools, the best agent and the pool in use, cross-validated; None if few.

    The pool in use is not learned again: what it says out of fold is known.
    """
    if evidence.shortage is not None:
        return None
    own, panel = evidence.pool, evidence.panel
    asked = {name: name for name in POOLS} | {own.name: own}
    pools = choose_pools(asked, evidence.loss, evidence.seed)
    try:
        pairs = evidence.once(folds)
        known = {own.name: evidence.judged.pooled_of(evaluation_cases(pairs))}
        pooled = cross_validate(pools, panel, pairs, known=known)
    except SettingError as error:
        evidence.sampling.withhold("comparison", str(error))
        return None
    return tabulate(
        panel,
        pairs,
        pooled,
        evidence.loss,
        level=evidence.level,
        resamples=evidence.resamples,
        seed=evidence.seed,
        untried=tuple(name for name in pools if name not in pooled),
    )


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
    times = evidence.panel.times
    if times is None:
        return None
    order = np.argsort(times[evaluation_cases(evidence.once(folds))], kind="stable")
    return diebold_mariano(gap[order])
