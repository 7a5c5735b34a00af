"""Distribution: reports that shift, change scale, or lose touch with the others'."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from truepool.core.arrays import FloatArray, IntArray
from truepool.online.alarms.change_point import Change, change, change_beside, others

FALL, WEAKER, LOST = 0.1, 0.25, 0.5
"""A link to the others that falls by less than the first, or than the second as a share
of what it was, has not changed; one that falls by the third is lost."""

SHIFT, SPREAD = 0.5, 0.2
"""Changes of the mean normal score, and of its mean distance from 0 (0.8 for a normal),
below these are small."""

MINE = 0.5
"""At least this share of a change must be the agent's beside the others."""

Kind = Literal["link", "level", "scale"]


@dataclass(frozen=True)
class Shift:
    """How the reports of one agent changed beside the others', and where in time.

    ``kind`` is ``link`` (they no longer move with the others'), ``level`` or ``scale``.
    """

    kind: Kind
    place: int
    before: float
    after: float
    p_value: float

    @property
    def lost(self) -> bool:
        """Whether little is left of what there was."""
        return self.after <= (1 - LOST) * self.before


def scalar(values: FloatArray) -> FloatArray:
    """One number per report, (T, N): of K classes, that of the least settled one."""
    if values.shape[2] == 1:
        return values[:, :, 0]
    means = np.nanmean(values, axis=(0, 1))
    return np.asarray(values[:, :, int(np.argmin(np.abs(means - 0.5)))])


def normal_scores(series: FloatArray) -> FloatArray:
    """Normal scores of each agent's reports by rank over all cases, (T, N).

    Ties share their mean rank; NaN stays NaN.

    >>> normal_scores(np.array([[0.1], [0.9], [0.5]])).round(2).ravel()
    array([-0.67,  0.67,  0.  ])
    """
    ranks = rankdata(series, axis=0, nan_policy="omit")
    known = (~np.isnan(series)).sum(axis=0)
    return np.asarray(ndtri(ranks / (known + 1)))


def links(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""How far each agent moves with the others, and beside how they move, (T, N) each.

    :math:`z_i \bar z_{-i}`, the mean product with every other's score, and the same
    less the mean product of every two others. If cases change so that everybody agrees
    less, only the first falls. NaN where fewer than two others reported.
    """
    known = ~np.isnan(z)
    held = np.where(known, z, 0.0)
    count = known.sum(axis=1, keepdims=True) - known
    rest = held.sum(axis=1, keepdims=True) - held
    squares = np.square(held).sum(axis=1, keepdims=True) - np.square(held)
    enough = known & (count > 1)
    own = np.where(enough, held * rest / np.maximum(count, 1), np.nan)
    pairs = (np.square(rest) - squares) / np.maximum(count * (count - 1), 1)
    return own, own - pairs


def shifts(values: FloatArray) -> list[tuple[Shift, Shift]]:
    """Test every agent's reports (T, N, C), in time order, for a change.

    Two tests per agent, no outcomes needed: whether it lost touch with the others
    (three agents or more), and whether its level or its scale changed beside theirs
    (the p-value is twice the smaller one). What is too small to matter has p = 1.
    """
    z = normal_scores(scalar(values))
    own, beside = links(z)
    levels, scales = z - others(z), np.abs(z) - others(np.abs(z))
    found = []
    for i in range(z.shape[1]):
        link = _lost(own[:, i], beside[:, i])
        moved = (
            _moved("level", z[:, i], levels[:, i], SHIFT),
            _moved("scale", np.abs(z[:, i]), scales[:, i], SPREAD),
        )
        least = min(moved, key=lambda one: one.p_value)
        found.append((link, replace(least, p_value=min(1.0, 2 * least.p_value))))
    return found


def _lost(own: FloatArray, beside: FloatArray) -> Shift:
    """Test the contrast; the agent's own link, which varies less, tells the place."""
    tested, known = change_beside(own, beside)
    mine = replace(change(own[known]), p_value=tested.p_value)
    contrast = _rise(beside[known], mine)
    fall = mine.before - mine.after
    large = fall >= max(FALL, WEAKER * mine.before) and contrast <= -MINE * fall
    return _shift("link", mine, known, large)


def _moved(kind: Kind, own: FloatArray, beside: FloatArray, least: float) -> Shift:
    mine, known = change_beside(own, beside)
    rise = mine.after - mine.before
    contrast = _rise(beside[known], mine)
    large = abs(rise) >= least and contrast * np.sign(rise) >= MINE * abs(rise)
    return _shift(kind, mine, known, large)


def _rise(beside: FloatArray, mine: Change) -> float:
    """How far the contrast rose."""
    if not mine.place:
        return 0.0
    return float(beside[mine.place :].mean() - beside[: mine.place].mean())


def _shift(kind: Kind, mine: Change, known: IntArray, large: bool) -> Shift:
    place = int(known[mine.place]) if mine.place else 0
    p = mine.p_value if large else 1.0
    return Shift(kind, place, mine.before, mine.after, p)
