"""Which pool for this panel, and why: the regime, and what cross-validation says."""

from dataclasses import dataclass

import numpy as np

from truepool.arrays import FloatArray
from truepool.audit.evidence import Evidence
from truepool.audit.robustness import best_agent
from truepool.audit.standings import own_brier, prior_brier
from truepool.audit.values import Finding
from truepool.comparison import Comparison, Estimate, Row, compare
from truepool.diversity import mean_of_pairs
from truepool.errors import SettingError
from truepool.inference import (
    Resamples,
    diebold_mariano,
    paired_p_values,
    signed_rank_p_value,
)
from truepool.pools import every

POOLS = (
    "mean",
    "median",
    "log-odds",
    "best",
    "extremized",
    "platt",
    "brier",
    "vcg",
    "convex",
    "stacked-lr",
)
"""What is tried beside the pool in use: each family once, none that is slow."""
TRIED = 10_000
"""Pools are tried on at most this many cases."""
CLEAR = 0.05
FEW_CASES, RARE, SCARCE = 500, 0.01, 0.05
STRONG = 0.1
"""Tab:when_vcg: at most 500 cases are few; below 1 % an event is very rare, below 5 %
rare. It leaves open what a strong signal is: here, a best agent with less than a tenth
of the base rate's Brier loss."""

USUAL = {
    "vcg": "vcg",
    "best": "the best agent alone",
    "platt": "a recalibrated mean (`platt`)",
}


@dataclass(frozen=True)
class Advice:
    """A pool, what it would save a case against the present one, and why."""

    pool: str
    named: str
    saved: Estimate
    tests: str
    why: str


def compared(evidence: Evidence) -> Comparison | None:
    """Cheap pools, the best agent and the pool in use, cross-validated; None if few."""
    if evidence.shortage is not None:
        return None
    cases = evidence.sampling.part(
        np.arange(len(evidence.panel)), TRIED, "the comparison"
    )
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


def advised(evidence: Evidence) -> Advice | None:
    """Choose the simplest pool that is clearly better than the present one.

    Better: a paired t-test, adjusted (Bonferroni) for the number of pools tried. Among
    those that cannot be told from the best of them, the simplest: the best agent alone
    comes before weights, and weights before a model.
    """
    table = evidence.once(compared)
    if table is None:
        return None
    own = evidence.pool.name
    mine, first = table.by_case[own], table.by_case[table.rows[0].pool]
    eligible = [
        row
        for row in table.rows
        if _chance(mine - table.by_case[row.pool]) * len(table.rows) < CLEAR
        and row.loss.value < table[own].loss.value
        and _chance(table.by_case[row.pool] - first) >= CLEAR
    ]
    if not eligible:
        nothing = Estimate(0.0, 0.0, 0.0)
        return Advice(own, own, nothing, "", "nothing tried is clearly better")
    kept = min(eligible, key=lambda row: (_complexity(row), row.loss.value))
    saved = mine - table.by_case[kept.pool]
    return Advice(
        kept.pool,
        _named(evidence, kept.pool),
        _estimate(evidence, saved),
        _tests(evidence, saved),
        _why(kept),
    )


def advice(evidence: Evidence, findings: tuple[Finding, ...]) -> str:
    """One paragraph: what to use, why, and what is usual in this regime."""
    usual, because = regime(evidence, findings)
    words = USUAL[usual]
    chosen, table = evidence.once(advised), evidence.once(compared)
    if chosen is None or table is None:
        return f"Too few cases to compare pools. Where {because}, {words} is usual."
    own = table[evidence.pool.name]
    if chosen.pool == own.pool:
        said = (
            f"Keep {own.pool}: at {own.loss.value:.3g} a case, none of the "
            f"{len(table.rows)} pools tried is clearly cheaper."
        )
    else:
        said = (
            f"Use {chosen.named}: it costs {table[chosen.pool].loss.value:.3g} a case "
            f"out of fold, {own.pool} {own.loss.value:.3g}; {chosen.why}."
        )
    price = table[usual].loss.value
    return f"{said} Where {because}, {words} is usual ({price:.3g} a case here)."


def regime(evidence: Evidence, findings: tuple[Finding, ...]) -> tuple[str, str]:
    """Pool that tab:when_vcg recommends here, and the line of it that applies."""
    grave = {finding.code for finding in findings if finding.severity != "note"}
    panel = evidence.panel
    rate = float((panel.outcomes > 0).mean())
    if {"upside-down", "harmful", "tempted"} & grave:
        return "vcg", "agents may be hostile or strategic"
    if {"drifted", "drifted-pool"} & grave:
        return "vcg", "the world moves, with weights that follow (`truepool replay`)"
    if len(panel) <= FEW_CASES:
        return "vcg", f"cases are few ({len(panel):,})"
    if rate < RARE:
        return "best", f"events are very rare ({100 * rate:.2g} %)"
    if rate < SCARCE:
        return "vcg", f"events are rare ({100 * rate:.2g} %)"
    if _strong(evidence):
        return "best", "one agent sees nearly everything"
    alike = mean_of_pairs(evidence.correlation)
    return (
        "platt",
        f"nothing stands out ({len(panel):,} cases, {100 * rate:.0f} % events, mean "
        f"correlation {alike:.2f}, nobody hostile, no drift)",
    )


def _strong(evidence: Evidence) -> bool:
    return bool(own_brier(evidence).min() < STRONG * prior_brier(evidence))


def _named(evidence: Evidence, pool: str) -> str:
    return f"the best agent alone ({best_agent(evidence)})" if pool == "best" else pool


def _complexity(row: Row) -> int:
    return every()[row.pool].complexity


def _chance(gaps: FloatArray) -> float:
    return float(paired_p_values(gaps[:, None])[0])


def _estimate(evidence: Evidence, saved: FloatArray) -> Estimate:
    luck = Resamples(len(saved), evidence.resamples, evidence.seed)
    return Estimate(float(saved.mean()), *luck.interval(saved, evidence.level))


def _tests(evidence: Evidence, saved: FloatArray) -> str:
    """Every usual test of the difference, in words."""
    told = f"paired t p = {_chance(saved):.2g}, "
    told += f"signed rank p = {signed_rank_p_value(saved):.2g}"
    if evidence.panel.times is not None:
        told += f", Diebold-Mariano p = {diebold_mariano(saved):.2g}"
    return told


def _why(row: Row) -> str:
    kinds = (
        "it learns nothing",
        "it learns a number or two",
        "it learns weights",
        "it learns a model",
    )
    simple = kinds[every()[row.pool].complexity]
    return f"{simple}, and no simpler pool is as cheap"
