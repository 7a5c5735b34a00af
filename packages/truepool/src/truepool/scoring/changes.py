"""New reports that do not mean what they did when a pool learned from them."""

from enum import StrEnum

import numpy as np

from truepool.core.arrays import FloatArray, logit
from truepool.measures.groups import FEWEST_CASES
from truepool.pools.training.habits import CLIP, Habits, beside, some

COMPARED = 2_000
"""Cases that are compared with habits, at most."""
FACTOR = np.log(5.0)
"""Odds that are off by less than a factor of five need no other unit."""
LINKED = 0.3
"""Only an agent whose ranks surely correlate this much with what the others suggest can
be seen to be reversed, or to report noise."""
UNIT_ERRORS, LINK_ERRORS = 5.0, 4.0
"""Standard errors beyond which reports have another unit, or another relation to the
others': one sound table in a thousand, or fewer, with ten agents."""


class Doubt(StrEnum):
    """Why new reports of an agent may not mean what they did in the fit."""

    UNIT = "another unit or range"
    OPPOSITE = "one minus the probability"
    REVERSED = "reversed"
    NOISE = "no relation to the others"


def compare(habits: Habits, values: FloatArray) -> dict[int, Doubt]:
    """Agents whose reports (T, N) do not fit what is remembered, by their numbers.

    The one that is furthest off comes first, and the others are then compared
    without it.
    """
    x = logit(some(values, COMPARED), CLIP)
    found: dict[int, Doubt] = {}
    for _ in range(x.shape[1]):
        doubts = {
            i: doubt
            for i in range(x.shape[1])
            if i not in found and (doubt := _doubt(habits, x, i)) is not None
        }
        if not doubts:
            break
        worst = max(doubts, key=lambda i: doubts[i][1])
        found[worst] = doubts[worst][0]
        x[:, worst] = np.nan
    return found


def _doubt(
    habits: Habits, x: FloatArray, i: int
) -> tuple[Doubt, tuple[int, float]] | None:
    """What is wrong with an agent's log-odds, and how far it is off."""
    own = x[~np.isnan(x[:, i]), i]
    if len(own) < FEWEST_CASES:
        return None
    low, high = habits.quantiles[[0, -1], i]
    below, above = np.quantile(own, 0.95) < low, np.quantile(own, 0.05) > high
    usual = habits.quantiles[:, i]
    width = max(float(usual[5] - usual[1]), 1e-9)
    moved = abs(float(np.median(own) - usual[3])) / width
    gap, _, link, cases = beside(x, habits.factor, i)
    if below or above:
        turned = np.arctanh(link) * np.sqrt(max(cases - 3, 0)) < -LINK_ERRORS
        return Doubt.OPPOSITE if turned else Doubt.UNIT, (2, moved)
    if cases < FEWEST_CASES or np.isnan(habits.gaps[0, i]):
        return None
    middle, error = habits.gaps[:, i]
    if abs(gap - middle) > FACTOR + UNIT_ERRORS * 1.25 * error / np.sqrt(cases):
        return Doubt.UNIT, (1, moved)
    before, size = habits.links[i], np.sqrt(cases - 3)
    if before < LINKED:
        return None
    if np.arctanh(link) * size < -LINK_ERRORS:
        return Doubt.REVERSED, (0, before - link)
    if (np.arctanh(link) - np.arctanh(before / 2)) * size < -LINK_ERRORS:
        return Doubt.NOISE, (0, before - link)
    return None
