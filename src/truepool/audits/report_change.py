"""What outcomes say of an agent whose reports changed at some date."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from truepool.audits.discrimination import auc_interval
from truepool.audits.reliability import calibration
from truepool.audits.severity import SURE
from truepool.audits.timeline import Timeline
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, to_classes
from truepool.data.panel import Panel
from truepool.measures.groups import enough_cases
from truepool.measures.scores import auc

FAR = 2.0
"""Factor by which reports in another unit are off at least."""


class Effect(StrEnum):
    """What a change did to what an agent knows."""

    UNKNOWN = "too few outcomes to tell"
    SOUND = "it ranks cases as before, and is calibrated"
    OFF = "it ranks cases as before, and is not calibrated"
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

    What it knows is kept where its AUC since then is for sure nearer to that before
    than to chance.
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
    if after.low <= (0.5 + before.value) / 2:
        return ChangedReports(Effect.LOST, before, after)
    was, is_now = (
        _is_far_off(calibration("", own, y, level))
        for own, y in ((then, outcomes[0]), (now, outcomes[1]))
    )
    effect = Effect.OFF if is_now and not was else Effect.SOUND
    return ChangedReports(effect, before, after)


def _is_far_off(found: Calibration) -> bool:
    """Whether reports are surely off, by `FAR` in the mean or in the slope.

    Smaller errors need no change of unit, and are found over all cases.
    """
    if found.p_value is None or found.p_value >= SURE:
        return False
    slope, groups = found.slope, found.reliability
    if slope is not None and not 1 / FAR <= slope.value <= FAR:
        return True
    if groups is None:
        return False
    said, happened = groups.mean_report @ groups.cases, groups.frequency @ groups.cases
    return not happened / FAR <= said <= happened * FAR


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
