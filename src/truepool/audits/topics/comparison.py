"""Whether another pool, or the best agent alone, costs significantly less."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from truepool.audits.attribution import share_of_cost
from truepool.audits.evidence import Evidence
from truepool.audits.severity import BROKEN
from truepool.audits.suspicion import Suspicion
from truepool.audits.topic import Topic
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
from truepool.core.formatting import number
from truepool.measures.folds import evaluation_cases
from truepool.measures.inference import (
    Resamples,
    bonferroni,
    diebold_mariano,
    holm,
    paired_p_values,
    signed_rank_p_value,
)
from truepool.pools import every
from truepool.pools.simplest import CANDIDATES

POOLS = tuple(name for name in CANDIDATES if name != "beta")
"""Pools compared with the one in use; `platt` stands for logistic recalibration."""
COMPARISON_CASES = 10_000
"""Largest number of cases on which pools are compared."""
SIGNIFICANT = 0.05
"""A pool costs significantly less if its adjusted p-value lies below this."""


def folds(evidence: Evidence) -> list[tuple[IntArray, IntArray]]:
    """Folds of the audit, of which at most `COMPARISON_CASES` cases are tested."""
    pairs = evidence.validation.folds
    cases = evidence.sampling.part(
        evaluation_cases(pairs), COMPARISON_CASES, "the comparison"
    )
    return [
        (evidence.sampling.training_part(learn), np.intersect1d(test, cases))
        for learn, test in pairs
    ]


def compare_pools(evidence: Evidence) -> Comparison | None:
    """Cross-validate fast pools, the best agent and the pool in use; None if few.

    The pool in use is not fitted again: its out-of-fold output is known.
    """
    if evidence.shortage is not None:
        return None
    own, panel = evidence.pool, evidence.panel
    chosen = {name: name for name in POOLS} | {own.name: own}
    pools = choose_pools(chosen, evidence.loss, evidence.seed)
    try:
        pairs = evidence.compute(folds)
        known = {own.name: evidence.validation.pooled_of(evaluation_cases(pairs))}
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


def pool_leads(evidence: Evidence) -> tuple[Lead, ...]:
    """What every other pool saves per case against the one in use, lowest loss first.

    Paired t-tests are adjusted for the number of pools tried; Diebold-Mariano needs
    cases in time.
    """
    table = evidence.compute(compare_pools)
    if table is None:
        return ()
    mine = table.by_case[evidence.pool.name]
    others = [row.pool for row in table.rows if row.pool != evidence.pool.name]
    saved = np.stack([mine - table.by_case[pool] for pool in others], axis=1)
    p_values = paired_p_values(saved)
    by_holm, by_bonferroni = holm(p_values), bonferroni(p_values)
    resamples = Resamples(len(saved), evidence.resamples, evidence.seed)
    return tuple(
        Lead(
            pool,
            Estimate(float(gap.mean()), *resamples.interval(gap, evidence.level)),
            float(p_values[m]),
            float(by_holm[m]),
            float(by_bonferroni[m]),
            signed_rank_p_value(gap),
            _diebold_mariano(evidence, gap),
        )
        for m, (pool, gap) in enumerate(zip(others, saved.T, strict=True))
    )


def _diebold_mariano(evidence: Evidence, gap: FloatArray) -> float | None:
    times = evidence.panel.times
    if times is None:
        return None
    order = np.argsort(times[evaluation_cases(evidence.compute(folds))], kind="stable")
    return diebold_mariano(gap[order])


@dataclass(frozen=True)
class Choice:
    """A pool, what it would save per case against the one in use, and why."""

    pool: str
    description: str
    saved: Estimate
    why: str
    p_value: float | None = None


def choose_pool(evidence: Evidence, faulty: Collection[str] = ()) -> Choice | None:
    """Choose the simplest pool that costs significantly less than the one in use.

    Cheaper: by a paired t-test, adjusted (Bonferroni) for the number of pools tried.
    Among those that do not differ significantly from the best, the simplest: the best
    agent alone comes before weights, and weights before a model. A faulty agent is not
    recommended alone.
    """
    table = evidence.compute(compare_pools)
    if table is None:
        return None
    first = table.by_case[table.rows[0].pool]
    eligible = [
        lead
        for lead in evidence.compute(pool_leads)
        if lead.bonferroni < SIGNIFICANT
        and lead.saved.value > 0
        and not (lead.pool == "best-agent" and evidence.best_agent in faulty)
        and _p_value(table.by_case[lead.pool] - first) >= SIGNIFICANT
    ]
    if not eligible:
        own, nothing = evidence.pool.name, Estimate(0.0, 0.0, 0.0)
        return Choice(own, own, nothing, "no pool tried costs significantly less")
    best = min(eligible, key=lambda lead: (_complexity(lead), -lead.saved.value))
    description = _describe(evidence, best.pool)
    return Choice(best.pool, description, best.saved, _why(best), best.bonferroni)


def _describe(evidence: Evidence, pool: str) -> str:
    return (
        f"the best agent alone ({evidence.best_agent})"
        if pool == "best-agent"
        else pool
    )


def _complexity(lead: Lead) -> int:
    return every()[lead.pool].complexity


def _p_value(gaps: FloatArray) -> float:
    return float(paired_p_values(gaps[:, None])[0])


def _why(lead: Lead) -> str:
    kinds = (
        "it learns nothing",
        "it learns a number or two",
        "it learns weights",
        "it learns a model",
    )
    simple = kinds[_complexity(lead)]
    if lead.pool == "best-agent":
        simple = "it learns only who that is"
    return f"{simple}, and no simpler pool costs as little"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """A note on the better pool; a warning where the best agent alone beats the pool.

    The comparison adjusts its own tests for the number of pools it tries.
    """
    advice = evidence.compute(choose_pool)
    if advice is None:
        return
    # That the best agent alone is better has a test and a sentence of its own.
    if advice.pool not in (evidence.pool.name, "best-agent"):
        yield Suspicion(
            "better-pool",
            (),
            f"{advice.description} would cost {number(advice.saved.value)} less per "
            f"case than {evidence.pool.name} on cases it had not seen.",
            f"Use {advice.description}: {advice.why}.",
            least="note",
            price=lambda: advice.saved,
            figure="comparison",
        )
    yield from _best(evidence)


def _best(evidence: Evidence) -> Iterator[Suspicion]:
    """Report where the pool costs more than its best agent."""
    table = evidence.compute(compare_pools)
    if table is None or evidence.pool.name == "best-agent":
        return
    agent = evidence.best_agent
    beyond = table.by_case[evidence.pool.name] - table.by_case["best-agent"]
    gap = float(beyond.mean())
    yield Suspicion(
        "worse-than-best",
        (agent,),
        f"The best agent alone ({agent}) costs {number(gap)} less per case than the "
        "pool.",
        f"Use {agent} alone, or a pool that learns to lean on it.",
        p_value=float(paired_p_values(beyond[:, None])[0]) if gap > 0 else 1.0,
        most="warning",
        price=lambda: table[evidence.pool.name].to_best,
        figure="comparison",
        explained_by=("under-confident-pool", "threshold", *BROKEN, "drifted"),
        share=partial(share_of_cost, gap),
    )


topic = Topic("comparison", check)
