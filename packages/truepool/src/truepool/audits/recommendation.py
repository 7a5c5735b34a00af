"""What to do: one value from which verdict and advice are both worded."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from truepool.audits.best_agent import best_agent
from truepool.audits.evidence import Evidence
from truepool.audits.priorities import first_fixes, removable
from truepool.audits.severity import (
    CALIBRATION,
    CURED_BY_A_POOL,
    DOUBTS,
    FACTOR,
    FEEDS,
    LEAK,
)
from truepool.audits.topics.comparison import (
    RECOMMENDED,
    choose_pool,
    compare_pools,
    paired_comparisons,
)
from truepool.audits.values import Finding, Fix, Recommendation, Trust
from truepool.audits.worth import cost_of, estimate_rise, tested_mean
from truepool.core.formatting import percent
from truepool.measures.diversity import mean_over_pairs

FEW_CASES, RARE, SCARCE = 500, 0.01, 0.05
STRONG = 0.1
"""Tab:when_vcg: at most 500 cases are few; below 1 % an event is very rare, below 5 %
rare. It leaves open what a strong signal is: here, a best agent with less than a tenth
of the base rate's Brier loss."""

HOSTILE = ("reversed", "harmful", "misreport-gain")
CHANGED = (*FEEDS, "rescaled-feed", "drifted", "drifted-pool")
"""Findings that speak of hostile or strategic agents, and of change over time."""


def recommend(evidence: Evidence, findings: tuple[Finding, ...]) -> Recommendation:
    """Say what to fix first, then which pool to use, and why.

    An error is fixed before anything else. Warnings that the recommended pool answers
    are not listed again, nor are those about an agent that is to be fixed anyway, nor
    what would cost more on these cases. While the outcome is in doubt no pool is
    recommended.
    """
    faulty = {f.who[0] for f in findings if f.severity == "error" and f.who}
    usual, because = regime(evidence, findings)
    in_use, doubt = evidence.in_use, is_outcome_in_doubt(evidence, findings)
    choice = None if doubt else choose_pool(evidence, faulty)
    table = evidence.compute(compare_pools)
    if choice is None or table is None:
        fixes = _fixes(evidence, findings, faulty, change=False)
        trust = _trust(findings, blind=evidence.shortage is not None)
        return Recommendation(
            trust, fixes, in_use, None, regime=because, usual=usual,
            outcome_in_doubt=doubt,
        )  # fmt: skip
    comparison, other = choice.comparison, choice.alternative
    tests = {one.pool: one for one in evidence.compute(paired_comparisons)}
    platt = tests.get("platt")
    futile = platt is not None and platt.saved.value < 0
    auto = tests.get(RECOMMENDED)
    alone = "best-agent" in (choice.pool, other)
    plan = Recommendation(
        _trust(findings, blind=False),
        _fixes(evidence, findings, faulty, change=comparison is not None or futile),
        in_use,
        choice.pool,
        agent=evidence.compute(best_agent) if alone else None,
        cost=table[choice.pool].loss.value,
        cost_in_use=table[in_use].loss.value,
        saving=None if comparison is None else comparison.saved,
        p_value=None if comparison is None else comparison.holm,
        why=choice.why,
        alternative=other,
        alternative_cost=None if other is None else table[other].loss.value,
        auto_saving=None if auto is None else auto.saved,
        auto_p_value=None if auto is None else auto.holm,
        tried=len(table.rows) - 1,
        tested=table.tested,
        folds=len(evidence.validation.folds),
        forward=evidence.panel.times is not None,
        grouped=evidence.unsplit.panel.groups is not None,
        regime=because,
        usual=usual,
        usual_cost=table[usual].loss.value,
        **_constant(evidence),
    )
    return replace(plan, **_without(evidence, plan)) if plan.change else plan


def is_outcome_in_doubt(evidence: Evidence, findings: Iterable[Finding]) -> bool:
    """Whether what depends on outcomes may be wrong, so that nothing is said of it.

    An agent that may know them, and could not be left out, makes all of it doubtful.
    """
    return any(
        f.code in DOUBTS or (f.code == LEAK and f.who[0] in evidence.panel.agents)
        for f in findings
    )


def _without(evidence: Evidence, plan: Recommendation) -> dict[str, Any]:
    """Measure the recommended pool without the agents to be taken out, as it is tested.

    Nothing can be said where that leaves cases without any report.
    """
    out = removable(first_fixes(plan))
    kept = [name for name in evidence.panel.agents if name not in out]
    if not out or len(kept) < 2 or plan.pool is None or plan.pool == "best-agent":
        return {}
    whole, part = (
        cost_of(evidence, pool, agents)
        for pool, agents in ((plan.in_use, evidence.panel.agents), (plan.pool, kept))
    )
    if whole is None or part is None:
        return {"without": tuple(out)}
    return {
        "without": tuple(out),
        "without_cost": tested_mean(evidence, part),
        "without_saving": estimate_rise(evidence, whole - part),
    }


def _constant(evidence: Evidence) -> dict[str, Any]:
    """Compare the pool in use with the best decision that is always the same."""
    if evidence.capacity is not None:
        return {}
    y, K = evidence.outcomes, evidence.panel.classes
    costs = evidence.tested_loss.costs.cost_per_decision(y, K)
    best = int(np.argmin([evidence.mean(costs[:, k]) for k in range(K)]))
    return {
        "constant": str(evidence.panel.labels.names[best]),
        "constant_cost": evidence.mean(costs[:, best]),
        "constant_saving": evidence.saving(costs[:, best] - evidence.cost),
    }


def _trust(findings: tuple[Finding, ...], *, blind: bool) -> Trust:
    grades = {finding.severity for finding in findings}
    if "error" in grades:
        return "no"
    if "warning" in grades:
        return "with care"
    return "unknown" if blind else "yes"


def _fixes(
    evidence: Evidence, findings: tuple[Finding, ...], faulty: set[str], *, change: bool
) -> tuple[Fix, ...]:
    """Every error, and the warnings that are worth something beside the errors.

    Faults of the pool in use are not listed where it is changed, or where the pool that
    corrects them costs more.
    """
    saved = evidence.pool.name if evidence.validation.saved else ""
    return tuple(
        _fix(f, saved)
        for f in findings
        if f.severity == "error"
        or (
            f.severity == "warning"
            and _may_save(f)
            and not (change and f.code in CURED_BY_A_POOL)
            and (f.code == LEAK or not faulty.intersection(f.who[:1]))
        )
    )


def _fix(finding: Finding, saved: str) -> Fix:
    """Return what to fix; where a pool was ``saved``, its faults by a new fit."""
    f, factor = finding, None
    if f.unit == FACTOR and f.number is not None:
        factor = 1 / f.number.value
    cured = f.code in CURED_BY_A_POOL and f.code != "worse-than-best"
    refit = saved if cured else ""
    return Fix(f.code, f.who, f.severity, f.cost, f.since, f.date, factor, refit)


def _may_save(finding: Finding) -> bool:
    """Whether fixing this may save something.

    A feed that has cost nothing yet may. A recalibration is asked for only where it
    surely saves: otherwise it makes no difference to decisions.
    """
    if finding.cost is None:
        return True
    if finding.code in CALIBRATION:
        return finding.cost.low > 0
    return finding.cost.value >= 0


def regime(evidence: Evidence, findings: tuple[Finding, ...]) -> tuple[str, str]:
    """Pool that tab:when_vcg recommends here, and the line of it that applies.

    That nobody is hostile and nothing drifts is said only where both were looked for
    and no finding, however slight, says otherwise.
    """
    grave = {finding.code for finding in findings if finding.severity != "note"}
    seen = {finding.code for finding in findings}
    panel = evidence.panel
    rate = float(np.average(panel.outcomes > 0, weights=panel.case_weights()))
    events, share = "events", f"{percent(rate)} positive"
    if panel.classes > 2:
        events = f"outcomes other than {panel.labels.names[0]}"
        share = f"{panel.classes} classes"
    if grave.intersection(HOSTILE):
        return "vcg", "agents may be hostile or strategic"
    if grave.intersection(CHANGED):
        return "vcg", "agents or cases change, with online weights (`truepool replay`)"
    if panel.size <= FEW_CASES:
        return "vcg", f"cases are few ({panel.size:,})"
    if rate < RARE:
        return "best-agent", f"{events} are very rare ({percent(rate)})"
    if rate < SCARCE:
        return "vcg", f"{events} are rare ({percent(rate)})"
    if evidence.comparable_brier.min() < STRONG * evidence.prior_brier:
        return "best-agent", "one agent sees nearly everything"
    facts = [
        f"{panel.size:,} cases",
        share,
        f"mean correlation {mean_over_pairs(evidence.correlation):.2f}",
    ]
    if not seen.intersection(HOSTILE):
        facts.append("no hostile agent")
    if panel.times is not None and not seen.intersection(CHANGED):
        facts.append("no drift")
    return "platt", f"nothing stands out ({', '.join(facts)})"
