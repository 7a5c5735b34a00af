"""The verdict of an audit, what its costs are, and what changed since another."""

from truepool.audits.values import SEVERITIES, Audit, Recommendation
from truepool.core.formatting import pluralize
from truepool.render.advice import listed, recommended, unit
from truepool.render.costs import describe
from truepool.render.numbers import number

FIXED = "savings per case if fixed"
"""What the cost of a finding is called; below 0, fixing it alone is no cure."""

CALIBRATION = ("over-confident", "under-confident", "biased")
"""Faults that recalibrating an agent cures."""

USUAL = {
    "vcg": "vcg",
    "best-agent": "the best agent alone",
    "platt": "a recalibrated mean (`platt`)",
}


def sentence(audit: Audit) -> str:
    """Say whether the pool can be trusted, and what it takes."""
    plan = audit.recommendation
    basis = f"{_counts(audit)} in {_where(audit)}"
    if plan.trust == "no":
        return f"Do not trust this pool {_until(plan)}: {basis}.{_apart(plan)}"
    if plan.trust == "with care":
        better = f" {_capital(recommended(plan))} costs significantly less."
        better *= plan.change
        return f"Use this pool with care: {basis}.{better}"
    if plan.trust == "unknown":
        blind = dict(audit.withheld).get("calibration", "too few cases")
        return f"Too little is known to judge this pool: {blind}."
    missing = ", but not everything could be tested" * bool(audit.withheld)
    if plan.change:
        return (
            f"No fault was found, but {recommended(plan)} costs significantly less "
            f"than {plan.in_use}: {basis}{missing}."
        )
    return f"Nothing speaks against this pool: {basis}{missing}."


def usual(audit: Audit) -> str:
    """Say which pool the paper's table of regimes names for cases like these."""
    plan = audit.recommendation
    here = ""
    if plan.usual_cost is not None:
        here = f" ({number(plan.usual_cost)} per case here)"
    return f"Where {plan.regime}, the paper suggests {USUAL[plan.usual]}{here}."


def saving_label(audit: Audit) -> str:
    """Return what the cost of a finding is called, with its currency if it has one."""
    currency = audit.costs.get("currency")
    return f"{FIXED} ({currency})" if currency else FIXED


def costs(audit: Audit) -> str:
    """Say what errors cost, and in which unit."""
    counted = f" Costs are in {unit(audit)}." if unit(audit) else ""
    if audit.classes > 2:
        return f"Costs are those of the cost matrix, per case.{counted}"
    text = describe(audit.costs)
    return f"{text[0].upper()}{text[1:]}.{counted}"


def changes(audit: Audit) -> list[str]:
    """Say what got better and worse since the earlier audit, one sentence each."""
    if audit.changes is None:
        return []
    then, now = audit.changes, audit.recommendation
    when = f" of {then.date}" if then.date else ""
    named = f" ({then.source})" if then.source else ""
    lines = [f"Since the audit{when}{named}:"]
    if then.cost is not None and now.cost_in_use is not None:
        lines.append(
            f"The pool in use costs {number(now.cost_in_use)} per case; it cost "
            f"{number(then.cost)}."
        )
    lines += [f"Worse: {f.sentence}" for f in then.worse]
    lines += [f"Better: {_known(key)}." for key in then.better]
    if not then.worse and not then.better:
        lines.append("No error or warning came or went.")
    return lines


def _known(key: tuple[str, ...]) -> str:
    code, *who = key
    about = f" of {listed(who)}" if who else ""
    return f"`{code}`{about} is gone or less severe"


def withheld(audit: Audit) -> dict[str, str]:
    """What is left out, by the reason."""
    parts: dict[str, str] = {}
    for what, why in audit.withheld:
        parts[why] = f"{parts[why]}, {what}" if why in parts else what
    return parts


# The verdict


def _counts(audit: Audit) -> str:
    counts = {level: audit.count(level) for level in SEVERITIES[:2]}
    parts = [pluralize(count, level) for level, count in counts.items() if count]
    return " and ".join(parts) or "no error and no warning"


def _where(audit: Audit) -> str:
    agents = pluralize(len(audit.agents), "agent")
    return f"{pluralize(audit.cases, 'case')} with a known outcome from {agents}"


def _until(plan: Recommendation) -> str:
    """Name the agents whose faults are the reason, where agents alone are."""
    agents = _agents(plan)
    if not agents:
        return "as it is"
    verb = "is" if len(agents) == 1 else "are"
    needed = all(fix.code in CALIBRATION for fix in plan.errors)
    cure = "recalibrated" if needed else "fixed or left out"
    return f"until {listed(agents)} {verb} {cure}"


def _apart(plan: Recommendation) -> str:
    """Say that the rule itself is sound, where only agents are at fault."""
    clean = all(fix.who and fix.code != "worse-than-best" for fix in plan.fixes)
    if plan.pool == plan.in_use and _agents(plan) and clean:
        return f" Apart from that, {plan.in_use} is fine."
    return ""


def _agents(plan: Recommendation) -> list[str]:
    """Return the agents at fault; none where something else is at fault too."""
    if not all(fix.who for fix in plan.errors):
        return []
    return list(dict.fromkeys(fix.who[0] for fix in plan.errors))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if " " in text else text
