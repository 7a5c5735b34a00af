"""The verdict of an audit, what its costs are, and what changed since another."""

from collections.abc import Sequence

from truepool.audits.priorities import first_fixes, later_fixes
from truepool.audits.severity import ASKED, CALIBRATION, DOUBTS, LATE, LEAK, RUN
from truepool.audits.topics.threshold import POOL_FAULTS
from truepool.audits.values import (
    SEVERITIES,
    Audit,
    Changes,
    Finding,
    Fix,
    Recommendation,
)
from truepool.comparison import Estimate, Row
from truepool.core.formatting import (
    end_once,
    in_unit,
    join_names,
    money,
    percent,
    pluralize,
)
from truepool.measures.capacity import without_capacity
from truepool.render.actions import FAULTS, backfires
from truepool.render.advice import pool_name, suspects
from truepool.render.costs import describe, describe_classes
from truepool.render.labels import class_names
from truepool.render.removal import agents_left
from truepool.render.savings import in_words, unit

FIXED = "if fixed"
"""When a finding's savings per case are made; below 0, fixing it alone is no cure."""

DEFAULT_POOL = "mean"
"""What an audit judges unless it is told which pool is in use."""
MOST_NAMES = 3
"""Agents that the verdict names; of more, how many others there are."""
LOCAL = "fixed or left out where {fail}"
CLEAR = "it is clear why {} report the same"
"""What is waited for where leaving out one of two copies would cost more."""

SINCE = "if left out since then"
LEFT_OUT = {
    "fails-in-segment": "if left out where it fails",
    "uninformative": "if left out",
    "constant-feed": SINCE,
    RUN: "if left out then",
    "repeated-feed": SINCE,
    "changed-feed": SINCE,
}
"""When they are made where nothing is fixed, by the finding's code."""
WITHIN_CAPACITY = ("better-pool", "worse-than-best")
"""Findings of the comparison, whose savings are within the capacity if there is one."""


def sentence(audit: Audit) -> str:
    """Say whether the pool can be trusted, and what it takes."""
    return end_once(_sentence(audit))


def _sentence(audit: Audit) -> str:
    plan = audit.recommendation
    if plan.outcome_in_doubt:
        asked, *_ = (f for f in audit.findings if f.code in (*DOUBTS, LEAK))
        return f"{asked.sentence} Until that is clear, nothing here can be relied on."
    basis = f"{_counts(audit)} in {_where(audit)}"
    if plan.trust == "no":
        apart = _too_good(plan) or _apart(audit)
        return f"Do not trust this pool {_until(audit)}: {basis}.{apart}"
    if plan.trust == "with care":
        better = f" {_capital(pool_name(plan))} costs significantly less."
        better *= plan.change
        return f"Use this pool with care: {basis}.{_too_good(plan) or better}"
    if plan.trust == "unknown":
        blind = dict(audit.withheld).get("calibration", "too few cases")
        return f"Too little is known to judge this pool: {blind}."
    missing = ", but not everything could be tested" * bool(audit.withheld)
    if plan.change:
        return (
            f"No fault was found, but {pool_name(plan)} costs significantly less "
            f"than {plan.in_use}: {basis}{missing}."
        )
    return f"No problems found with this pool: {basis}{missing}.{_finds(audit)}"


def _finds(audit: Audit) -> str:
    """Say which share of the positive cases the pool in use finds, by its limits."""
    for found in audit.operations[:1]:
        if found.recall is not None:
            low, high = percent(found.recall.low), percent(found.recall.high)
            return f" It finds {low} to {high} of the positive cases."
    return ""


def number_label(audit: Audit, finding: Finding) -> str:
    """Return what the number of a finding is called.

    With more than two classes a bias is that of the likeliest class, whichever class
    the sentence is about.
    """
    if finding.unit == "bias" and audit.classes > 2:
        return "bias of the class found likeliest"
    return finding.unit or "estimate"


def saving_label(audit: Audit, code: str = "") -> str:
    """Return what the cost of a finding is called, with its unit."""
    limit = "" if code in WITHIN_CAPACITY else without_capacity(audit.capacity)
    what = f"savings per case{limit} {LEFT_OUT.get(code, FIXED)}"
    return in_unit(what, audit.currency or in_words(audit))


def costs(audit: Audit) -> str:
    """Say what errors cost, and in which unit."""
    counted = f" Costs are {in_words(audit)}." if unit(audit) else ""
    text = describe_errors(audit)
    return f"{text[0].upper()}{text[1:]}.{counted}"


def describe_errors(audit: Audit) -> str:
    """Say what errors cost, between however many classes."""
    if audit.classes == 2:
        return describe(audit.costs)
    return describe_classes(audit.costs, class_names(audit.labels.names))


def rates(audit: Audit) -> str:
    """Say what the pool in use finds and raises, and the recommended one beside it.

    Empty where pools could not be compared, or the outcome is in doubt.
    """
    plan, table = audit.recommendation, audit.comparison
    if table is None or plan.outcome_in_doubt:
        return ""
    where = "none of which it was fitted on"
    if audit.capacity is not None:
        where = f"within the capacity; {where}"
    cases, *_ = (*(o.cases for o in audit.operations), table.tested)
    text = f"{_rates(table[plan.in_use], audit)} ({cases:,} cases, {where})."
    of_these = "" if cases == table.tested else f" ({table.tested:,} of these cases)"
    if plan.pool is None or not plan.change:
        return text
    agents = "With all agents, " * bool(plan.without)
    there = " at the threshold that the costs imply" * plan.threshold_moves
    return f"{text} {agents}{_rates(table[plan.pool], audit)}{of_these}{there}."


def _rates(row: Row, audit: Audit) -> str:
    for found in audit.operations:
        if found.pool == row.pool and found.recall and found.false_alarms:
            return (
                f"{row.pool} finds {_limits(found.recall)} of the positive cases and "
                f"raises a false alarm in {_limits(found.false_alarms)} of the "
                "negative ones"
            )
    names = class_names(audit.labels.names)
    parts = [
        f"{percent(share)} of {name}"
        for name, share in zip(names, row.recalls, strict=True)
        if share == share
    ]
    return f"{row.pool} decides correctly {join_names(parts)}"


def _limits(share: Estimate) -> str:
    """Say between which shares one lies; the point stands after them.

    >>> _limits(Estimate(1.0, 0.58, 1.0))
    '58.0 % to 100.0 % (100.0 % seen)'
    """
    low, high, value = (percent(x) for x in (share.low, share.high, share.value))
    return f"{low} to {high} ({value} seen)"


def changes(audit: Audit) -> list[str]:
    """Say what got better and worse since the earlier audit, one sentence each."""
    if audit.changes is None:
        return []
    then, now = audit.changes, audit.recommendation
    when = f" of {then.date}" if then.date else ""
    named = f" ({then.source})" if then.source else ""
    lines = [f"Since the audit{when}{named}:"]
    if not then.comparable:
        differ = join_names(then.settings)
        return [
            *lines,
            f"The two audits differ in {differ}, so their costs and findings are not "
            "compared.",
        ]
    replaced = then.pool not in ("", audit.pool)
    if then.cost is not None and now.cost_in_use is not None:
        one, other = "The pool in use", "it"
        if replaced:
            one, other = (
                f"{audit.pool}, the pool in use now,",
                f"{then.pool}, in use then,",
            )
        lines.append(
            f"{one} costs {money(now.cost_in_use, audit.currency)} per case; "
            f"{other} cost {money(then.cost, then.currency)}."
        )
    if then.settings:
        lines.append(
            f"The two audits differ in {join_names(then.settings)}, so costs and "
            "findings cannot be compared directly."
        )
    if advised := _advised(audit, then):
        lines.append(advised)
    if then.left_out:
        lines.append(
            f"Findings about {join_names(then.left_out)}, left out this time, do not "
            "count as gone."
        )
    lines += [f"{'New' if f.key in then.new else 'Worse'}: {f.sentence}"
              for f in then.worse]  # fmt: skip
    pools = f" (then {then.pool}, now {audit.pool})" * replaced
    lines += [f"Better: {_known(key)}{pools * (len(key) == 1)}." for key in then.better]
    lines += [f"Graded higher, but not significantly larger: {f.sentence}"
              for f in then.certain]  # fmt: skip
    if not then.worse and not then.better and not then.certain:
        lines.append("No errors or warnings were added or resolved.")
    return lines


def _advised(audit: Audit, then: Changes) -> str:
    """Say that another pool was advised then, or that it is not the one audited now.

    A pool that is neither the default nor the one audited then was chosen since.
    """
    plan, pool = audit.recommendation, then.advised
    parts = []
    if pool and plan.pool and pool != plan.pool:
        now = f"now: {'use' if plan.change else 'keep'} {plan.pool}"
        if not plan.change and any(not fix.who for fix in plan.errors):
            now = f"now no pool costs significantly less than {plan.in_use}"
        parts.append(f"The earlier audit advised {pool}; {now}.")
    if pool not in (None, audit.pool) and audit.pool in (then.pool, DEFAULT_POOL):
        parts = parts or [f"The earlier audit advised {pool}."]
        parts.append(f"If you use {pool} by now, pass --pool {pool}.")
    return " ".join(parts)


def _known(key: tuple[str, ...]) -> str:
    code, *who = key
    about = f"{join_names(who)}: " if who else ""
    return f"{about}{FAULTS.get(code, f'`{code}`')} is resolved or less severe"


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


def _until(audit: Audit) -> str:
    """Name the agents whose faults are the reason, where agents alone are."""
    broken = _agents(audit.recommendation)
    if not broken:
        return "as it is"
    named: dict[str, list[str]] = {}
    for fix in broken[:MOST_NAMES]:
        cure = _cure(audit, fix)
        link = " and " if cure == CLEAR else " or "
        pair = link.join(fix.who) if fix.code == "copy" else fix.who[0]
        named.setdefault(cure, []).append(pair)
    parts = [_subject(who, cure) for cure, who in named.items()]
    rest = [_cure(audit, fix) for fix in broken[MOST_NAMES:]]
    if rest:
        others = pluralize(len(rest), "other agent")
        are = "is" if len(rest) == 1 else "are"
        cure, who = list(named.items())[-1]
        if any(fix.code == "copy" for fix in broken[MOST_NAMES:]):
            faults = pluralize(len(rest), "other fault")
            parts.append(f"{faults} {are} dealt with")
        elif set(rest) == {cure}:
            parts[-1] = _subject([*who, others], cure)
        else:
            parts.append(f"{others} {are} fixed")
    return f"until {' and '.join(parts)}"


def _too_good(plan: Recommendation) -> str:
    """Say what figures are without until a question is answered."""
    who = suspects(plan)
    if who:
        return f" {join_names(who)} may know the outcome: figures are without it."
    if any(fix.code == LATE for fix in plan.fixes):
        return " The newest outcomes may not be known yet: figures are without them."
    return ""


def _cure(audit: Audit, fix: Fix) -> str:
    """Say what is done about an agent, as the first step does.

    That is "fixed" where leaving it out costs more, or leaves no pool.
    """
    first = [one for one in first_fixes(audit.recommendation) if one.code not in ASKED]
    if fix not in first or all(other.code in CALIBRATION for other in first):
        return "recalibrated"
    if fix.code == "copy":
        return CLEAR if backfires(fix) else "left out"
    if backfires(fix):
        return "fixed"
    if fix.code == "fails-in-segment":
        return LOCAL
    return "fixed or left out" if len(agents_left(audit)) > 1 else "fixed"


def _subject(agents: Sequence[str], cure: str) -> str:
    if cure == CLEAR:
        return cure.format(" and why ".join(agents))
    one = len(agents) == 1
    where = cure.format(fail="it fails" if one else "they fail")
    return f"{join_names(agents)} {'is' if one else 'are'} {where}"


def _apart(audit: Audit) -> str:
    """Say that the rule itself is sound, where errors of agents are all there is.

    It is not where its probabilities are off, whatever explains that, or where it does
    no better than deciding the same in every case.
    """
    plan = audit.recommendation
    clean = all(fix.who and fix.code != "worse-than-best" for fix in plan.fixes)
    clean = clean and not audit.count("warning")
    clean = clean and not any(f.code in POOL_FAULTS for f in audit.findings)
    useful = plan.constant_saving is None or plan.constant_saving.low > 0
    if plan.pool == plan.in_use and _agents(plan) and clean and useful:
        return f" Apart from that, {plan.in_use} is fine."
    return ""


def _agents(plan: Recommendation) -> list[Fix]:
    """Return one error of each broken agent, those to fix first before the others.

    None where something else is to be fixed first too.
    """
    first = [fix for fix in first_fixes(plan) if fix.severity == "error"]
    if not first or not all(fix.who for fix in first):
        return []
    return [*first, *(f for f in later_fixes(plan) if f.severity == "error")]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if " " in text else text
