"""What to do: at most three steps, each measured after those before it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from truepool.audits import kinds
from truepool.audits.best_agent import best_agent
from truepool.audits.comparison import (
    SIGNIFICANT,
    Choice,
    choose_pool,
    compare_pools,
    paired_comparisons,
    recommended_pool,
    share_comparison,
    significantly_cheaper,
    simplest,
)
from truepool.audits.evidence import Evidence, cases_per_month
from truepool.audits.findings import scaled
from truepool.audits.refits import cost_in_use, cost_of, estimate_rise, rise_p_value
from truepool.audits.treatment import REPORTS, can_treat, treat
from truepool.audits.values import (
    PER_THOUSAND,
    SEVERITIES,
    Diagnosis,
    Finding,
    Plan,
    Step,
    Trust,
)
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray

MOST_STEPS = 3

CURES = {"recalibrate-pool": "platt", "lean-on-best": "best-agent"}
"""Pools that answer what is wrong with the one in use, by the action of its kind."""

APART = ("rescale", "swap")
"""Actions that differ by agent, so that each is a step of its own."""

BACKFIRES = {
    "leave-out": "repair",
    "leave-out-there": "repair",
    "rescale": "ask-unit",
}
"""What is done instead of an action that would cost more on these cases."""

LOST = ("leave-out", "restore")
"""Actions on agents whose reports are not there, now or once the step is taken."""


@dataclass(frozen=True, eq=False)
class Treated:
    """Steps about agents, and the evidence once they are taken.

    It decides at the threshold in use. ``without`` are agents that are left out.
    """

    steps: tuple[Step, ...]
    evidence: Evidence
    without: tuple[str, ...] = ()


Cures: TypeAlias = dict[tuple[str, tuple[str, ...]], list[Finding]]
"""Findings by the action that is taken, and by the agents that it is taken on."""


def cures(agents: Sequence[Diagnosis]) -> Cures:
    """What is done about agents that are broken, or whose fault surely costs something.

    The same action on several agents is one step. Where fewer than two would go on
    reporting, nobody is left out.
    """
    found = [(_action(one), one.finding) for one in agents if one.finding is not None]
    if len(agents) - sum(action in LOST for action, _ in found) < 2:
        found = [("repair" if a == "leave-out" else a, finding) for a, finding in found]
    groups: dict[tuple[str, str], list[Finding]] = {}
    for action, finding in found:
        if action:
            apart = finding.who[0] if action in APART else ""
            groups.setdefault((action, apart), []).append(finding)
    return {
        (action, tuple(one.who[0] for one in own)): own
        for (action, _), own in groups.items()
    }


def treat_agents(
    evidence: Evidence, found: Cures, *, most: int, measured: bool = True
) -> Treated:
    """Take the steps about agents, the most urgent ones first.

    What a step saves is ``measured`` unless the outcome is in doubt.
    """
    treated = Treated((), evidence)
    urgent = sorted(found.items(), key=lambda group: _urgency(group[1]))
    for (action, _), findings in urgent:
        if len(treated.steps) < most:
            treated = _take(treated, action, findings, measured=measured)
    return treated


def _action(one: Diagnosis) -> str:
    """Return the code of what is done about an agent; empty for nothing.

    A broken feed is always acted on, anything else where that surely saves, or where
    no outcome since then tells what it costs.
    """
    finding = one.finding
    if finding is None:
        return ""
    kind, saving = kinds.every()[finding.code], finding.saving
    action, certain = kind.action, saving is not None and saving.low > 0
    unpriced = kind.unpriced and saving is None and finding.severity != "note"
    if (
        kind.asked
        or action == "recalibrate"
        or not (one.severity == "error" or certain or unpriced)
    ):
        return ""
    if action == "reverse" and finding.since is not None:
        action = "leave-out"  # its reports before were sound
    if action == "rescale" and (saving is None or finding.facts["factor"] is None):
        action = "ask-unit"
    if saving is not None and saving.high < 0:
        return BACKFIRES.get(action, action)
    return action


def _urgency(findings: Sequence[Finding]) -> tuple[int, float]:
    savings = [f.saving.value for f in findings if f.saving is not None]
    worst = min(SEVERITIES.index(finding.severity) for finding in findings)
    return worst, -sum(savings)


def _take(
    treated: Treated,
    action: str,
    findings: Sequence[Finding],
    *,
    measured: bool = True,
) -> Treated:
    """Add a step, and measure what it saves.

    Who would be missed is not left out: the feed is to be repaired. What is no error
    and does not surely save anything after the steps before it is no step.
    """
    evidence, who = treated.evidence, tuple(one.who[0] for one in findings)
    step = Step(action, who, _arguments(findings[0]))
    if len(findings) == 1 and action in REPORTS:
        step = replace(step, saving=findings[0].saving, p_value=findings[0].p_value)
    if measured and action in REPORTS and can_treat(evidence):
        after = evidence.treat(treat(evidence, action, findings))
        share_comparison(evidence, after)
        if any(finding.saving is not None for finding in findings):
            saved = cost_in_use(evidence) - cost_in_use(after)
            saving, p = _measured(evidence, saved)
            step = replace(step, saving=saving, p_value=p)
        missed = step.saving is not None and step.saving.high < 0
        if missed and action in BACKFIRES:
            step = Step(BACKFIRES[action], who, step.arguments)
        elif not step.certain and not any(map(_is_urgent, findings)):
            return treated
        else:
            evidence = after
    step = replace(step, saving_per_month=_monthly(evidence, step.saving))
    out = who if step.action == "leave-out" else ()
    return Treated((*treated.steps, step), evidence, (*treated.without, *out))


def _is_urgent(finding: Finding) -> bool:
    """Whether it is acted on whatever it saves."""
    kind = kinds.every()[finding.code]
    return finding.severity == "error" or kind.broken or kind.unpriced


def _measured(evidence: Evidence, saved: FloatArray) -> tuple[Estimate, float]:
    """Return what is saved per 1,000 cases, from (T',), and its p-value."""
    found = estimate_rise(evidence, saved)
    ends = (found.value, found.low, found.high)
    estimate = Estimate(*(PER_THOUSAND * end for end in ends))
    return estimate, rise_p_value(evidence, saved)


def _arguments(finding: Finding) -> dict[str, Any]:
    """What an action needs to know beside the agents."""
    names = ("by", "failing", "factor", "classes", "from", "label", "removed")
    known = {name: finding.facts[name] for name in names if name in finding.facts}
    if known.get("factor"):
        known["factor"] = 1 / known["factor"]
    return known | ({"date": finding.date} if finding.date else {})


def _monthly(evidence: Evidence, saving: Estimate | None) -> Estimate | None:
    cases = evidence.compute(cases_per_month)
    return scaled(saving, None if cases is None else cases / PER_THOUSAND)


def make_plan(
    given: Evidence,
    treated: Treated,
    outcome: Diagnosis,
    agents: Sequence[Diagnosis],
    pool: Diagnosis,
    *,
    in_doubt: bool,
) -> tuple[Plan, Treated]:
    """Return the plan: the outcome first, then agents, then the pool to use.

    Where no step saves significantly and nothing is broken, the plan is to keep the
    pool in use. With it comes the evidence once all its steps are taken.
    """
    base = given.planned
    steps = [*ask(outcome, agents), *treated.steps]
    trust = _trust([outcome, *agents, pool], blind=given.shortage is not None)
    plan = Plan(trust, tuple(steps[:MOST_STEPS]), base.in_use, in_doubt=in_doubt)
    if in_doubt:
        return replace(plan, trust="asked"), treated
    choice, table = choose_pool(base), base.compute(compare_pools)
    if choice is None or table is None:
        few = (*plan.steps, Step("collect"))[:MOST_STEPS]
        return replace(plan, steps=few), treated
    if pool.finding and kinds.every()[pool.code].action == "ask-meaning":
        asked = (Step("ask-meaning"), *steps)[:MOST_STEPS]
        return replace(plan, steps=asked), treated
    barred = {"best-agent"} if _is_at_fault(agents, base.compute(best_agent)) else ()
    cure = CURES.get(kinds.every()[pool.code].action) if pool.finding else None
    cure = None if cure in barred else cure
    chosen = _Chosen(base.in_use)
    if len(steps) < MOST_STEPS:
        chosen = _choose(given, treated, choice, cure)
        if chosen.step is None:
            before, treated = len(treated.steps), _recalibrate(treated, agents)
            steps += treated.steps[before:]
        else:
            steps.append(chosen.step)
    saving = _saving_of_all(given, treated, chosen)
    # Only what `fit` learns has a simpler alternative, on reports as they are.
    learned = chosen.pool == recommended_pool(base) and treated.evidence is given
    plan = replace(
        plan,
        steps=tuple(steps) or (Step("keep", arguments={"pool": base.in_use}),),
        pool=chosen.pool,
        without=treated.without,
        saving=saving,
        saving_per_month=_monthly(base, saving),
        alternative=simplest(base, chosen.pool, barred) if learned else None,
        agent=base.compute(best_agent),
        tried=len(table.rows) - 1,
        tested=table.tested,
        folds=len(base.validation.folds),
        forward=base.panel.times is not None,
        grouped=base.unsplit.panel.groups is not None,
        **_constant(base),
    )
    return plan, treated


def ask(outcome: Diagnosis, agents: Sequence[Diagnosis]) -> list[Step]:
    """Ask what all figures depend on: about the outcome, then who may know it."""
    steps = []
    if outcome.finding is not None and kinds.every()[outcome.code].action:
        action = kinds.every()[outcome.code].action
        steps.append(Step(action, arguments=_arguments(outcome.finding)))
    asked = [
        one.finding
        for one in agents
        if one.finding is not None and kinds.every()[one.code].asked
    ]
    if asked:
        who = tuple(one.who[0] for one in asked)
        action = kinds.every()[asked[0].code].action
        steps.append(Step(action, who, _arguments(asked[0])))
    return steps


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The pool to use, and the step to it if anything changes.

    ``cost`` (T',) is what it costs then; None: that of the pool in use.
    """

    pool: str
    step: Step | None = None
    cost: FloatArray | None = None


def _choose(
    given: Evidence, treated: Treated, choice: Choice, cure: str | None
) -> _Chosen:
    """Choose the pool to use after the steps about agents.

    Another one than the pool in use only if it costs significantly less on what they
    leave, adjusted for all pools tried. ``cure`` is one that would answer what is wrong
    with the pool in use.
    """
    base, last = given.planned, treated.evidence.planned
    before, table = cost_in_use(treated.evidence), base.compute(compare_pools)
    line = {} if base.threshold == given.threshold else {"threshold": base.line}
    pool, p = choice.pool, None
    if treated.evidence is not given or treated.without:
        pool = recommended_pool(base)
    elif choice.comparison is not None:
        p = choice.comparison.holm
    elif not treated.steps and cure is not None:
        cheaper = significantly_cheaper(base.compute(paired_comparisons))
        if cure in cheaper:
            pool, p = cure, cheaper[cure].holm
    if pool != base.in_use and table is not None:
        kept = [a for a in base.panel.agents if a not in treated.without]
        after = cost_of(last, pool, kept)
        alone = base.compute(best_agent) if pool == "best-agent" else None
        arguments = {"pool": pool, "without": treated.without, "agent": alone, **line}
        action = "refit" if base.validation.saved else "use"
        if after is not None:
            step = _pool_step(base, action, arguments, before - after)
            if p is None and step.p_value is not None:  # Bonferroni
                p = min(1.0, (len(table.rows) - 1) * step.p_value)
            step = replace(step, p_value=p)
            if step.certain and p is not None and p < SIGNIFICANT:
                return _Chosen(pool, step, after)
    if line:  # it surely saves on the agents as they are
        after = cost_in_use(last)
        step = _pool_step(base, "decide-at", line, before - after)
        return _Chosen(base.in_use, step, after)
    return _Chosen(base.in_use)


def _pool_step(
    evidence: Evidence, action: str, arguments: dict[str, Any], saved: FloatArray
) -> Step:
    saving, p = _measured(evidence, saved)
    return Step(action, (), arguments, saving, _monthly(evidence, saving), p)


def _saving_of_all(
    given: Evidence, treated: Treated, chosen: _Chosen
) -> Estimate | None:
    """What all steps save together; None where nothing that is measured changes."""
    after = cost_in_use(treated.evidence) if chosen.cost is None else chosen.cost
    if treated.evidence is given and chosen.cost is None:
        return None
    return _measured(given, cost_in_use(given) - after)[0]


def _recalibrate(treated: Treated, agents: Sequence[Diagnosis]) -> Treated:
    """Add a step that recalibrates agents, where that surely saves."""
    findings = [
        one.finding
        for one in agents
        if one.finding is not None
        and kinds.every()[one.code].action == "recalibrate"
        and one.finding.saving is not None
        and one.finding.saving.low > 0
        and one.finding.severity != "note"
    ]
    if not findings:
        return treated
    return _take(treated, "recalibrate", findings)


def _is_at_fault(agents: Sequence[Diagnosis], who: str) -> bool:
    return any(one.who == who and one.severity == "error" for one in agents)


def _constant(evidence: Evidence) -> dict[str, Any]:
    """Compare the pool in use with the best decision that is always the same."""
    if evidence.capacity is not None:
        return {}
    y, K = evidence.outcomes, evidence.panel.classes
    costs = evidence.tested_loss.costs.cost_per_decision(y, K)
    best = int(np.argmin([evidence.mean(costs[:, k]) for k in range(K)]))
    saving = evidence.saving(costs[:, best] - evidence.cost)
    return {
        "constant": str(evidence.panel.labels.names[best]),
        "constant_saving": scaled(saving, PER_THOUSAND),
    }


def _trust(diagnoses: Sequence[Diagnosis], *, blind: bool) -> Trust:
    grades = {one.severity for one in diagnoses}
    if "error" in grades:
        return "no"
    if "warning" in grades:
        return "with care"
    return "unknown" if blind else "yes"
