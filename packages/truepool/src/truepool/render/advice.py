"""The advice of an audit: what to fix first, which pool to use, what that saves."""

from collections.abc import Set as AbstractSet

from truepool.audits.attribution import DOUBTFUL
from truepool.audits.priorities import (
    first_fixes,
    is_cured,
    later_fixes,
    minor_fixes,
    sure_saving,
)
from truepool.audits.severity import CALIBRATION, DOUBTS, FIRST, LEAK, SWAPPED
from truepool.audits.topics.comparison import RECOMMENDED
from truepool.audits.topics.threshold import POOL_FAULTS
from truepool.audits.values import Audit, Finding, Recommendation
from truepool.comparison import Estimate
from truepool.core.formatting import end_once, join_names, money, pluralize
from truepool.core.sentences import leaving_out
from truepool.measures.capacity import without_capacity
from truepool.measures.groups import GROUPS_NEEDED
from truepool.render.actions import (
    ACTIONS,
    RECALIBRATION,
    join,
    removal,
    todo,
    unproven,
    worded,
)
from truepool.render.numbers import equation, format_interval, number
from truepool.render.removal import agents_left, before_faults, decide_alone
from truepool.render.savings import (
    in_words,
    per_thousand,
    savings_per_thousand,
    selective,
)

PER_CASE = " per case"


def steps(audit: Audit) -> list[str]:
    """Say what to fix first, then which pool to use, then what else to do."""
    if audit.recommendation.outcome_in_doubt:
        return _question(audit)
    parts = (
        _first(audit),
        _provided(audit.recommendation, _pool(audit)),
        _alternative(audit),
        _later(audit),
        _also(audit),
    )
    return _with_unit([end_once(part) for part in parts if part], audit)


def suspects(plan: Recommendation) -> list[str]:
    """Agents that may know the outcome."""
    return [fix.who[0] for fix in plan.fixes if fix.code == LEAK]


def _provided(plan: Recommendation, step: str) -> str:
    """Say whom the choice of a pool leaves out."""
    who = suspects(plan)
    if not who or plan.pool is None:
        return step
    return f"Without {join_names(who)}: {step[:1].lower()}{step[1:]}"


def _with_unit(steps: list[str], audit: Audit) -> list[str]:
    """Name the unit at the first cost; a currency stands at every one."""
    first = next((i for i, step in enumerate(steps) if PER_CASE in step), None)
    if first is None or audit.currency:
        return steps
    before, after = steps[first].split(PER_CASE, 1)
    words = in_words(audit)
    if after.startswith(" ("):
        after = f" ({words}; {after[2:]}"
    else:
        inside = after.startswith((")", ":"))
        after = f", {words}{after}" if inside else f" ({words}){after}"
    return [*steps[:first], f"{before}{PER_CASE}{after}", *steps[first + 1 :]]


def _question(audit: Audit) -> list[str]:
    """Ask about the outcome; what else is wrong whatever they are has no figures."""
    asked, *_ = (f for f in audit.findings if f.code in (*DOUBTS, LEAK))
    rest = [fix for fix in audit.recommendation.fixes if fix.who and fix.code != LEAK]
    action = worded(ACTIONS[asked.code], asked.who)
    return [
        f"Before anything else, {action}. {asked.advice}",
        *([f"Also {join(rest)}."] if rest else []),
    ]


def pool_name(plan: Recommendation) -> str:
    """Name the recommended pool."""
    return _name(str(plan.pool), plan)


def _first(audit: Audit) -> str:
    """Say what must be fixed before anything else."""
    steps = first_fixes(audit.recommendation)
    if not steps:
        return ""
    out = removal(steps, audit.agents, audit.pool) or decide_alone(audit)
    return f"Before anything else, {todo(audit, steps)}.{out}{_why_first(audit)}"


def _why_first(audit: Audit) -> str:
    """Say why a feed is fixed first where recalibration would save more."""
    first = first_fixes(audit.recommendation)
    feeds = [fix for fix in first if fix.code in FIRST]
    # To recalibrate who is reversed is to reverse it.
    named = (*CALIBRATION, "reversed", SWAPPED, LEAK)
    other = _best_recalibration(
        audit, {fix.who[0] for fix in first if fix.who and fix.code in named}
    )
    if not feeds or other is None or other.cost is None:
        return ""
    if other.cost.value <= max(map(sure_saving, first)):
        return ""
    than = ""
    if len(first) == 1 and feeds[0].saving is not None and feeds[0].saving.value >= 0:
        than = f" against {_cost(audit, feeds[0].saving.value)}"
    what = other.who[0] if other.who else "the pool"
    return (
        f" Recalibrating {what} would save more, {_cost(audit, other.cost.value)} per "
        f"case{without_capacity(audit.capacity)}{than}, but comes second: what is "
        "fitted to a broken feed must be fitted again once it is fixed."
    )


def _best_recalibration(audit: Audit, apart: AbstractSet[str]) -> Finding | None:
    """Return the finding whose recalibration surely saves most, but of these agents."""
    savings = [
        (finding.cost.value, finding)
        for finding in audit.findings
        if finding.code in (*CALIBRATION, *POOL_FAULTS)
        and finding.cost is not None
        and finding.cost.low > 0
        and finding.code not in unproven(audit)
        and apart.isdisjoint(finding.who)
    ]
    return max(savings, key=lambda pair: pair[0])[1] if savings else None


def _later(audit: Audit) -> str:
    """Say which agents to recalibrate once the better pool is used."""
    plan = audit.recommendation
    steps = later_fixes(plan)
    if not steps:
        return ""
    steps += [fix for fix in minor_fixes(plan) if fix.code in CALIBRATION]
    agents = [fix.who[0] for fix in steps]
    return f"Then {worded(RECALIBRATION, agents)}, and compare the pools again."


def _pool(audit: Audit) -> str:
    plan = audit.recommendation
    if plan.pool is None or plan.cost is None or plan.cost_in_use is None:
        why = dict(audit.withheld).get("comparison", "")
        if GROUPS_NEEDED in why:
            return (
                "Name another column of groups (group), or none if cases do not "
                f"depend on each other: these are too few to compare pools ({why}). "
                "More cases help only if they are of other groups."
            )
        return (
            "Collect more cases with a known outcome: there are too few to compare "
            f"pools{f' ({why})' if why else ''}."
        )
    if plan.saving is None:
        return f"{_keep(audit, plan.cost)}{_constant(audit)}{_auto(audit)}"
    if plan.without_saving is not None:
        return _pool_of_part(audit, plan.without_saving)
    sick = any(fix.who and fix.code != LEAK for fix in first_fixes(plan))
    opening = "Until then, use" if sick else "Use"
    again = " Fit it again after the fix, and compare the pools again." if sick else ""
    cured = any(is_cured(plan, fix) for fix in plan.errors)
    instead = f" instead of {plan.in_use}, which is at fault" if cured else ""
    alone = _recalibrated(audit)
    as_is = ", with all agents as they are" * sick
    saved = _cost(audit, plan.saving.value)
    return (
        f"{opening} {pool_name(plan)}{instead}: it costs "
        f"{_cost_of(audit, plan.pool, plan.cost)} per case, {plan.in_use} "
        f"{_cost_of(audit, plan.in_use, plan.cost_in_use)} "
        f"({_validation(audit)}{as_is}). That saves {saved} per "
        f"case, {per_thousand(audit, plan.saving, plan.p_value)}; {plan.why}."
        f"{_without(audit)}{_lowest(audit)}{alone}{_constant(audit)}{_auto(audit)}"
        f"{again}"
    )


def _pool_of_part(audit: Audit, saving: Estimate) -> str:
    """Recommend a pool without the agents that are to be taken out until fixed."""
    plan = audit.recommendation
    options = leaving_out(plan.without, audit.agents)
    cost, in_use = plan.without_cost or 0.0, plan.cost_in_use or 0.0
    saved = (
        f"That saves {_cost(audit, saving.value)} per case, "
        f"{per_thousand(audit, saving)}; {plan.why}"
    )
    with_all = ""
    if not saving.low > 0:
        than = "That is more" if saving.high < 0 else "That is not significantly less"
        shown = savings_per_thousand(audit, saving)
        saved = f"{than} ({shown})"
        with_all = f", significantly less than {plan.in_use}"
    before = before_faults(audit) if (plan.cost or 0.0) < cost else ""
    return (
        f"Until then, use {pool_name(plan)}, fitted without "
        f"{join_names(plan.without)} (`{options}`): it costs {_cost(audit, cost)} per "
        f"case, {plan.in_use} of all agents {_cost(audit, in_use)} "
        f"({_validation(audit)}). {saved}. Of all agents as they are, {plan.pool} "
        f"costs {_cost(audit, plan.cost or 0.0)} on the same cases{with_all}"
        f"{before}.{_auto(audit)}{_constant(audit)} Fit it again after the fix, and "
        "compare the pools again."
    )


def _without(audit: Audit) -> str:
    """Say which agents a pool should be fitted without, where that was not measured."""
    out = audit.recommendation.without
    options = leaving_out(out, audit.agents)
    if not options:
        return ""
    return f" Better fit it without {join_names(out)} (`{options}`)."


def _lowest(audit: Audit) -> str:
    """Say what to make of another pool that costs least."""
    plan, table = audit.recommendation, audit.comparison
    if plan.pool != RECOMMENDED or table is None or table.rows[0].pool == plan.pool:
        return ""
    first = table.rows[0]
    return (
        f" {first.pool} costs {_cost_of(audit, first.pool, first.loss.value)}: the "
        "lowest of "
        f"{len(table.rows)} on the same cases looks better than it is."
    )


def _recalibrated(audit: Audit) -> str:
    """Say what recalibrating the pool in use would save, where that is a finding."""
    savings = [
        f.cost
        for f in audit.findings
        if f.code in POOL_FAULTS and f.cost is not None and f.cost.low > 0
    ]
    if not savings or unproven(audit) or "Recalibrating the pool" in _why_first(audit):
        return ""
    saved = _cost(audit, savings[0].value)
    others = "earlier cases" if audit.recommendation.forward else "the other folds"
    return (
        f" Recalibrating {audit.pool} on {others} would save {saved} per "
        f"case{without_capacity(audit.capacity)}."
    )


def _cost(audit: Audit, value: float) -> str:
    return money(value, audit.currency)


def _cost_of(audit: Audit, pool: str, value: float) -> str:
    """What a pool costs per case, with its interval."""
    if audit.comparison is None or pool not in audit.comparison.by_case:
        return _cost(audit, value)
    found = audit.comparison[pool].loss
    ends = (number(end, value) for end in (found.low, found.high))
    return f"{_cost(audit, value)} {format_interval(*ends)}"


def _keep(audit: Audit, cost: float) -> str:
    plan = audit.recommendation
    others = f"none of the {plan.tried} other pools tried costs significantly less"
    basis = f"({_validation(audit)})"
    if any(not fix.who for fix in plan.errors):
        return f"{others[:1].upper()}{others[1:]} {basis}."
    then = "Then keep" if plan.errors else "Keep"
    if len(agents_left(audit)) < 2:
        then = "After the fix, keep"
    shown = _cost_of(audit, plan.in_use, cost)
    return f"{then} {plan.in_use}: at {shown} per case {basis}, {others}."


def _constant(audit: Audit) -> str:
    """Say where the pool in use does no better than deciding the same every time."""
    plan = audit.recommendation
    saving, cost = plan.constant_saving, plan.constant_cost
    if saving is None or cost is None or saving.low > 0:
        return ""
    than = f"{plan.in_use} does not cost significantly less"
    if saving.high < 0:
        than = f"{plan.in_use} costs more than that"
    shown = savings_per_thousand(audit, saving)
    cure = "Check whether these costs are yours."
    if selective(audit):
        cure = DOUBTFUL
    return (
        f" Deciding {plan.constant} in every case would cost {_cost(audit, cost)} per "
        f"case: {than} ({shown}). {cure}"
    )


def _auto(audit: Audit) -> str:
    """Say how `auto` would do where it is not recommended."""
    plan = audit.recommendation
    saving = plan.auto_saving
    if saving is None or plan.pool == RECOMMENDED:
        return ""
    if saving.low == saving.high == 0:
        return " auto would decide no case at another cost."
    if saving.high < 0:
        more = Estimate(-saving.value, -saving.high, -saving.low)
        return f" auto would cost more than {plan.in_use}: {per_thousand(audit, more)}."
    amount = per_thousand(audit, saving)
    if not saving.low > 0:
        shown = savings_per_thousand(audit, saving)
        return f" auto does not cost significantly less than {plan.in_use} ({shown})."
    if plan.saving is not None and saving.value < plan.saving.value:
        return f" auto would save less than {plan.pool}: {amount}."
    p = ""
    if plan.auto_p_value is not None:
        p = f" (adjusted {equation('p', plan.auto_p_value)})"
    return (
        f" auto would save {amount}, which is not significant after adjusting for the "
        f"{plan.tried} pools tried{p}."
    )


def _alternative(audit: Audit) -> str:
    """Name a simpler pool, unless it was measured with agents to be taken out."""
    plan = audit.recommendation
    alone = plan.alternative == "best-agent" and plan.agent not in plan.without
    cost = plan.alternative_cost if alone or not plan.without else None
    if plan.alternative is None or cost is None:
        return ""
    less = plan.cost is not None and cost < plan.cost
    doubt = f", less than {plan.pool} but not significantly so" * less
    return (
        f"The simplest pool within one standard error of {plan.pool} is "
        f"{_name(plan.alternative, plan)}, at "
        f"{_cost_of(audit, plan.alternative, cost)} per case{doubt}: "
        "use it if you need a rule that is easy to explain."
    )


def _validation(audit: Audit) -> str:
    """On which cases costs were measured, and how."""
    plan = audit.recommendation
    cases = pluralize(plan.tested, "case")
    if plan.threshold_moves:
        cases += " at the threshold that the costs imply"
    if audit.capacity is not None:
        cases += f" within a capacity of {audit.capacity.capacity}"
    if plan.forward and plan.grouped:
        return (
            f"{cases}, {plan.folds} folds over time and groups, each fitted to "
            "earlier cases of other groups only"
        )
    if plan.forward:
        return f"{cases}, {plan.folds} folds, each fitted to earlier cases only"
    apart = ", no group in two folds" * plan.grouped
    return f"{cases}, {plan.folds}-fold cross-validation{apart}"


def _also(audit: Audit) -> str:
    plan = audit.recommendation
    steps = minor_fixes(plan)
    if later_fixes(plan):
        steps = [fix for fix in steps if fix.code not in CALIBRATION]
    if not steps:
        return ""
    return f"Also {todo(audit, steps)}."


def _name(pool: str, plan: Recommendation) -> str:
    return f"the best agent alone ({plan.agent})" if pool == "best-agent" else pool
