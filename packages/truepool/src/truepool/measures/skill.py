r"""Skill of reports within segments of the cases, against the base rate of each.

A skill is the area under the ROC curve, or the share of the base rate's Brier loss that
the reports save, :math:`1 - \bar l / \sum_k \pi_k (1 - \pi_k)`. Each comes with the
influence of every case, which is how much the skill would change to first order if the
case counted more. Sums of influences over independent cases, or groups of them, give
the standard error (DeLong, DeLong & Clarke-Pearson 1988).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from truepool.core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SegmentedCases:
    """Outcomes, weights, independent unit and segment of each case, all (T,)."""

    outcomes: IntArray
    weights: FloatArray
    unit: IntArray
    segment: IntArray
    segments: int
    classes: int = 2

    def take(self, cases: IntArray) -> "SegmentedCases":
        """Return some of the cases; the segments keep their numbers."""
        return SegmentedCases(
            self.outcomes[cases],
            self.weights[cases],
            self.unit[cases],
            self.segment[cases],
            self.segments,
            self.classes,
        )


class Contrast(NamedTuple):
    """A skill, or a difference of skills, and the influence of each case (T,) on it.

    ``least`` is a lower bound of its variance.
    """

    value: float
    influence: FloatArray
    unit: IntArray
    least: float = 0.0

    def minus(self, other: "Contrast") -> "Contrast":
        """Return how much larger this one is than another on the same cases."""
        gap = self.value - other.value, self.influence - other.influence
        return Contrast(*gap, self.unit)

    @property
    def error(self) -> float:
        """Standard error."""
        sums = np.bincount(self.unit, self.influence)
        return float(np.sqrt(max(float(sums @ sums), self.least)))

    def p_value(self, sign: int) -> float:
        """One-sided p-value of a value above (sign 1) or below (sign -1) 0.

        Student's t, with as many degrees of freedom as units carry the variance: five
        positives among a thousand cases are little more than five cases.

        >>> unit = np.arange(100)
        >>> gap = Contrast(0.2, np.tile([0.01, -0.01], 50), unit)
        >>> round(gap.p_value(1), 3), round(gap.p_value(-1), 3)
        (0.024, 0.976)
        """
        if self.error == 0:
            return 0.0 if sign * self.value > 0 else 1.0
        squares = np.square(np.bincount(self.unit, self.influence))
        carried = squares.sum() ** 2 / max(float(squares @ squares), 1e-300)
        return float(stdtr(max(carried - 1, 1.0), -sign * self.value / self.error))


@dataclass(frozen=True, eq=False)
class Skill:
    """Skill (G,) within each segment; NaN where it is not defined.

    ``mass`` (G,) is how much a segment counts in a mean over several, ``influence``
    (T,) is that of each case on the skill of its own segment, ``least`` (G,) a lower
    bound of its variance.
    """

    cases: SegmentedCases
    values: FloatArray
    mass: FloatArray
    influence: FloatArray
    least: FloatArray

    def mean(self, chosen: BoolArray) -> Contrast:
        """Mean skill over some segments; NaN where none of them has one."""
        mass = np.where(chosen, self.mass, 0.0)
        total = float(mass.sum())
        share = mass / (total or 1.0)
        value = float(share @ np.nan_to_num(self.values)) if total else float("nan")
        influence = share[self.cases.segment] * self.influence
        return Contrast(value, influence, self.cases.unit, float(share**2 @ self.least))

    def contrast(self, inside: BoolArray) -> Contrast:
        """Mean skill inside some segments minus that in all others."""
        there, elsewhere = self.mean(inside), self.mean(~inside)
        least = there.least + elsewhere.least
        return there.minus(elsewhere)._replace(least=least)


def auc_skill(reports: FloatArray, cases: SegmentedCases) -> Skill:
    """Area under the ROC curve of reports (T,) of two classes within each segment.

    Its variance is at least what one more positive and one more negative case, ranked
    by chance, would add: where a few positives are ranked above all others, the next
    one may not be.

    >>> y, one = np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)
    >>> cases = SegmentedCases(y, np.ones(4), np.arange(4), one, 1)
    >>> auc_skill(np.array([0.1, 0.4, 0.35, 0.8]), cases).values
    array([0.75])
    """

    def measure(part: SegmentedCases, own: IntArray) -> _Measured:
        w, y = part.weights, part.outcomes > 0
        ones, zeros = float(w[y].sum()), float(w[~y].sum())
        if not (ones > 0 and zeros > 0):
            return _UNDEFINED
        rank = np.unique(reports[own], return_inverse=True)[1]
        below, above = (np.bincount(rank, w * members) for members in (~y, y))
        placed = np.where(
            y,
            (np.cumsum(below) - below / 2)[rank] / zeros,
            1 - (np.cumsum(above) - above / 2)[rank] / ones,
        )
        area = float(w[y] @ placed[y]) / ones
        influence = w * (placed - area) / np.where(y, ones, zeros)
        counts = np.array([_count(part, members) for members in (y, ~y)])
        least = float(np.square((area - 0.5) / (counts + 1)).sum())
        return _Measured(area, ones * zeros / (ones + zeros), influence, least)

    return _within(measure, cases)


def placements(reports: FloatArray, cases: SegmentedCases) -> FloatArray:
    """Share of the negative cases of its segment that each positive case beats, (T,).

    NaN for negative cases, and for positive ones of a segment without any. The mean
    over a segment is its AUC.

    >>> y, one = np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)
    >>> cases = SegmentedCases(y, np.ones(4), np.arange(4), one, 1)
    >>> placements(np.array([0.1, 0.4, 0.35, 0.8]), cases)
    array([nan, nan, 0.5, 1. ])
    """
    placed = np.full(len(reports), np.nan)
    for g in np.unique(cases.segment):
        own = np.flatnonzero(cases.segment == g)
        positive = cases.outcomes[own] > 0
        lower = np.sort(reports[own[~positive]])
        if len(lower):
            mine = reports[own[positive]]
            below, up_to = (
                np.searchsorted(lower, mine, side=side) for side in ("left", "right")
            )
            placed[own[positive]] = (below + up_to) / (2 * len(lower))
    return placed


def brier_skill(losses: FloatArray, cases: SegmentedCases) -> Skill:
    """Share of the base rate's Brier loss that is saved within each segment.

    The base rate is that of the segment, ``losses`` (T,) are those of `Loss`.

    >>> y, one = np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)
    >>> cases = SegmentedCases(y, np.ones(4), np.arange(4), one, 1)
    >>> brier_skill(np.full(4, 0.0625), cases).values
    array([0.75])
    """
    scale = 0.5 if cases.classes == 2 else 1.0  # the loss of two classes is halved

    def measure(part: SegmentedCases, own: IntArray) -> _Measured:
        w, y, lost = part.weights, part.outcomes, losses[own]
        total = float(w.sum())
        rates = np.bincount(y, w, cases.classes) / total
        prior = scale * (1 - float(rates @ rates))
        if not prior > 0:
            return _UNDEFINED
        mean = float(w @ lost) / total
        of_prior = -2 * scale * (rates[y] - rates @ rates)
        influence = (mean - lost + mean / prior * of_prior) / prior
        return _Measured(1 - mean / prior, total * prior, influence * w / total)

    return _within(measure, cases)


class _Measured(NamedTuple):
    """Skill in one segment, its mass, the influences and the least variance."""

    value: float
    mass: float
    influence: FloatArray | float
    least: float = 0.0


_UNDEFINED = _Measured(float("nan"), 0.0, 0.0)


def _within(
    measure: Callable[[SegmentedCases, IntArray], _Measured], cases: SegmentedCases
) -> Skill:
    """Measure each segment by itself."""
    values, mass, least = (
        np.full(cases.segments, np.nan),
        *np.zeros((2, cases.segments)),
    )
    influence = np.zeros(len(cases.segment))
    for g in np.unique(cases.segment):
        own = np.flatnonzero(cases.segment == g)
        found = measure(cases.take(own), own)
        values[g], mass[g], influence[own], least[g] = found
    return Skill(cases, values, mass, influence, least)


def _count(cases: SegmentedCases, members: BoolArray) -> float:
    """Independent members that weigh as unevenly as these (Kish 1965)."""
    whole = np.bincount(cases.unit[members], cases.weights[members])
    return float(whole.sum() ** 2 / (whole @ whole))
