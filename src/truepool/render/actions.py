"""What to do about a finding, in words, and what that saves."""

from collections.abc import Sequence

from truepool.audits.severity import BROKEN, LABELS
from truepool.audits.values import Fix
from truepool.core.formatting import money

RECALIBRATION = "ask whoever runs {who} to recalibrate it"
FEED = "take {who} out of the pool or fix its feed"
POOL = "recalibrate the pool, as `platt` does with the mean"
CALIBRATION = ("over-confident", "under-confident", "biased")
"""Faults that recalibrating an agent cures."""

FIRST = (*BROKEN, "drifted")
"""Faults of a feed, which are fixed before anything else, whatever that saves."""

ACTIONS = {
    LABELS: "find out which label is the positive one",
    "constant-feed": FEED,
    "stopped-feed": "find out why {who} stopped reporting",
    "repeated-feed": FEED,
    "changed-feed": FEED,
    "rescaled-feed": "ask whether {who} was retrained or rescaled, and fit the "
    "pool again",
    "reversed": "take {who} out of the pool or reverse its reports",
    "drifted": FEED,
    "copy": "leave out {who} or {other}, which report the same",
    "harmful": "take {who} out of the pool",
    "over-confident": RECALIBRATION,
    "under-confident": RECALIBRATION,
    "biased": RECALIBRATION,
    "misreport-gain": "pay {who} and the others by a proper score of their own reports",
    "worse-than-best": "use {who} alone, or a pool that relies on it more",
    "threshold": "decide at the threshold that the costs imply",
    "under-confident-pool": POOL,
    "over-confident-pool": POOL,
    "biased-pool": POOL,
    "fails-in-segment": "take {who} out of the pool in the groups where it fails, or "
    "fix its feed there",
    "biased-segment": "fit one pool per group",
    "drifted-pool": "find out what changed around {when}",
    "outcome-rate": "find out why the share of positive outcomes changed around {when}",
    "other-threshold": f"{POOL}, or move the threshold",
    "selective-labels": "review some cases at random and account for the review "
    "(--propensity)",
}
"""What to do about a finding, in the imperative, by its code."""

COSTS_MORE = {
    "reversed": "ask which class {who} means by 1",
    "copy": "find out why {who} and {other} report the same",
}
"""What to do instead where that would cost more; of all other faults, `FIX_FEED`."""
FIX_FEED = "have the feed of {who} fixed"


def listed(names: Sequence[str]) -> str:
    """Join names as in a sentence."""
    *most, last = names or ("",)
    return f"{', '.join(most)} and {last}" if most else last


def join(fixes: Sequence[Fix], currency: str | None = None) -> str:
    """List what to do, the same action once; with a currency, what it saves."""
    saved: dict[str, str] = {}
    for fix in fixes:
        saved.setdefault(
            _action(fix), "" if currency is None else _saved(fix, currency)
        )
    return "; ".join(action + saving for action, saving in saved.items())


def _action(fix: Fix) -> str:
    if fix.code not in ACTIONS:
        return f"look into {listed(fix.who) or 'the pool'} (`{fix.code}`)"
    who, other = (*fix.who, "", "")[:2]
    # Who was reversed midway was sound before: its reports must not all be reversed.
    turned = fix.code == "reversed" and fix.since is not None
    action = FEED if turned else ACTIONS[fix.code]
    if fix.saving is not None and fix.saving.value < 0:
        action = COSTS_MORE.get(fix.code, FIX_FEED)
    when = f"case {fix.since or 0:,}" + (f" ({fix.date})" if fix.date else "")
    return action.format(who=who, other=other, when=when)


def _saved(fix: Fix, currency: str) -> str:
    saving = fix.saving
    if saving is not None and saving.low > 0:
        return f" (saves {money(saving.value, currency)} per case)"
    if saving is not None and saving.high < 0 and fix.code in FIRST:
        more = money(-saving.value, currency)
        return f" (leaving it out as it is would cost {more} more per case)"
    return ""
