"""Which pool for this panel, and why: the regime, and what cross-validation says."""

from collections.abc import Collection
from dataclasses import dataclass

from truepool.audits.comparing import compared, leads
from truepool.audits.evidence import Evidence
from truepool.audits.robustness import best_agent
from truepool.audits.severity import FEEDS
from truepool.audits.standings import own_brier, prior_brier
from truepool.audits.values import Finding, Lead
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray
from truepool.core.formatting import percent
from truepool.measures.diversity import mean_over_pairs
from truepool.measures.inference import paired_p_values
from truepool.pools import every

CLEAR = 0.05
FEW_CASES, RARE, SCARCE = 500, 0.01, 0.05
STRONG = 0.1
"""Tab:when_vcg: at most 500 cases are few; below 1 % an event is very rare, below 5 %
rare. It leaves open what a strong signal is: here, a best agent with less than a tenth
of the base rate's Brier loss."""

HOSTILE = ("upside-down", "harmful", "tempted")
CHANGED = (*FEEDS, "rescaled-feed", "drifted", "drifted-pool")
"""Findings that speak of hostile or strategic agents, and of change over time."""


@dataclass(frozen=True)
class Advice:
    """A pool, what it would save per case against the present one, and why."""

    pool: str
    named: str
    saved: Estimate
    why: str
    p_value: float | None = None


def advised(evidence: Evidence, faulty: Collection[str] = ()) -> Advice | None:
    """Choose the simplest pool that is significantly cheaper than the present one.

    Cheaper: a paired t-test, adjusted (Bonferroni) for the number of pools tried. Among
    those that cannot be told from the best of them, the simplest: the best agent alone
    comes before weights, and weights before a model. An agent that is at fault is not
    recommended alone.
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
        and not (lead.pool == "best-agent" and best_agent(evidence) in faulty)
        and _chance(table.by_case[lead.pool] - first) >= CLEAR
    ]
    if not eligible:
        own, nothing = evidence.pool.name, Estimate(0.0, 0.0, 0.0)
        return Advice(own, own, nothing, "no pool tried costs significantly less")
    kept = min(eligible, key=lambda lead: (_complexity(lead), -lead.saved.value))
    named = _named(evidence, kept.pool)
    return Advice(kept.pool, named, kept.saved, _why(kept), kept.bonferroni)


def regime(evidence: Evidence, findings: tuple[Finding, ...]) -> tuple[str, str]:
    """Pool that tab:when_vcg recommends here, and the line of it that applies.

    That nobody is hostile and nothing drifts is said only where both were looked for
    and no finding, however slight, says otherwise.
    """
    grave = {finding.code for finding in findings if finding.severity != "note"}
    seen = {finding.code for finding in findings}
    panel = evidence.panel
    rate = float((panel.outcomes > 0).mean())
    if grave.intersection(HOSTILE):
        return "vcg", "agents may be hostile or strategic"
    if grave.intersection(CHANGED):
        return "vcg", "agents or cases change, with online weights (`truepool replay`)"
    if len(panel) <= FEW_CASES:
        return "vcg", f"cases are few ({len(panel):,})"
    if rate < RARE:
        return "best-agent", f"events are very rare ({percent(rate)})"
    if rate < SCARCE:
        return "vcg", f"events are rare ({percent(rate)})"
    if _strong(evidence):
        return "best-agent", "one agent sees nearly everything"
    facts = [
        f"{len(panel):,} cases",
        f"{percent(rate)} positive",
        f"mean correlation {mean_over_pairs(evidence.correlation):.2f}",
    ]
    if not seen.intersection(HOSTILE):
        facts.append("no hostile agent")
    if panel.times is not None and not seen.intersection(CHANGED):
        facts.append("no drift")
    return "platt", f"nothing stands out ({', '.join(facts)})"


def _strong(evidence: Evidence) -> bool:
    return bool(own_brier(evidence).min() < STRONG * prior_brier(evidence))


def _named(evidence: Evidence, pool: str) -> str:
    return (
        f"the best agent alone ({best_agent(evidence)})"
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
