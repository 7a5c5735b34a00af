"""Which pool for this panel, and why: the regime, and what cross-validation says."""

from dataclasses import dataclass

from truepool.arrays import FloatArray
from truepool.audit.comparing import compared, leads
from truepool.audit.evidence import Evidence
from truepool.audit.robustness import best_agent
from truepool.audit.standings import own_brier, prior_brier
from truepool.audit.suspicion import BROKEN
from truepool.audit.values import Finding, Lead
from truepool.comparison import Estimate
from truepool.diversity import mean_of_pairs
from truepool.inference import paired_p_values
from truepool.numerals import number, percent
from truepool.pools import every

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
    why: str


def advised(evidence: Evidence) -> Advice | None:
    """Choose the simplest pool that is clearly better than the present one.

    Better: a paired t-test, adjusted (Bonferroni) for the number of pools tried. Among
    those that cannot be told from the best of them, the simplest: the best agent alone
    comes before weights, and weights before a model.
    """
    table = evidence.once(compared)
    if table is None:
        return None
    first = table.by_case[table.rows[0].pool]
    eligible = [
        lead
        for lead in evidence.once(leads)
        if lead.bonferroni < CLEAR
        and lead.saved.value > 0
        and _chance(table.by_case[lead.pool] - first) >= CLEAR
    ]
    if not eligible:
        own, nothing = evidence.pool.name, Estimate(0.0, 0.0, 0.0)
        return Advice(own, own, nothing, "nothing tried is clearly better")
    kept = min(eligible, key=lambda lead: (_complexity(lead), -lead.saved.value))
    return Advice(kept.pool, _named(evidence, kept.pool), kept.saved, _why(kept))


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
            f"Keep {own.pool}: at {number(own.loss.value)} a case, none of the "
            f"{len(table.rows)} pools tried is clearly cheaper."
        )
    else:
        cost = number(table[chosen.pool].loss.value)
        said = (
            f"Use {chosen.named}: it costs {cost} a case out of fold, {own.pool} "
            f"{number(own.loss.value)}; {chosen.why}."
        )
    price = table[usual].loss.value
    return f"{said} Where {because}, {words} is usual ({number(price)} a case here)."


def regime(evidence: Evidence, findings: tuple[Finding, ...]) -> tuple[str, str]:
    """Pool that tab:when_vcg recommends here, and the line of it that applies."""
    grave = {finding.code for finding in findings if finding.severity != "note"}
    panel = evidence.panel
    rate = float((panel.outcomes > 0).mean())
    if {"upside-down", "harmful", "tempted"} & grave:
        return "vcg", "agents may be hostile or strategic"
    if {"drifted", "drifted-pool", "rescaled-feed", *BROKEN} & grave:
        return "vcg", "the world moves, with weights that follow (`truepool replay`)"
    if len(panel) <= FEW_CASES:
        return "vcg", f"cases are few ({len(panel):,})"
    if rate < RARE:
        return "best", f"events are very rare ({percent(rate)})"
    if rate < SCARCE:
        return "vcg", f"events are rare ({percent(rate)})"
    if _strong(evidence):
        return "best", "one agent sees nearly everything"
    alike = mean_of_pairs(evidence.correlation)
    return (
        "platt",
        f"nothing stands out ({len(panel):,} cases, {percent(rate)} events, mean "
        f"correlation {alike:.2f}, nobody hostile, no drift)",
    )


def _strong(evidence: Evidence) -> bool:
    return bool(own_brier(evidence).min() < STRONG * prior_brier(evidence))


def _named(evidence: Evidence, pool: str) -> str:
    return f"the best agent alone ({best_agent(evidence)})" if pool == "best" else pool


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
    if lead.pool == "best":
        simple = "it learns only who that is"
    return f"{simple}, and no simpler pool is as cheap"
