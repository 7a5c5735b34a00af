"""What is done first: the order of the fixes, and of the findings that they answer."""

from collections.abc import Sequence
from typing import TypeVar

from truepool.audits.severity import (
    ASKED,
    CALIBRATION,
    CURED_BY_A_POOL,
    DOUBTS,
    FIRST,
    LEAK,
    SWAPPED,
)
from truepool.audits.values import Finding, Fix, Recommendation

A = TypeVar("A", Finding, Fix)


def in_order(items: Sequence[A], plan: Recommendation) -> tuple[A, ...]:
    """Return findings or fixes, those first that the recommendation says to fix first.

    The others stay in their order, the most severe first.
    """
    first = _first_keys(plan)
    place = {key: i for i, key in enumerate(first)}
    return tuple(sorted(items, key=lambda a: place.get((a.code, *a.who), len(first))))


def _first_keys(plan: Recommendation) -> list[tuple[str, ...]]:
    first = first_fixes(plan)
    if plan.outcome_in_doubt:
        first = [fix for fix in plan.fixes if fix.code in (*DOUBTS, LEAK)]
    return [(fix.code, *fix.who) for fix in first]


def first_fixes(plan: Recommendation) -> list[Fix]:
    """Return what must be fixed before another pool is tried: the largest saving first.

    These are the open questions, the errors, and any
    warning whose fix saves more than theirs. Of equal ones broken feeds come first, and
    the pool itself comes after all agents. What a better pool fixes is left out, and so
    are agents that are only miscalibrated where a better pool saves more.
    """
    urgent = _urgent_fixes(plan)
    later = later_fixes(plan)
    return [fix for fix in urgent if fix not in later]


def later_fixes(plan: Recommendation) -> list[Fix]:
    """Return agents to recalibrate once a better pool is used, which saves more."""
    fixes = [fix for fix in _urgent_fixes(plan) if fix.code in CALIBRATION]
    if plan.saving is None or any(
        sure_saving(fix) >= plan.saving.value for fix in fixes
    ):
        return []
    return fixes


def _urgent_fixes(plan: Recommendation) -> list[Fix]:
    errors = [fix for fix in plan.errors if not is_cured(plan, fix)]
    sound = [fix for fix in errors if fix.code not in FIRST]
    most = max(map(sure_saving, sound), default=float("inf"))
    larger = [f for f in plan.fixes if f not in plan.errors and sure_saving(f) > most]
    # What is fitted to reports that are wrong is fitted again once they are right.
    fixes = sorted(
        [*errors, *larger],
        key=lambda f: (not f.who, -sure_saving(f), f.code not in FIRST),
    )
    # All figures depend on the answers to these.
    fixes = [*(fix for fix in plan.fixes if fix.code in ASKED), *fixes]
    # One thing to do about each agent: who is taken out needs no recalibration.
    chosen: dict[str, Fix] = {}
    for fix in sorted(fixes, key=lambda f: f.code not in FIRST):
        if fix.who:
            chosen.setdefault(fix.who[0], fix)
    return [fix for fix in fixes if not fix.who or chosen[fix.who[0]] is fix]


def removable(fixes: Sequence[Fix]) -> list[str]:
    """Agents to take out until they are fixed: who is broken, then who knows nothing.

    Who would be missed is not among them.
    """
    useless = [fix for fix in fixes if not _is_missed(fix)]
    broken = [f for f in useless if is_removable_feed(f) or f.code == "reversed"]
    unrelated = [fix for fix in useless if fix.code == "uninformative"]
    return list(dict.fromkeys(fix.who[0] for fix in (*broken, *unrelated)))


def is_removable_feed(fix: Fix) -> bool:
    """Whether what an agent sends, or sends since some date, is of no use.

    Who was reversed midway was sound before: its reports must not all be reversed.
    """
    if fix.code == "reversed":
        return fix.since is not None
    return fix.code in FIRST and fix.code not in ("stopped-feed", SWAPPED)


def _is_missed(fix: Fix) -> bool:
    """Whether the pool would cost more without the agent."""
    return fix.saving is not None and fix.saving.high < 0


def sure_saving(fix: Fix) -> float:
    """What a fix saves for sure; 0 where that is not known."""
    saving = fix.saving
    return saving.value if saving is not None and saving.low > 0 else 0.0


def minor_fixes(plan: Recommendation) -> list[Fix]:
    """Return the warnings that can wait, the largest saving first."""
    urgent = _urgent_fixes(plan)
    fixes = [f for f in plan.fixes if f.severity != "error" and f not in urgent]
    return sorted(fixes, key=sure_saving, reverse=True)


def is_cured(plan: Recommendation, fix: Fix) -> bool:
    """Whether the pool that is recommended answers a fault of the one in use."""
    return plan.change and fix.code in CURED_BY_A_POOL
