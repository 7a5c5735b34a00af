"""Which pools were tried, what each costs, and which one is to be used."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import clone

from truepool.audits.evidence import Evidence
from truepool.audits.values import PairedComparison
from truepool.comparison import (
    BASELINES,
    Comparison,
    Competition,
    choose_pools,
    estimate_difference,
    tabulate,
)
from truepool.core.arrays import FloatArray
from truepool.core.engine import Processes
from truepool.core.errors import SettingError
from truepool.measures.folds import LEARNING_CASES, evaluation_cases
from truepool.measures.inference import (
    Resamples,
    bonferroni,
    diebold_mariano,
    holm,
    paired_p_values,
    signed_rank_p_value,
    with_unseen,
)
from truepool.pools import Pool, every
from truepool.pools.candidates import USUAL, cross_validate

RECOMMENDED = "auto"
"""The pool to use wherever it costs significantly less than the one in use."""
POOLS = (*(name for name in USUAL if name != "beta"), RECOMMENDED)
"""What is tried beside the pool in use: each family once."""
SIGNIFICANT = 0.05
"""A pool costs significantly less if its adjusted p-value lies below this."""


@dataclass(frozen=True, eq=False)
class TriedPools:
    """What every pool tried says of the cases that compete, out of fold."""

    competition: Competition
    pooled: dict[str, FloatArray]
    fitted: list[Pool]
    """The pool that may be recommended, of each fold."""
    skipped: tuple[str, ...]


def try_pools(evidence: Evidence) -> TriedPools | None:
    """Cross-validate fast pools, the best agent and the pool in use; None if few.

    The pool in use is not fitted again: its out-of-fold output is known.
    """
    if evidence.shortage is not None:
        return None
    own, panel = evidence.pool, evidence.panel
    chosen: dict[str, str | Pool] = {name: name for name in POOLS}
    chosen[own.name] = clone(own)
    if evidence.in_use != own.name:  # as it was saved, beside one fitted again
        chosen[evidence.in_use] = own
    pools = choose_pools(chosen, evidence.planned_loss, evidence.seed)
    kept: dict[str, list[Pool]] = {recommended_pool(evidence): []}
    try:
        pairs = evidence.validation.folds
        competition = Competition.of(panel, pairs, evidence.capacity, evidence.costs)
        tested = evidence.validation.pooled_of(evaluation_cases(pairs))
        later = evidence.pooled_competitors[len(evidence.pooled) :]
        pooled = cross_validate(
            pools,
            competition.panel,
            competition.pairs,
            known={evidence.in_use: np.concatenate([tested, later])},
            required=BASELINES,
            kept=kept,
            engine=evidence.engine,
        )
    except SettingError as error:
        evidence.sampling.withhold("comparison", str(error))
        return None
    if max(len(learn) for learn, _ in pairs) > LEARNING_CASES:
        evidence.sampling.note("thinned", cases=LEARNING_CASES)
    skipped = tuple(name for name in pools if name not in pooled)
    (fitted,) = kept.values()
    return TriedPools(competition, pooled, fitted, skipped)


def compare_pools(evidence: Evidence) -> Comparison | None:
    """Compare the pools that were tried; None where cases are too few."""
    tried = evidence.compute(try_pools)
    if tried is None:
        return None
    return tabulate(
        evidence.panel,
        tried.competition,
        tried.pooled,
        evidence.planned_loss,
        level=evidence.level,
        resamples=evidence.resamples,
        seed=evidence.seed,
        skipped=tried.skipped,
        engine=evidence.engine,
    )


def paired_comparisons(evidence: Evidence) -> tuple[PairedComparison, ...]:
    """What every other pool saves per case against the one in use, lowest loss first.

    Paired t-tests are adjusted for the number of pools tried; Diebold-Mariano needs
    cases in time.
    """
    table = evidence.compute(compare_pools)
    if table is None:
        return ()
    mine = table.by_case[evidence.in_use]
    others = [row.pool for row in table.rows if row.pool != evidence.in_use]
    seen = np.stack([mine - table.by_case[pool] for pool in others], axis=1)
    p_values = paired_p_values(with_unseen(seen, table.unseen))
    by_holm, by_bonferroni = holm(p_values), bonferroni(p_values)
    units = len(seen) + len(table.unseen)
    estimate = partial(
        estimate_difference,
        unseen=table.unseen,
        drawn=Resamples(units, evidence.resamples, evidence.seed),
        level=evidence.level,
    )
    saved = (evidence.engine or Processes()).map(estimate, np.ascontiguousarray(seen.T))
    return tuple(
        PairedComparison(
            other,
            difference,
            float(p_values[m]),
            float(by_holm[m]),
            float(by_bonferroni[m]),
            signed_rank_p_value(seen[:, m]),
            _diebold_mariano(evidence, seen[:, m]),
        )
        for m, (other, difference) in enumerate(zip(others, saved, strict=True))
    )


def significantly_cheaper(
    comparisons: Iterable[PairedComparison],
) -> dict[str, PairedComparison]:
    """Pools that cost significantly less than the one that they are compared with.

    A paired t-test, adjusted (Holm) for the pools tried, and an interval above 0,
    because costs of rare events are too skewed for a t-test alone.
    """
    return {
        other.pool: other
        for other in comparisons
        if other.holm < SIGNIFICANT and other.saved.low > 0
    }


def share_comparison(evidence: Evidence, other: Evidence) -> None:
    """Let other evidence take over the comparison of pools, which is not made again."""
    if other is not evidence:
        other.adopt(evidence, try_pools, compare_pools, paired_comparisons)


def _diebold_mariano(evidence: Evidence, gap: FloatArray) -> float | None:
    times = evidence.panel.times
    if times is None or evidence.panel.groups is not None:
        return None  # the cases of a group do not follow each other
    order = np.argsort(
        times[evaluation_cases(evidence.validation.folds)], kind="stable"
    )
    return diebold_mariano(gap[order])


@dataclass(frozen=True)
class Choice:
    """The pool to use; ``comparison`` is with the pool in use, None if that stays.

    ``alternative`` is a simpler pool that does about as well.
    """

    pool: str
    comparison: PairedComparison | None = None
    alternative: str | None = None


def recommended_pool(evidence: Evidence) -> str:
    """Name the one pool that may be recommended: what `truepool fit` learns.

    Of a pool that was saved, one of the same kind, fitted again.
    """
    return evidence.pool.name if evidence.validation.saved else RECOMMENDED


def surely_cheaper(evidence: Evidence) -> PairedComparison | None:
    """Compare `recommended_pool` with the pool in use, if it costs significantly less.

    Adjusted for all pools tried, as in the table beside it: a pool that is nearly as
    good as it can be is then seldom advised to be replaced.
    """
    cheaper = significantly_cheaper(evidence.compute(paired_comparisons))
    return cheaper.get(recommended_pool(evidence))


def choose_pool(evidence: Evidence) -> Choice | None:
    """Choose `recommended_pool` if it costs significantly less, else keep the pool."""
    if evidence.compute(compare_pools) is None:
        return None
    pool, found = recommended_pool(evidence), surely_cheaper(evidence)
    if found is not None or pool == evidence.in_use:
        return Choice(pool, found, simplest(evidence, pool))
    return Choice(evidence.in_use)


def simplest(evidence: Evidence, pool: str, barred: Collection[str] = ()) -> str | None:
    """Simplest pool within one standard error of another that is less simple."""
    table = evidence.compute(compare_pools)
    if table is None:
        raise AssertionError("a pool is chosen from a comparison")
    near = [
        row.pool
        for row in table.rows
        if row.pool not in (evidence.in_use, *barred)
        and _complexity(row.pool) < _complexity(pool)
        and _within_one_error(table.by_case[row.pool] - table.by_case[pool])
    ]
    return min(near, key=_complexity, default=None)  # of equals, the cheapest is first


def _within_one_error(gaps: FloatArray) -> bool:
    return bool(gaps.mean() <= gaps.std(ddof=1) / np.sqrt(len(gaps)))


def _complexity(pool: str) -> int:
    return every()[pool].complexity
