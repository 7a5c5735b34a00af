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
"""What is tried beside the pool in use; `platt` stands for logistic recalibration."""
COMPARISON_CASES = 10_000
"""Pools are tried on at most this many cases."""
CLEAR = 0.05
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
    """Cheap pools, the best agent and the pool in use, cross-validated; None if few.

    The pool in use is not learned again: what it says out of fold is known.
    """
    if evidence.shortage is not None:
        return None
    own, panel = evidence.pool, evidence.panel
    asked = {name: name for name in POOLS} | {own.name: own}
    pools = choose_pools(asked, evidence.loss, evidence.seed)
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
    """What every other pool would save a case against the one in use, least loss first.

    Paired t-tests are adjusted for the number of pools tried; Diebold-Mariano needs
    cases in time.
    """
    table = evidence.compute(compare_pools)
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
    order = np.argsort(times[evaluation_cases(evidence.compute(folds))], kind="stable")
    return diebold_mariano(gap[order])


@dataclass(frozen=True)
class Choice:
    """A pool, what it would save per case against the present one, and why."""

    pool: str
    named: str
    saved: Estimate
    why: str
    p_value: float | None = None


def choose_pool(evidence: Evidence, faulty: Collection[str] = ()) -> Choice | None:
    """Choose the simplest pool that is significantly cheaper than the present one.

    Cheaper: a paired t-test, adjusted (Bonferroni) for the number of pools tried. Among
    those that cannot be told from the best of them, the simplest: the best agent alone
    comes before weights, and weights before a model. An agent that is at fault is not
    recommended alone.
    """
    table = evidence.compute(compare_pools)
    if table is None:
        return None
    first = table.by_case[table.rows[0].pool]
    eligible = [
        lead
        for lead in evidence.compute(pool_leads)
        if lead.bonferroni < CLEAR
        and lead.saved.value > 0
        and not (lead.pool == "best-agent" and evidence.best_agent in faulty)
        and _chance(table.by_case[lead.pool] - first) >= CLEAR
    ]
    if not eligible:
        own, nothing = evidence.pool.name, Estimate(0.0, 0.0, 0.0)
        return Choice(own, own, nothing, "no pool tried costs significantly less")
    kept = min(eligible, key=lambda lead: (_complexity(lead), -lead.saved.value))
    named = _named(evidence, kept.pool)
    return Choice(kept.pool, named, kept.saved, _why(kept), kept.bonferroni)


def _named(evidence: Evidence, pool: str) -> str:
    return (
        f"the best agent alone ({evidence.best_agent})"
        if pool == "best-agent"
        else pool
    )


def _complexity(lead: Lead) -> int:
    return every()[lead.pool].complexity


def _chance(gaps: FloatArray) -> float:
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
            f"{advice.named} would cost {number(advice.saved.value)} less per case "
            f"than {evidence.pool.name} on cases it had not seen.",
            f"Use {advice.named}: {advice.why}.",
            least="note",
            price=lambda: advice.saved,
            figure="comparison",
        )
    yield from _best(evidence)


def _best(evidence: Evidence) -> Iterator[Suspicion]:
    """Say where the pool loses to its best member."""
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
