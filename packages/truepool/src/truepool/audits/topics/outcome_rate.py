"""Whether the share of positive outcomes changed over time."""

from collections.abc import Iterator

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.topic import Topic
from truepool.audits.topics.drift import estimate_rise
from truepool.core.formatting import percent
from truepool.online.alarms.change_point import change

RATIO = 1.5
"""A share that changed by less than this factor is only a note."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test, of the class whose share changes most clearly; no agent is at fault.

    With K classes its p-value is adjusted for their number.
    """
    panel = evidence.panel
    outcomes = panel.outcomes[panel.order]
    classes = [1] if panel.classes == 2 else list(range(panel.classes))
    tests = [change((outcomes == k) * 1.0) for k in classes]
    k = int(np.argmin([found.p_value for found in tests]))
    found = tests[k]
    name = panel.labels.names[classes[k]]
    what = "positive outcomes" if panel.classes == 2 else f"outcome {name}"
    low, high = sorted((found.before, found.after))
    advice = (
        "See whether the cases or the labels changed; fit the pool again on cases "
        "since then, because the agents' probabilities are for the old share."
    )
    if panel.classes == 2 and found.after < found.before:
        advice = (
            "See whether the cases or the labels changed, or outcomes arrive late, "
            "before the pool is fitted to cases since then."
        )
    yield Candidate(
        "outcome-rate",
        (),
        f"The share of {what} changed at {evidence.describe_case(found.place)}: it "
        f"was {percent(found.before)} and is {percent(found.after)}.",
        advice,
        p_value=min(1.0, len(classes) * found.p_value),
        matters=high > RATIO * low,
        most="warning",
        number=estimate_rise(found, evidence.level),
        unit=f"change in the share of {what}",
        figure="drift",
        since=found.place,
    )


topic = Topic("outcome rate", check, timed=True, unsplit=True)
