"""Agents that are taken out until they are fixed: who is left, and who decides."""

from truepool.audits.priorities import first_fixes, removable
from truepool.audits.values import Audit
from truepool.core.formatting import join_names, money, percent, pluralize
from truepool.measures.capacity import without_capacity
from truepool.render.actions import backfires


def agents_left(audit: Audit) -> list[str]:
    """Agents that are left without those that the first step takes out."""
    out = _taken_out(audit)
    return [name for name in audit.agents if name not in out]


def _taken_out(audit: Audit) -> list[str]:
    fixes = first_fixes(audit.recommendation)
    asked = [f for f in fixes if f.code in ("harmful", "copy") and not backfires(f)]
    return list(dict.fromkeys([*removable(fixes), *(fix.who[0] for fix in asked)]))


def decide_alone(audit: Audit) -> str:
    """Say how to decide where too few agents are left for a pool."""
    plan, left, out = audit.recommendation, agents_left(audit), _taken_out(audit)
    if len(left) > 1:
        return ""
    if not left:
        return f" Without {join_names(out)} no agent is left: at least one is needed."
    (one,) = (one for one in audit.agent_summaries if one.agent == left[0])
    at_fault = any(one.agent in fix.who[:1] for fix in plan.fixes)
    if plan.change or at_fault:
        return f" Without {join_names(out)} only {one.agent} is left, which is no pool."
    reported = " that it reported on" * (audit.missing > 0)
    before = before_faults(audit) if one.pool_cost < one.cost else ""
    return (
        f" To take {join_names(out)} out right away, decide by {one.agent} alone, the "
        f"one agent left: {money(one.cost, audit.currency)} per case"
        f"{without_capacity(audit.capacity)} on the "
        f"{pluralize(one.cases, 'tested case')}{reported}. {audit.pool} costs "
        f"{money(one.pool_cost, audit.currency)} there{before}."
    )


def before_faults(audit: Audit) -> str:
    """Say why a pool may look cheaper with the agents that are to be taken out."""
    plan = audit.recommendation
    dated = {f.who[0]: f.since for f in reversed(plan.fixes) if f.since and f.who}
    known = [(dated[who], who) for who in removable(first_fixes(plan)) if who in dated]
    first = audit.cases - plan.tested if plan.forward else 0
    parts = [
        f"{percent((since - first) / plan.tested)} of the tested cases came before the "
        f"fault of {who}"
        for since, who in sorted(known)
        if plan.tested and since > first
    ]
    return f", but {join_names(parts)}, and no new case does" if parts else ""
