"""What outcomes say of an agent whose reports changed at some date."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from truepool.audits.discrimination import auc_interval
from truepool.audits.kinds import SURE
from truepool.audits.reliability import calibration
from truepool.audits.timeline import Timeline
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, to_classes
from truepool.measures.groups import enough_cases
from truepool.measures.scores import auc
from truepool.panel.panel import Panel

FAR = 2.0
"""Factor by which reports in another unit are off at least, and more than before."""

CHANCE = 0.5
"""AUC of an agent that knows nothing."""

LEAST = 1e-12
"""Keeps the logarithm of a sum of reports finite."""


class Effect(StrEnum):
    """What a change did to what an agent knows."""

    UNKNOWN = "too few outcomes to tell"
    SOUND = "it ranks cases as before, and is no further from calibrated"
    OFF = "it ranks cases as before, and is further from calibrated"
    LOST = "it ranks cases less well"


@dataclass(frozen=True)
class ChangedReports:
    """An agent's AUC before and since a change, and whether that did any harm."""

    effect: Effect
    before: Estimate | None = None
    after: Estimate | None = None


def judge_change(
    panel: Panel, line: Timeline, place: int, agent: int, level: float
) -> ChangedReports:
    """Compare an agent before and since a place in time, where outcomes allow it.

    What it knows is kept where its AUC since then is for sure farther from chance than
    half of that before, on the same side, or, of one that was below chance, on either:
    the labels may be reversed, and a feed that was reversed may be put right.
    """
    parts = [line.since(0, place), line.since(place)]
    reports = [panel.values[cases, agent] for cases in parts]
    known = [~np.isnan(own[:, 0]) for own in reports]
    outcomes = [panel.outcomes[c][k] for c, k in zip(parts, known, strict=True)]
    if panel.classes > 2 or not all(map(enough_cases, outcomes)):
        return ChangedReports(Effect.UNKNOWN)
    then, now = (own[k] for own, k in zip(reports, known, strict=True))
    before, after = (
        auc_interval(auc(to_classes(own), y), y, level)
        for own, y in ((then, outcomes[0]), (now, outcomes[1]))
    )
    kept = after.low - CHANCE
    if before.value < CHANCE:
        kept = max(kept, CHANCE - after.high)
    if kept <= abs(before.value - CHANCE) / 2:
        return ChangedReports(Effect.LOST, before, after)
    was, is_now = (
        calibration("", own, y, level)
        for own, y in ((then, outcomes[0]), (now, outcomes[1]))
    )
    sure = is_now.p_value is not None and is_now.p_value < SURE
    worse = any(
        abs(new) > np.log(FAR) and abs(new - old) > np.log(FAR) and abs(new) > abs(old)
        for old, new in zip(_errors(was), _errors(is_now), strict=True)
    )
    effect = Effect.OFF if sure and worse else Effect.SOUND
    return ChangedReports(effect, before, after)


def _errors(found: Calibration) -> tuple[float, float]:
    """Logarithms of the slope, and of how many times too much is said; 0 if unknown.

    Only what moved by more than `FAR` needs another unit; smaller errors are found over
    all cases, and those that were there before are no change.
    """
    slope, groups = found.slope, found.reliability
    bent = 0.0 if slope is None or slope.value <= 0 else float(np.log(slope.value))
    if groups is None:
        return bent, 0.0
    said, happened = groups.mean_report @ groups.cases, groups.frequency @ groups.cases
    return bent, float(np.log((said + LEAST) / (happened + LEAST)))


def undo(reports: FloatArray, places: IntArray, place: int) -> FloatArray:
    """Reports (T,) with those since a place moved to where they were before it.

    Each to the quantile that it has among the later ones. ``places`` are those of the
    reports in time.
    """
    known = ~np.isnan(reports)
    late = known & (places >= place)
    before, after = np.sort(reports[known & ~late]), np.sort(reports[late])
    moved = reports.copy()
    rank = (np.searchsorted(after, reports[late], side="right") - 0.5) / len(after)
    moved[late] = np.quantile(before, rank)
    return moved
