"""The verdict and the advice of an audit: two wordings of one recommendation."""

from collections.abc import Sequence

from truepool.audits.recommendation import CURED_BY_A_POOL
from truepool.audits.values import SEVERITIES, Audit, Fix, Recommendation
from truepool.comparison import Estimate
from truepool.core.formatting import pluralize
from truepool.render.numbers import amount, format_estimate, format_p_value, number

FIXED = "savings per case if fixed"
"""What the cost of a finding is called; below 0, fixing it alone is no cure."""

FEED = "take {who} out of the pool or fix its feed"
ACTIONS = {
    "constant-feed": FEED,
    "stopped-feed": "find out why {who} stopped reporting",
    "repeated-feed": FEED,
    "changed-feed": FEED,
    "rescaled-feed": "ask whether {who} was retrained or rescaled, and recalibrate it",
    "upside-down": "take {who} out of the pool or reverse its reports",
    "drifted": FEED,
    "copy": "leave out {who} or {other}, which report the same",
    "harmful": "take {who} out of the pool",
    "over-confident": "recalibrate {who}",
    "under-confident": "recalibrate {who}",
    "biased": "recalibrate {who}",
    "tempted": "pay {who} and the others by a proper score of their own reports",
    "worse-than-best": "use {who} alone, or a pool that relies on it more",
    "threshold": "decide at the threshold that the costs imply",
    "under-confident-pool": "recalibrate the pool",
    "over-confident-pool": "recalibrate the pool",
    "biased-pool": "recalibrate the pool",
    "drifted-pool": "find out what changed around case {since:,}",
    "outcome-rate": "find out why the share of positive outcomes changed around case "
    "{since:,}",
}
"""What to do about a finding, in the imperative, by its code."""

CALIBRATION = ("over-confident", "under-confident", "biased")
"""Faults that recalibrating an agent cures."""

USUAL = {
    "vcg": "vcg",
    "best-agent": "the best agent alone",
    "platt": "a recalibrated mean (`platt`)",
}


def sentence(audit: Audit) -> str:
    """Say whether the pool can be trusted, and what it takes."""
    said = audit.recommendation
    basis = f"{_counts(audit)} in {_where(audit)}"
    if said.trust == "no":
        return f"Do not trust this pool {_until(said)}: {basis}.{_apart(said)}"
    if said.trust == "with care":
        better = f" {_capital(_named(said))} costs significantly less."
        better *= said.change
        return f"Use this pool with care: {basis}.{better}"
    if said.trust == "unknown":
        blind = dict(audit.withheld).get("calibration", "too few cases")
        return f"Too little is known to judge this pool: {blind}."
    missing = ", but not everything could be tested" * bool(audit.withheld)
    if said.change:
        return (
            f"No fault was found, but {_named(said)} costs significantly less than "
            f"{said.in_use}: {basis}{missing}."
        )
    return f"Nothing speaks against this pool: {basis}{missing}."


def advice(audit: Audit) -> str:
    """Say what to fix first, then which pool to use, and what is usual here."""
    said = audit.recommendation
    parts = (_first(said), _pool(said), _also(said), _usual(said))
    return " ".join(part for part in parts if part)


def costs(audit: Audit) -> str:
    """Say what errors cost, and in which unit."""
    if audit.threshold is None:
        return "Costs are those of the cost matrix, per case."
    fn, fp = audit.costs["fn"], audit.costs["fp"]
    unit = " Costs are in false alarms." if fp == 1 else ""
    return f"A missed case costs {amount(fn)}, a false alarm {amount(fp)}.{unit}"


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
    about = f" of {_listed(who)}" if who else ""
    return f"`{code}`{about} is gone or less severe"


def withheld(audit: Audit) -> dict[str, str]:
    """What is left out, by the reason."""
    told: dict[str, str] = {}
    for what, why in audit.withheld:
        told[why] = f"{told[why]}, {what}" if why in told else what
    return told


# The verdict


def _counts(audit: Audit) -> str:
    counts = {level: audit.count(level) for level in SEVERITIES[:2]}
    told = [pluralize(count, level) for level, count in counts.items() if count]
    return " and ".join(told) or "no error and no warning"


def _where(audit: Audit) -> str:
    agents = pluralize(len(audit.agents), "agent")
    return f"{pluralize(audit.cases, 'case')} with a known outcome from {agents}"


def _until(said: Recommendation) -> str:
    """Name the agents whose faults are the reason, where agents alone are."""
    agents = _agents(said)
    if not agents:
        return "as it is"
    verb = "is" if len(agents) == 1 else "are"
    needed = all(fix.code in CALIBRATION for fix in said.errors)
    cure = "recalibrated" if needed else "fixed or left out"
    return f"until {_listed(agents)} {verb} {cure}"


def _apart(said: Recommendation) -> str:
    """Say that the rule itself is sound, where only agents are at fault."""
    clean = all(fix.who and fix.code != "worse-than-best" for fix in said.fixes)
    if said.pool == said.in_use and _agents(said) and clean:
        return f" Apart from that, {said.in_use} is fine."
    return ""


def _agents(said: Recommendation) -> list[str]:
    """Return the agents at fault; none where something else is at fault too."""
    if not all(fix.who for fix in said.errors):
        return []
    return list(dict.fromkeys(fix.who[0] for fix in said.errors))


# The advice


def _first(said: Recommendation) -> str:
    """Say what must be fixed before anything else; a better pool fixes a pool."""
    steps = [fix for fix in said.errors if not _cured(said, fix)]
    return f"Before anything else, {_steps(steps)}." if steps else ""


def _pool(said: Recommendation) -> str:
    if said.pool is None or said.cost is None or said.cost_in_use is None:
        return "Too few cases to compare pools."
    others = f"none of the {said.tried} other pools tried costs significantly less"
    if not said.change:
        if any(not fix.who for fix in said.errors):
            return f"{others[:1].upper()}{others[1:]}."
        then = "Then keep" if said.errors else "Keep"
        return f"{then} {said.in_use}: at {number(said.cost)} per case, {others}."
    sick = any(fix.who for fix in said.errors)
    opening = "Until then, use" if sick else "Use"
    again = " Compare the pools again after the fix." if sick else ""
    cured = any(_cured(said, fix) for fix in said.errors)
    instead = f" instead of {said.in_use}, which is at fault" if cured else ""
    return (
        f"{opening} {_named(said)}{instead}: it costs {number(said.cost)} per case on "
        f"cases it had not seen, {said.in_use} {number(said.cost_in_use)}. That saves "
        f"{_thousand(said.saving)} per 1,000 cases (adjusted p "
        f"{_chance(said.p_value)}); {said.why}.{again}"
    )


def _thousand(saving: Estimate | None) -> str:
    """A saving per case as one per 1,000 cases, with its interval."""
    if saving is None:  # another pool has one
        raise AssertionError
    return format_estimate(
        Estimate(1000 * saving.value, 1000 * saving.low, 1000 * saving.high)
    )


def _also(said: Recommendation) -> str:
    steps = [fix for fix in said.fixes if fix.severity != "error"]
    return f"Also {_steps(steps)}." if steps else ""


def _usual(said: Recommendation) -> str:
    here = ""
    if said.usual_cost is not None and said.usual != said.pool:
        here = f" ({number(said.usual_cost)} per case here)"
    return f"Where {said.regime}, {USUAL[said.usual]} is the usual choice{here}."


def _cured(said: Recommendation, fix: Fix) -> bool:
    return said.change and fix.code in CURED_BY_A_POOL


def _steps(fixes: Sequence[Fix]) -> str:
    """List what to do, the same action once, with what each saves for sure."""
    return "; ".join(dict.fromkeys(_action(fix) + _saved(fix) for fix in fixes))


def _action(fix: Fix) -> str:
    if fix.code not in ACTIONS:
        return f"look into {_listed(fix.who) or 'the pool'} (`{fix.code}`)"
    who, other = (*fix.who, "", "")[:2]
    # Who turned upside down was sound before: its reports must not all be reversed.
    turned = fix.code == "upside-down" and fix.since is not None
    action = FEED if turned else ACTIONS[fix.code]
    return action.format(who=who, other=other, since=fix.since or 0)


def _saved(fix: Fix) -> str:
    if fix.saving is None or not fix.saving.low > 0:
        return ""
    return f" (saves {number(fix.saving.value)} per case)"


def _named(said: Recommendation) -> str:
    if said.agent is not None:
        return f"the best agent alone ({said.agent})"
    return str(said.pool)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if " " in text else text


def _chance(p_value: float | None) -> str:
    told = format_p_value(p_value)
    return told if told.startswith("<") else f"= {told}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names or ("",)
    return f"{', '.join(most)} and {last}" if most else last
