"""Whether the share of positive outcomes changed over time."""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.severity import LATE
from truepool.audits.topic import Topic
from truepool.audits.topics.drift import estimate_rise
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, logit
from truepool.core.formatting import percent
from truepool.measures.calibration import fit_scaling
from truepool.online.alarms.change_point import change

RATIO = 1.5
"""A share that changed by less than this factor is only a note."""

UNKNOWN = float("nan")

ASKED = 0.002
"""The question is asked below this level. It is no finding, and is not adjusted with
them: what all others mean depends on the answer."""

ENDS = np.array([0.05, 0.1, 0.15, 0.2, 0.3])
"""Shares of the cases, the last ones, in which outcomes may be late."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, of the class whose share changes most clearly; no agent is at fault.

    With K classes its p-value is adjusted for their number. Of two classes, a second
    one: do positives fall behind what the reports expect, up to the end.
    """
    late = evidence.compute(late_outcomes)
    yield _rate_change(evidence) if late is None else late


def late_outcomes(evidence: Evidence) -> Candidate | None:
    """Ask whether the newest positive outcomes are not known yet; None if they are.

    They count as negative then, while the reports go on as before. Of all positive
    cases, too few are among the last ones (`ENDS`): fewer than their share of the
    cases, and than their share of what the pool expects (binomial, the larger of the
    two p-values, times the number of ends).
    """
    panel = evidence.panel
    if panel.classes > 2 or evidence.shortage is not None:
        return None
    pooled = evidence.validation.pooled_everywhere[:, 0]
    cases = panel.order[~np.isnan(pooled[panel.order])]
    happened = panel.outcomes[cases]
    odds = logit(pooled[cases])[:, None]
    slope, shift = fit_scaling(odds, happened, np.ones(len(cases)), shift=True)
    expected = expit(slope * odds[:, 0] + shift[0])
    places = (len(cases) * (1 - ENDS)).astype(np.int64)
    tests = [_too_few(happened, expected, place) for place in places]
    worst = int(np.argmin(tests))
    if len(tests) * tests[worst] >= ASKED:
        return None
    start = int(places[worst])
    before, after = (float(part.mean()) for part in np.split(happened, [start]))
    place = int(np.flatnonzero(panel.order == cases[start])[0])
    return Candidate(
        LATE,
        (),
        f"From {evidence.describe_case(place)} on {percent(after)} of outcomes are "
        f"positive, and {percent(before)} were before, while the reports did not fall. "
        "Do outcomes arrive late?",
        "Leave the outcomes of cases that are too new to be known empty, and audit "
        "again: a case that is not known yet is no negative one.",
        least="warning",
        number=Estimate(after / before if before else 1.0, UNKNOWN, UNKNOWN),
        unit="share of positive outcomes, relative to before",
        figure="drift",
        since=place,
    )


def _too_few(happened: IntArray, expected: FloatArray, place: int) -> float:
    """Chance of so few positives from a place on, by cases and by what is expected."""
    from scipy.stats import binom

    share = 1 - place / len(happened)
    likely = float(expected[place:].sum() / expected.sum())
    found = binom.cdf(happened[place:].sum(), happened.sum(), [share, likely])
    return float(found.max())


def _rate_change(evidence: Evidence) -> Candidate:
    panel = evidence.panel
    outcomes = panel.outcomes[panel.order]
    classes = [1] if panel.classes == 2 else list(range(panel.classes))
    tests = [change((outcomes == k) * 1.0) for k in classes]
    k = int(np.argmin([found.p_value for found in tests]))
    found = tests[k]
    name = panel.labels.names[classes[k]]
    what = "positive outcomes" if panel.classes == 2 else f"outcome {name}"
    low, high = sorted((found.before, found.after))
    return Candidate(
        "outcome-rate",
        (),
        f"The share of {what} changed at {evidence.describe_case(found.place)}: it "
        f"was {percent(found.before)} and is {percent(found.after)}.",
        "See whether the cases or the labels changed; fit the pool again on cases "
        "since then, because the agents' probabilities are for the old share.",
        p_value=min(1.0, len(classes) * found.p_value),
        matters=high > RATIO * low,
        most="warning",
        number=estimate_rise(found, evidence.level),
        unit=f"change in the share of {what}",
        figure="drift",
        since=found.place,
    )


topic = Topic("outcome rate", check, timed=True, unsplit=True)
