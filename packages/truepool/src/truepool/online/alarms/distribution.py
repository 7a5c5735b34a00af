"""Distribution: reports that shift, change scale, or decouple from the others'."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.online.alarms.change_point import Change, change, contrast_change, others

LINK_FALL, RELATIVE_FALL, LINK_LOSS, OPPOSITE = 0.1, 0.25, 0.5, 1.25
"""A correlation with the others that falls by less than the first, or by less than the
second as a share of its former value, has not changed; a fall by the third share counts
as lost, and one by the last share as the opposite."""

LEVEL_CHANGE, SCALE_CHANGE = 0.5, 0.2
"""The smallest changes that matter: of the mean normal score, and of its mean absolute
value (0.8 for a normal distribution)."""

OWN_SHARE = 0.5
"""At least this share of a change must be relative to the other agents."""

PARTS = 4
"""Parts of the cases in each of which an agent that reports the opposite does so."""

Kind = Literal["link", "level", "scale"]


@dataclass(frozen=True)
class Shift:
    """How the reports of one agent changed relative to the others', and when.

    ``kind`` is ``link`` (they no longer move with the others'), ``level`` or ``scale``.
    """

    kind: Kind
    place: int
    before: float
    after: float
    p_value: float

    @property
    def lost(self) -> bool:
        """Whether most of the former correlation is gone."""
        return self.after <= (1 - LINK_LOSS) * self.before

    @property
    def opposite(self) -> bool:
        """Whether the agent moves against the others since."""
        return self.after <= (1 - OPPOSITE) * self.before


def scalar(values: FloatArray) -> FloatArray:
    """One number per report, (T, N): of K classes, the one with mean nearest 0.5."""
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


def links(
    z: FloatArray, peers: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""How closely each agent moves with the others, and the contrast, (T, N) each.

    :math:`z_i \bar z_{-i}`, the mean product with every other's score, and the same
    minus the mean product over all pairs of others. If cases change so that all agents
    agree less, only the first falls. NaN where fewer than two others reported.

    Only ``peers`` (N,) count among the others; by default all agents.
    """
    known = ~np.isnan(z) & (True if peers is None else peers)
    filled = np.where(known, z, 0.0)
    count = known.sum(axis=1, keepdims=True) - known
    rest = filled.sum(axis=1, keepdims=True) - filled
    squares = np.square(filled).sum(axis=1, keepdims=True) - np.square(filled)
    own = np.where(count > 1, z * rest / np.maximum(count, 1), np.nan)
    pairs = (np.square(rest) - squares) / np.maximum(count * (count - 1), 1)
    return own, own - pairs


def directions(z: FloatArray) -> FloatArray:
    """1 for each agent, -1 for one that always reports the opposite of most, (N,).

    By the first principal component of the scores (T, N): the mean link of a sound
    agent would mostly show how many of the others report the opposite, and change
    whenever one of these does. Always: in each of four parts of the cases.
    """
    filled = np.nan_to_num(z)
    _, vectors = np.linalg.eigh(filled.T @ filled)
    first = vectors[:, -1] * np.where(vectors[:, -1].sum() < 0, -1.0, 1.0)
    common = filled @ first
    against = [
        (filled[part] * (common[part, None] - filled[part] * first)).sum(axis=0) < 0
        for part in np.array_split(np.arange(len(z)), PARTS)
    ]
    return np.where(np.all(against, axis=0), -1.0, 1.0)


def shifts(
    values: FloatArray, peers: BoolArray | None = None
) -> list[tuple[Shift, Shift]]:
    """Test every agent's reports (T, N, C), in time order, for a change.

    Two tests per agent, without outcomes: whether it still moves with the others (three
    agents or more), and whether its level or its scale changed relative to theirs (the
    p-value is twice the smaller one). A change too small to matter has p = 1.

    An agent is compared with ``peers`` (N,) only. They must be the same ones all the
    time: where a close one drops out, the mean link of the others changes.
    """
    z = normal_scores(scalar(values))
    sign = directions(z)
    own, contrast = links(sign * z, peers)
    levels = z - sign * others(sign * z, peers)
    scales = np.abs(z) - others(np.abs(z), peers)
    found = []
    for i in range(z.shape[1]):
        link = _link_shift(own[:, i], contrast[:, i])
        changes = (
            _report_shift("level", z[:, i], levels[:, i], LEVEL_CHANGE),
            _report_shift("scale", np.abs(z[:, i]), scales[:, i], SCALE_CHANGE),
        )
        least = min(changes, key=lambda one: one.p_value)
        found.append((link, replace(least, p_value=min(1.0, 2 * least.p_value))))
    return found


def _link_shift(own: FloatArray, contrast: FloatArray) -> Shift:
    """Test the contrast, but place the change by the less variable own link."""
    tested, known = contrast_change(own, contrast)
    mine = replace(change(own[known]), p_value=tested.p_value)
    contrast_rise = _rise(contrast[known], mine)
    fall = mine.before - mine.after
    large = (
        fall >= max(LINK_FALL, RELATIVE_FALL * mine.before)
        and contrast_rise <= -OWN_SHARE * fall
    )
    return _shift("link", mine, known, large)


def _report_shift(
    kind: Kind, own: FloatArray, contrast: FloatArray, least: float
) -> Shift:
    mine, known = contrast_change(own, contrast)
    rise = mine.after - mine.before
    contrast_rise = _rise(contrast[known], mine)
    large = abs(rise) >= least and contrast_rise * np.sign(rise) >= OWN_SHARE * abs(
        rise
    )
    return _shift(kind, mine, known, large)


def _rise(contrast: FloatArray, mine: Change) -> float:
    """How much the contrast rose at the change."""
    if not mine.place:
        return 0.0
    return float(contrast[mine.place :].mean() - contrast[: mine.place].mean())


def _shift(kind: Kind, mine: Change, known: IntArray, large: bool) -> Shift:
    place = int(known[mine.place]) if mine.place else 0
    p = mine.p_value if large else 1.0
    return Shift(kind, place, mine.before, mine.after, p)
