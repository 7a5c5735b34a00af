"""Whether the newest outcomes are not known yet, and count as negative until then."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from truepool.audits.evidence import Evidence
from truepool.audits.timeline import Position
from truepool.audits.values import Finding
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.measures.calibration import fit_scaling
from truepool.panel.panel import Panel

UNKNOWN = float("nan")

ASKED = 0.005
"""The question is asked below this level. It is no finding, and is not adjusted with
them: what all others mean depends on the answer."""

RECENT = 0.08
"""The weight of a case falls by e over this share of the cases, from the last one."""

ENDS = np.array([0.05, 0.1, 0.15, 0.2, 0.3])
"""Shares of the cases, the last ones, in which outcomes may be late."""


RATHER = 20.0
"""How many times likelier reports must be if positives became rare than if they are
late, for the question not to be asked."""

HIGHEST, STEPS = 30.0, 40
"""Lifts are clipped at this logarithm, and shares found in so many halvings."""


@dataclass(frozen=True)
class LateOutcomes:
    """The case since which too few outcomes are positive, and their share until then.

    ``since`` is its place in time.
    """

    since: int
    position: Position
    before: float
    after: float


def find_late_outcomes(evidence: Evidence) -> LateOutcomes | None:
    """Find positive outcomes that are not known yet; None where there are none.

    They count as negative then, while the reports go on as before. Of all positive
    cases, too few are among the last ones (`_too_few_recent`); from which one on, is
    the end (`ENDS`) with the fewest for its share. Nothing is asked where the reports
    say that positives became rare (`_say_rare`).
    """
    panel = evidence.panel
    if (
        panel.classes > 2
        or panel.times is None
        or panel.questions is not None
        or evidence.shortage is not None
    ):
        return None
    pooled = evidence.validation.pooled_everywhere[:, 0]
    cases = panel.order[~np.isnan(pooled[panel.order])]
    happened = panel.outcomes[cases]
    odds = logit(pooled[cases])[:, None]
    places = (len(cases) * (1 - ENDS)).astype(np.int64)
    sure = int(places.min())  # outcomes until then are not in question
    if len(np.unique(happened[:sure])) < 2:
        return None
    slope, shift = fit_scaling(odds[:sure], happened[:sure], np.ones(sure), shift=True)
    scaled = slope * odds[:, 0] + shift[0]
    expected = expit(scaled)
    if _too_few_recent(happened, expected) >= ASKED:
        return None
    start = min(places.tolist(), key=lambda place: _too_few(happened, expected, place))
    if _say_rare(happened, expected, start, sure):
        return None
    before, after = (float(part.mean()) for part in np.split(happened, [start]))
    place = int(np.flatnonzero(panel.order == cases[start])[0])
    return LateOutcomes(place, evidence.position(place), before, after)


def _too_few_recent(happened: IntArray, expected: FloatArray) -> float:
    r"""Chance that positive cases lie as early as they do, if none is late.

    Where a share :math:`a_t` of the cases came after a case it has the weight
    :math:`w_t = e^{-a_t / r}`. The mean weight of the positive cases is compared with
    that of all cases, and with that of all by how they are expected to be positive; the
    larger p-value counts (normal).
    """
    age = np.arange(len(happened))[::-1] / len(happened)
    weight = np.exp(-age / RECENT)
    count = happened.sum()
    found = []
    for chance in (np.full(len(happened), 1 / len(happened)), expected):
        mean = np.average(weight, weights=chance)
        spread = np.average((weight - mean) ** 2, weights=chance)
        short = weight[happened == 1].mean() - mean
        found.append(float(ndtr(short / np.sqrt(spread / count))))
    return max(found)


def _too_few(happened: IntArray, expected: FloatArray, place: int) -> float:
    """Chance of so few positives from a place on, by cases and by what is expected."""
    from scipy.stats import binom

    share = 1 - place / len(happened)
    likely = float(expected[place:].sum() / expected.sum())
    found = binom.cdf(happened[place:].sum(), happened.sum(), [share, likely])
    return float(found.max())


def _say_rare(happened: IntArray, expected: FloatArray, place: int, sure: int) -> bool:
    r"""Whether the reports on the last negative cases say that few of them are hidden.

    Where positives really become rare their reports go with them; where they are only
    late, negative cases are among them. With the lift :math:`l_t` of a case, its odds
    relative to those of the share of positives, a share c of hidden ones has the
    likelihood :math:`\prod_t (1 - c + c l_t)`. That of as many as are missing is
    compared with that of the negative cases until ``sure``, by `RATHER`.
    """
    odds = logit(expected) - logit(happened[:sure].mean())
    excess = np.expm1(np.clip(odds, -HIGHEST, HIGHEST))
    last = excess[place:][happened[place:] == 0]
    missing = max(float(expected[place:].sum() - happened[place:].sum()), 0.0)
    usual = _likeliest_share(excess[:sure][happened[:sure] == 0])
    late = usual + missing / len(last)
    rare, hidden = (float(np.log1p(c * last).sum()) for c in (usual, late))
    return bool(rare - hidden > np.log(RATHER))


def _likeliest_share(excess: FloatArray) -> float:
    """Share of positives of largest likelihood, by the excess lift (T,) of the cases.

    >>> _likeliest_share(np.array([9.0, -0.9, -0.9])).__round__(3)
    0.296
    """
    low, high = 0.0, 1.0
    for _ in range(STEPS):  # the likelihood is concave
        middle = (low + high) / 2
        rising = float((excess / (1 + middle * excess)).sum()) > 0
        low, high = (middle, high) if rising else (low, middle)
    return (low + high) / 2


def without_late_outcomes(panel: Panel, late: LateOutcomes) -> Panel:
    """Return the panel in which the outcomes of the newest cases are not known."""
    newest = np.zeros(len(panel), dtype=np.bool_)
    newest[panel.order[late.since :]] = True
    return panel.without_outcomes(newest)


def question(late: LateOutcomes) -> Finding:
    """Ask about the newest outcomes; until then every figure is without them."""
    return Finding(
        "late-outcomes",
        "warning",
        facts={
            "from": late.position,
            "before": late.before,
            "after": late.after,
            "seems": "high",
        },
        number=Estimate(
            late.after / late.before if late.before else 1.0, UNKNOWN, UNKNOWN
        ),
        unit="share-ratio",
        since=late.since,
        date=late.position.date,
    )
