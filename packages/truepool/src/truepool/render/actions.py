"""What to do about a finding, in words, and what that saves."""

from collections.abc import Collection, Sequence

from truepool.audits.priorities import is_removable_feed, removable
from truepool.audits.severity import (
    FIRST,
    LABELS,
    LATE,
    LEAK,
    NO_PROBABILITY,
    RUN,
    SWAPPED,
    UNRELATED,
)
from truepool.audits.topics.comparison import significantly_cheaper
from truepool.audits.topics.threshold import POOL_FAULTS
from truepool.audits.values import Audit, Fix
from truepool.core.formatting import amount, join_names, money
from truepool.core.sentences import leaving_out
from truepool.measures.capacity import without_capacity

RECALIBRATION = "ask whoever runs {who} to recalibrate {it}"
FEED = "take {who} out of the pool or fix {its} {feed}"
NO_RELATION = (
    "take {who} out of the pool, or check {its} {feed} and how {its} reports are "
    "joined to the cases"
)
POOL = "recalibrate the pool, as `platt` does with the mean"

FOR_PROBABILITIES = (
    " (for its probabilities; decisions do not get significantly cheaper)"
)
"""What a recalibration is for where no saving is shown."""

ACTIONS = {
    LABELS: "find out which label is the positive one",
    UNRELATED: "find out whether this is the right outcome column",
    LEAK: "find out whether {who} {was} made before the outcome was known (if not, "
    "leave {it} out and audit again)",
    "constant-feed": FEED,
    "stopped-feed": "find out why {who} stopped reporting",
    RUN: "leave out the rows in which {who} {was} stuck, or empty {its} cells there, "
    "and find out why",
    "reporting-gap": "find out why {who} did not report for a while",
    "repeated-feed": FEED,
    "changed-feed": FEED,
    "rescaled-feed": "ask whether {who} {was} retrained or rescaled, and fit the "
    "pool again",
    "reversed": "take {who} out of the pool or reverse {its} reports",
    SWAPPED: "swap back the two class columns of {who}",
    NO_PROBABILITY: RECALIBRATION,
    "drifted": FEED,
    "copy": "leave out {who} or {other}, which report the same",
    "harmful": "take {who} out of the pool",
    "uninformative": NO_RELATION,
    "needs-recalibration": RECALIBRATION,
    "over-confident": RECALIBRATION,
    "under-confident": RECALIBRATION,
    "biased": RECALIBRATION,
    "misreport-gain": "pay every agent by a proper score of its own reports",
    "worse-than-best": "use {who} alone, or a pool that relies on it more",
    "threshold": "decide at the threshold that the costs imply",
    "under-confident-pool": POOL,
    "over-confident-pool": POOL,
    "biased-pool": POOL,
    "reversed-pool": "find out which class the agents mean by 1",
    "fails-in-segment": "leave the reports of {who} empty in the segments where "
    "{it_fails}, or fix {its} {feed} there",
    "biased-segment": "fit one pool per segment",
    "drifted-pool": "find out what changed around {when}",
    LATE: "find out whether outcomes arrive late, and leave those empty that are not "
    "known yet",
    "outcome-rate": "find out why the share of positive outcomes changed around {when}",
    "other-threshold": f"{POOL}, or move the threshold",
    "selective-labels": "give the chance that each outcome became known (`--set "
    "propensity=COLUMN`), or follow some cases up at random, whatever is decided",
}
"""What to do about a finding, in the imperative, by its code."""

UNIT = "multiply the reports of {who} from {when} on by {factor}"
"""What to do about a change that a factor undoes."""

COSTS_MORE = {
    SWAPPED: "ask which class each column of {who} stands for",
    "reversed": "ask which class {who} means by 1",
    "copy": "find out why {who} and {other} report the same",
    RUN: "leave out the rows in which {who} {was} stuck, and find out why",
}
"""What to do instead where that would cost more (`backfires`); of all other faults,
`FIX_FEED`."""
FIX_FEED = "have the {feed} of {who} fixed"

BIASED_THERE = (
    "have whoever runs {who} look at {its} reports in the segments where the pool is "
    "biased"
)
"""What to do about a pool that is biased in some segments because one agent is."""

ONE = {"it": "it", "its": "its", "feed": "feed", "was": "was", "it_fails": "it fails"}
SEVERAL = {"it": "them", "its": "their", "feed": "feeds", "was": "were",
           "it_fails": "they fail"}  # fmt: skip
"""Words of an action that depend on the number of agents."""

FAULTS = {
    LABELS: "the doubt about the positive label",
    UNRELATED: "the doubt about the outcome column",
    LEAK: "the suspicion that it knows the outcome",
    "constant-feed": "the constant feed",
    "stopped-feed": "the stopped feed",
    RUN: "the run of identical reports",
    "reporting-gap": "the gap in its reports",
    "repeated-feed": "the repetition of old reports",
    "changed-feed": "the change of its feed",
    "rescaled-feed": "the change of level or scale",
    SWAPPED: "the swap of two class columns",
    "reversed": "reversal",
    NO_PROBABILITY: "the level of its reports",
    "drifted": "drift",
    "copy": "duplication",
    "harmful": "harm to the pool",
    "uninformative": "the lack of any relation to the outcome",
    "needs-recalibration": "the need for recalibration",
    "over-confident": "over-confidence",
    "under-confident": "under-confidence",
    "biased": "bias",
    "misreport-gain": "the gain from misreporting",
    "worse-than-best": "the lead over the pool",
    "threshold": "the wrong threshold",
    "under-confident-pool": "under-confidence of the pool",
    "over-confident-pool": "over-confidence of the pool",
    "biased-pool": "bias of the pool",
    "reversed-pool": "reversal of the pool",
    "fails-in-segment": "failure in some segments",
    "biased-segment": "bias within segments",
    "drifted-pool": "drift of the pool",
    LATE: "the doubt about the newest outcomes",
    "outcome-rate": "the change in the share of positive outcomes",
    "other-threshold": "the threshold that costs too much",
    "selective-labels": "the selection of labelled cases",
}
"""What is wrong, as a noun, by the finding's code."""


def worded(action: str, agents: Sequence[str]) -> str:
    """Return an action on one agent or several.

    >>> worded(FEED, ["rf"]), worded(RECALIBRATION, ["rf", "gbm"])
    ('take rf out of the pool or fix its feed', \
'ask whoever runs rf and gbm to recalibrate them')
    """
    number = SEVERAL if len(agents) > 1 else ONE
    return action.format(who=join_names(agents), **number)


def join(
    fixes: Sequence[Fix],
    currency: str | None = None,
    measured: str = "",
    unproven: Collection[str] = (),
) -> str:
    """List what to do, the same action once; with a currency, what it saves.

    ``measured`` says how savings are measured, if not as everything else is;
    ``unproven`` are codes of the pool's faults whose fix does not save significantly.
    """
    together: dict[tuple[str, str], list[Fix]] = {}
    for fix in fixes:
        # Who costs more when left out is named apart, beside what that would cost,
        # and so is each pair of copies.
        alone = _costs_more(fix) or len(fix.who) > 1
        apart = fix.who[0] if alone and fix.who else ""
        together.setdefault((_action(fix), apart), []).append(fix)
    return "; ".join(
        action + FOR_PROBABILITIES
        if same[0].code in unproven
        else _joined(action, same, currency, measured)
        for (action, _), same in together.items()
    )


def todo(audit: Audit, fixes: Sequence[Fix]) -> str:
    """List what to do, and what it saves on these cases."""
    measured = without_capacity(audit.capacity)
    return join(fixes, audit.currency, measured, unproven(audit))


def unproven(audit: Audit) -> Sequence[str]:
    """Faults of the pool whose fix does not save significantly among the pools tried.

    Of the mean that fix is `platt`, which is one of them: it passes the same test.
    """
    tried = {other.pool for other in audit.significance}
    if audit.recommendation.in_use != "mean" or "platt" not in tried:
        return ()
    return () if "platt" in significantly_cheaper(audit.significance) else POOL_FAULTS


def removal(fixes: Sequence[Fix], agents: Sequence[str], pool: str) -> str:
    """Say how to take agents out now, and whose saving is shown.

    >>> removal([Fix("constant-feed", ("b",), "error", None)], ["a", "b", "c"], "mean")
    ' To take b out right away, pass `--ignore b`.'
    """
    out = removable(fixes)
    options = leaving_out(out, agents)
    if not options:
        return ""
    feeds = [fix for fix in fixes if is_removable_feed(fix)]
    whose = ""
    if any(fix.saving is not None and fix.saving.low > 0 for fix in feeds):
        its = (SEVERAL if len(out) > 1 else ONE)["its"]
        if len(out) > len(removable(feeds)):
            its = f"{join_names(removable(feeds))}'s"
        whose = (
            f"; the saving shown is that of {pool} without {its} reports since the "
            "fault began"
        )
    return f" To take {join_names(out)} out right away, pass `{options}`{whose}."


def _joined(
    action: str, fixes: Sequence[Fix], currency: str | None, measured: str
) -> str:
    """Return one action on all the agents of these fixes, and what it saves."""
    first = {fix.who[:1]: fix for fix in reversed(fixes)}  # of an agent, the first
    fixes = [fix for fix in fixes if first[fix.who[:1]] is fix]
    text = worded(action, [fix.who[0] for fix in fixes if fix.who])
    if currency is None:
        return text
    if len(fixes) == 1:
        return text + _saved(fixes[0], currency, measured)
    sure = [
        f"{fix.who[0]} {money(fix.saving.value, currency)}"
        for fix in fixes
        if fix.saving is not None and fix.saving.low > 0
    ]
    if not sure:
        return text
    unsure = [
        f"{fix.who[0]}: not {'known' if fix.saving is None else 'significant'}"
        for fix in fixes
        if fix.saving is None or fix.saving.low <= 0
    ]
    shown = "; ".join([", ".join(sure), *unsure])
    return f"{text} (saves per case{measured}: {shown})"


def _action(fix: Fix) -> str:
    """Return the action on a fix, in which the agents are still to be named."""
    if fix.code not in ACTIONS:
        return _escape(f"look into {join_names(fix.who) or 'the pool'} (`{fix.code}`)")
    if fix.refit:
        return _escape(f"fit {fix.refit} again, on cases up to now")
    action = FEED if is_removable_feed(fix) else ACTIONS[fix.code]
    if fix.factor is not None:
        action = UNIT.replace("{factor}", amount(fix.factor))
    if fix.code == "biased-segment" and fix.who:
        action = BIASED_THERE
    if backfires(fix):
        action = COSTS_MORE.get(fix.code, FIX_FEED)
    when = f"case {(fix.since or 0) + 1:,}" + (f" ({fix.date})" if fix.date else "")
    other = _escape(fix.who[1]) if len(fix.who) > 1 else ""
    return action.replace("{other}", other).replace("{when}", when)


def backfires(fix: Fix) -> bool:
    """Whether the action would cost more: for sure or, of a copy, on these cases.

    A copy is not broken: whether to leave it out is a question of what that costs.
    """
    saving = fix.saving
    if saving is None:
        return False
    return saving.value < 0 if fix.code == "copy" else saving.high < 0


def _escape(name: str) -> str:
    """Return a name in which no brace stands for anything."""
    return name.replace("{", "{{").replace("}", "}}")


def _costs_more(fix: Fix) -> bool:
    saving = fix.saving
    return saving is not None and saving.high < 0 and fix.code in FIRST


def _saved(fix: Fix, currency: str, measured: str) -> str:
    saving = fix.saving
    if saving is not None and saving.low > 0:
        return f" (saves {money(saving.value, currency)} per case{measured})"
    if saving is not None and _costs_more(fix):
        more = money(-saving.value, currency)
        what = "leaving it out as it is"
        if fix.code == "reversed" and fix.since is None:
            what = "reversing its reports alone"
        if fix.code == SWAPPED:
            what = "swapping these alone"
        return f" ({what} would cost {more} more per case{measured})"
    return ""
